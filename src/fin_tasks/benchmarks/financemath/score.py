"""Read answers and compare them with the truth: `paper` as the authors do, oddities included; `robust` with care."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fin_tasks.answers.notation import plain
from fin_tasks.answers.numbers import (
    Number,
    as_written,
    equal_reading,
    find_numbers,
    number_from_float,
)
from fin_tasks.answers.programs import extract_program
from fin_tasks.answers.read import read_quantity
from fin_tasks.answers.reasoning import strip_reasoning
from fin_tasks.answers.types import Reading, Score
from fin_tasks.benchmarks.financemath import paper
from fin_tasks.judging.item import Item, Judged
from fin_tasks.sandbox import REASONS, Outcome, Ran, Status, execution_values
from fin_tasks.stats.averages import average_or_none, rate

TOPICS: Mapping[str, str] = {  # topic in the file -> its name in metrics
    "Accounting": "accounting",
    "Asset Classes & Derivatives": "asset_classes",
    "Corporate & Securities Issuance": "corporate_issuance",
    "Market Analysis & Economics": "market_analysis",
    "Portfolio Management & Strategy": "portfolio",
    "Quantitative Analysis & Valuation": "quantitative",
    "Risk Management": "risk",
}


@dataclass(frozen=True, kw_only=True)
class ModelReading(Reading):
    """A reading of a response. In `paper` the answer of a program is the value that the authors record."""

    exact: float | None = (
        None  # the result of a program, not rounded; None if it is no finite number
    )
    is_nan: bool = False  # the result of a program is no number, which the authors count as right
    read_by: str = "rules"  # or "judge"
    replies: tuple[str, ...] = ()  # the judge's


def programs(doc: Mapping[str, Any], response: str, *, variant: str) -> tuple[str | None, ...]:
    """Return the program in a response; nothing unless the task asks for programs."""
    if doc["mode"] != "pot":
        return ()
    return (
        paper.financemath_program(response) if variant == "paper" else extract_program(response),
    )


def read(doc: Mapping[str, Any], response: str | Ran | Judged, *, variant: str) -> ModelReading:
    """Read the number that a response gives, that its program returned, or that a judge found in it."""
    if isinstance(response, Ran):
        return _read_result(response.outcomes[0], variant)
    read_by, unscored = "rules", False
    replies: tuple[str, ...] = ()
    if isinstance(response, Judged) and (response.replies or response.error):
        number, reason = _said_by_judge(response)
        replies = tuple(reply.text for reply in response.replies)
        read_by, unscored = "judge", bool(reason)
    else:
        text = response.response if isinstance(response, Judged) else response
        extraction = read_quantity(text)
        number, reason = extraction.answer, extraction.reason
    answer = (
        as_written(number) if number and variant == "paper" else number
    )  # the authors drop the unit
    return ModelReading(
        variant=variant,
        answer=answer,
        reason=reason,
        unscored=unscored,
        read_by=read_by,
        replies=replies,
    )


def judge_item(doc: Mapping[str, Any], response: str) -> Item | None:
    """Return an item for the judge if the rules find no number in a response, else None."""
    if read_quantity(response).answer is not None:
        return None
    shown = strip_reasoning(response)[-12_000:]  # results stand at the end
    return Item(question="-", answer="-", response=shown, category="Problem")


def _said_by_judge(judged: Judged) -> tuple[Number | None, str]:
    """Return the number that the judge copied, or the reason why its reply cannot be used, such as a made-up number."""
    if judged.error:
        return None, judged.error
    said = strip_reasoning(judged.replies[-1].text).strip().strip('"`.')
    number = read_quantity(said).answer
    shown = {
        abs(size)
        for found in find_numbers(plain(judged.response))
        for size in found.number.readings
    }
    if said.lower() == "none" or (number and shown.intersection(map(abs, number.readings))):
        return number, ""
    return None, f"expected a number of the response from the judge, got {said[:80]!r}"


def _read_result(outcome: Outcome, variant: str) -> ModelReading:
    status, answer = outcome.status, outcome.value
    number = (
        number_from_float(outcome.number) if outcome.ran and outcome.number is not None else None
    )
    reason = "no finite number returned" if outcome.ran else f"{status.value}: {outcome.detail}"
    recorded = float(answer) if number and answer and outcome.is_number else answer
    return ModelReading(
        variant=variant,
        answer=recorded if variant == "paper" else number,
        exact=number.value if number else None,
        is_nan=variant == "paper" and outcome.number is not None and math.isnan(outcome.number),
        reason="" if number else reason,
        unscored=status in (Status.broken, Status.unsupported),
        status=status.value,
    )


def compare(doc: Mapping[str, Any], reading: Reading) -> Score:
    """Compare a reading with the exact truth; in `paper`, words with the rounded truth, as the authors do."""
    answer, exact = reading.answer, getattr(reading, "exact", None)
    rounded = reading.variant == "paper" and doc["mode"] == "cot"
    truth = doc["ground_truth" if rounded else "exact_truth"]
    correct: bool | None = False
    if reading.unscored:
        correct = answer = None
    elif isinstance(answer, Number):
        near = any(paper.is_near(reading, truth) for reading in answer.readings)
        correct, answer = near or equal_reading(answer, truth, 0.0) is not None, answer.value
    elif getattr(reading, "is_nan", False):
        correct = paper.is_equal(math.nan, truth)
    elif isinstance(number := answer if exact is None else exact, float):
        correct = paper.is_equal(number, truth)
    reason = "right" if correct else reading.reason or ("no answer" if answer is None else "wrong")
    return Score(
        answer=answer, correct=correct, correct_err=None, reason=reason, status=reading.status
    )


def score(doc: Mapping[str, Any], response: str | Ran | Judged, *, variant: str) -> Score:
    """Score a response, or the result of its program, under `paper` or `robust`."""
    return compare(doc, read(doc, response, variant=variant))


def metrics_of(*, mode: str, **_: Any) -> dict[str, bool]:
    """Name the metrics of a task, the headline first, and whether more is better."""
    reasons = REASONS if mode == "pot" else ("judge_error",)
    names = (
        "acc",
        *(f"acc_{name}" for name in TOPICS.values()),
        "execution_rate",
        "no_answer",
        "unscored",
        *reasons,
    )
    return {name: name.startswith("acc") or name == "execution_rate" for name in names}


def metric_values(
    doc: Mapping[str, Any], readings: Sequence[ModelReading]
) -> dict[str, float | None]:
    """Return a document's metrics, each the mean over its responses; None if it does not apply or is unscored."""
    rows: list[dict[str, float | None]] = []
    for reading in readings:
        correct, unscored = rate(compare(doc, reading).correct), reading.unscored
        silent = reading.answer is None
        if doc["mode"] == "pot":
            silent = reading.exact is None and not reading.is_nan
        row = {
            "acc": correct,
            "unscored": float(unscored),
            "no_answer": None if unscored else float(silent),
        }
        row |= {
            f"acc_{doc['topic_name']}": correct,
            "execution_rate": None if unscored else float(not silent),
        }
        if reading.read_by == "judge":
            row["judge_error"] = float(unscored)
        rows.append(row | (execution_values(reading.status) if reading.status else {}))
    return {
        name: average_or_none(row.get(name) for row in rows)
        for name in metrics_of(mode=doc["mode"])
    }
