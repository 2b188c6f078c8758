"""What the names of metrics mean, for people: labels, and which part of the rows a metric is over."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from fin_tasks.benchmarks.financemath.score import TOPICS
from fin_tasks.benchmarks.mme_finance.score import CATEGORIES, IMAGE_STYLES, IMAGE_TYPES
from fin_tasks.benchmarks.xfinbench.score import CAPABILITIES
from fin_tasks.stats.executions import REASONS

__all__ = ["BENCHMARKS", "By", "MetricName", "headline", "named"]

By = Literal["", "capability", "category", "image_type", "image_style", "table", "topic", "part"]

BENCHMARKS: Mapping[str, str] = {
    "xfinbench": "XFinBench",
    "mme_finance": "MME-Finance",
    "dynostock": "DynoStock",
    "financemath": "FinanceMath",
    "bizbench": "BizBench",
}
"""Names for people, in the order of reports."""

_HEADLINES: Mapping[str, str] = {"mme_finance": "score"}
_LABELS: Mapping[str, str] = {
    "acc": "Accuracy",
    "acc_em": "Accuracy, exact match",
    "acc_err": "Accuracy, within the margin",
    "score": "Score",
    "exact": "Same as the reference",
    "bias_index": "Bias index",
    "bias_percentage": "Led by the biased statement",
    "no_answer": "No answer",
    "no_response": "No response",
    "unscored": "Unscored",
    "judge_error": "Judge failed",
    "execution_rate": "Execution rate",
    "brier": "Brier score",
    "log_loss": "Log loss",
    "ece": "Calibration error",
    "mean_probability": "Mean stated probability",
    "n_scored": "Rows scored",
    **{reason: f"Programs: {reason.replace('_', ' ')}" for reason in REASONS},
}
_SPREAD = "_std"


@dataclass(frozen=True, kw_only=True)
class MetricName:
    """What a metric's name says.

    Attributes:
        label: For people.
        by: What it is a breakdown by; empty where it is over all rows.
        of: Which part; empty likewise.
    """

    label: str
    by: By = ""
    of: str = ""


def headline(benchmark: str) -> str:
    """Return the metric that models are ranked by.

    Example:
        >>> headline("mme_finance"), headline("xfinbench")
        ('score', 'acc')
    """
    return _HEADLINES.get(benchmark, "acc")


def named(metric: str, benchmark: str) -> MetricName:
    """Say what a metric is.

    Example:
        >>> named("acc_TU", "xfinbench")
        MetricName(label='Terminology understanding', by='capability', of='TU')
        >>> named("score_type_mixed_chart", "mme_finance").label, named("made_up", "xfinbench").label
        ('Mixed chart', 'Made up')
        >>> named("bias_index_std", "dynostock").label
        'Bias index, standard deviation over tasks'
    """
    found = _breakdowns().get(metric)
    if found is not None:
        return found
    if metric.endswith(_SPREAD):
        return MetricName(
            label=f"{named(metric.removesuffix(_SPREAD), benchmark).label}, standard deviation over tasks"
        )
    if metric in _LABELS:
        return MetricName(label=_LABELS[metric])
    if benchmark == "bizbench" and (part := re.fullmatch(r"acc_(\w+)", metric)):
        return MetricName(label=_readable(part[1]), by="part", of=part[1])
    return MetricName(label=_readable(metric))


@lru_cache(maxsize=1)
def _breakdowns() -> Mapping[str, MetricName]:
    return dict(_listed())


def _listed() -> Iterator[tuple[str, MetricName]]:
    for code, name in CAPABILITIES.items():
        yield f"acc_{code}", MetricName(label=_readable(name), by="capability", of=code)
        yield f"acc_err_{code}", MetricName(label=f"{_readable(name)}, within the margin", by="capability", of=code)
    for category_name, category in CATEGORIES.items():
        yield f"score_{category.short}", MetricName(label=category_name, by="category", of=category.short)
    for name in (*IMAGE_TYPES, "other"):
        yield f"score_type_{name.replace(' ', '_')}", MetricName(label=_readable(name), by="image_type", of=name)
    for name in (*IMAGE_STYLES, "other"):
        yield f"score_style_{name.replace(' ', '_')}", MetricName(label=_readable(name), by="image_style", of=name)
    for metric in ("acc_em", "acc_err"):
        for rows, said in (("table", "with a table"), ("no_table", "without a table")):
            yield f"{metric}_{rows}", MetricName(label=f"{_LABELS[metric]}, {said}", by="table", of=rows)
    for topic in TOPICS.values():
        yield f"acc_{topic}", MetricName(label=_readable(topic), by="topic", of=topic)


def _readable(name: str) -> str:
    text = name.replace("_", " ")
    return text[:1].upper() + text[1:]
