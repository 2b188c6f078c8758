"""Whether a samples file has the rows it should have, each once and under every filter."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fin_tasks.report.verify.findings import Finding, Place, Status, finding, not_checked
from fin_tasks.report.verify.own_data import OwnData
from fin_tasks.report.verify.submitted import Submitted
from fin_tasks.report.verify.task_files import TaskFile

__all__ = ["check_rows"]

_PADDED = 64
"""Rows that may have more responses than others: of several processes lm-eval lets each ask its last row again."""


@dataclass(frozen=True)
class _Expected:
    """The documents a run should have, and why these are not all: empty where they are."""

    ids: Sequence[str]
    limited: str = ""
    is_chosen: bool = False


def _expected(own: OwnData, raw: Mapping[str, Any], task: str, submitted: Submitted) -> _Expected:
    """Say which documents a run should have: all, the first so many, or those that somebody chose by number."""
    ids = list(own.docs)
    config = raw.get("config")
    limit = config.get("limit") if isinstance(config, dict) else None
    if isinstance(limit, (int, float)) and not isinstance(limit, bool) and limit > 0 and math.isfinite(limit):
        count = math.ceil(len(ids) * limit) if limit < 1 else int(limit)
        return _Expected(ids[:count], f"limit {limit:g}") if count < len(ids) else _Expected(ids)
    # lm-eval does not write down what `--samples` named, but counts it
    there = {row.id for row in submitted.first} & own.docs.keys()
    if len(there) < len(ids) and _said_count(raw, task).get("effective") == len(there):
        return _Expected([name for name in ids if name in there], f"{len(there):,} rows chosen by number", True)
    return _Expected(ids)


def check_rows(
    place: Place, task: TaskFile, submitted: Submitted, own: OwnData | None, raw: Mapping[str, Any]
) -> Iterator[Finding]:
    """Compare the rows of a file with those of the data set: missing, extra, twice, out of place."""
    yield finding(
        "variants",
        place,
        "the file does not have the task's filters",
        [
            *(f"{name}: missing" for name in task.pipelines if name not in submitted.variants),
            *(f"{name!r:.60}: not a filter of this task" for name in submitted.variants if name not in task.pipelines),
            *_uneven(submitted),
        ],
        fine=f"rows under {', '.join(submitted.variants)}, the same in each, with the same responses",
    )
    yield from _repeats(place, submitted)
    if own is None:
        yield not_checked("rows", place, "the benchmark's own documents could not be loaded")
        return
    expected = _expected(own, raw, place.task, submitted)
    wanted, numbers = set(expected.ids), {name: number for number, name in enumerate(own.docs)}
    details = []
    for variant, rows in submitted.variants.items():
        counts = Counter(row.id for row in rows)
        details += [f"{variant}: {name!r:.60} missing" for name in expected.ids if name not in counts]
        details += [f"{variant}: {name!r:.60} is no row of the data set" for name in counts if name not in own.docs]
        details += [
            f"{variant}: {name!r:.60} beyond the {expected.limited}"
            for name in counts
            if name in own.docs.keys() - wanted
        ]
        details += [f"{variant}: {name!r:.60} {count} times" for name, count in counts.items() if count > 1]
        details += [
            f"{variant}, line {row.line}: {row.id!r:.60} at place {row.place}, expected {numbers[row.id]}"
            for row in rows
            if row.id in numbers and row.place != numbers[row.id]
        ]
    details += _counts(place.task, raw, own, len(expected.ids))
    yield finding(
        "rows",
        place,
        "{n} rows are missing, extra, twice or out of place",
        details,
        fine=f"{len(expected.ids):,} rows, each once",
    )
    if expected.limited:
        shown = f"{expected.limited}: {len(expected.ids):,} of the {len(own.docs):,} rows of the data set"
        # whoever chooses rows can leave out the others when the responses are known
        status = Status.failed if expected.is_chosen else Status.warned
        yield finding("limit", place, "the run is not over the whole data set", [shown], status=status)


def _repeats(place: Place, submitted: Submitted) -> Iterator[Finding]:
    """Compare how many responses rows have: whoever asks some rows more often can choose."""
    usual = Counter(len(row.responses) for row in submitted.first).most_common(1)[0][0]
    others = [row for row in submitted.first if len(row.responses) != usual]
    shown = [f"line {row.line}: {row.id!r:.60} has {len(row.responses)}, others {usual}" for row in others]
    if len(others) > _PADDED or any(len(row.responses) < usual for row in others):
        yield finding("repeats", place, "{n} rows do not have as many responses as the others", shown)
    elif others or usual > 1:
        means = [f"{usual} responses to each question; scores are means over them"] if usual > 1 else []
        message = "rows have several responses: from several processes, or repeats"
        yield finding("repeats", place, message, [*means, *shown], status=Status.warned)


def _counts(task: str, raw: Mapping[str, Any], own: OwnData, expected: int) -> Iterator[str]:
    if not raw:
        return  # there are no results that could count
    said = _said_count(raw, task)
    for name, right in (("original", len(own.docs)), ("effective", expected)):
        if said.get(name) != right:
            yield f"results, n-samples.{name}: expected {right}, got {said.get(name)!r:.40}"


def _said_count(raw: Mapping[str, Any], task: str) -> Mapping[str, Any]:
    counts = raw.get("n-samples")
    said = counts.get(task) if isinstance(counts, dict) else None
    return said if isinstance(said, dict) else {}


def _uneven(submitted: Submitted) -> Iterator[str]:
    """Rows that are not the same under every filter: the model answered once."""
    first = {row.id: row.responses for row in submitted.first}
    for variant, rows in list(submitted.variants.items())[1:]:
        for row in rows:
            if row.id not in first:
                yield f"{variant}, line {row.line}: {row.id!r:.60} is not under the first filter"
            elif row.responses != first[row.id]:
                yield f"{variant}, line {row.line}: {row.id!r:.60} has another response than under the first filter"
        yield from (f"{variant}: {name!r:.60} is missing" for name in first.keys() - {row.id for row in rows})
