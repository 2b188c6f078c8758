"""Judged responses to metric values, and the metrics a task of MME-Finance reports.

Every document reports every metric of its task, `None` where the metric does not apply. The names of picture types and
styles are known from the files only, and metrics have to be declared before a file is read: so they are counted under
our names, which a file's are matched to, and what matches none is counted as `other`.
"""

import logging
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from fin_tasks.benchmarks.mme_finance.row import CATEGORIES, IMAGE_STYLES, IMAGE_TYPES
from fin_tasks.stats.averages import average, average_or_none, rate, standard_error
from fin_tasks.stats.metric import Metric

__all__ = ["OTHER", "image_style_of", "image_type_of", "metric_values", "metrics_of"]

_log = logging.getLogger(__name__)
_NOT_APPLICABLE: Literal["N/A"] = "N/A"

OTHER = "other"
"""A type or style that is none of ours."""

_TYPES = (
    ("mixed chart", r"(?<![a-z])mix|hybrid|混合|综合"),
    ("technical indicator chart", r"indicator|(?<![a-z])technical (?:index|chart|analysis)|指标|技术图|技术分析"),
    ("candlestick chart", r"candle|(?<![a-z])k[\s-]*line|k\s*线|蜡烛|阴阳烛"),
    ("statistical chart", r"statistic|(?<![a-z])(?:bar|line|pie|column|area|scatter)[\s-]*(?:chart|graph|plot)|统计"),
    ("statistical chart", r"折线|曲线图|散点|(?:柱|条|饼|面积)[状形]?图"),
    ("table", r"(?<![a-z])tab(?:le|ular)|spreadsheet|statement|balance sheet|(?<!图)表"),
    ("document", r"document|report|(?<![a-z])page|(?<![a-z])(?:pdf|text)(?![a-z])|文档|文件|研报|报告|文本|文字"),
)
"""Our name, and how files may put it; the first that matches."""
_STYLES = (
    ("mobile photograph", r"photo|camera|拍|照片|摄影"),
    ("vertical screenshot on mobile", r"vertical|portrait|竖"),
    ("horizontal screenshot on mobile", r"horizontal|landscape|横"),
    ("computer screenshot", r"computer|desktop|laptop|(?<![a-z])pc(?![a-z])|电脑|计算机|桌面"),
    # of a telephone's it would have to be said how it is held
    ("computer screenshot", r"^(?!.*(?:mobile|phone|手机|移动)).*(?:browser|(?<![a-z])web|网页|浏览器|屏幕截图)"),
)
_LOWER_IS_BETTER = ("judge_error", "unscored", "no_response")
_BY_NAME = (
    *(f"score_{category.short}" for category in CATEGORIES.values()),
    *(f"score_type_{name.replace(' ', '_')}" for name in (*IMAGE_TYPES, OTHER)),
    *(f"score_style_{name.replace(' ', '_')}" for name in (*IMAGE_STYLES, OTHER)),
)
_NAMES = ("judging_stands", "score", *_BY_NAME, "exact", *_LOWER_IS_BETTER, "n_scored")
"""Every metric. Whether scores stand comes first: lm-eval works metrics out in the order in which documents report
them, and the others go by it."""


def metrics_of(*, language: str = "", na: bool = False, **_: Any) -> dict[str, bool | Metric]:
    """Name the metrics of a task.

    Args:
        language: The task's, for the log.
        na: Likewise.

    Returns:
        Metric name to how it is put together. `score` and all that begin with it are 0 to 100, `n_scored` counts the
        documents that have a score, and the rest are shares from 0 to 1. `judging_stands` is decided where the
        documents of all processes come together: 1, or 0 where the judge failed on every response or on more than it
        may, and then no score stands (`N/A` where nobody was asked).
    """
    standing = _Standing(task=f"mme_finance_{language}{'_na' if na else ''}")
    metrics: dict[str, bool | Metric] = {name: name not in _LOWER_IS_BETTER for name in _NAMES}
    metrics["judging_stands"] = Metric(higher_is_better=True, aggregate=standing.decide)
    # groups average the headline, where `N/A` would end lm-eval's run: NaN does not
    metrics["score"] = Metric(higher_is_better=True, aggregate=standing.over(average), stderr=standing.over(_stderr))
    for name in _BY_NAME:
        metrics[name] = Metric(higher_is_better=True, aggregate=standing.over(_mean), stderr=standing.over(_stderr))
    metrics["unscored"] = Metric(
        higher_is_better=False,
        aggregate=standing.over(_mean, otherwise=1.0),
        stderr=standing.over(_stderr, otherwise=1.0),
    )
    metrics["n_scored"] = Metric(higher_is_better=True, aggregate=standing.over(_count, otherwise=0.0))
    return metrics


def metric_values(doc: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Turn the judged responses to one document into its metrics.

    Args:
        doc: The document, as `data.load` makes it.
        answers: What `doc_scores.score_judged` says of each response (several with `repeats`).

    Returns:
        Metric name to the mean over the responses, or None where the metric does not apply. `judging_stands` is what
        it takes to decide that over all documents: on how many responses the judge was asked, on how many of them it
        failed, and the share it may fail on; None where nobody was asked.
    """
    per_response = [_values(doc, answer) for answer in answers]
    values: dict[str, Any] = {name: average_or_none(values.get(name) for values in per_response) for name in _NAMES}
    values["judging_stands"] = _judging(answers)
    return values


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


class _Standing:
    """Whether the scores of one task and variant stand."""

    def __init__(self, *, task: str) -> None:
        self._task = task
        self._stands = False  # until it is decided: a score that is withheld misleads nobody
        self._told = False

    def decide(self, values: Sequence[Sequence[float] | None]) -> float | str:
        """Decide by what all documents report."""
        known = [value for value in values if value is not None]
        asked, failed = (int(sum(value[at] for value in known)) for at in (0, 1))
        if not known:
            self._stands = False
            return _NOT_APPLICABLE
        allowed = min(value[2] for value in known)
        # of no response given there is nothing to fail on
        self._stands = failed == 0 or (failed < asked and failed <= allowed * asked)
        if not self._stands and not self._told:
            self._told = True  # the other variant finds the same
            _log.error(
                "%s: no score stands, as the judge failed on %d of %d responses, of which judge_max_failed allows %g.",
                *(self._task, failed, asked, allowed),
            )
        return float(self._stands)

    def over(
        self, aggregate: Callable[[Sequence[float | None]], float | str], *, otherwise: float | None = None
    ) -> Callable[[Sequence[float | None]], float | str]:
        """Return an aggregation that takes `otherwise` for every document's value where scores do not stand."""

        def aggregated(values: Sequence[float | None]) -> float | str:
            return aggregate(values if self._stands else [otherwise] * len(values))

        return aggregated


def _judging(answers: Sequence[Mapping[str, Any]]) -> list[float] | None:
    allowed = next((answer["max_failed"] for answer in answers if answer.get("max_failed") is not None), None)
    if allowed is None:
        return None
    errors = [answer["judge_error"] for answer in answers if answer["judge_error"] is not None]
    return [len(errors), sum(errors), allowed]


def _mean(values: Sequence[float | None]) -> float | str:
    return _or_not_applicable(average(values))


def _stderr(values: Sequence[float | None]) -> float | str:
    return _or_not_applicable(standard_error(values))


def _or_not_applicable(value: float) -> float | str:
    return _NOT_APPLICABLE if math.isnan(value) else value


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
