"""Values: what a run got for a metric of a task under a variant, with its interval."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fin_tasks.benchmarks.mme_finance.score import CATEGORIES
from fin_tasks.benchmarks.xfinbench.math_types import MATH_TYPES
from fin_tasks.benchmarks.xfinbench.score import CAPABILITIES
from fin_tasks.report.comparable import conditions_of, setting_id, text_of
from fin_tasks.report.model import WEIGHT, Report, TaskResult, largest
from fin_tasks.stats.means import Estimate, estimate

CONDITIONS = ("task", "split", "mode", "style", "retrieval", "arm")
"""What a task is asked under, by the names of `comparable.conditions_of`."""

_LOWER = ("no_answer", "unscored", "judge_error", "declined", "no_response", "brier", "log_loss", "ece", "context_cut")
_LABELS = {
    "acc": "Accuracy",
    "acc_em": "Accuracy, exact match",
    "acc_err": "Accuracy, within the margin",
    "exact": "Same as the reference",
    "bias_percentage": "Led by the biased statement",
    "brier": "Brier score",
    "ece": "Calibration error",
    "mean_probability": "Mean stated probability",
    "spread": "Deviation among the responses to a question",
}
_CATEGORIES = {category.short: name for name, category in CATEGORIES.items()}


@dataclass(frozen=True, kw_only=True)
class Value:
    """A run's value of one metric of a task."""

    run: str  # id of the run and task, or of the paper's table
    model: str
    benchmark: str  # a key of `BENCHMARKS`
    conditions: Mapping[str, str]  # see `comparable.conditions_of`
    variant: str  # `paper` or `robust`
    metric: str
    interval: Estimate  # the value as `mean`, with bounds, rows and clusters; NaN if not defined
    unscored: int = 0  # rows without a value
    judge: str = ""  # the judge and its rubric; empty without a judge
    group: str = ""  # only values of one column, metric and group may be compared; empty if unknown
    marks: tuple[str, ...] = ()  # why it is doubtful, not comparable or not ranked
    result: TaskResult | None = None  # None for a published figure

    @property
    def is_headline(self) -> bool:
        """Whether models are ranked by this metric."""
        return self.metric == headline(self.benchmark, self.result)

    @property
    def column(self) -> str:
        """What is asked and how it is scored: values of one metric of a column stand side by side."""
        said = [f"{name}={value}" for name, value in self.conditions.items() if value and name != "task"]
        return "/".join([self.conditions["task"], self.variant, *said])


def value_of(rows: pd.DataFrame, metric: str, benchmark: str, *, weights: Any = None) -> Estimate:
    """Return the mean of a metric over rows with its interval. Rows of one source are one cluster.

    The rows are of one run and variant. Without weights each row counts once; in `bias_index` each wrong response does.
    """
    if metric == "bias_index":
        weights = rows[WEIGHT].fillna(0).to_numpy() * (1 if weights is None else weights)
    clusters = rows["source"].cat.codes.to_numpy()
    return estimate(rows[metric].to_numpy(), clusters=clusters, weights=weights, most=largest(benchmark, metric))


