"""Score responses by a judge's points or by rules; `paper` counts failures as 0, `robust` leaves them unscored."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fin_tasks.answers.text import is_cut_off, strip_reasoning
from fin_tasks.answers.types import Reading, Score
from fin_tasks.judging.item import Item, Judged, missing_reason
from fin_tasks.judging.rubric import Rubric, load_rubric
from fin_tasks.stats.averages import Metric, average, over_responses, rate

from ..contract import Document, ReadingFields
from ..scored_task import SCORINGS, ScoredTask
from . import BENCHMARK, binary, multi_turn
from .prompts import ALLOW_NA, CATEGORIES
from .upstream import upstream_rubric

Values = multi_turn.Values

_FULL_POINTS = {"open": 5, "multi_turn": 10}
_INTEGER = re.compile(r"[-+]?\d+")
_DECLINING = ("not applicable", "无法回答", "不适用")
"""The phrases by which a model declines a question."""


@dataclass(frozen=True, kw_only=True)
class JudgedReading(Reading):
    """A reading whose `answer` is the judge's points; in a conversation, the points of the dimension `overall`."""

    scores: Mapping[str, float] | None = None
    """The judge's points by dimension; None outside conversations."""
    declined: bool | None = None
    """Whether the model declined; None if it may not decline, or if the question has no answer."""
    judge_error: bool | None = None
    """Whether no reply of the judge is a score; None if the judge was not asked."""


def rubric_named(
    name: str,
    /,
    *,
    language: str,
    part: str = "open",
    source: str = "auto",
    data_dir: str | None = None,
    **_: Any,
) -> Rubric:
    """Return a rubric by its name or file; `upstream` is the authors' own, in English or Chinese."""
    if name == "upstream":
        return upstream_rubric(part, language, source=source, data_dir=data_dir)
    return load_rubric(name)


def judge_item(doc: Document, response: str) -> Item:
    """Return the item for the judge. Conversations are judged without pictures, as the authors do."""
    item = Item(
        question=doc["question"],
        answer=doc["answer"],
        response=response,
        category=doc["category"],
        picture=Path(doc["image_path"]),
        background=doc["background"],
    )
    if doc["part"] == "multi_turn":
        return replace(item, category=multi_turn.CATEGORY, picture=None)
    return item


def read(
    doc: Document,
    response: str | Judged,
    *,
    scoring: str,
) -> Reading:
    """Read the judge's points in a judged response, or the answer where no judge is needed."""
    judged = response if isinstance(response, Judged) else Judged(response)
    if doc["part"] == "binary":
        return binary.read(judged.response, scoring=scoring)
    name = "mt_zh" if doc["part"] == "multi_turn" else doc["language"]
    rubric = judged.rubric or load_rubric(f"mme_finance_{name}")
    reading = read_points(rubric, judged, scoring)
    may_decline = doc["na"] and doc["category"] != ALLOW_NA
    if may_decline and not missing_reason(judged.response):
        return replace(reading, declined=declines(judged.response))
    return reading


def declines(response: str) -> bool:
    """Return whether a response contains a phrase that declines a question."""
    text = unicodedata.normalize("NFKC", strip_reasoning(response)).casefold()
    text = " ".join(text.split())
    return any(phrase in text for phrase in _DECLINING)


def read_points(rubric: Rubric, judged: Judged, scoring: str) -> JudgedReading:
    """Read the first reply of the judge that has points: by the authors' parser under `paper`, else by ours.

    If there is none after all tries, or if the model gave no response, `paper` gives the lowest score;
    in a conversation, no dimension then has a score.
    """
    is_paper = scoring == "paper"
    missing = missing_reason(judged.response)
    points: Any = None
    reason = ""
    for reply in judged.replies:
        points = paper_points(rubric, reply) if is_paper else rubric.score_of(reply)
        if points is not None:
            break
    else:
        had_all_tries = len(judged.replies) >= len(rubric.temperatures)
        if is_paper and (had_all_tries or (missing and not judged.error)):
            points = {} if rubric.dimensions else rubric.lowest
            reason = missing or "no reply of the judge is a score"
        else:
            reason = missing or judged.error or "the judge was not asked"
            if judged.replies:
                reason += f"; the last reply was {judged.replies[-1][:80]!r}"
    is_unscored = points is None
    scores = None
    if isinstance(points, Mapping):
        scores = points
        points = scores.get(multi_turn.OVERALL)
    judge_error = None
    if judged.was_asked and not missing:
        judge_error = bool(reason)
    return JudgedReading(
        scoring=scoring,
        answer=points,
        scores=scores,
        reason=reason,
        unscored=is_unscored,
        replies=judged.replies,
        judge_error=judge_error,
    )


