"""Score a number, a letter or a verdict by what is read in the document's `target`.

This is a `score.py` for benchmarks of your own. Documents have `kind`, which is `number`, `letter`
or `verdict`, and `target`, a right answer as a response; `choices` are the texts of the letters.
No paper is repeated, so both scorings read in the same way.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

from fin_tasks.answers.numbers import Number
from fin_tasks.answers.types import Reading, Score
from fin_tasks.errors import DataError
from fin_tasks.judging.item import Item, Judged

from . import short_answers
from .contract import Document
from .final_answer import Kind
from .short_answers import Truth, compare_with, mean_values, read_answer

KINDS = get_args(Kind)
_METRICS = ("acc", "acc_err", "no_answer", "cut_off", "unscored")


def check_documents(documents: Sequence[Document], file: Path) -> None:
    """Raise DataError if a document of a file has another `kind`, or a target that has no such answer."""
    for number, doc in enumerate(documents, start=1):
        kind = doc["kind"]
        if kind not in KINDS:
            raise DataError(
                f"{file}, row {number}, kind: expected {', '.join(KINDS)}, got {kind!r}."
            )
        if read(doc, doc["target"], scoring="robust").answer is None:
            raise DataError(
                f"{file}, row {number}: expected an answer that is a {kind}, "
                f"got {doc['target']!r:.200}."
            )


def reader_item(doc: Document, response: str) -> Item | None:
    """Return what a model is shown that reads answers; None if the rules read one."""
    return short_answers.reader_item(
        doc["kind"], doc, response, doc.get("choices") or ()
    )


def read(doc: Document, response: str | Judged, *, scoring: str) -> Reading:
    """Read the answer in a response, or in a model's copy of it."""
    choices = doc.get("choices") or ()
    reading = read_answer(doc["kind"], response, scoring="robust", choices=choices)
    return replace(reading, scoring=scoring)


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
    return compare_with(truths, as_robust, numeric=kind == "number", flaw=flaw)


metric_values = partial(mean_values, _METRICS, compare)
"""Return the metrics of a document and its readings."""


def process_results(doc: Document, results: Sequence[Any]) -> dict[str, Any]:
    """Return the metrics of a document that have a value; lm-eval calls this after a filter."""
    (texts,) = results
    values = metric_values(doc, [text.reading for text in texts])
    return {name: value for name, value in values.items() if value is not None}
