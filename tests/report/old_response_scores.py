"""Scores of data sets that need no judge, as their lm-eval tasks compute them, both variants side by side."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fin_tasks.stats.averages import average
from fin_tasks.stats.metric import Metric

__all__ = ["VARIANTS", "Scorers", "dynostock", "score", "text_of", "xfinbench"]

VARIANTS = ("paper", "robust")

_IMAGE_MARK = "<image>\n"
"""At the head of documents' prompts, for lm-eval; here the picture is a part of its own."""

Answer = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Scorers:
    """How a benchmark scores: what its task files name.

    Attributes:
        score_response: Document, response and `variant` to a scored answer.
        metric_values: Document and scored answers to metrics.
        metrics: Metric to whether more of it is better, or to its own aggregation.
        unscored: Document and the reason to the metrics of a row that has no response to score.
    """

    score_response: Callable[..., Answer]
    metric_values: Callable[[Mapping[str, Any], Sequence[Answer]], Mapping[str, Any]]
    metrics: Mapping[str, bool | Metric]
    unscored: Callable[[Mapping[str, Any]], Mapping[str, Any]]


def text_of(doc: Mapping[str, Any]) -> str:
    r"""Return the text a model gets beside the picture: what lm-eval's system message says, and the question.

    Example:
        >>> text_of({"system": "You read charts.", "prompt": "<image>\nUp or down?"})
        'You read charts.\n\nUp or down?'
    """
    return "\n\n".join(filter(None, (doc["system"], doc["prompt"].removeprefix(_IMAGE_MARK))))


def xfinbench(**options: Any) -> Scorers:
    """Return XFinBench's scorers for a task's fixed options."""
    from fin_tasks.answers.score import Score
    from fin_tasks.benchmarks.xfinbench.score import metrics_of, score, values_of

    nothing = Score(answer=None, correct=None, correct_err=None, reason="")
    return Scorers(
        score_response=lambda doc, response, *, variant: asdict(score(doc, response, variant=variant)),
        metric_values=lambda doc, answers: values_of(doc, Score(**answers[0])),
        metrics=metrics_of(**options),
        unscored=lambda doc: values_of(doc, nothing),
    )


def dynostock(**options: Any) -> Scorers:
    """Return DynoStock's scorers for a task's fixed options."""
    from fin_tasks.benchmarks.dynostock.score import Forecast, metric_values, metrics_of, score

    def values(doc: Mapping[str, Any], answers: Sequence[Answer]) -> Mapping[str, Any]:
        said = [(answer["answer"], answer["probability"]) for answer in answers]
        return metric_values(doc, [Forecast(variant="", answer=side, probability=stated) for side, stated in said])

    return Scorers(
        score_response=lambda doc, response, variant: asdict(score(doc, response, variant=variant)),
        metric_values=values,
        metrics=metrics_of(**options),
        # the model is not to blame for a response that is missing
        unscored=lambda doc: {**dict.fromkeys(metric_values(doc, [])), "unscored": 1.0},
    )


def score(
    docs: Sequence[Mapping[str, Any]], responses: Sequence[str | None], scorers: Scorers
) -> tuple[dict[str, dict[str, float | None]], list[dict[str, Any]]]:
    """Score responses.

    Args:
        docs: Documents.
        responses: One per document; None where the model failed to give one, which leaves the row unscored.
        scorers: The benchmark's.

    Returns:
        Metric to variant to value, None where no document has one; and a line per document: its index, the response
        and, by variant, the scored answer with its metrics (those that are numbers).
    """
    values: dict[str, list[Mapping[str, Any]]] = {variant: [] for variant in VARIANTS}
    items = []
    for doc, response in zip(docs, responses, strict=True):
        item: dict[str, Any] = {"index": doc["id"], "response": response}
        for variant in VARIANTS:
            answer: Answer = {"reason": "unscored: the model gave no response"}
            if response is None:
                values[variant].append(scorers.unscored(doc))
            else:
                answer = scorers.score_response(doc, response, variant=variant)
                values[variant].append(scorers.metric_values(doc, [answer]))
            item[variant] = {**answer, "metrics": _numbers(values[variant][-1])}
        items.append(item)
    totals = {
        name: {variant: _total(metric, [row[name] for row in values[variant]]) for variant in VARIANTS}
        for name, metric in scorers.metrics.items()
    }
    return totals, items


def _numbers(values: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what only an aggregation understands."""
    return {name: value for name, value in values.items() if value is None or isinstance(value, int | float)}


def _total(metric: bool | Metric, values: Sequence[Any]) -> float | None:
    total = metric.aggregate(values) if isinstance(metric, Metric) else average(values)
    # `N/A` and NaN both say that there is nothing to report
    return None if isinstance(total, str) or total != total else float(total)
