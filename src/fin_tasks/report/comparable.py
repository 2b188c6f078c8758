"""Which results may be compared: what the models were asked and how they were scored, without the models themselves."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fin_tasks.report.model import TaskResult
from fin_tasks.report.redact import without_secrets

_FOLLOWS = {
    "hash",
    "rows",
    "left_out",
    "defects",
    "asked",
    "blank_image",
    "data.commit",
    "data.defects",
}
_FOLLOWS |= {"fin_tasks", "file", "file_sha256", "source"}
"""Provenance that follows from other settings, is compared elsewhere, or changes no score."""
_JUDGE = (
    "model",
    "rubric",
    "rubric_sha256",
    "version",
    "image",
    "temperatures",
    "tries",
    "max_tokens",
)
_ENDINGS = ("da", "pot", "text", "na")  # of task names that repeat a condition
_WHOLE = "xfinbench_text"  # in this name `text` is no condition


def settings_of(metadata: Mapping[str, Any], **facts: Any) -> dict[str, str]:
    """Return the settings of a task: provenance, judge, and the facts given, as dotted name to JSON text."""
    provenance, judge = (metadata.get(name) for name in ("provenance", "judge"))
    if not isinstance(judge, Mapping):
        judge = {}  # whatever judge the metadata of all tasks name, this one asked none
    if not isinstance(provenance, Mapping):
        provenance = {"provenance": "unknown"}
    told = {
        **dict(_flat(with_sample(provenance))),
        **dict(_flat({f"judge.{name}": judge.get(name) for name in _JUDGE})),
        **dict(_flat(facts)),
    }
    follows = tuple(f"{name}." for name in _FOLLOWS)
    kept = {n: v for n, v in told.items() if v is not None and not f"{n}.".startswith(follows)}
    if kept.get("data.origin") == "recording":  # its revision is a hash of one model's file
        kept.pop("data.revision", None)
    elif "data.revision" in kept:  # the revision stands for all other facts about the data
        kept = {
            n: v
            for n, v in kept.items()
            if not n.startswith("data.") or n in ("data.revision", "data.origin")
        }
    if kept.get("data.origin") == "sample":  # the packaged sample has the same rows for every split
        kept["split"] = "sample"
    return {name: json.dumps(without_secrets(kept[name]), sort_keys=True) for name in sorted(kept)}


def with_sample(provenance: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a provenance whose random sample stands in `sample`; older ones have `n` and `seed`."""
    if "n" not in provenance or "sample" in provenance:
        return provenance
    others = {name: fact for name, fact in provenance.items() if name not in ("n", "seed")}
    return {**others, "sample": {"n": provenance["n"], "seed": provenance.get("seed")}}


def conditions_of(result: TaskResult) -> dict[str, str]:
    """Return how a task was asked: `task` without its endings, `split`, `mode`, `style`, `retrieval` and `arm`."""
    said = {name: text_of(value) for name, value in result.settings.items()}
    task, endings = result.task, []
    while (ending := task.rpartition("_")[2]) in _ENDINGS and task != _WHOLE:
        task = task.removesuffix(f"_{ending}")
        endings.append(ending)
    style = [
        *(
            [f"{said['prompts.set']} prompts"]
            if said.get("prompts.set", "house") != "house"
            else []
        ),
        *(["no role"] if said.get("style.role") == "false" else []),
        *(
            [said["prompts.style"]]
            if said.get("prompts.style", "structured") != "structured"
            else []
        ),
        *(
            said[name]
            for name, usual in (("text", "table"), ("frequency", "daily"))
            if said.get(name, usual) != usual
        ),
        *(["anonymized"] if said.get("anonymize") == "true" else []),
        *(["may decline"] if said.get("na") == "true" or "na" in endings else []),
    ]
    knowledge = (
        said.get("retrieval.condition")
        or said.get("knowledge")
        or said.get("knowledge.condition")
        or "none"
    )
    return {
        "task": task,
        "split": said.get("split", ""),
        "mode": said.get("style.mode")
        or said.get("mode")
        or next((e for e in endings if e != "na"), ""),
        "style": ", ".join(style),
        "retrieval": knowledge if result.benchmark == "xfinbench" else "",
        "arm": said.get("arm", ""),
    }


def setting_id(result: TaskResult) -> str:
    """Return a short hash that results share if they may be compared."""
    return _hash([result.task, dict(result.settings)])


def reference_of(results: Sequence[TaskResult], named: str = "") -> TaskResult:
    """Return the result whose settings others are held against: that of the `Run.id` named, else one with most rows."""
    return max(results, key=lambda one: (one.run == named, one.n, setting_id(one)))


def differences(result: TaskResult, reference: TaskResult) -> list[str]:
    """Say in what the settings of two results differ, such as `split: test, reference: validation`."""
    own, others = result.settings, reference.settings
    names = sorted(name for name in own.keys() | others.keys() if own.get(name) != others.get(name))
    return [
        f"{name}: {_short(own.get(name))}, reference: {_short(others.get(name))}" for name in names
    ]


def text_of(value: str) -> str:
    """Return the text of a setting; other values as their JSON."""
    return str(json.loads(value)) if value[:1] == '"' else value


def together(results: Sequence[TaskResult]) -> dict[str, str]:
    """Return the settings of a group: what its tasks share, and one hash of all that differs."""
    names = sorted({name for one in results for name in one.settings})
    shared = {
        n: results[0].settings[n]
        for n in names
        if len({one.settings.get(n) for one in results}) == 1
    }
    rest = sorted(
        (one.task, n, one.settings.get(n)) for one in results for n in names if n not in shared
    )
    return {**shared, "tasks": json.dumps(_hash(rest))}


def _short(value: str | None) -> str:
    text = "none" if value is None else text_of(value)
    return (
        f"{text[:8]}…"
        if re.fullmatch(r"[0-9a-f]{16,}", text)
        else f"{text[:39]}…"
        if len(text) > 40
        else text
    )


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def _flat(facts: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
