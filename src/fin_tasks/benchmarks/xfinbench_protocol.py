"""XFinBench's way to ask, by which its long paper also asks BizBench and FinanceMath (metadata `protocol`)."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import yaml

from fin_tasks.data.documents import hash_of
from fin_tasks.data.locate import Located, locate
from fin_tasks.errors import ConfigError
from fin_tasks.settings import Settings

from .request import Prompts, Request

PROTOCOL = "xfinbench"
"""The only value of the metadata `protocol`."""
_AUTHORS_MODES: Mapping[str, str] = {"cot": "CoT", "da": "DA", "pot": "PoT"}
_HERE = Path(__file__).parent


def authors_texts(
    files: Located, modes_by_task: Mapping[str, Iterable[str]]
) -> dict[str, Any]:
    r"""Return the authors' wording. The two characters `\n` in their files stay two characters."""

    def read(name: str) -> str:
        path = _path(name)
        text = files.with_files([path]).files[path].read_text("utf-8", "replace")
        return text.replace("{knowledge}", "{context}")

    user = {}
    for task, modes in modes_by_task.items():
        user[task] = {mode: read(f"{task}_{_AUTHORS_MODES[mode]}") for mode in modes}
    system = {mode: read(f"Sys_msg/{name}") for mode, name in _AUTHORS_MODES.items()}
    return {
        "system": system,
        "user": user,
        "cue": dict.fromkeys(_AUTHORS_MODES, ""),
    }


def protocol_prompts(
    request: Request,
    protocol: str,
    *,
    task: Literal["mcq", "calcu"],
    mode: Literal["cot", "pot"],
) -> Prompts:
    """Return the templates that XFinBench asks such questions with, in our words or its authors'."""
    if protocol != PROTOCOL:
        raise ConfigError(
            f"{request.benchmark} protocol: expected {PROTOCOL}, or none for the benchmark's own way, "
            f"got {protocol!r:.80}."
        )
    texts = yaml.safe_load((_HERE / "xfinbench" / "house.yaml").read_text("utf-8"))
    if request.prompts == "upstream":
        texts = authors_texts(_xfinbench_files(request), texts["user"])
    return Prompts(
        system=texts["system"][mode],
        user=texts["user"][task][mode],
        cue=texts["cue"][mode],
    )


def protocol_facts(request: Request, *templates: Prompts) -> dict[str, Any]:
    """Return what results say about the way to ask."""
    sha256 = hash_of(*(text for prompts in templates for text in prompts))
    return {
        "protocol": PROTOCOL,
        "prompts": {"set": request.prompts, "sha256": sha256},
    }


def question_below(document: str, question: str) -> str:
    """Return a question below its document or tables, as tables stand in XFinBench's own questions."""
    return "\n\n".join(filter(None, (document.strip("\n"), question.strip())))


def _xfinbench_files(request: Request) -> Located:
    """Find XFinBench's templates in the folder that the metadata name, if they are there, else as usual."""
    folder = Path(request.data_dir or "", "xfinbench")
    named = folder if request.data_dir and folder.is_dir() else None
    settings = Settings.from_environ()
    return locate(
        "xfinbench", [_path("Sys_msg/CoT")], data_dir=named, settings=settings
    )


def _path(name: str) -> str:
    return f"evaluate/prompt_template/{name}.txt"
