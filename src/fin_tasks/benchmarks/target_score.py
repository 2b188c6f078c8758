"""Score a number, a letter or a verdict by what is read in the document's `target`.

This is a `score.py` for benchmarks of your own. Documents have `kind`, which is `number`, `letter`
or `verdict`, and `target`, a right answer as a response; `choices` are the texts of the letters.
No paper is repeated, so both variants read in the same way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fin_tasks.answers.numbers import Number
from fin_tasks.answers.types import Reading, Score
from fin_tasks.benchmarks import short_answers
from fin_tasks.benchmarks.short_answers import Truth, compare_with, read_answer
from fin_tasks.judging.item import Item, Judged
from fin_tasks.stats.averages import over_responses, rate

Document = Mapping[str, Any]


def reader_item(doc: Document, response: str) -> Item | None:
    """Return what a model is shown that reads answers; None if the rules read one."""
    return short_answers.reader_item(doc["kind"], doc, response, doc.get("choices") or ())


def read(doc: Document, response: str | Judged, *, variant: str) -> Reading:
    """Read the answer in a response, or in a model's copy of it."""
    choices = doc.get("choices") or ()
    reading = read_answer(doc["kind"], response, variant="robust", choices=choices)
    return replace(reading, variant=variant)


def compare(doc: Document, reading: Reading) -> Score:
    """Compare a reading with the target; it is unscored if the target has no such answer."""
    truths = _truths_of(doc)
    flaw = "" if truths else f"the target has no {doc['kind']}"
    # A flaw of the file leaves both variants unscored.
    reading = replace(reading, variant="robust")
    return compare_with(truths, reading, numeric=doc["kind"] == "number", flaw=flaw)


def _truths_of(doc: Document) -> list[Truth]:
    answer = read(doc, doc["target"], variant="robust").answer
    if answer is None:
        return []
    if isinstance(answer, Number):
        return [(value, answer.step_of(value)) for value in answer.readings]
    return [(answer, 0.0)]


def metrics_of(**_: Any) -> dict[str, bool]:
    """Name the metrics, the headline first, and whether more is better."""
    return {"acc": True, "acc_err": True, "no_answer": False, "cut_off": False, "unscored": False}


def metric_values(doc: Document, readings: Sequence[Reading]) -> dict[str, float | None]:
    """Return a document's metrics; a letter or a verdict is never nearly right."""
    rows: list[dict[str, float | None]] = []
    for reading in readings:
        score = compare(doc, reading)
        is_near = score.correct if score.correct_err is None else score.correct_err
        unscored = score.correct is None
        row = {
            "acc": rate(score.correct),
            "acc_err": rate(is_near),
            "no_answer": None if unscored else float(score.answer is None),
            "cut_off": float(reading.cut_off),
            "unscored": float(unscored),
        }
        rows.append(row)
    return over_responses(rows)
