"""What a task was asked under, and which results may be compared."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from fin_tasks.benchmarks.contract import Benchmark

from . import Json, hash_of
from .model import KNOWN_BENCHMARKS, Settings, TaskResult
from .redact import without_secrets

_NAMES = yaml.safe_load(Path(__file__).with_name("conditions.yaml").read_text("utf-8"))
WORDS: dict[str, dict[str, str]] = _NAMES["words"]
"""What conditions are called for people, by condition and value."""
_NO_SETTINGS = tuple(_NAMES["no_settings"])
_MAX_TEXT = 40


class Conditions(NamedTuple):
    """How a task was asked; what does not apply is empty."""

    task: str
    """lm-eval's name without what the following say."""
    split: str = ""
    mode: str = ""
    style: str = ""
    retrieval: str = ""
    arm: str = ""

    def id(self, *scoring: str) -> str:
        """Return the id of a task on a leaderboard, such as `financemath/paper/split=test`."""
        named = [f"{name}={value}" for name, value in self._asdict().items() if value]
        return "/".join([self.task, *scoring, *named[1:]])

    def text(self) -> str:
        """Return the conditions for people."""
        return " · ".join(value for value in self if value not in ("", "none"))

    @property
    def prices_as(self) -> str:
        """How a task of DynoStock shows prices: `text` for tables, `image` for charts."""
        return "text" if self.mode == "text" else "image"


CONDITIONS = Conditions._fields


def read_task_id(text: str) -> tuple[Conditions, str]:
    """Return the conditions and the scoring of an id."""
    task, scoring, *named = text.split("/")
    values = dict(part.split("=", 1) for part in named)
    return Conditions(task, **values), scoring


def settings_of(metadata: Settings, **facts: Any) -> Json:
    """Return the settings of a task: provenance, judge, and other facts, by dotted name."""
    provenance = metadata.get("provenance") or {"provenance": "unknown"}
    # Whatever judge the metadata of all tasks name, a task without one asked none.
    judge = metadata.get("judge", {})
    settings = {}
    for name, value in _flat({**provenance, "judge": judge, **facts}):
        if value is not None and not f"{name}.".startswith(_NO_SETTINGS):
            settings[name] = without_secrets(value)
    origin = settings.get("data.origin")
    if origin == "recording":  # its revision is a hash of one model's file
        settings.pop("data.revision", None)
    if origin == "sample":  # the packaged sample has the same rows for every split
        settings["split"] = "sample"
    if origin == "windows" and "data.parameters.from_recording" not in settings:
        settings["split"] = "own"  # these windows are not the paper's
    if "data.revision" in settings:
        # It stands for all other facts about the data, also for where the files were.
        for name in list(settings):
            if name.startswith("data.") and name != "data.revision":
                del settings[name]
    return dict(sorted(settings.items()))


def _flat(facts: Settings, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all facts that are no mappings by their dotted names."""
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def conditions_of(result: TaskResult) -> Conditions:
    """Return how a task was asked."""
    benchmark = KNOWN_BENCHMARKS[result.benchmark]
    settings = {name: setting_text(value) for name, value in result.settings.items()}
    task, endings = _split_name(result.task, benchmark)
    mode = next((ending for ending in endings if ending != "na"), "")
    usual = benchmark.usual_conditions.get("retrieval", "")
    return Conditions(
        task=task,
        split=settings.get("split", ""),
        mode=settings.get("style.mode") or settings.get("mode") or mode,
        style=_style(settings, may_decline="na" in endings),
        retrieval=settings.get("retrieval.condition", usual),
        arm=settings.get("arm", ""),
    )


def _split_name(task: str, benchmark: Benchmark) -> tuple[str, list[str]]:
    """Return a task's name without the endings that repeat conditions, and these endings, the last one first."""
    start = f"{benchmark.name}_"
    endings = []
    while (
        task.startswith(start) and task.removeprefix(start) not in benchmark.part_labels
    ):
        shorter, _, ending = task.rpartition("_")
        if ending not in _NAMES["endings"]:
            break
        task = shorter
        endings.append(ending)
    return task, endings


def _style(settings: Mapping[str, str], *, may_decline: bool) -> str:
    """Return what is not usual about the wording of a task's prompts."""
    prompts = settings.get("prompts.set", "house")
    parts = {
        f"{prompts} prompts": prompts != "house",
        "no role": settings.get("style.role") == "false",
    }
    for name, usual in _NAMES["usual_style"].items():
        style = settings.get(name, usual)
        parts[style] = style != usual
    if settings.get("protocol"):
        parts[f"{settings['protocol']} protocol"] = True
    for kind, words in (("statement", ""), ("mitigation", "mitigation ")):
        name = settings.get(f"{kind}.name", "").replace("_", " ")
        parts[words + name] = bool(name)
    parts["anonymized"] = settings.get("anonymize") == "true"
    parts["may decline"] = may_decline or settings.get("na") == "true"
    return ", ".join(part for part, is_shown in parts.items() if is_shown)


def setting_text(value: object) -> str:
    """Return a setting as text, JSON for all but texts; a whole number has no decimals."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def setting_id(result: TaskResult, *, any_decoding: bool = False) -> str:
    """Return a short hash that results share if they may be compared."""
    settings = result.settings if any_decoding else result.all_settings
    return hash_of([result.task, settings])


def varying(results: Sequence[TaskResult]) -> dict[str, list[Any]]:
    """Return the settings that are not the same in all results, with the value of each result."""
    values_by_name = {}
    all_settings = [result.all_settings for result in results]
    for name in sorted(set[str]().union(*all_settings)):
        values = [settings.get(name) for settings in all_settings]
        if values.count(values[0]) < len(values):
            values_by_name[name] = values
    return values_by_name


def differences(
    result: TaskResult,
    reference: TaskResult,
    ignored: tuple[str, ...] = (),
) -> list[str]:
    """Say in plain words how two results differ, except in settings that begin with an ignored text."""
    texts = []
    for name, (here, expected) in varying([result, reference]).items():
        if not name.startswith(ignored):
            reference_text = f"{_short_text(expected)} in the reference"
            texts.append(f"{setting_note(name, here)} here, {reference_text}")
    return texts


def setting_note(name: str, value: object) -> str:
    """Return a setting in words, such as `judge temperatures: [0.0]` for `judge.temperatures`."""
    label = _NAMES["labels"].get(name, re.sub("[._]", " ", name))
    return f"{label}: {_short_text(value)}"


def shared_settings(results: Sequence[TaskResult]) -> tuple[Json, Json]:
    """Return the settings and the decoding of a group: what its tasks share, and one hash of all that differs."""
    own = varying(results)
    names = [result.task for result in results]
    first = results[0]
    settings = {**first.settings, "tasks": hash_of([names, own])}
    shared = {name: settings[name] for name in settings if name not in own}
    decoding = {
        name: first.decoding[name] for name in first.decoding if name not in own
    }
    return shared, decoding


def _short_text(value: object) -> str:
    """Return a setting as a short text; of a hash only the beginning."""
    text = "not stated" if value is None else setting_text(value)
    if re.fullmatch(r"[0-9a-f]{16,}", text):
        return f"{text[:8]}…"
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"
