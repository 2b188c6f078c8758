"""A metric of the same rows under two conditions: both rates, and their difference with its test."""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from fin_tasks.report.estimates import Unit
from fin_tasks.report.rankings import FULL_MARKS
from fin_tasks.report.samples import HEADLINES, Row, Rows
from fin_tasks.stats.averages import average
from fin_tasks.stats.intervals import Interval
from fin_tasks.stats.own_rows import compare_own_rows, mean_of_own_rows
from fin_tasks.stats.ranks import compare_all

__all__ = ["OVER_OWN_ROWS", "Numbers", "measure"]

OVER_OWN_ROWS = frozenset({"bias_index"})
"""Metrics that are over other rows of each run: the answers it got wrong."""


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """A metric of the same rows under two conditions, in its unit.

    Attributes:
        n: Rows that both have, with a value in both; in either for metrics in `OVER_OWN_ROWS`.
        unpaired_baseline: Rows that only the baseline has.
        unpaired_other: Rows that only the other has.
        unscored: Rows that both have, but at least one without a value, or a score for metrics in `OVER_OWN_ROWS`.
        baseline_rate: Mean over the `n` rows, as far as it has a value of them, where rows of metrics in
            `OVER_OWN_ROWS` count for their wrong responses; None without any.
        other_rate: Likewise.
        difference: Other less baseline; NaN without a row.
        interval: Of the difference, 95 %, that of the test; NaN below two rows or sources, and where rows, which are
            no shares, tell nothing of their spread.
        clusters: Sources among the rows; `n` where each stands alone.
        p: Of the test a leaderboard makes of this pair, see `stats.ranks.compare_all`, but for its correction.
        p_holm: Corrected for all tests that tables show (`compare.lines_of`); None for those they do not, and without a
            row.
        exact: The test is McNemar's; a t-test otherwise.
        gained: Rows with a higher value in the other.
        lost: Rows with a lower value in the other.
        unit: Of the metric, `fraction` or `points` of 100, or any other `number`.
    """

    n: int
    unpaired_baseline: int
    unpaired_other: int
    unscored: int
    baseline_rate: float | None
    other_rate: float | None
    difference: float
    interval: Interval
    clusters: int
    p: float
    exact: bool
    gained: int
    lost: int
    unit: Unit = "fraction"
    p_holm: float | None = None

    @property
    def tested(self) -> bool:
        """Whether there is a difference: rows, and for metrics in `OVER_OWN_ROWS` some of each run."""
        return not math.isnan(self.difference)


def measure(
    pairs: Iterable[tuple[Rows, Rows]],
    metric: str,
    *,
    unit: Unit = "fraction",
    group: tuple[str, str] | None = None,
) -> Numbers:
    """Compare the rows of runs, pooled.

    Args:
        pairs: Rows of the baseline and of the other run, for each task. Rows of the same id but another truth are
            different questions: unpaired on both sides.
        metric: What is compared.
        unit: Of the metric.
        group: Only rows of this dimension and group.

    Example:
        >>> row = lambda id, acc: Row(id=id, truth="1", values={"acc": acc}, answer=None, groups={})
        >>> before = {"a": row("a", 0.0), "b": row("b", 1.0), "c": row("c", None)}
        >>> after = {"a": row("a", 1.0), "b": row("b", 1.0), "c": row("c", 1.0), "d": row("d", 1.0)}
        >>> found = measure([(before, after)], "acc")
        >>> found.n, found.unscored, found.unpaired_other, found.baseline_rate, found.other_rate, found.gained
        (2, 1, 1, 0.5, 1.0, 1)
    """
    matched: list[tuple[Row, Row]] = []
    only_baseline = only_other = 0
    for baseline, other in pairs:
        a, b = (_of_group(rows, group) for rows in (baseline, other))
        both = [(row, b[name]) for name, row in a.items() if name in b and row.same_question(b[name])]
        matched += both
        only_baseline += len(a) - len(both)
        only_other += len(b) - len(both)
    own = metric in OVER_OWN_ROWS
    told = [
        (one.values.get(metric), two.values.get(metric), one, two)
        for one, two in matched
        if not own or (_is_scored(one) and _is_scored(two))
    ]
    scored = [(x, y) for x, y, _, _ in told if x is not None and y is not None]
    used = [one for one in told if (any if own else all)(value is not None for value in one[:2])]
    before, after = [x for x, _, _, _ in used], [y for _, y, _, _ in used]
    clusters = _clusters([row for _, _, row, _ in used])
    if own:
        weights = [row.wrong for *_, row in used], [row.wrong for _, _, row, _ in used]
        test = compare_own_rows(after, before, weights=weights, clusters=clusters)
        other_rate, baseline_rate = map(mean_of_own_rows, (after, before), weights)
    else:
        (test,) = compare_all({"other": after, "baseline": before}, clusters=clusters)
        other_rate, baseline_rate = average(after), average(before)
    return Numbers(
        n=test.n,
        unpaired_baseline=only_baseline,
        unpaired_other=only_other,
        unscored=len(matched) - (len(told) if own else len(scored)),
        baseline_rate=None if math.isnan(baseline_rate) else baseline_rate,
        other_rate=None if math.isnan(other_rate) else other_rate,
        difference=test.difference,
        interval=test.within(FULL_MARKS.get(unit, math.inf)).interval,
        clusters=test.clusters,
        p=test.p,
        exact=test.exact,
        gained=sum(y > x for x, y in scored),
        lost=sum(y < x for x, y in scored),
        unit=unit,
    )


def _is_scored(row: Row) -> bool:
    return all(row.values[name] is not None for name in HEADLINES if name in row.values)


def _clusters(rows: Sequence[Row]) -> list[Hashable] | None:
    """Say what rows share; None where each stands alone."""
    clusters: list[Hashable] = [row.source or ("row", place) for place, row in enumerate(rows)]
    return clusters if len(set(clusters)) < len(clusters) else None


def _of_group(rows: Rows, group: tuple[str, str] | None) -> Rows:
    if group is None:
        return rows
    dimension, name = group
    return {key: row for key, row in rows.items() if name in row.groups.get(dimension, ())}
