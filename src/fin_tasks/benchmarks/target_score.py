"""Score a response by what is read in the document's `target`, for benchmarks of one's own.

This is a `score.py`. Documents have `kind`, and `target`, a right answer as a response. Kinds are

- `number`, which is near if it is within 0.5 %, and right within `tolerance`, a share of the right answer;
- `letter` or `letters`, one or several right choices; `choices` are their texts, at most 26;
- `verdict`, which is true or false;
- `date`, a day;
- `text`, a few words; `alternatives` are other texts that are right.

No paper is repeated, so both scorings read in the same way, by the house rules.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from string import ascii_uppercase
from typing import Any, get_args

from fin_tasks.answers.numbers import Number
from fin_tasks.answers.short_texts import (
    is_same_text,
    read_date,
    read_letters,
    read_text,
)
from fin_tasks.answers.types import Extraction, Reading, Score
from fin_tasks.errors import DataError
from fin_tasks.judging.item import Item, Judged

from . import short_answers
from .contract import Document
from .final_answer import Kind
from .short_answers import Truth, compare_with, mean_values, read_answer, score_of

_READ_BY_MODELS = get_args(Kind)
KINDS = (*_READ_BY_MODELS, "letters", "date", "text")
_METRICS = ("acc", "acc_err", "no_answer", "cut_off", "unscored")


def check_documents(documents: Sequence[Document], file: Path) -> None:
    """Raise DataError for a document with another `kind`, or whose target or other answers cannot be used."""
    for number, doc in enumerate(documents, start=1):
        where = f"{file}, row {number}"
        kind = doc["kind"]
        if kind not in KINDS:
            raise DataError(
                f"{where}, kind: expected {', '.join(KINDS)}, got {kind!r}."
            )
        n_choices = len(doc.get("choices") or ())
        if n_choices > len(ascii_uppercase):
            raise DataError(
                f"{where}, choices: expected at most {len(ascii_uppercase)}, got {n_choices}."
            )
        tolerance = doc.get("tolerance") or 0
        if not isinstance(tolerance, int | float) or not 0 <= tolerance < 1:
            raise DataError(
                f"{where}, tolerance: expected a share of the right answer such as 0.01, got {tolerance!r}."
            )
        alternatives = doc.get("alternatives") or []
        if not isinstance(alternatives, list) or not all(
            isinstance(text, str) for text in alternatives
        ):
            raise DataError(
                f"{where}, alternatives: expected a list of texts, got {alternatives!r:.80}."
            )
        if read(doc, doc["target"], scoring="robust").answer is None:
            raise DataError(
                f"{where}: expected an answer that is a {kind}, got {doc['target']!r:.200}."
            )


def reader_item(doc: Document, response: str) -> Item | None:
    """Return what a model is shown that reads answers; None if the rules read one, or if no model reads this kind."""
    if doc["kind"] not in _READ_BY_MODELS:
        return None
    return short_answers.reader_item(
        doc["kind"], doc, response, doc.get("choices") or ()
    )


def read(doc: Document, response: str | Judged, *, scoring: str) -> Reading:
    """Read the answer in a response, or in a model's copy of it."""
    kind = doc["kind"]
    choices = doc.get("choices") or ()
    if kind in _READ_BY_MODELS:
        reading = read_answer(kind, response, scoring="robust", choices=choices)
        return replace(reading, scoring=scoring)
    text = response if isinstance(response, str) else response.response
    extraction: Extraction[str]
    if kind == "letters":
        extraction = read_letters(text, len(choices))
    elif kind == "date":
        extraction = read_date(text)
    else:
        extraction = read_text(text)
    return Reading(
        scoring=scoring,
        answer=extraction.answer,
        reason=extraction.reason,
        rule=extraction.rule,
    )


def compare(doc: Document, reading: Reading) -> Score:
    """Compare a reading with the target; it is unscored if the target has no such answer."""
    kind = doc["kind"]
    answer = read(doc, doc["target"], scoring="robust").answer
    truths: list[Truth] = []
    if isinstance(answer, Number):
        truths += answer.values_with_steps()
    elif answer is not None:
        truths.append((answer, 0.0))
    flaw = "" if truths else f"the target has no {kind}"
    # Without a usable target, both scorings are unscored.
    as_robust = replace(reading, scoring="robust")
    if flaw or reading.unscored or reading.answer is None:
        return compare_with(truths, as_robust, numeric=kind == "number", flaw=flaw)
    if kind == "text":
        right_texts = [answer, *(doc.get("alternatives") or ())]
        is_right = any(
            is_same_text(str(reading.answer), str(text)) for text in right_texts
        )
        return score_of(as_robust, str(reading.answer), is_right)
    score = compare_with(truths, as_robust, numeric=kind == "number", flaw=flaw)
    if isinstance(reading.answer, Number) and doc.get("tolerance"):
        return _with_tolerance(score, reading.answer, truths, doc["tolerance"])
    return score


def _with_tolerance(
    score: Score, answer: Number, truths: Sequence[Truth], tolerance: float
) -> Score:
    """Return the score of a number that is right within a share of the right answer."""
    for value in answer.values:
        for truth, _ in truths:
            if math.isclose(
                value,
                float(truth),
                rel_tol=0,
                abs_tol=tolerance * abs(float(truth)) * (1 + 1e-9),
            ):
                return replace(score, correct=True, within_margin=True, reason="right")
    return score


metric_values = partial(mean_values, _METRICS, compare)
"""Return the metrics of a document and its readings."""


def process_results(doc: Document, results: Sequence[Any]) -> dict[str, Any]:
    """Return the metrics of a document that have a value; lm-eval calls this after a filter."""
    (texts,) = results
    values = metric_values(doc, [text.reading for text in texts])
    return {name: value for name, value in values.items() if value is not None}
