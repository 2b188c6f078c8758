"""Models on the same rows: places, tests of pairs, and how small a difference would be found."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fin_tasks.report.entry import Entry, Scores
from fin_tasks.stats.clustered import clustered_mean, numbered
from fin_tasks.stats.power import detectable_difference, detectable_mean, fewest_discordant
from fin_tasks.stats.ranks import PairTest, Ranked, compare_all, rank

__all__ = [
    "ALPHA",
    "CONFIDENCE",
    "ENOUGH",
    "FULL_MARKS",
    "POWER",
    "Comparison",
    "LeftOut",
    "compare_task",
    "six_digits",
]

ALPHA, CONFIDENCE, POWER = 0.05, 0.95, 0.8
ENOUGH = 0.5
"""Share of the most rows that a run of a group has scored, which a run needs to be ranked with it."""

FULL_MARKS: Mapping[str, float] = {"fraction": 1.0, "points": 100.0}
"""By unit; a `number` may be any."""


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A run that is not ranked with the others of its group.

    Attributes:
        run: Which.
        n: Rows it has scored.
        reason: In words.
    """

    run: str
    n: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Runs of one task that may be compared.

    Attributes:
        metric: By which.
        group: What their rows have in common, see `Entry.group`.
        rows: Rows that any of them was asked.
        sources: Figures, exercises, tickers, ... among them; `rows` where each stands alone.
        clustered: Rows share sources, and the tests allow for it.
        exact: Pairs are tested by McNemar's exact test.
        paired: Difference of two models on these rows that is found with `POWER`, after Holm's correction at its
            strictest; None where not defined.
        unpaired: That of two models on as many rows each, of their own.
        ranks: By run, over the rows each has scored.
        pairs: By run.
        left_out: Runs of the group that are not ranked, and why.
    """

    metric: str
    group: str
    rows: int
    sources: int
    clustered: bool
    exact: bool
    paired: float | None
    unpaired: float | None
    ranks: Sequence[Ranked]
    pairs: Sequence[PairTest]
    left_out: Sequence["LeftOut"] = ()

    def as_object(self, task: str) -> dict[str, Any]:
        """Return what the document says of it."""
        return {
            "task": task,
            "metric": self.metric,
            "group": self.group,
            "rows": self.rows,
            "sources": self.sources,
            "clustered": self.clustered,
            "test": "McNemar" if self.exact else "t",
            "detectable": {"paired": self.paired, "unpaired": self.unpaired},
            "ranks": [
                {
                    "run": one.model,
                    "value": six_digits(one.mean),
                    "n": one.n,
                    "unscored": self.rows - one.n,
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
            "left_out": [vars(one) for one in self.left_out],
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
        One for each group, the largest first. Within a group a run is left out, by name, that is marked beside others
        that are not, as one that was run again; that scored fewer than `ENOUGH` of the rows that another did; and that
        has fewer than `ENOUGH` of its rows in common with any other.
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
        plain = [(entry, scores) for entry, scores in own if len(entry.marks) == fewest]
        marked = [
            LeftOut(run=entry.run, n=_scored(scores, entry.metric), reason="; ".join(entry.marks))
            for entry, scores in own
            if len(entry.marks) > fewest
        ]
        found.append(_compare(plain, group, marked))
    return found


def _scored(scores: Scores, metric: str) -> int:
    return int(np.count_nonzero(~np.isnan(scores.values[metric])))


def _compare(runs: Sequence[tuple[Entry, Scores]], group: str, marked: Sequence[LeftOut] = ()) -> Comparison:
    first = runs[0][0]
    scores, clusters = _aligned([(entry.run, found) for entry, found in runs], first.metric)
    left_out = _not_to_be_ranked(scores, {entry.run: len(found.ids) for entry, found in runs})
    if kept := [(entry.run, found) for entry, found in runs if entry.run not in left_out]:
        scores, clusters = _aligned(kept, first.metric)
    rows = len(next(iter(scores.values())))
    scores = {run: values for run, values in scores.items() if run not in left_out}
    pairs = [pair.within(FULL_MARKS.get(first.unit, math.inf)) for pair in compare_all(scores, clusters=clusters)]
    higher = first.higher_is_better is not False
    return Comparison(
        metric=first.metric,
        group=group,
        rows=rows,
        sources=rows if clusters is None else len(set(clusters)),
        clustered=clusters is not None,
        exact=bool(pairs) and pairs[0].exact,
        paired=six_digits(_detectable_on_same_rows(pairs)),
        unpaired=six_digits(_detectable_on_own_rows(list(scores.values()), clusters, first.unit, len(pairs))),
        ranks=rank(scores, pairs=pairs, higher_is_better=higher, alpha=ALPHA),
        pairs=pairs,
        left_out=(*left_out.values(), *marked),
    )


def _not_to_be_ranked(scores: Mapping[str, npt.NDArray[np.float64]], asked: Mapping[str, int]) -> dict[str, LeftOut]:
    """Name the runs of which nobody can say where they stand, as they have not scored what the others have."""
    there = {run: ~np.isnan(values) for run, values in scores.items()}
    most = max(int(found.sum()) for found in there.values())
    found: dict[str, LeftOut] = {}
    for run, own in there.items():
        n, others = int(own.sum()), [other for name, other in there.items() if name != run]
        if not n:
            reason = "no row is scored"
        elif n < ENOUGH * most:
            reason = f"{n} of {asked[run]} rows are scored, and up to {most} of other runs"
        elif others and (shared := max(int((own & other).sum()) for other in others)) < ENOUGH * n:
            reason = f"{shared} of its {n} scored rows are those that another run has scored too"
        else:
            continue
        found[run] = LeftOut(run=run, n=n, reason=reason)
    return found


def _detectable_on_same_rows(pairs: Sequence[PairTest]) -> float:
    """Say which difference of a pair is found, whatever the other pairs show: at the level that Holm starts from.

    Pairs that agree on every row say nothing of others, nor do those that could not be tested.
    """
    level = ALPHA / max(1, len(pairs))
    told = [pair for pair in pairs if pair.stderr > 0]
    if not told:
        return math.nan
    stderr = float(np.median([pair.stderr for pair in told]))
    if told[0].exact:
        n = float(np.median([pair.n for pair in told]))
        fewest = fewest_discordant(alpha=level) / n
        found = max(fewest, detectable_mean(stderr, alpha=level, power=POWER))
        return found if found <= 1 else math.nan
    freedom = float(np.median([pair.clusters for pair in told])) - 1
    return detectable_mean(stderr, alpha=level, power=POWER, freedom=freedom)


def _detectable_on_own_rows(
    values: Sequence[npt.NDArray[np.float64]], clusters: Sequence[Hashable] | None, unit: str, pairs: int
) -> float:
    """Say the same of two models with rows of their own, as many as these have scored, and of as many sources."""
    scale = FULL_MARKS.get(unit)
    if scale is None or not values:
        return math.nan
    codes = None if clusters is None else numbered(clusters)
    worth, rates = [], []
    for one in values:
        there = ~np.isnan(one)
        found = clustered_mean(one[there] / scale, clusters=None if codes is None else codes[there])
        effect = max(1.0, found.design_effect) if math.isfinite(found.design_effect) else 1.0
        worth.append(found.n / effect)
        rates.append(found.mean)
    n, rate = float(np.median(worth)), float(np.median(rates))
    return detectable_difference(n, rate=rate, alpha=ALPHA / max(1, pairs), power=POWER) * scale


def _aligned(
    runs: Sequence[tuple[str, Scores]], metric: str
) -> tuple[dict[str, npt.NDArray[np.float64]], list[Hashable] | None]:
    """Put the rows of all runs in one order, NaN where a run has not scored one; and say what rows share, if any do."""
    place: dict[str, int] = {}
    clusters: list[Hashable] = []
    told = False
    before: Sequence[str] | None = None
    places = []  # of each run's rows, which are mostly those of the run before
    for _, scores in runs:
        if scores.ids != before:
            before = scores.ids
            for at, row in enumerate(before):
                if row not in place:
                    place[row] = len(place)
                    clusters.append(scores.clusters[at] if scores.clusters else f"row {row}")
            own = np.array([place[row] for row in before], dtype=np.intp)
        places.append(own)
        told = told or scores.clusters is not None
    aligned = {}
    for (run, scores), own in zip(runs, places, strict=True):
        values = np.full(len(place), np.nan)
        values[own] = scores.values[metric]
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
