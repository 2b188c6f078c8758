"""Score responses by a judge's points or by rules; `paper` counts failures as 0, `robust` leaves them unscored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import yaml

from fin_tasks.answers.cut_off import mark_reading
from fin_tasks.answers.types import Reading, Score
from fin_tasks.judging.item import Item, Judged, missing_reason
from fin_tasks.judging.panel import Vote, verdict_of, votes_of
from fin_tasks.judging.rubric import Rubric, load_rubric
from fin_tasks.stats.averages import Metric, over_responses, rate

from ..contract import Document, ReadingFields, directions_of
from ..scored_task import VARIANTS, ScoredTask
from . import BENCHMARK, binary, multi_turn, paper
from .exact import declines, is_exact, marked_answer, parse_truth
from .prompts import ALLOW_NA
from .upstream import rubric_named as rubric_named

Values = multi_turn.Values

CATEGORIES: Mapping[str, Sequence[str]] = yaml.safe_load(
    Path(__file__).with_name("categories.yaml").read_text()
)
"""The figures that a category counts in, by its name in the files; the categories have the paper's order."""

_FULL_POINTS = {"open": 5, "multi_turn": 10}


@dataclass(frozen=True, kw_only=True)
class JudgedReading(Reading):
    """A reading whose `answer` is the judge's points; in a conversation, the points of the dimension `overall`."""

    scores: Mapping[str, float] | None = None
    """The judge's points by dimension; None outside conversations."""
    votes: tuple[Vote, ...] = ()
    """What each judge of a panel said; `answer` and `scores` are the median or mean of the votes."""
    exact: bool | None = None
    """Whether the response gives the exact truth; None without such a truth or without a response."""
    declined: bool | None = None
    """Whether the model declined; None if it may not decline, or if the question has no answer."""
    judge_error: bool | None = None
    """Whether no reply of the judge is a score; None if the judge was not asked."""

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Make a reading of what `to_dict` returned; other keys are ignored."""
        votes = []
        for vote in values.get("votes", ()):
            votes.append(Vote(**{**vote, "replies": tuple(vote["replies"])}))
        return super().from_dict({**values, "votes": tuple(votes)})


def judge_item(doc: Document, response: str) -> Item | None:
    """Return the item for the judge; None if the document's exact truth decides.

    Conversations are judged without pictures, as the authors do.
    """
    if doc.get("judge_free"):
        return None
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
    variant: str,
) -> Reading:
    """Read the judge's points in a judged response, or the answer where no judge is needed."""
    judged = response if isinstance(response, Judged) else Judged(response)
    if doc["part"] == "binary":
        return binary.read(judged.response, variant=variant)
    if doc.get("judge_free"):
        reading = _read_answer(judged.response, variant)
    else:
        name = "mt_zh" if doc["part"] == "multi_turn" else doc["language"]
        rubric = judged.rubric or load_rubric(f"mme_finance_{name}")
        reading = read_points(rubric, judged, variant)
    if missing_reason(judged.response):
        return reading
    truth = parse_truth(doc["truth"])
    may_decline = doc["na"] and doc["category"] != ALLOW_NA
    return replace(
        reading,
        exact=is_exact(truth, judged.response) if truth else None,
        declined=declines(judged.response) if may_decline else None,
    )


def _read_answer(response: str, variant: str) -> JudgedReading:
    """Read the marked answer; a missing response is wrong under `paper`, and unscored under `robust`."""
    reason = missing_reason(response)
    answer = marked_answer(response)
    is_unscored = bool(reason) and variant == "robust"
    if not (reason or answer):
        reason = "no line is marked as the answer"
    return JudgedReading(
        variant=variant,
        answer=answer,
        exact=None if is_unscored else False,
        reason=reason,
        unscored=is_unscored,
    )


def read_points(
    rubric: Rubric,
    judged: Judged,
    variant: str,
) -> JudgedReading:
    """Read the points in a judge's replies; in a conversation the overall ones count."""
    read_verdict = paper.read_verdict if variant == "paper" else Rubric.read
    votes = votes_of(judged, rubric, read_verdict)
    verdict = verdict_of(votes, rubric) or read_verdict(rubric, judged)
    points = verdict.score
    scores = None
    if isinstance(points, Mapping):
        scores = points
        points = scores.get(multi_turn.OVERALL)
    judge_error = None
    if judged.was_asked and not missing_reason(judged.response):
        judge_error = bool(verdict.reason)
    return JudgedReading(
        variant=variant,
        answer=points,
        scores=scores,
        votes=votes,
        reason=verdict.reason,
        unscored=verdict.score is None,
        replies=judged.replies,
        judge_error=judge_error,
    )


def compare(doc: Document, reading: Any) -> Score:
    """Compare a reading with the truth; a judged response is correct if it has full points."""
    answer = reading.answer
    if doc["part"] == "binary":
        is_right = answer == binary.truth_of(doc)
    elif doc.get("judge_free"):
        is_right = reading.exact
    else:
        is_right = answer == _FULL_POINTS[doc["part"]]
    return Score(
        answer=answer,
        correct=None if reading.unscored else is_right,
        correct_err=None,
        reason=reading.reason,
    )


def metrics_of(
    *,
    part: str = "open",
    na: bool = False,
    **_: Any,
) -> Mapping[str, bool | Metric]:
    """Name the metrics of a task, the headline first, and whether more is better."""
    if part == "binary":
        return binary.METRICS
    names = ["score", "score_read" if part == "multi_turn" else "exact"]
    if na:
        names.append("declined")
    return directions_of([*names, "judge_error", "cut_off", "unscored"])


def metric_values(doc: Document, readings: Sequence[Any]) -> Values:
    """Return a document's metrics, each the mean over its responses."""
    return over_responses([_values(doc, reading) for reading in readings])


def _values(doc: Document, reading: Any) -> Values:
    """Return the metrics of one response; None if a metric does not apply or it is unscored."""
    values: Values
    if doc["part"] == "binary":
        values = binary.metrics_of_response(doc, reading)
    elif doc["part"] == "multi_turn":
        values = multi_turn.turn_values(reading.to_dict(), multi_turn.OVERALL, "score")
    else:
        points = reading.answer
        values = {
            "score": 20.0 * points if isinstance(points, int | float) else None,
            "exact": rate(reading.exact),
        }
        if doc["na"]:
            values["declined"] = rate(reading.declined)
    if isinstance(reading, JudgedReading):
        values["judge_error"] = rate(reading.judge_error)
    values["cut_off"] = float(reading.cut_off)
    values["unscored"] = float(reading.unscored)
    return values


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
    metric = "exact" if doc.get("judge_free") else "score"
    for name in names:
        values[f"{metric}_{name}"] = metrics.get(metric)
    return values


def score_judged(
    rubric: Rubric,
    docs: Sequence[Document],
    judged: Sequence[Judged],
    *,
    task: str,
) -> ScoredTask:
    """Read a judge's replies under both variants; scores are percent of the rubric's scale."""
    readings = {}
    values = {}
    for variant in VARIANTS:
        marked = []
        for answer in judged:
            reading = read_points(rubric, answer, variant)
            marked.append(mark_reading(reading, answer.response))
        readings[variant] = [[reading] for reading in marked]
        values[variant] = [_share_of_scale(rubric, reading) for reading in marked]
    return ScoredTask(
        name=task,
        benchmark=BENCHMARK,
        docs=docs,
        responses=[[answer.response] for answer in judged],
        readings=readings,
        values=values,
        metrics={"score": True, "cut_off": False, "unscored": False},
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
