"""Which results may be compared: what the models were asked and how they were scored, without the models themselves."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fin_tasks.report.model import TaskResult
from fin_tasks.report.redact import without_secrets

__all__ = ["UNKNOWN", "settings_of", "together"]

UNKNOWN: Mapping[str, str] = {"results": '"unknown"'}
"""The settings of samples without a results file."""

_NO_SETTINGS = (  # what follows from the rest, what is counted elsewhere, and the version of the package
    *("hash", "rows", "left_out", "defects", "asked", "fin_tasks", "blank_image", "data.commit", "data.defects"),
    *(f"retrieval.{name}" for name in ("gold_missing", "rows_with_more_terms", "rows_without_terms")),
)
_JUDGE = ("model", "rubric", "rubric_sha256", "version", "image", "temperatures", "tries", "max_tokens")
_DEEPEST, _MOST = 30, 2_000


def settings_of(metadata: Mapping[str, Any], **facts: Any) -> dict[str, str]:
    """Return the settings of a task: provenance, judge, and the facts given, as dotted name to JSON text."""
    provenance, judge = (metadata.get(name) for name in ("provenance", "judge"))
    if not isinstance(judge, Mapping):
        judge = {"model": metadata.get("judge_model")}
    told = {
        **dict(_flat(provenance if isinstance(provenance, Mapping) else {"provenance": "unknown"})),
        **dict(_flat({f"judge.{name}": judge.get(name) for name in _JUDGE})),
        **dict(_flat(facts)),
    }
    kept = {
        n: v for n, v in told.items() if v is not None and not any(f"{n}.".startswith(f"{x}.") for x in _NO_SETTINGS)
    }
    if kept.get("data.origin") == "recording":  # whose revision names the documents of one model's file
        kept.pop("data.revision", None)
    elif "data.revision" in kept:  # which stands for all else that is known of the data
        kept = {n: v for n, v in kept.items() if not n.startswith("data.") or n in ("data.revision", "data.origin")}
    if kept.get("data.origin") == "sample":  # the packaged sample has the same rows, whichever split was named
        kept["split"] = "sample"
    return {name: json.dumps(without_secrets(kept[name]), sort_keys=True) for name in sorted(kept)[:_MOST]}


def together(results: Sequence[TaskResult]) -> dict[str, str]:
    """Return the settings of a group: what its tasks share, and one hash of all that differs."""
    names = sorted({name for one in results for name in one.settings})
    shared = {n: results[0].settings[n] for n in names if len({one.settings.get(n) for one in results}) == 1}
    rest = sorted((one.task, n, one.settings.get(n)) for one in results for n in names if n not in shared)
    return {**shared, "tasks": json.dumps(hashlib.sha256(json.dumps(rest).encode()).hexdigest()[:16])}


def _flat(facts: Mapping[str, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    for name, value in facts.items():
        if isinstance(value, Mapping) and depth < _DEEPEST:
            yield from _flat(value, f"{prefix}{name}.", depth + 1)
        else:
            yield f"{prefix}{name}", value
