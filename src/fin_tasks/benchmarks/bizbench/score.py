"""Read answers and compare them with the truth: `paper` as XFinBench's authors do, `robust` with care.

`paper` is the scorer with which the long XFinBench paper reports BizBench, not that of BizBench's own authors.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from fin_tasks.answers.numbers import Number
from fin_tasks.answers.quantities import read_quantity
from fin_tasks.answers.types import Reading, Score
from fin_tasks.benchmarks import short_answers
from fin_tasks.judging.item import Item
from fin_tasks.sandbox import Ran

from ..contract import Document, ReadingFields
from ..final_answer import Kind
from ..request import MARKER
from ..short_answers import Response, Values, compare_with, mean_values, read_answer
from . import formulas

PAPER_PARTS: Mapping[str, Sequence[str]] = {
    "paper_choice": ("finknow", "formulaeval"),
    "paper_quantity": ("fincode", "codefinqa", "codetatqa", "convfinqa_e", "tatqa_e"),
}
"""Columns of the long XFinBench paper, and the parts of BizBench their rows come from."""
_KINDS: Mapping[str, Kind] = {"choice": "letter", "number": "number", "code": "number"}


@lru_cache(maxsize=8192)
def number_truth(text: str) -> Number | None:
    """Read an answer of the file such as `(5.2)` or `$ 4.5 million`; None if it is not one number."""
    bare = text.strip().strip("[]'\"").strip()
    signed = re.sub(r"\(\s*([^\w()]*[\d.,]+\s*%?)\s*\)", r"-\1", bare)
    if len(signed) > 80:
        return None
    return read_quantity(f"{MARKER} [{signed}].").answer


def programs(
    doc: Document,
    response: str,
    *,
    scoring: str,
) -> tuple[str | None, ...]:
    """Return the program in a response, or a function and its reference; nothing for a row without programs."""
    if doc["kind"] == "code":
        return formulas.programs(doc, response)
    return short_answers.programs(doc, response, scoring=scoring)


def reader_item(doc: Document, response: str) -> Item | None:
    """Return what a model is shown that reads answers; None if the rules read one."""
    if doc["kind"] == "code":
        return None
    return short_answers.reader_item(_KINDS[doc["kind"]], doc, response, doc["options"])


def read(
    doc: Document,
    response: Response,
    *,
    scoring: str,
) -> Reading:
    """Read the answer in a response, in a model's copy of it, or the results of its programs once they ran."""
    if doc["kind"] == "code" and isinstance(response, Ran):
        return formulas.read(response.outcomes, scoring=scoring)
    return read_answer(
        _KINDS[doc["kind"]], response, scoring=scoring, choices=doc["options"]
    )


def compare(doc: Document, reading: Reading) -> Score:
    """Compare a reading with the truth. An unusable truth is wrong in `paper` and unscored in `robust`."""
    if doc["kind"] == "number":
        truth = number_truth(doc["ground_truth"])
        if truth is None:
            return compare_with(
                [], reading, numeric=True, flaw="the truth is not one number"
            )
        return compare_with(truth.values_with_steps(), reading, numeric=True)
    right = doc["letter"]
    if doc["kind"] == "code":
        n_calls = reading.n_calls if isinstance(reading, formulas.FormulaReading) else 0
        right = f"{n_calls}/{n_calls}"
    flaw = "" if right else "the truth is none of the options"
    return compare_with([(right, 0.0)], reading, numeric=False, flaw=flaw)


def metric_values(doc: Document, readings: Sequence[Reading]) -> Values:
    """Return a document's metrics, each the mean over its responses; without numbers, `acc_err` is `acc`."""
    names = ["acc", "acc_err", "no_answer", "cut_off", "unscored"]
    if doc["task_mode"] != "cot":
        names.append("execution_rate")
    return mean_values(names, compare, doc, readings)


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
    """Return the accuracy by part, where a task has several parts."""
    parts = PAPER_PARTS.get(str(doc.get("subset")), ())
    part = doc.get("part")
    if part not in parts:
        return {}
    return {f"acc_{part}": metrics.get("acc")}
