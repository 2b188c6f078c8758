"""Compare judges with people who scored the same responses (MME-Finance, section 4.3)."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from fin_tasks import report
from fin_tasks.errors import DataError
from fin_tasks.labels.agreement import agreement
from fin_tasks.labels.draw import Draw, Row, response_of
from fin_tasks.labels.study import Question
from fin_tasks.labels.vote import most_frequent
from fin_tasks.report.model import TaskResult
from fin_tasks.report.samples import read_samples

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
    """Return a line for each judge and group of rows."""
    pairs: list[_Pair] = []
    for run in report.read(paths).runs:
        for result in run.tasks:
            model = result.judge.get("model", run.name)
            rubric = result.judge.get("rubric", "")
            judge = f"{model} {rubric}".strip()
            pairs += _pairs(draw, values, judge, result)
    if not pairs:
        expected = f"expected responses of {', '.join(draw.study.tasks)} that people scored"
        raise DataError(f"--judge: {expected}, found none.")
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
    judge: str,
    result: TaskResult,
) -> Iterator[_Pair]:
    rows_by_key = {(row.task, row.doc_id): row for row in draw.rows}
    (question,) = draw.study.questions.values()
    for sample in read_samples(result.samples):
        row = rows_by_key.get((result.task, sample.id))
        score = sample.metrics.get("score")
        if row is None or score is None or sample.variant == "paper":
            continue
        if response_of(sample) != row.response:
            expected = "expected the response that people saw"
            raise DataError(f"{sample.where}: {expected}, got another one.")
        votes = values.loc[row.id].iloc[0].dropna()
        if votes.empty:
            continue
        people = most_frequent(list(votes.astype(float)))
        points = _points_of(question, score)
        for group in _groups_of(draw, row):
            yield _Pair(judge, group, people, points)


def _points_of(question: Question, percent: float) -> float:
    """Return a judge's score on the scale of the people."""
    lowest, highest = question.scale or (0, 0)
    return lowest + (highest - lowest) * percent / 100


def _groups_of(draw: Draw, row: Row) -> list[str]:
    """Return the groups that a row belongs to: all rows, and those of the study."""
    strata = set(row.facts.get(draw.study.strata, []))
    groups = [_ALL]
    for group, members in draw.study.groups.items():
        if strata.intersection(members):
            groups.append(group)
    return groups
