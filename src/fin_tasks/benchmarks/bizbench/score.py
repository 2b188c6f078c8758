"""Read answers and compare them with the truth: `paper` as XFinBench's authors do, `robust` with care.

`paper` is the scorer with which the long XFinBench paper reports BizBench, not that of BizBench's own authors.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from fin_tasks.answers.numbers import Number
from fin_tasks.answers.read import read_quantity
from fin_tasks.answers.types import Reading, Score
from fin_tasks.benchmarks import short_answers
from fin_tasks.benchmarks.bizbench import formulas
from fin_tasks.benchmarks.final_answer import READ_BY_MODEL, Kind, share_read_by_model
from fin_tasks.benchmarks.short_answers import compare_with, read_answer
from fin_tasks.benchmarks.short_answers_paper import MARKER
from fin_tasks.judging.item import Item, Judged
from fin_tasks.sandbox import REASONS, Ran, execution_values
from fin_tasks.stats.averages import average_or_none, rate

PAPER_PARTS: Mapping[str, Sequence[str]] = {
    "paper_choice": ("finknow", "formulaeval"),
    "paper_quantity": ("fincode", "codefinqa", "codetatqa", "convfinqa_e", "tatqa_e"),
}
"""Columns of the long XFinBench paper, and the parts of BizBench their rows come from."""
_ACCOUNTING = re.compile(r"\(\s*([^\w()]*[\d.,]+\s*%?)\s*\)")


@lru_cache(maxsize=8192)
def number_truth(text: str) -> Number | None:
    """Read an answer of the file such as `(5.2)` or `$ 4.5 million`; None if it is not one number."""
    text = _ACCOUNTING.sub(r"-\1", text.strip().strip("[]'\"").strip())
    return read_quantity(f"{MARKER} [{text}].").answer if len(text) <= 80 else None


def programs(doc: Mapping[str, Any], response: str, *, variant: str) -> tuple[str | None, ...]:
    """Return the program in a response, or a function and its reference; nothing for a row without programs."""
    if doc["kind"] == "code":
        return formulas.programs(doc, response)
    return short_answers.programs(doc, response, variant=variant)


def reader_item(doc: Mapping[str, Any], response: str) -> Item | None:
    """Return what a model is shown that reads answers; None if the rules read one."""
    if doc["kind"] == "code":
        return None
    return short_answers.reader_item(_kind_of(doc), doc, response, doc["options"])


def read(doc: Mapping[str, Any], response: str | Ran | Judged, *, variant: str) -> Reading:
    """Read the answer in a response, in a model's copy of it, or the results of its programs once they ran."""
    if doc["kind"] == "code" and isinstance(response, Ran):
        return formulas.read(response.outcomes, variant=variant)
    return read_answer(_kind_of(doc), response, variant=variant, choices=doc["options"])


def compare(doc: Mapping[str, Any], reading: Reading) -> Score:
    """Compare a reading with the truth. An unusable truth is wrong in `paper` and unscored in `robust`."""
    if doc["kind"] == "number":
        truth = number_truth(doc["ground_truth"])
        truths = [(value, truth.step_of(value)) for value in truth.readings] if truth else []
        return compare_with(
            truths, reading, numeric=True, flaw="" if truths else "the truth is not one number"
        )
    right = doc["letter"]
    if doc["kind"] == "code":
        n_calls = reading.n_calls if isinstance(reading, formulas.FormulaReading) else 0
        right = f"{n_calls}/{n_calls}"
    flaw = "" if right else "the truth is none of the options"
    return compare_with([(right, 0.0)], reading, numeric=False, flaw=flaw)


def _kind_of(doc: Mapping[str, Any]) -> Kind:
    return "letter" if doc["kind"] == "choice" else "number"


def score(doc: Mapping[str, Any], response: str | Ran | Judged, *, variant: str) -> Score:
    """Score a response, or the results of its programs, under `paper` or `robust`."""
    return compare(doc, read(doc, response, variant=variant))


def metrics_of(*, part: str, mode: str, **_: Any) -> dict[str, bool]:
    """Name the metrics of a task and whether more is better; without numbers, `acc_err` is `acc`."""
    names = ["acc", "acc_err"]
    names += [f"acc_{name}" for name in PAPER_PARTS.get(part, ())]
    names += ["no_answer", "cut_off", "unscored"]
    if mode != "pot":
        names.append(READ_BY_MODEL)
    if mode != "cot":
        names += ["execution_rate", *REASONS]
    lower_is_better = ("no_answer", "cut_off", "unscored", READ_BY_MODEL, *REASONS)
    return {name: name not in lower_is_better for name in names}


def metric_values(doc: Mapping[str, Any], readings: Sequence[Reading]) -> dict[str, float | None]:
    """Return a document's metrics, each the mean over its responses; None if it does not apply or is unscored."""
    rows: list[dict[str, float | None]] = []
    for reading in readings:
        scored = compare(doc, reading)
        acc = rate(scored.correct)
        unscored = scored.correct is None
        row = {"acc": acc, f"acc_{doc['part']}": acc, "unscored": float(unscored)}
        row["acc_err"] = rate(scored.correct_err) if doc["kind"] == "number" else acc
        row["no_answer"] = None if unscored else float(scored.answer is None)
        row["cut_off"] = float(reading.cut_off)
        row[READ_BY_MODEL] = share_read_by_model([reading])
        if scored.status:
            row |= execution_values(scored.status)
        rows.append(row)
    names = metrics_of(part=doc["subset"], mode=doc["task_mode"])
    return {name: average_or_none(row.get(name) for row in rows) for name in names}
