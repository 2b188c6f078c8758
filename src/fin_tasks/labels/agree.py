"""Compare judges with people who scored the same responses (MME-Finance, section 4.3)."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from fin_tasks import report
from fin_tasks.errors import DataError
from fin_tasks.labels.agreement import agreement
from fin_tasks.labels.draw import Draw, Row, response_of
from fin_tasks.labels.vote import most_frequent
from fin_tasks.report.model import TaskResult
from fin_tasks.report.samples import Sample, read_samples

_ALL = "all"


class _Pair(NamedTuple):
    """The scores of a response by people and by a judge."""

    judge: str
    rows: str
    people: float
    points: float


def compare(
    draw: Draw,
    values: pd.DataFrame,
    paths: Sequence[Path],
) -> list[dict[str, Any]]:
    """Return a line for each judge and group of rows, of run folders or samples files."""
    pairs: list[_Pair] = []
    for path in paths:
        new_pairs = list(_pairs(draw, values, path))
        if not new_pairs:
            expected = f"expected responses of {', '.join(draw.study.tasks)} that people scored"
            raise DataError(f"--judge {path}: {expected}, found none.")
        pairs += new_pairs
    lines = []
    groups = pd.DataFrame(pairs).groupby(["judge", "rows"], sort=False)
    for (judge, rows), scores in groups:
        line = {"judge": judge, "rows": rows}
        line |= agreement(scores["people"], scores["points"])
        lines.append(line)
    return lines


def _pairs(
    draw: Draw,
    values: pd.DataFrame,
    path: Path,
) -> Iterator[_Pair]:
    rows_by_key = {(row.task, row.doc_id): row for row in draw.rows}
    for judge, result in _results_of(path):
        for sample in read_samples(result.samples):
            row = rows_by_key.get((result.task, sample.id))
            if row is None or sample.variant == "paper":
                continue
            people = values.loc[row.id].iloc[0].dropna().astype(float)
            points = _points_of(sample)
            if points is None or people.empty:
                continue
            if response_of(sample) != row.response:
                expected = "expected the response that people saw"
                raise DataError(f"{sample.where}: {expected}, got another one.")
            for group in _groups_of(draw, row):
                yield _Pair(judge, group, most_frequent(list(people)), points)


def _results_of(path: Path) -> Iterator[tuple[str, TaskResult]]:
    """Yield the tasks of a run folder or a samples file, each with its judge's name."""
    for run in report.read([path]).runs:
        for result in run.tasks:
            if result.samples is None:
                continue
            if path.is_dir() or result.samples.samefile(path):
                model = result.judge.get("model", run.name)
                rubric = result.judge.get("rubric", "")
                yield f"{model} {rubric}".strip(), result


def _points_of(sample: Sample) -> float | None:
    try:
        (reading,) = sample.readings
        return None if reading["unscored"] else float(reading["answer"])
    except (ValueError, KeyError, TypeError) as error:
        expected = "expected samples of a judged task"
        raise DataError(f"{sample.where}: {expected}, got {error!r}.") from error


def _groups_of(
    draw: Draw,
    row: Row,
) -> list[str]:
    """Return the groups that a row belongs to: all rows, and those of the study."""
    strata = set(row.facts.get(draw.study.strata, []))
    groups = [_ALL]
    for group, members in draw.study.groups.items():
        if strata.intersection(members):
            groups.append(group)
    return groups
