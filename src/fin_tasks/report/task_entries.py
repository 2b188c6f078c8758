"""A task of a run, whatever harness it is of: claims and rows in, entries out."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from fin_tasks.report.entry import Entry, RunFacts, Scores
from fin_tasks.report.estimates import (
    Estimate,
    Unit,
    Weighted,
    estimate,
    estimate_weighted,
    from_stderr,
    largest,
    unit_of,
)
from fin_tasks.report.lm_eval_results import Claim, TaskClaims
from fin_tasks.report.row_scores import BIAS_INDEX, BOUNDS
from fin_tasks.report.runs import benchmark_of
from fin_tasks.report.samples import HEADLINES
from fin_tasks.report.settings import Setting
from fin_tasks.report.variants import Variants
from fin_tasks.stats.executions import REASONS
from fin_tasks.stats.intervals import Interval

__all__ = ["SAME", "TaskRead", "entries_of", "small"]

_LOWER_IS_BETTER = frozenset(
    {"bias_index", "bias_percentage", "no_answer", "no_response", "unscored", "judge_error"}
    | {"brier", "log_loss", "ece", *REASONS}
)
SAME = 1e-6
"""How far a claim may be from the mean of its rows."""
_NONE = Interval(math.nan, math.nan)
_NO_CLAIM = Claim(None, None)


@dataclass(frozen=True, kw_only=True)
class TaskRead:
    """A task of a run while it is put together.

    Attributes:
        claims: What its totals say; None where there are only rows.
        setting: What it was made with.
        facts: Of `comparability.facts_of`.
        variants: How it was asked.
        scores: Variant to the scores of its rows; empty where there are none.
        digest: Of its rows' file.
        marks: Why all of it stands apart.
        weighted: Variant to metrics of which rows do not count alike, or are of several tasks. They count before those
            of `scores`.
        sources: Whether rows that are known beside `scores`, as some of a group's tasks, share sources.
    """

    claims: TaskClaims | None
    setting: Setting
    facts: Mapping[str, str]
    variants: Variants
    scores: Mapping[str, Scores]
    digest: str
    marks: tuple[str, ...] = ()
    weighted: Mapping[str, Mapping[str, Weighted]] = field(default_factory=dict)
    sources: bool = False

    @property
    def shares_sources(self) -> bool:
        """Whether some rows are known to share a source, so that numbers which take all for independent say too much.

        Such are the bounds and standard errors of results files.
        """
        of = [one.clusters for one in self.scores.values() if one.clusters is not None]
        return self.sources or any(len(set(clusters)) < len(clusters) for clusters in of)

    def estimate(self, variant: str, metric: str, unit: Unit) -> Estimate | None:
        """Average the rows of a metric; None where there are none."""
        scores, weighted = self.scores.get(variant), self.weighted.get(variant, {})
        if metric in weighted:
            return estimate_weighted(weighted[metric], unit=unit, metric=metric)
        if scores is None or metric not in scores.values or metric == "n_scored":
            return None
        return estimate(scores.values[metric], clusters=scores.clusters, unit=unit, metric=metric)


def entries_of(run: RunFacts, task: str, read: TaskRead) -> Iterator[Entry]:
    """Give the values of a task: as claimed where there are claims, with intervals and counts from its rows.

    Args:
        run: Whose they are.
        task: lm-eval's name of it.
        read: What was found.
    """
    claimed = read.claims.variants if read.claims else {}
    for variant in dict.fromkeys([*claimed, *read.scores]):
        claims = claimed.get(variant, {})
        scores = read.scores.get(variant)
        names = claims if read.claims else {**(scores.values if scores else {}), **read.weighted.get(variant, {})}
        for metric in names:
            if _base_of(metric, names) is None:
                entry = _entry(run, task, read, variant, metric, claims, scores)
                if entry.value is not None or metric in HEADLINES:
                    yield entry


def _entry(
    run: RunFacts,
    task: str,
    read: TaskRead,
    variant: str,
    metric: str,
    claims: Mapping[str, Claim],
    scores: Scores | None,
) -> Entry:
    benchmark = benchmark_of(task)
    unit = unit_of(benchmark, metric)
    claim = claims.get(metric)
    measured = read.estimate(variant, metric, unit)
    value = claim.value if claim else _number(measured.mean if measured else math.nan)
    lies = _not_borne_out(claim, measured)
    interval = _NONE if lies else _interval(metric, read, claims, measured, value, unit)
    n, unscored = _counts(metric, read, claims, scores, measured)
    marks = [*read.marks, *lies]
    return Entry(
        run=run.id,
        source=run.source,
        model=run.model,
        benchmark=benchmark,
        variant=variant,
        metric=metric,
        value=value,
        low=_number(interval.low) if value is not None else None,
        high=_number(interval.high) if value is not None else None,
        unit=unit,
        higher_is_better=_direction(read.claims, metric),
        n=n,
        unscored=unscored,
        marks=tuple(marks),
        facts=read.facts,
        **read.variants.fields,
    )


def _interval(
    metric: str,
    read: TaskRead,
    claims: Mapping[str, Claim],
    measured: Estimate | None,
    value: float | None,
    unit: Unit,
) -> Interval:
    """Take the interval over the rows; else the bounds that the task reports itself; else that of its stderr.

    Where rows are there and give none, as those of one ticker, or do not tell the metric and share tickers, neither of
    the others holds: they know no tickers. Bounds that leave everything open, as where nothing is wrong, do.
    """
    if measured is not None and measured.n:
        return measured.interval
    low, high = (claims.get(f"{metric}{end}", _NO_CLAIM).value for end in ("_low", "_high"))
    if measured is None and read.shares_sources and (low, high) != (0.0, largest(unit, metric)):
        return _NONE
    if low is not None and high is not None and value is not None:
        return Interval(low, high) if low - SAME <= value <= high + SAME else _NONE
    claim = claims.get(metric)
    if measured is None and claim and value is not None:
        return from_stderr(value, claim.stderr, unit=unit, metric=metric)
    return _NONE


def _counts(
    metric: str, read: TaskRead, claims: Mapping[str, Claim], scores: Scores | None, measured: Estimate | None
) -> tuple[int, int]:
    """Count rows with a value, and rows without one because they could not be scored.

    Of a part of the rows it is not known which of the unscored belong to it: all of the task's are told.
    """
    if scores is not None:
        rows = len(scores.ids)
        headline = next((scores.values[name] for name in HEADLINES if name in scores.values), None)
        unscored = int(np.isnan(headline).sum()) if headline is not None else 0
        # a bias index is over the wrong answers, but told of all that were asked, as papers count
        n = measured.n if measured and metric != BIAS_INDEX else rows - unscored
        return n, min(unscored, rows - n)
    rows = read.claims.rows if read.claims else 0
    rate = claims.get("unscored", _NO_CLAIM).value or 0.0
    unscored = round(rate * rows)
    return (rows - unscored, unscored) if metric in (*HEADLINES, BIAS_INDEX) else (0, unscored)


def _not_borne_out(claim: Claim | None, measured: Estimate | None) -> list[str]:
    if claim is None or measured is None:
        return []
    mean = _number(measured.mean)
    if claim.value is None or mean is None:
        same = claim.value is None and mean is None
    else:
        same = abs(claim.value - mean) <= SAME * max(1.0, abs(mean))
    return [] if same else [f"claims {_shown(claim.value)}, but its rows give {_shown(mean)}"]


def _shown(value: float | None) -> str:
    return "no value" if value is None else f"{value:.6g}"


def small(scores: Mapping[str, Scores]) -> dict[str, Scores]:
    """Halve what scores take once all that needs their last digits is computed."""
    return {
        variant: replace(one, values={metric: values.astype(np.float32) for metric, values in one.values.items()})
        for variant, one in scores.items()
    }


def _base_of(metric: str, names: Mapping[str, object]) -> str | None:
    """Return the metric that a metric is a bound of, None where it is none; a spread over tasks stands for itself."""
    bases = (metric.removesuffix(end) for end in BOUNDS if end != "_std" and metric.endswith(end))
    return next((base for base in bases if base in names), None)


def _direction(claims: TaskClaims | None, metric: str) -> bool | None:
    known = claims.higher_is_better if claims else {}
    return known.get(metric, metric not in _LOWER_IS_BETTER)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
