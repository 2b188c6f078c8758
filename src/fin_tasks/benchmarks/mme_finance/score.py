"""Score responses by a judge's points or by rules; `paper` counts failures as 0, `robust` leaves them unscored."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from fin_tasks.answers.types import Reading, Score
from fin_tasks.benchmarks.breakdowns import fields_of
from fin_tasks.benchmarks.contract import ReadingFields, directions_of
from fin_tasks.benchmarks.mme_finance import binary, multi_turn, paper
from fin_tasks.benchmarks.mme_finance.exact import declines, is_exact, parse_truth
from fin_tasks.benchmarks.mme_finance.prompts import ALLOW_NA
from fin_tasks.judging.item import Item, Judged, Verdict, no_response, response_sha256
from fin_tasks.judging.rubric import load_rubric
from fin_tasks.stats.averages import Metric, over_responses, rate

Values = dict[str, float | None]


class Category(NamedTuple):
    """A task category: the paper's abbreviation and group, the kind of grading, and the rows in the published files."""

    short: str
    group: str
    kind: str
    en: int
    zh: int


CATEGORIES: Mapping[str, Category] = {
    "Image Caption": Category("IC", "perception", "subjective", 164, 144),
    "OCR": Category("OCR", "perception", "objective", 178, 182),
    "Entity Recognition": Category("ER", "perception", "objective", 163, 148),
    "Spatial Awareness": Category("SA", "perception", "objective", 229, 166),
    "Accurate Numerical Calculation": Category("ANC", "reasoning", "calculation", 133, 126),
    "Numerical Calculation": Category("ENC", "reasoning", "estimation", 42, 32),
    "Risk Warning": Category("RW", "cognition", "subjective", 22, 37),
    "Investment Advice": Category("IA", "cognition", "subjective", 53, 91),
    "Explain Reason": Category("RE", "cognition", "subjective", 18, 13),
    "Financial Knowledge": Category("FQA", "cognition", "subjective", 147, 144),
    ALLOW_NA: Category("NA", "hallucination", "unanswerable", 22, 20),
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


def judge_item(doc: Mapping[str, Any], response: str) -> Item:
    """Return the item for the judge; conversations are judged without pictures, as the authors do."""
    is_conversation = doc["part"] == "multi_turn"
    return Item(
        question=doc["question"],
        answer=doc["answer"],
        response=response,
        category=multi_turn.CATEGORY if is_conversation else doc["category"],
        picture=None if is_conversation else Path(doc["image_path"]),
        background=doc["background"],
    )


def read(doc: Mapping[str, Any], response: str | Judged, *, variant: str) -> Reading:
    """Read the judge's points in a judged response, or the verdict in one to a question of yes or no."""
    judged = response if isinstance(response, Judged) else Judged(response)
    if doc["part"] == "binary":
        return binary.read(judged.response, variant=variant)
    verdict = _verdict_on(doc, judged, variant)
    points = verdict.score
    scores = None
    if isinstance(points, dict):
        scores = points
        points = scores[multi_turn.OVERALL]
    reading = JudgedReading(
        variant=variant,
        answer=points,
        scores=scores,
        reason=verdict.reason,
        unscored=verdict.score is None,
        replies=tuple(reply.text for reply in judged.replies),
        response_sha256=response_sha256(judged.response),
    )
    if no_response(judged.response):
        return reading
    truth = parse_truth(doc["truth"])
    may_decline = doc["na"] and doc["category"] != ALLOW_NA
    was_judged = bool(judged.replies or judged.error)
    return replace(
        reading,
        exact=is_exact(truth, judged.response) if truth else None,
        declined=declines(judged.response) if may_decline else None,
        judge_error=bool(verdict.reason) if was_judged else None,
    )


def _verdict_on(doc: Mapping[str, Any], judged: Judged, variant: str) -> Verdict:
    name = f"mme_finance_{doc['language']}"
    if doc["part"] == "multi_turn":
        name = multi_turn.RUBRIC
    rubric = load_rubric(name)
    if variant == "paper":
        return paper.read_verdict(rubric, judged)
    return rubric.read(judged)


def compare(doc: Mapping[str, Any], reading: Reading) -> Score:
    """Compare a reading with the truth; a judged response is correct if it has full points."""
    if doc["part"] == "binary":
        return binary.compare(doc, reading)
    full = 10 if doc["part"] == "multi_turn" else 5
    points = reading.answer if isinstance(reading.answer, int) else None
    correct = None if reading.unscored else points == full
    return Score(answer=points, correct=correct, correct_err=None, reason=reading.reason)


def score(doc: Mapping[str, Any], response: str | Judged, *, variant: str) -> Score:
    """Score a response under `paper` or `robust`."""
    return compare(doc, read(doc, response, variant=variant))


def metrics_of(*, part: str = "open", na: bool = False, **_: Any) -> dict[str, bool | Metric]:
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


def metric_values(doc: Mapping[str, Any], readings: Sequence[Any]) -> Values:
    """Return a document's metrics, each the mean over its responses."""
    values_of_part = _VALUES_BY_PART[doc["part"]]
    return over_responses([values_of_part(doc, reading) for reading in readings])


def _values(doc: Mapping[str, Any], reading: JudgedReading) -> Values:
    """Return the metrics of one response; None if a metric does not apply or it is unscored."""
    values: Values = {"score": _percent_of(reading), "exact": rate(reading.exact)}
    if doc["na"]:
        values["declined"] = rate(reading.declined)
    return values | _failures_of(reading)


def _conversation_values(doc: Mapping[str, Any], reading: JudgedReading) -> Values:
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


_VALUES_BY_PART: Mapping[str, Callable[[Mapping[str, Any], Any], Values]] = {
    "open": _values,
    "binary": binary.values,
    "multi_turn": _conversation_values,
}


def breakdown_values(
    doc: Mapping[str, Any], readings: Sequence[ReadingFields], metrics: Values
) -> Values:
    """Return the points of one document by its category and picture, or by the judge's dimensions."""
    if "score" not in metrics:
        return {}
    score = metrics["score"]
    values: Values = {}
    if doc.get("part") == "multi_turn":
        values = multi_turn.dimension_values(readings)
    else:
        values = {f"score_{name}": score for name in _names_of_category(doc.get("category"))}
    for field, name in _PICTURE_FIELDS.items():
        kind = doc.get(field)
        if kind and isinstance(kind, str):
            values[f"score_{name}_{kind.replace(' ', '_')}"] = score
    return values


def _names_of_category(name: Any) -> list[str]:
    """Return the paper's abbreviation of a category, and its group if that has a figure."""
    if not isinstance(name, str) or name not in CATEGORIES:
        return []
    category = CATEGORIES[name]
    if category.group not in _GROUPS:
        return [category.short]
    return [category.group, category.short]
