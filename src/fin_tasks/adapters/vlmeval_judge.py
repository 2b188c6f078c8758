"""The judge that VLMEvalKit's arguments and FIN_TASKS_METADATA name."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from fin_tasks.adapters.task_file import TaskFile
from fin_tasks.judging.judge import JudgeModel, judge_from
from fin_tasks.judging.rubric import Rubric
from fin_tasks.settings import Settings

_KEY = "FIN_TASKS_GIVEN_KEY"
"""Names a key that stands in the kit's arguments; it is kept in memory only."""
_KIT_ARGUMENTS = (
    "api_base",
    "nproc",
    "verbose",
    "retry",
    "wait",
    "use_vllm",
    "use_verifier",
)
"""What the kit adds to a judge's arguments."""


class KitJudge(NamedTuple):
    """A judge with its rubric, and the settings that hold its key."""

    model: JudgeModel
    rubric: Rubric
    settings: Settings


def judge_of(task: TaskFile, arguments: Mapping[str, object]) -> KitJudge:
    """Return the judge of a task; arguments of the kit come before FIN_TASKS_METADATA."""
    settings = Settings.from_environ()
    key = str(arguments.get("key") or "")
    concurrency = arguments.get("nproc") or 4
    metadata = {
        "judge_model": "gpt-4o",
        "judge_concurrency": concurrency,
        **settings.metadata,
    }
    if arguments.get("api_base"):
        address = str(arguments["api_base"])
        metadata["judge_base_url"] = address.replace("/chat/completions", "")
    for name, value in arguments.items():
        if value is not None and name not in _KIT_ARGUMENTS:
            metadata[name if name == "rubric" else f"judge_{name}"] = value
    # `key` is the name of a variable, or the key itself.
    if key and not key.endswith("_KEY"):
        metadata["judge_key"] = _KEY
        settings = replace(settings, api_keys={**settings.api_keys, _KEY: key})
    model = judge_from(metadata, settings)
    assert model is not None  # noqa: S101 - a missing name is an error, as there are options
    return KitJudge(model, task.rubric(metadata), settings)
