"""Answers to questions about a chart: read in a response, and compared with the data."""

import re
from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from fin_tasks.answers.numbers import Number
from fin_tasks.answers.quantities import read_quantity
from fin_tasks.answers.text import plain, split_reasoning
from fin_tasks.answers.types import Reading, Score
from fin_tasks.answers.verdicts import read_verdict

from ..contract import Document
from ..short_answers import score_of

FORMS = {
    "last close": "price",
    "highest close": "price",
    "month of the highest close": "month",
    "direction": "verdict",
    "reports that met": "count",
    "largest volume": "day",
    "above the average": "verdict",
}
"""The form of the answer to each kind of question."""
PRICE_TOLERANCE = 0.05
"""A price is right within this share of it."""
DAY_TOLERANCE = 7
"""A day is right within so many days."""

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY = re.compile(
    rf"""\b(?:
        \d{{4}}[-/]\d{{1,2}}(?:[-/]\d{{1,2}})?
        | {_MONTH} \s+ \d{{1,2}}(?:st|nd|rd|th)?,? \s+ \d{{4}}
        | \d{{1,2}}(?:st|nd|rd|th)? \s+ (?:of\s+)? {_MONTH},? \s+ \d{{4}}
        | {_MONTH},? \s+ (?:of\s+)? \d{{4}}
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
_ENDINGS = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b|\bof\s+|[.,]", re.IGNORECASE)
_LAST_LABEL = re.compile(r".*final answer\W*", re.IGNORECASE | re.DOTALL)
_FLAW = "no answer: none of the form that was asked for"

Floats = npt.NDArray[np.float64]


def read_chart_answer(doc: Document, response: str, *, scoring: str) -> Reading:
    """Read a price, a number, a day, a month, or yes or no; both scorings do it in the same way."""
    form = FORMS[doc["category"]]
    if form in ("price", "count"):
        return Reading(scoring=scoring, **vars(read_quantity(response)))
    answer: str | None
    if form == "verdict":
        verdict = read_verdict(response)
        answer = {1: "yes", 0: "no", None: None}[verdict.answer]
    else:
        answer = _read_day(response, form)
    return Reading(
        scoring=scoring, answer=answer, reason="" if answer is not None else _FLAW
    )


def _read_day(response: str, form: str) -> str | None:
    """Return the last day or month behind the label of the answer, else the last one of all."""
    reply = plain(split_reasoning(response).text)
    label = _LAST_LABEL.match(reply)
    for text in (reply[label.end() :] if label else "", reply):
        for match in reversed(_DAY.findall(text)):
            n_numbers = len(re.findall(r"\d+", match))
            has_day = n_numbers == (2 if re.search("[A-Za-z]{3}", match) else 3)
            if form == "day" and not has_day:
                continue
            try:
                day = pd.Timestamp(_ENDINGS.sub(" ", match))
            except ValueError:
                continue
            return f"{day:%Y-%m}" if form == "month" else f"{day:%Y-%m-%d}"
    return None


def compare_chart_answer(doc: Document, reading: Reading) -> Score:
    """Compare an answer with the data."""
    if reading.unscored:
        return score_of(reading, None, None, reason=f"unscored: {reading.reason}")
    answer: Any = reading.answer
    if isinstance(answer, Number):
        answer = answer.value
    form = FORMS[doc["category"]]
    answers = numbers_of(form, [str(answer)])
    truths = numbers_of(form, [doc["truth"]])
    return score_of(reading, answer, bool(are_right(form, answers, truths)[0]))


def numbers_of(form: str, texts: Sequence[str]) -> Floats:
    """Return answers as numbers; NaN for a text that is no answer of this form."""
    numbers = []
    for text in texts:
        try:
            if form in ("price", "count"):
                number = float(text)
            elif form == "verdict":
                number = {"yes": 1.0, "no": 0.0}[text]
            elif form == "month":
                year, month = text.split("-")
                number = 12.0 * int(year) + int(month)
            else:
                number = float(date.fromisoformat(text).toordinal())
        except (ValueError, KeyError):
            number = np.nan
        numbers.append(number)
    return np.array(numbers, dtype=np.float64)


def are_right(
    form: str, answers: Floats, truths: Floats | np.float64
) -> npt.NDArray[np.bool_]:
    """Return whether answers are near enough to truths; the arrays are broadcast."""
    tolerances = {
        "price": PRICE_TOLERANCE * np.abs(truths) + 1e-9,
        "day": np.full_like(truths, DAY_TOLERANCE),
    }
    distances = np.abs(answers - truths)
    return np.asarray(distances <= tolerances.get(form, np.zeros_like(truths)))
