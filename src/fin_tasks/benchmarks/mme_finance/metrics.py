"""Judged responses to metric values, and the metrics a task of MME-Finance reports.

Every document reports every metric of its task, `None` where the metric does not apply. The names of picture types and
styles are known from the files only, and metrics have to be declared before a file is read: so they are counted under
our names, which a file's are matched to, and what matches none is counted as `other`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fin_tasks.benchmarks.mme_finance.row import CATEGORIES, IMAGE_STYLES, IMAGE_TYPES
from fin_tasks.stats.averages import average_or_none, rate
from fin_tasks.stats.metric import Metric

__all__ = ["OTHER", "image_style_of", "image_type_of", "metric_values", "metrics_of"]

OTHER = "other"
"""A type or style that is none of ours."""

_TYPES = (
    ("mixed chart", r"(?<![a-z])mix|hybrid|混合|综合"),
    ("technical indicator chart", r"indicator|指标"),
    ("candlestick chart", r"candle|(?<![a-z])k[\s-]*line|k\s*线|蜡烛|阴阳烛"),
    ("statistical chart", r"statistic|统计"),
    ("table", r"(?<![a-z])tab(?:le|ular)|表格|表单"),
    ("document", r"document|report|(?<![a-z])page|文档|文件|研报|报告|文本"),
)
"""Our name, and how files may put it; the first that matches."""
_STYLES = (
    ("mobile photograph", r"photo|拍摄|拍照|照片|实拍"),
    ("vertical screenshot on mobile", r"vertical|portrait|竖"),
    ("horizontal screenshot on mobile", r"horizontal|landscape|横"),
    ("computer screenshot", r"computer|desktop|(?<![a-z])pc(?![a-z])|电脑|桌面"),
)
_LOWER_IS_BETTER = ("judge_error", "unscored", "no_response")


def metrics_of(**_: Any) -> dict[str, bool | Metric]:
    """Name the metrics of a task.

    Returns:
        Metric name to whether more of it is better, the headline `score` first: 0 to 100 as all that begin with it, and
        the rest shares from 0 to 1. `n_scored` counts the documents that have a score.
    """
    names = ["score"]
    names += [f"score_{category.short}" for category in CATEGORIES.values()]
    names += [f"score_type_{_slug(name)}" for name in (*IMAGE_TYPES, OTHER)]
    names += [f"score_style_{_slug(name)}" for name in (*IMAGE_STYLES, OTHER)]
    names += ["exact", *_LOWER_IS_BETTER]
    metrics: dict[str, bool | Metric] = {name: name not in _LOWER_IS_BETTER for name in names}
    return {**metrics, "n_scored": Metric(higher_is_better=True, aggregate=_count)}


def metric_values(doc: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Turn the judged responses to one document into its metrics.

    Args:
        doc: The document, as `data.load` makes it.
        answers: What `doc_scores.score_judged` says of each response (several with `repeats`).

    Returns:
        Metric name to the mean over the responses, or None where the metric does not apply.
    """
    per_response = [_values(doc, answer) for answer in answers]
    return {name: average_or_none(values.get(name) for values in per_response) for name in metrics_of()}


def image_type_of(name: str) -> str:
    """Return our name of a picture type, or `other`.

    Example:
        >>> image_type_of("Technical Indicators"), image_type_of("K线图"), image_type_of("cartoon")
        ('technical indicator chart', 'candlestick chart', 'other')
    """
    return _match(name, _TYPES)


def image_style_of(name: str) -> str:
    """Return our name of a picture style, or `other`.

    Example:
        >>> image_style_of("Vertical screenshot (phone)"), image_style_of("手机拍摄")
        ('vertical screenshot on mobile', 'mobile photograph')
    """
    return _match(name, _STYLES)


def _match(name: str, forms: Sequence[tuple[str, str]]) -> str:
    text = re.sub(r"[_\s]+", " ", name.casefold())
    return next((ours for ours, form in forms if re.search(form, text, re.IGNORECASE)), OTHER)


def _slug(name: str) -> str:
    return name.replace(" ", "_")


def _values(doc: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, float | None]:
    percent = answer["percent"]
    return {
        "score": percent,
        f"score_{CATEGORIES[doc['category']].short}": percent,
        f"score_type_{_slug(image_type_of(doc['image_type']))}": percent,
        f"score_style_{_slug(image_style_of(doc['image_style']))}": percent,
        "exact": rate(answer["exact"]),
        "judge_error": rate(answer["judge_error"]),
        "unscored": float(percent is None),
        "no_response": float(answer["no_response"]),
        "n_scored": float(percent is not None),
    }


def _count(values: Sequence[float | None]) -> float:
    return float(sum(value is not None and value > 0 for value in values))
