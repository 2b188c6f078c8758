"""Compare judges with people who scored the same responses (MME-Finance, section 4.3)."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from fin_tasks import report
from fin_tasks.errors import DataError
from fin_tasks.labels.agreement import agreement
from fin_tasks.labels.draw import Draw, Row, response_of
from fin_tasks.labels.vote import most_frequent
from fin_tasks.report.model import TaskResult
from fin_tasks.report.samples import Sample, read_samples

_ALL = "all"


def compare(draw: Draw, values: pd.DataFrame, paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Return a line for each judge and group of rows, of run folders or samples files."""
    rows_by_key = {(row.task, row.doc_id): row for row in draw.rows}
    pairs: list[tuple[str, str, float, float]] = []
    for path in paths:
        n_before = len(pairs)
        for judge, result in _results_of(path):
            for row, points in _judged_rows(result, rows_by_key):
                scores = [float(score) for score in values.loc[row.id].iloc[0].dropna()]
                if scores:
                    groups = _groups_of(draw, row)
                    pairs += [(judge, group, most_frequent(scores), points) for group in groups]
        if len(pairs) == n_before:
            expected = f"expected responses of {', '.join(draw.study.tasks)} that people scored"
            raise DataError(f"--judge {path}: {expected}, found none.")
    lines = []
    table = pd.DataFrame(pairs, columns=["judge", "rows", "people", "points"])
    for (judge, group), scores in table.groupby(["judge", "rows"], sort=False):
        line = {"judge": judge, "rows": group}
        lines.append(line | agreement(scores["people"], scores["points"]))
    return lines


def _results_of(path: Path) -> Iterator[tuple[str, TaskResult]]:
    """Yield the judged tasks of a run folder or a samples file, each with its judge's name."""
    for run in report.read([path]).runs:
        for result in run.tasks:
            is_named = path.is_dir() or (result.samples and result.samples.samefile(path))
            if result.samples and is_named:
                model = result.judge.get("model", run.name)
                rubric = result.judge.get("rubric", "")
                yield f"{model} {rubric}".strip(), result


def _judged_rows(
    result: TaskResult, rows_by_key: Mapping[tuple[str, str], Row]
) -> Iterator[tuple[Row, float]]:
    """Yield the rows of the study that a judge scored under `robust`, each with its points."""
    for sample in read_samples(result.samples):
        row = rows_by_key.get((result.task, sample.id))
        if row is None or sample.variant == "paper":
            continue
        points = _points_of(sample, result)
        if points is None:
            continue
        if response_of(sample) != row.response:
            expected = "expected the responses that people saw"
            raise DataError(f"{result.samples}: {expected}, got another one to {row.doc_id}.")
        yield row, points


def _points_of(sample: Sample, result: TaskResult) -> float | None:
    try:
        (reading,) = sample.readings
        return None if reading["unscored"] else float(reading["answer"])
    except (ValueError, KeyError, TypeError) as error:
        expected = "expected samples of a judged task"
        raise DataError(f"{result.samples}: {expected}, got {error!r}.") from error


def _groups_of(draw: Draw, row: Row) -> list[str]:
    """Return the groups that a row belongs to: all rows, and those of the study."""
    strata = row.facts.get(draw.study.strata, [])
    groups = [_ALL]
    for group, members in draw.study.groups.items():
        if not set(strata).isdisjoint(members):
            groups.append(group)
    return groups
