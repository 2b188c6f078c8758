"""The authors' own texts for model and judge, read from two files of theirs that are parsed and never executed."""

import ast
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import Field

from fin_tasks.benchmarks.mme_finance.prompts import Wording
from fin_tasks.data.files import sha256_of
from fin_tasks.data.locate import locate
from fin_tasks.data.source_text import follow_statements
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.judging.item import Item
from fin_tasks.judging.rubric import Rubric, load_rubric, with_picture
from fin_tasks.settings import Settings

_PROMPTS = {"en": ("MMfin", "build_prompt"), "zh": ("MMfin_CN", "build_prompt")}
_RUBRICS = {"en": "build_mmfin_gpt4_prompt", "zh": "build_mmfin_gpt4_prompt_cn"}
_QUESTION, _BACKGROUND = "\0question\0", "\0background\0"  # stand for the texts of a row


def wording(language: str, *, source: str, data_dir: str | None) -> Wording:
    """Read the model's prompt from the authors' `image_vqa.py`, which is downloaded if needed."""
    path = _file("vlmeval/dataset", "image_vqa.py", source, data_dir)
    known: dict[str, Any] = {
        "isinstance()": False,
        "not pd.isna(line['background'])": True,
        "line['question']": _QUESTION,
        "line['task_category']": "OCR",
        "line['background']": _BACKGROUND,
    }
    follow_statements(_function(path, *_PROMPTS[language]).body, known)
    try:
        requirements = known["format_prompt"]
        before_question, rest = known["prompt"].split(_QUESTION)
        before_requirements, rest = rest.split(requirements["OCR"])
        before_background, _ = rest.split(_BACKGROUND)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{path}: expected build_prompt to join role, question, requirements and background, "
            f"got {known.get('prompt')!r:.200}. Take the file of the pinned commit."
        ) from error
    return Wording(
        "upstream", before_question, before_requirements, requirements, "", before_background
    )


class UpstreamRubric(Rubric):
    """The authors' texts in one language: one user message, with a table whose last cell the judge fills in."""

    function: Any = Field(exclude=True)  # ast.FunctionDef
    source_sha256: str  # of the authors' file

    def messages(self, item: Item) -> list[dict[str, Any]]:
        """Return the message by which the authors ask a judge about an item; the picture comes last."""
        row = {"question": item.question, "answer": item.answer, "prediction": item.response}
        row["task_category"] = item.category
        known: dict[str, Any] = {f"line['{name}']": value for name, value in row.items()}
        follow_statements(self.function.body, known)
        text = known.get("gpt4_prompt")
        if not isinstance(text, str):
            raise DataError(
                "mmfin.py of MME-Finance's authors: expected a prompt, got none. Use the house rubric."
            )
        content = (
            with_picture(text, item.picture) if item.picture else [{"type": "text", "text": text}]
        )
        return [{"role": "user", "content": content}]


def rubric_named(
    name: str, *, language: str, source: str = "auto", data_dir: str | None = None
) -> Rubric:
    """Return a rubric by its name or file; `upstream` is the authors' own, in English or Chinese."""
    if name != "upstream":
        return load_rubric(name)
    if language not in _RUBRICS:
        raise ConfigError(f"rubric upstream: expected the language en or zh, got {language!r}.")
    path = _file("vlmeval/dataset/utils", "mmfin.py", source, data_dir)
    return _upstream(path, sha256_of(path), language)


@lru_cache(maxsize=4)
def _upstream(path: Path, sha256: str, language: str) -> UpstreamRubric:
    facts: dict[str, Any] = {
        "name": f"mme_finance_upstream_{language}",
        "version": sha256[:12],
        "language": language,
    }
    return UpstreamRubric(
        **facts, function=_function(path, _RUBRICS[language]), source_sha256=sha256
    )


def _file(folder: str, name: str, source: str, data_dir: str | None) -> Path:
    names = f"{folder}/{name}|{name}|upstream/{name}|mme_finance/upstream/{name}"
    source = "auto" if source == "sample" else source
    settings = Settings.from_environ()
    return locate(
        "mme_finance_texts", [names], source=source, data_dir=data_dir, settings=settings
    ).files[name]


def _function(path: Path, *names: str) -> Any:
    """Return a function of an authors' file, or a method by the names of its class and itself."""
    try:
        node: Any = ast.parse(path.read_bytes())
        for name in names:
            node = next(one for one in node.body if getattr(one, "name", "") == name)
    except (OSError, SyntaxError, ValueError, StopIteration) as error:
        wanted = ".".join(names)
        raise DataError(
            f"{path}: expected the function {wanted}, found none. Take the file of the pinned commit."
        ) from error
    return node
