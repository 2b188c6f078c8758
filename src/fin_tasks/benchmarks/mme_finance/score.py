"""Score responses by a judge's points or by rules; `paper` counts failures as 0, `robust` leaves them unscored."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from fin_tasks.answers.types import Reading, Score
from fin_tasks.benchmarks.breakdowns import fields_of
from fin_tasks.benchmarks.contract import ReadingFields, directions_of
from fin_tasks.benchmarks.mme_finance import binary, multi_turn, paper
from fin_tasks.benchmarks.mme_finance.exact import declines, is_exact, marked_answer, parse_truth
from fin_tasks.benchmarks.mme_finance.prompts import ALLOW_NA
from fin_tasks.judging.item import Item, Judged, Verdict, no_response, response_sha256
from fin_tasks.judging.rubric import load_rubric
from fin_tasks.stats.averages import Metric, over_responses, rate

Document = Mapping[str, Any]
Values = dict[str, float | None]


class Category(NamedTuple):
    """A task category: the paper's abbreviation and group, and the kind of grading."""

    short: str
    group: str
    kind: str


CATEGORIES: Mapping[str, Category] = {
    "Image Caption": Category("IC", "perception", "subjective"),
    "OCR": Category("OCR", "perception", "objective"),
    "Entity Recognition": Category("ER", "perception", "objective"),
    "Spatial Awareness": Category("SA", "perception", "objective"),
    "Accurate Numerical Calculation": Category("ANC", "reasoning", "calculation"),
    "Numerical Calculation": Category("ENC", "reasoning", "estimation"),
    "Risk Warning": Category("RW", "cognition", "subjective"),
    "Investment Advice": Category("IA", "cognition", "subjective"),
    "Explain Reason": Category("RE", "cognition", "subjective"),
    "Financial Knowledge": Category("FQA", "cognition", "subjective"),
    ALLOW_NA: Category("NA", "hallucination", "unanswerable"),
}
"""The categories by their name in the files, in the paper's order."""

_GROUPS = ("perception", "reasoning", "cognition")
"""The groups of categories that have a figure of their own."""
_PICTURE_FIELDS = {"image_type": "type", "image_style": "style"}
"""Fields of a document that describe its picture, and their names in metrics."""


@dataclass(frozen=True, kw_only=True)
class JudgedReading(Reading):
    """The judge's points, in a conversation the overall one of its `scores`, and other findings about a response."""

    scores: Mapping[str, int] | None = None
    exact: bool | None = None  # None without an exact truth or without a response
    declined: bool | None = None  # None if the model may not decline, or the question has no answer
    judge_error: bool | None = None  # None if the judge was not asked
    response_sha256: str = ""


def judge_item(doc: Document, response: str) -> Item | None:
    """Return the item for the judge; None if the document's exact truth decides.

    Conversations are judged without pictures, as the authors do.
    """
    if doc.get("judge_free"):
        return None
    is_conversation = doc["part"] == "multi_turn"
    return Item(
        question=doc["question"],
        answer=doc["answer"],
        response=response,
        category=multi_turn.CATEGORY if is_conversation else doc["category"],
        picture=None if is_conversation else Path(doc["image_path"]),
        background=doc["background"],
    )


def read(
    doc: Document,
    response: str | Judged,
    *,
    variant: str,
) -> Reading:
    """Read the judge's points in a judged response, or the answer where no judge is needed."""
    judged = response if isinstance(response, Judged) else Judged(response)
    if doc["part"] == "binary":
        return binary.read(judged.response, variant=variant)
    read_response = _read_answer if doc.get("judge_free") else _read_points
    reading = read_response(doc, judged, variant)
    if no_response(judged.response):
        return reading
    truth = parse_truth(doc["truth"])
    may_decline = doc["na"] and doc["category"] != ALLOW_NA
    return replace(
        reading,
        exact=is_exact(truth, judged.response) if truth else None,
        declined=declines(judged.response) if may_decline else None,
    )


def _read_answer(doc: Document, judged: Judged, variant: str) -> JudgedReading:
    """Read the marked answer; a missing response is wrong under `paper`, and unscored under `robust`."""
    del doc
    response = judged.response
    silent = no_response(response)
    answer = marked_answer(response)
    return JudgedReading(
        variant=variant,
        answer=answer,
        exact=False,
        reason=silent or ("" if answer else "no line is marked as the answer"),
        unscored=bool(silent) and variant == "robust",
        response_sha256=response_sha256(response),
    )


