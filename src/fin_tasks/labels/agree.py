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
    judged = _judged(draw, paths)
    scores = pd.DataFrame(judged, columns=["judge", "rows", "row", "points"])
    votes = values.stack().dropna().astype(float).groupby(level="row")
    scores["people"] = scores["row"].map(votes.agg(most_frequent))
    scores = scores.dropna()
    if scores.empty:
        expected = (
            f"expected responses of {', '.join(draw.study.tasks)} that people scored"
        )
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


def _judged(draw: Draw, paths: Sequence[Path]) -> Iterator[tuple[str, str, str, float]]:
    """Yield judge, group of rows, row, and the judge's points on the scale of the people."""
    study = draw.study
    rows_by_key = {(row.task, row.doc_id): row for row in draw.rows}
    (question,) = study.questions.values()
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
                points = lowest + (highest - lowest) * score / 100
                strata = {*row.facts.get(study.strata, [])}
                groups = [
                    name
                    for name, members in study.groups.items()
                    if strata & {*members}
                ]
                for group in ["all", *groups]:
                    yield judge, group, row.id, points
