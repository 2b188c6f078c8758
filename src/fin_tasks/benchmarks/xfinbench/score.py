"""Read answers and compare them with the truth: `paper` as the authors do, defects included; `robust` with care."""

from collections.abc import Mapping, Sequence
from typing import Any

from fin_tasks.answers.types import Reading, Score
from fin_tasks.benchmarks import short_answers
from fin_tasks.judging.item import Item

from ..contract import Document, ReadingFields
from ..final_answer import Kind
from ..short_answers import Response, Values, compare_with, mean_values, read_answer
from .rows import CAPABILITIES, MATH_TYPES, Task, parse_truth

programs = short_answers.programs
_KINDS: Mapping[Task, Kind] = {"bool": "verdict", "mcq": "letter", "calcu": "number"}


def reader_item(doc: Document, response: str) -> Item | None:
    """Return what a model is shown that reads answers; None if the rules read one."""
    kind = _KINDS[doc["task"]]
    return short_answers.reader_item(kind, doc, response, doc["choices"])


def read(doc: Document, response: Response, *, scoring: str) -> Reading:
    """Read the answer in a response, in a model's copy of it, or the result of its program once that ran."""
    kind = _KINDS[doc["task"]]
    return read_answer(kind, response, scoring=scoring, choices=doc["choices"])


def compare(doc: Document, reading: Reading) -> Score:
    """Compare a reading with the truth."""
    is_number = doc["task"] == "calcu"
    value, flaw, step = parse_truth(doc["task"], doc["ground_truth"])
    if value is None:
        return compare_with([], reading, numeric=is_number, flaw=f"the truth is {flaw}")
    return compare_with([(value, step)], reading, numeric=is_number)


def metric_values(doc: Document, readings: Sequence[Reading]) -> Values:
    """Return a document's metrics, each the mean over its responses."""
    names = ["acc", "no_answer", "cut_off", "unscored"]
    if doc["subset"] == "calc":
        names.append("acc_err")
    if doc["mode"] == "pot":
        names.append("execution_rate")
    return mean_values(names, compare, doc, readings)


def process_results(doc: Document, results: Sequence[Any]) -> dict[str, Any]:
    """Return the metrics of a document that have a value; lm-eval calls this after a filter."""
    (texts,) = results
    values = metric_values(doc, [text.reading for text in texts])
    return {name: value for name, value in values.items() if value is not None}


def breakdown_values(
    doc: Document, readings: Sequence[ReadingFields], metrics: Values
) -> Values:
    """Return the accuracies of one document by capability, and of a calculation also by its parts."""
    exact = metrics.get("acc")
    near = metrics.get("acc_err")
    is_calculation = "acc_err" in metrics
    # Documents of a stranger's samples may hold anything.
    capabilities: Any = doc.get("capabilities")
    math_types: Any = doc.get("math_types")
    values: Values = {"acc_em": exact} if is_calculation else {}
    for name in CAPABILITIES if isinstance(capabilities, list) else ():
        if name in capabilities:
            values[f"acc_{name}"] = exact
            if is_calculation:
                values[f"acc_err_{name}"] = near
    if not is_calculation:
        return values
    parts = []
    for name in MATH_TYPES if isinstance(math_types, list) else ():
        if name in math_types:
            parts.append(name)
    if isinstance(doc.get("has_table"), bool):
        parts.append("table" if doc["has_table"] else "no_table")
    for part in parts:
        values[f"acc_em_{part}"] = exact
        values[f"acc_err_{part}"] = near
    return values