def _read_points(doc: Document, judged: Judged, variant: str) -> JudgedReading:
    verdict = _verdict_on(doc, judged, variant)
    points = verdict.score
    scores = None
    if isinstance(points, dict):
        scores = points
        points = scores.get(multi_turn.OVERALL)
    judge_error = None
    if not no_response(judged.response) and (judged.replies or judged.error):
        judge_error = bool(verdict.reason)
    return JudgedReading(
        variant=variant,
        answer=points,
        scores=scores,
        reason=verdict.reason,
        unscored=verdict.score is None,
        replies=tuple(reply.text for reply in judged.replies),
        judge_error=judge_error,
        response_sha256=response_sha256(judged.response),
    )


def _verdict_on(doc: Document, judged: Judged, variant: str) -> Verdict:
    rubric = judged.rubric or load_rubric(_rubric_of(doc))
    if variant == "paper":
        return paper.read_verdict(rubric, judged)
    return rubric.read(judged)


def _rubric_of(doc: Document) -> str:
    if doc["part"] == "multi_turn":
        return multi_turn.RUBRIC
    return f"mme_finance_{doc['language']}"


def compare(doc: Document, reading: Reading) -> Score:
    """Compare a reading with the truth; a judged response is correct if it has full points."""
    if doc["part"] == "binary":
        return binary.compare(doc, reading)
    answer = reading.answer
    if isinstance(reading, JudgedReading) and doc.get("judge_free"):
        is_right = reading.exact
    else:
        full = 10 if doc["part"] == "multi_turn" else 5
        is_right = answer == full
    return Score(
        answer=answer if isinstance(answer, int | str) else None,
        correct=None if reading.unscored else is_right,
        correct_err=None,
        reason=reading.reason,
    )


def score(
    doc: Document,
    response: str | Judged,
    *,
    variant: str,
) -> Score:
    """Score a response under `paper` or `robust`."""
    return compare(doc, read(doc, response, variant=variant))


def metrics_of(
    *,
    part: str = "open",
    na: bool = False,
    **_: Any,
) -> dict[str, bool | Metric]:
    """Name the metrics of a task, the headline first, and whether more is better."""
    if part == "binary":
        return binary.metrics()
    names = ["score"]
    if part == "multi_turn":
        names.append("score_read")
    else:
        names.append("exact")
        if na:
            names.append("declined")
    names += ["judge_error", "cut_off", "unscored"]
    return {**directions_of(names)}


def metric_values(doc: Document, readings: Sequence[Any]) -> Values:
    """Return a document's metrics, each the mean over its responses."""
    values_of_part = _VALUES_BY_PART[doc["part"]]
    return over_responses([values_of_part(doc, reading) for reading in readings])


def _values(doc: Document, reading: JudgedReading) -> Values:
    """Return the metrics of one response; None if a metric does not apply or it is unscored."""
    exact = None if reading.unscored and doc.get("judge_free") else reading.exact
    values: Values = {"score": _percent_of(reading), "exact": rate(exact)}
    if doc["na"]:
        values["declined"] = rate(reading.declined)
    return values | _failures_of(reading)


def _conversation_values(doc: Document, reading: JudgedReading) -> Values:
    del doc
    return multi_turn.overall_values(fields_of(reading)) | _failures_of(reading)


def _percent_of(reading: JudgedReading) -> float | None:
    if reading.unscored or not isinstance(reading.answer, int):
        return None
    return 20.0 * reading.answer


def _failures_of(reading: JudgedReading) -> Values:
    return {
        "judge_error": rate(reading.judge_error),
        "cut_off": float(reading.cut_off),
        "unscored": float(reading.unscored),
    }


_VALUES_BY_PART: Mapping[str, Callable[[Document, Any], Values]] = {
    "open": _values,
    "binary": binary.values,
    "multi_turn": _conversation_values,
}


def breakdown_values(
    doc: Document,
    readings: Sequence[ReadingFields],
    metrics: Values,
) -> Values:
    """Return the points of one document by its category and picture, or by the judge's dimensions."""
    if "score" not in metrics:
        return {}
    values: Values = {}
    names = []
    if doc.get("part") == "multi_turn":
        values = multi_turn.dimension_values(readings)
    else:
        names = _names_of_category(doc.get("category"))
    for field, prefix in _PICTURE_FIELDS.items():
        kind = doc.get(field)
        if kind and isinstance(kind, str):
            names.append(f"{prefix}_{kind.replace(' ', '_')}")
    metric = "exact" if doc.get("judge_free") else "score"
    for name in names:
        values[f"{metric}_{name}"] = metrics.get(metric)
    return values


def _names_of_category(name: Any) -> list[str]:
    """Return the paper's abbreviation of a category, and its group if that has a figure."""
    if not isinstance(name, str) or name not in CATEGORIES:
        return []
    category = CATEGORIES[name]
    if category.group not in _GROUPS:
        return [category.short]
    return [category.group, category.short]
