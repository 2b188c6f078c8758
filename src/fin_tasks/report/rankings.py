"""Models on the same rows: places, tests of pairs, and how small a difference would be found."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fin_tasks.report.entry import Entry, Scores
from fin_tasks.stats.power import detectable_difference, detectable_mean
from fin_tasks.stats.ranks import PairTest, Ranked, compare_all, rank

__all__ = ["ALPHA", "CONFIDENCE", "POWER", "Comparison", "compare_task", "six_digits"]

ALPHA, CONFIDENCE, POWER = 0.05, 0.95, 0.8
_SCALE: Mapping[str, float] = {"fraction": 1.0, "points": 100.0}
"""What is full marks in a unit."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Runs of one task that may be compared.

    Attributes:
        metric: By which.
        group: What their rows have in common, see `Entry.group`.
        rows: Rows that any of them was asked.
        clustered: Rows share sources, and the tests allow for it.
        exact: Pairs are tested by McNemar's exact test.
        paired: Difference of two models on these rows that is found with `POWER`; None where not defined.
        unpaired: That of two models on as many rows each, of their own.
        ranks: By run.
        pairs: By run.
    """

    metric: str
    group: str
    rows: int
    clustered: bool
    exact: bool
    paired: float | None
    unpaired: float | None
    ranks: Sequence[Ranked]
    pairs: Sequence[PairTest]

    def as_object(self, task: str) -> dict[str, Any]:
        """Return what the document says of it."""
        return {
            "task": task,
            "metric": self.metric,
            "group": self.group,
            "rows": self.rows,
            "clustered": self.clustered,
            "test": "McNemar" if self.exact else "t",
            "detectable": {"paired": self.paired, "unpaired": self.unpaired},
            "ranks": [
                {
                    "run": one.model,
                    "value": six_digits(one.mean),
                    "n": one.n,
                    "rank": one.rank,
                    "best": one.best,
                    "worst": one.worst,
                }
                for one in self.ranks
            ],
            "pairs": [
                {
                    "first": one.first,
                    "second": one.second,
                    "n": one.n,
                    "difference": six_digits(one.difference),
                    "low": six_digits(one.interval.low),
                    "high": six_digits(one.interval.high),
                    "p": six_digits(one.p),
                    "p_holm": six_digits(one.p_holm),
                }
                for one in self.pairs
            ],
        }


def compare_task(
    headlines: Sequence[Entry], *, scores_of: Callable[[str], Mapping[str, Scores]], mix: bool = False
) -> list[Comparison]:
    """Compare the runs of one task under one variant.

    Args:
        headlines: Their values of the headline metric; those without scores of rows are left out.
        scores_of: Run to its scores by variant.
        mix: Compare all of them, not only those of a group; rows are matched by their ids.

    Returns:
        One for each group, the largest first. Within a group a run that is marked beside others that are not, as one
        that was run again, is left out.
    """
    there = [(entry, scores) for entry in headlines if (scores := scores_of(entry.run).get(entry.variant))]
    there = [(entry, scores) for entry, scores in there if entry.metric in scores.values]
    groups = Counter(entry.group for entry, _ in there)
    if mix and groups:
        return [_compare(there, max(groups, key=lambda group: groups[group]))]
    found = []
    for group, _ in groups.most_common():
        own = [(entry, scores) for entry, scores in there if entry.group == group]
        fewest = min(len(entry.marks) for entry, _ in own)
        found.append(_compare([(entry, scores) for entry, scores in own if len(entry.marks) == fewest], group))
    return found


def _compare(runs: Sequence[tuple[Entry, Scores]], group: str) -> Comparison:
    first = runs[0][0]
    scores, clusters = _aligned([(entry.run, found) for entry, found in runs], first.metric)
    pairs = compare_all(scores, clusters=clusters)
    higher = first.higher_is_better is not False
    ranks = rank(scores, pairs=pairs, higher_is_better=higher, alpha=ALPHA)
    rows = len(next(iter(scores.values())))
    rates = [one.mean / _SCALE[first.unit] for one in ranks if one.n and first.unit in _SCALE]
    rate = float(np.median(rates)) if rates else math.nan
    unpaired = detectable_difference(rows, rate=rate, alpha=ALPHA, power=POWER) * _SCALE.get(first.unit, math.nan)
    errors = [pair.stderr for pair in pairs if math.isfinite(pair.stderr)]
    paired = detectable_mean(float(np.median(errors)), alpha=ALPHA, power=POWER) if errors else math.nan
    return Comparison(
        metric=first.metric,
        group=group,
        rows=rows,
        clustered=clusters is not None,
        exact=bool(pairs) and pairs[0].exact,
        paired=six_digits(paired or math.nan),  # models that agree on every row say nothing of others
        unpaired=six_digits(unpaired),
        ranks=ranks,
        pairs=pairs,
    )


def _aligned(
    runs: Sequence[tuple[str, Scores]], metric: str
) -> tuple[dict[str, npt.NDArray[np.float64]], list[Hashable] | None]:
    """Put the rows of all runs in one order, NaN where a run has not scored one; and say what rows share, if any do."""
    place: dict[str, int] = {}
    clusters: list[Hashable] = []
    told = False
    for _, scores in runs:
        for at, row in enumerate(scores.ids):
            if row not in place:
                place[row] = len(place)
                clusters.append(scores.clusters[at] if scores.clusters else f"row {row}")
        told = told or scores.clusters is not None
    aligned = {}
    for run, scores in runs:
        values = np.full(len(place), np.nan)
        values[[place[row] for row in scores.ids]] = scores.values[metric]
        aligned[run] = values
    shared = told and len(set(clusters)) < len(clusters)
    return aligned, clusters if shared else None


def six_digits(value: float | None) -> float | None:
    """Round to six significant digits; None where there is no number.

    Example:
        >>> six_digits(2 / 3), six_digits(float("nan"))
        (0.666667, None)
    """
    return None if value is None or not math.isfinite(value) else float(f"{value:.6g}")
