"""The judge that VLMEvalKit's arguments and FIN_TASKS_METADATA name."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from fin_tasks.adapters.task_file import TaskFile, rubric_of
from fin_tasks.errors import ConfigError
from fin_tasks.judging.item import Item, Judged
from fin_tasks.judging.judge import JudgeModel, check_failures, judge_from, judge_items
from fin_tasks.judging.rubric import Rubric
from fin_tasks.settings import Settings

_KEY = "FIN_TASKS_GIVEN_KEY"
"""Names a key that stands in the kit's arguments; it is kept in memory only."""
_KIT_ARGUMENTS = ("verbose", "retry", "wait", "use_vllm", "use_verifier")
"""What the kit adds to a judge's arguments for its own models."""
_USUAL_MODEL = "gpt-4o"
_USUAL_CONCURRENCY = 4


class KitJudge(NamedTuple):
    """A judge with its rubric, and the settings that hold its key."""

    model: JudgeModel
    rubric: Rubric
    settings: Settings

    def judge(self, items: Sequence[Item]) -> list[Judged]:
        """Ask about each item; raise JudgeError if the judge failed too often."""
        judged = judge_items(items, self.rubric, self.model, settings=self.settings)
        check_failures(judged, self.rubric, self.model.max_failed)
        return judged

    def facts(self) -> dict[str, object]:
        """Return what results say about the judge."""
        return {**self.model.facts(self.rubric), "usage": self.model.spent()}


def judge_of(task: TaskFile, arguments: Mapping[str, object]) -> KitJudge:
    """Return the judge of a task; arguments of the kit come before FIN_TASKS_METADATA."""
    settings = Settings.from_environ()
    options: dict[str, object] = {}
    for name, value in arguments.items():
        if value is not None and name not in _KIT_ARGUMENTS:
            options[name] = value
    concurrency = options.pop("nproc", _USUAL_CONCURRENCY)
    address = options.pop("api_base", None)
    if address:
        base_url = str(address).replace("/chat/completions", "")
        options.setdefault("base_url", base_url)
    key = str(options.get("key", ""))
    # `key` is the name of a variable, or the key itself.
    if key and not key.endswith("_KEY"):
        options["key"] = _KEY
        settings = replace(settings, api_keys={**settings.api_keys, _KEY: key})
    metadata = {"judge_model": _USUAL_MODEL, "judge_concurrency": concurrency}
    metadata |= settings.metadata
    for name, value in options.items():
        metadata[name if name == "rubric" else f"judge_{name}"] = value
    model = judge_from(metadata, settings)
    if model is None:
        raise ConfigError("--judge: expected the name of a model, got none.")
    rubric = rubric_of(task.judge or {}, task.options, metadata)
    return KitJudge(model, rubric, settings)
