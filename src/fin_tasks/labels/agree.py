"""Agreement of a judge with people (MME-Finance, section 4.3): rank correlation and mean absolute difference."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean, pvariance
from typing import Any

import numpy as np
import pandas as pd

from fin_tasks.benchmarks.contract import id_of
from fin_tasks.benchmarks.mme_finance.score import CATEGORIES
from fin_tasks.errors import DataError
from fin_tasks.labels.draw import Draw
from fin_tasks.report.rows import read_samples, readings_of

_REVIEW = 2.0  # people look again at a response whose scores have a larger variance


def combine(scores: Sequence[float]) -> tuple[float, bool]:
    """Return the score that most people gave, else the mean; and whether the response needs a second look."""
    (first, votes), *rest = Counter(scores).most_common()
    alone = not rest or rest[0][1] < votes
    return (first if alone else mean(scores)), pvariance(scores) > _REVIEW


def bootstrap(
    statistic: Callable[[Any], float], rows: Any, *, times: int
) -> tuple[float | None, ...]:
    """Return a statistic of rows and its 95 % bootstrap interval; None if the statistic is NaN."""
    found, rng, n = statistic(rows), np.random.default_rng(42), len(rows)
    if math.isnan(found):
        return None, None, None
    drawn = [statistic(rows[rng.integers(n, size=n)]) for _ in range(times)]
    return found, *np.nanquantile(drawn, [0.025, 0.975]).tolist()


def agreement(people: Sequence[float], judge: Sequence[float]) -> dict[str, float | None]:
    """Compare two graders of the same responses by Spearman's correlation, with an interval, and their differences.

    Values that are not defined are None. The bias is the judge's mean minus the people's mean.
    """
    pairs = np.array([people, judge], dtype=float).T
    apart = pairs[:, 1] - pairs[:, 0]
    mad, bias = (float(abs(apart).mean()), float(apart.mean())) if len(apart) else (None, None)
    correlation = bootstrap(
        lambda of: float(pd.DataFrame(of).corr("spearman").iloc[0, 1]), pairs, times=2000
    )
    spearman = dict(zip(("spearman", "low", "high"), correlation, strict=True))
    return {"n": len(pairs), **spearman, "mean_absolute_difference": mad, "bias": bias}


def compare(draw: Draw, values: pd.DataFrame, path: Path) -> dict[str, dict[str, float | None]]:
    """Compare a judge's samples file with the people's scores: all, objective and subjective categories."""
    rows = {row.doc_id: row for row in draw.rows}
    pairs: dict[str, list[tuple[float, float]]] = {"all": []}
    for sample in read_samples(path):
        try:
            row, of_paper = rows.get(id_of(sample["doc"])), sample["filter"] == "paper"
            (reading,) = readings_of(sample["filtered_resps"])
            points, response = (
                None if reading["unscored"] else float(reading["answer"]),
                sample["resps"][0][0],
            )
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise DataError(
                f"{path}: expected samples_*.jsonl of a judged task, got {error!r}."
            ) from error
        people = [float(score) for score in values.loc[row.id].iloc[0].dropna()] if row else []
        if row is None or points is None or not people or of_paper:
            continue
        if response != row.response:
            raise DataError(
                f"{path}: expected the responses that people saw, got another one to {row.doc_id}."
            )
        category = CATEGORIES.get(row.facts.get("category", [""])[0])
        groups = (
            []
            if category is None
            else ["subjective" if category.kind == "subjective" else "objective"]
        )
        for group in ("all", *groups):
            pairs.setdefault(group, []).append((combine(people)[0], points))
    return {
        group: agreement([x for x, _ in of], [y for _, y in of])
        for group, of in sorted(pairs.items())
    }
