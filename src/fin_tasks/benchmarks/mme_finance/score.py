"""Score responses by a judge's points or by rules; `paper` counts failures as 0, `robust` leaves them unscored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from fin_tasks.answers.types import Reading, Score
from fin_tasks.benchmarks.mme_finance import binary, multi_turn, paper
from fin_tasks.benchmarks.mme_finance.exact import declines, is_exact, parse_truth
from fin_tasks.benchmarks.mme_finance.prompts import ALLOW_NA
from fin_tasks.judging.item import Item, Judged, no_response, response_sha256
from fin_tasks.judging.rubric import load_rubric
from fin_tasks.stats.averages import Metric, average_or_none, rate


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

GROUPS = ("perception", "reasoning", "cognition")


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
    conversation = doc["part"] == "multi_turn"
    return Item(
        question=doc["question"],
        answer=doc["answer"],
        response=response,
        category=multi_turn.CATEGORY if conversation else doc["category"],
        picture=None if conversation else Path(doc["image_path"]),
        background=doc["background"],
    )


def read(doc: Mapping[str, Any], response: str | Judged, *, variant: str) -> Reading:
    """Read the judge's points in a judged response, or the verdict in a response to a question of yes or no."""
    if doc["part"] == "binary":
        return binary.read(
            response.response if isinstance(response, Judged) else response, variant=variant
        )
    judged = response if isinstance(response, Judged) else Judged(response)
    rubric = load_rubric(
        multi_turn.RUBRIC if doc["part"] == "multi_turn" else f"mme_finance_{doc['language']}"
    )
    verdict = paper.read_verdict(rubric, judged) if variant == "paper" else rubric.read(judged)
    silent = bool(no_response(judged.response))
    scores = verdict.score if isinstance(verdict.score, dict) else None
    points = scores[multi_turn.DIMENSIONS[-1]] if scores else verdict.score
    truth = parse_truth(doc["truth"])
    may_decline = doc["na"] and doc["category"] != ALLOW_NA
    return JudgedReading(
        variant=variant,
        answer=None if isinstance(points, dict) else points,
        scores=scores,
        reason=verdict.reason,
        unscored=verdict.score is None,
        exact=(None if silent else is_exact(truth, judged.response)) if truth else None,
        declined=declines(judged.response) if may_decline and not silent else None,
        judge_error=None
        if silent or not (judged.replies or judged.error)
        else bool(verdict.reason),
        replies=tuple(reply.text for reply in judged.replies),
        response_sha256=response_sha256(judged.response),
    )


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


def metric_values(doc: Mapping[str, Any], readings: Sequence[Reading]) -> dict[str, float | None]:
    """Return a document's metrics, each the mean over its responses; None if it does not apply or is unscored."""
    of_part = {"open": _values, "binary": binary.values, "multi_turn": multi_turn.values}[
        doc["part"]
    ]
    rows = [of_part(doc, reading) for reading in readings]
    return {name: average_or_none(row[name] for row in rows) for name in rows[0]}


def metrics_of(*, part: str = "open", na: bool = False, **_: Any) -> dict[str, bool | Metric]:
    """Return the names of a task's metrics, the headline first, and whether more is better."""
    if part == "binary":
        return binary.metrics()
    lower = ("declined", "judge_error", "cut_off", "unscored")
    blank = JudgedReading(variant="paper", answer=None, unscored=True)
    if part == "multi_turn":
        names = list(multi_turn.values({}, blank))
    else:
        names = list(_values({"category": "OCR", "na": na}, blank))
    return {name: name not in lower for name in names}


def _values(doc: Mapping[str, Any], reading: Any) -> dict[str, float | None]:
    percent = None if reading.unscored else 20.0 * reading.answer
    own = CATEGORIES[doc["category"]]
    values = {"score": percent}
    values |= {f"score_{group}": percent if group == own.group else None for group in GROUPS}
    values |= {f"score_{one.short}": percent if one is own else None for one in CATEGORIES.values()}
    values["exact"] = rate(reading.exact)
    if doc["na"]:
        values["declined"] = rate(reading.declined)
    return {
        **values,
        "judge_error": rate(reading.judge_error),
        "cut_off": float(reading.cut_off),
        "unscored": float(reading.unscored),
    }
