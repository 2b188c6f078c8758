"""Compare judges with people who scored the same responses (MME-Finance, section 4.3)."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from fin_tasks import report
from fin_tasks.errors import DataError
from fin_tasks.labels.agreement import agreement
from fin_tasks.labels.draw import Draw, response_of
from fin_tasks.labels.vote import most_frequent
from fin_tasks.report.samples import read_samples


def compare(
    draw: Draw,
    values: pd.DataFrame,
    paths: Sequence[Path],
) -> list[dict[str, Any]]:
    """Return a line for each judge and group of rows."""
    scores = pd.DataFrame(
        _judged(draw, paths),
        columns=["judge", "row", "points"],
    )
    votes = values.stack().dropna().astype(float).groupby(level="row")
    scores["people"] = scores["row"].map(votes.agg(most_frequent))
    scores["rows"] = scores["row"].map(_groups(draw))
    scores = scores.dropna().explode("rows")
    if scores.empty:
        expected = f"expected responses of {', '.join(draw.study.tasks)} that people scored"
        raise DataError(f"--judge: {expected}, found none.")
    lines = []
    for (judge, rows), group in scores.groupby(["judge", "rows"], sort=False):
        figures = agreement(group["people"], group["points"])
        lines.append(
            {
                "judge": judge,
                "rows": rows,
                **figures,
            }
        )
    return lines


def _judged(draw: Draw, paths: Sequence[Path]) -> Iterator[tuple[str, str, float]]:
    """Yield judge, row, and the judge's points on the scale of the people."""
    rows_by_key = {(row.task, row.doc_id): row for row in draw.rows}
    (question,) = draw.study.questions.values()
    lowest, highest = question.scale or (0, 0)
    for run in report.read(paths).runs:
        for result in run.tasks:
            model = result.judge.get("model", run.name)
            judge = f"{model} {result.judge.get('rubric', '')}".strip()
            for sample in read_samples(result.samples):
                row = rows_by_key.get((result.task, sample.id))
                score = sample.metrics.get("score")
                if row is None or score is None or sample.variant == "paper":
                    continue
                if response_of(sample) != row.response:
                    expected = "expected the response that people saw"
                    raise DataError(f"{sample.where}: {expected}, got another one.")
                yield judge, row.id, lowest + (highest - lowest) * score / 100


def _groups(draw: Draw) -> dict[str, list[str]]:
    """Return the groups that each row belongs to: all rows, and those of the study."""
    groups = {}
    for row in draw.rows:
        strata = row.facts.get(draw.study.strata, [])
        named = draw.study.groups.items()
        groups[row.id] = ["all", *(name for name, members in named if {*strata} & {*members})]
    return groups