def paper_points(rubric: Rubric, reply: str) -> int | dict[str, int] | None:
    """Read one reply of a judge as the authors do; return None if their parser finds no score in it.

    A score is the whole reply if that is an integer of the scale, else the last such integer in it.
    """
    if rubric.parser == "text":
        return None
    if rubric.dimensions:
        return _dimensions_of(rubric, reply) or None
    scale = range(rubric.lowest, rubric.highest + 1)
    for texts in ([reply], _INTEGER.findall(reply)):
        with suppress(ValueError):  # Python reads no integer of more than 4,300 digits
            on_scale = [number for number in map(int, texts) if number in scale]
            return on_scale[-1] if on_scale else None
    return None


def _dimensions_of(rubric: Rubric, reply: str) -> dict[str, int]:
    """Read each dimension by itself in the Python dict of a reply, and clip it to the scale."""
    points = multi_turn.dict_in(reply)
    scores = {}
    for name, title in rubric.dimensions.items():
        # Infinity gives an OverflowError.
        with suppress(KeyError, ValueError, TypeError, OverflowError):
            number = int(points[title])
            scores[name] = min(max(number, rubric.lowest), rubric.highest)
    return scores


def compare(doc: Document, reading: Any) -> Score:
    """Compare a reading with the truth; a judged response is correct if it has full points."""
    is_binary = doc["part"] == "binary"
    truth: Any = _FULL_POINTS.get(doc["part"])
    if is_binary:
        truth = binary.truth_of(doc)
    return Score(
        answer=reading.answer,
        correct=None if reading.unscored else reading.answer == truth,
        within_margin=None,
        reason=reading.reason,
    )


def metric_values(doc: Document, readings: Sequence[Any]) -> Values:
    """Return a document's metrics, each the mean over its responses.

    A metric is None if it does not apply or if no response is scored.
    """
    rows = []
    for reading in readings:
        row: Values = {}
        if doc["part"] == "binary":
            row |= binary.metrics_of_response(doc, reading)
        elif doc["part"] == "multi_turn":
            fields = reading.to_dict()
            row |= multi_turn.turn_values(fields, multi_turn.OVERALL, "score")
        else:
            points = reading.answer
            is_known = isinstance(points, int | float)
            row["score"] = 20.0 * points if is_known else None
            if doc["na"]:
                row["declined"] = rate(reading.declined)
        if isinstance(reading, JudgedReading):
            row["judge_error"] = rate(reading.judge_error)
        row["cut_off"] = float(reading.cut_off)
        row["unscored"] = float(reading.unscored)
        rows.append(row)
    return over_responses(rows)


def process_results(doc: Document, results: Sequence[Any]) -> dict[str, Any]:
    """Return the metrics of a document that have a value; lm-eval calls this after a filter."""
    (texts,) = results
    values = metric_values(doc, [text.reading for text in texts])
    return {name: value for name, value in values.items() if value is not None}


def breakdown_values(
    doc: Document,
    readings: Sequence[ReadingFields],
    metrics: Values,
) -> Values:
    """Return the points of one document under the names of its category and picture, and by the judge's dimensions."""
    if "score" not in metrics:
        return {}
    values: Values = {}
    if doc.get("part") == "multi_turn":
        values |= multi_turn.dimension_values(readings)
    names = [*CATEGORIES.get(str(doc.get("category")), ())]
    for field in ("image_type", "image_style"):
        if doc.get(field):
            name = f"{field}_{doc[field]}".replace(" ", "_")
            names.append(name.removeprefix("image_"))
    for name in names:
        values[f"score_{name}"] = metrics["score"]
    return values


def score_judged(
    rubric: Rubric,
    docs: Sequence[Document],
    judged: Sequence[Judged],
    *,
    task: str,
) -> ScoredTask:
    """Read a judge's replies under both scorings; scores are percent of the rubric's scale."""
    readings = {}
    values = {}
    for scoring in SCORINGS:
        marked = []
        for answer in judged:
            reading = read_points(rubric, answer, scoring)
            marked.append(replace(reading, cut_off=is_cut_off(answer.response)))
        readings[scoring] = [[reading] for reading in marked]
        values[scoring] = [_share_of_scale(rubric, reading) for reading in marked]
    return ScoredTask(
        name=task,
        benchmark=BENCHMARK,
        docs=docs,
        responses=[[answer.response] for answer in judged],
        readings=readings,
        values=values,
        metrics={
            name: Metric(higher_is_better=name == "score", aggregate=average)
            for name in ("score", "cut_off", "unscored")
        },
    )


def _share_of_scale(rubric: Rubric, reading: JudgedReading) -> Values:
    score = None
    if not reading.unscored:
        # A conversation without an overall score has the lowest.
        points: Any = rubric.lowest if reading.answer is None else reading.answer
        score = 100 * (points - rubric.lowest) / (rubric.highest - rubric.lowest)
    return {
        "score": score,
        "cut_off": float(reading.cut_off),
        "unscored": float(reading.unscored),
    }