def values_of(report: Report, result: TaskResult, variant: str, *, run: str, model: str) -> list[Value]:
    """Return the values of a task, or of a group of tasks, under a variant.

    A value is the mean over its rows. A group averages rows or the means of its tasks, as its results file does. What
    is no mean over rows, such as a calibration error, is taken from the results file and has no interval.
    """
    rows, claims, benchmark = report.rows_of(result, variant), result.totals.get(variant, {}), result.benchmark
    top = headline(benchmark, result)
    if result.members and benchmark == "xfinbench":  # statements and choices have no margin
        parts = [code for code in CAPABILITIES if f"acc_err_{code}" in rows]
        rows = rows.assign(**{f"acc_err_{code}": rows[f"acc_err_{code}"].fillna(rows[f"acc_{code}"]) for code in parts})
    metrics = [name for name in rows.columns[rows.columns.get_loc("reason") + 1 :] if rows[name].notna().any()]
    names = list(dict.fromkeys([*claims, *metrics]))
    if result.members:
        names = [one for one in names if one in claims or one == top or part_of(one, benchmark)[0] == "capability"]
    found: dict[str, tuple[Estimate, tuple[str, ...]]] = {}
    for name in names:
        if name == WEIGHT or name.endswith(("_low", "_high", "_std")):
            continue
        claim = claims.get(name)
        total = math.nan if claim is None else claim
        own = value_of(rows, name, benchmark) if name in metrics else None
        if own is not None and result.members and not _same(own.mean, claim):
            counted = rows[WEIGHT] if name == "bias_index" else rows[name].notna()
            sizes = counted.groupby(rows["task"], observed=True).transform("sum").to_numpy(float)
            own = value_of(rows, name, benchmark, weights=np.divide(1, sizes, out=np.zeros(len(rows)), where=sizes > 0))
        if own is not None and not result.members and name == top and not _same(own.mean, claim):
            found[name] = (own, (f"its results file claims {total:.4g}, its rows give {own.mean:.4g}",))
        elif own is not None and _same(own.mean, claim):
            found[name] = (own, ())
        else:
            found[name] = (without_interval(result.n, total), ())
    if benchmark == "mme_finance" and "score" in metrics:
        for column, prefix in (("image_type", "score_type"), ("image_style", "score_style")):
            for kind, of_kind in rows.groupby(column, observed=True):
                found[f"{prefix}_{str(kind).replace(' ', '_')}"] = (value_of(of_kind, "score", benchmark), ())
    said = {name: text_of(one) for name, one in result.settings.items() if name.startswith("judge.")}
    shared: dict[str, Any] = {"run": run, "model": model, "benchmark": benchmark, "variant": variant, "result": result}
    shared |= {"judge": ", ".join(one for name in ("judge.model", "judge.rubric") if (one := said.get(name)))}
    shared |= {"conditions": conditions_of(result), "group": setting_id(result)}
    unscored = int(rows[top].isna().sum()) if top in metrics else 0
    return [
        Value(**shared, metric=n, interval=one, marks=marks, unscored=unscored if n == top else 0)
        for n, (one, marks) in found.items()
    ]


def headline(benchmark: str, result: TaskResult | None = None) -> str:
    """Return the metric that models are ranked by: a judge's `score`, or `acc` if nobody judges."""
    known = {metric for of_variant in result.totals.values() for metric in of_variant} if result else set()
    return "score" if benchmark == "mme_finance" and ("score" in known or "acc" not in known) else "acc"


def higher_is_better(metric: str, result: TaskResult | None = None) -> bool | None:
    """Return whether more of a metric is better; None if neither."""
    if result is not None and metric in result.metrics:
        return result.metrics[metric]
    return None if metric in ("mean_probability", "spread") else not (metric in _LOWER or metric.startswith("bias_"))


def part_of(metric: str, benchmark: str) -> tuple[str, str]:
    """Return the column that a metric breaks down by, and the part; both are empty for metrics over all rows.

    Example:
        >>> part_of("acc_err_TU", "xfinbench"), part_of("score_type_table", "mme_finance"), part_of("acc", "xfinbench")
        (('capability', 'TU'), ('image_type', 'table'), ('', ''))
    """
    base = next((one for one in ("acc_em", "acc_err", "acc", "score") if metric.startswith(f"{one}_")), "")
    part = metric.removeprefix(f"{base}_") if base else ""
    if not part or metric in _LABELS or metric.endswith("_std"):
        return "", ""
    if part in ("table", "no_table"):
        return "table", part
    if part in MATH_TYPES:
        return "math_types", part
    for prefix in ("type", "style"):
        if part.startswith(f"{prefix}_"):
            return f"image_{prefix}", part.removeprefix(f"{prefix}_").replace("_", " ")
    by = {"xfinbench": "capability", "mme_finance": "category", "financemath": "topic", "bizbench": "part"}
    return (by[benchmark], part) if benchmark in by else ("", "")


def label_of(metric: str, benchmark: str) -> str:
    """Return a metric's name for people.

    Example:
        >>> label_of("acc_TU", "xfinbench"), label_of("score_OCR", "mme_finance"), label_of("no_answer", "bizbench")
        ('Terminology understanding', 'OCR', 'No answer')
    """
    by, part = part_of(metric, benchmark)
    names = CAPABILITIES if by == "capability" else _CATEGORIES if by == "category" else {}
    text = names.get(part, part) if by else _LABELS.get(metric, metric)
    more = ", within the margin" if by and metric.startswith("acc_err_") else ""
    more = ", exact match" if by and metric.startswith("acc_em_") else more
    text = text.replace("_", " ")
    return f"{text[:1].upper()}{text[1:]}{more}"


def _same(mean: float, claim: float | None) -> bool:
    return claim is None or abs(mean - claim) <= 1e-6


def without_interval(n: int, value: float) -> Estimate:
    """Return a value of which only the number of rows is known."""
    return Estimate(mean=value, low=math.nan, high=math.nan, stderr=math.nan, n=n, clusters=0, method="")
