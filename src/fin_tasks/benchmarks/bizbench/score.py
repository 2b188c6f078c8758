"""Read answers and compare them with the truth: `paper` as XFinBench's authors do, `robust` with care.

`paper` is the scorer with which the long XFinBench paper reports BizBench, not that of BizBench's own authors.
"""

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from fin_tasks.answers.compare import as_written, equal_reading, near_reading
from fin_tasks.answers.numbers import Number
from fin_tasks.answers.paper import MARKER, marked_letter, marked_number, near_marked, xfinbench_program
from fin_tasks.answers.programs import extract_program
from fin_tasks.answers.read import read_choice, read_quantity
from fin_tasks.answers.score import Reading, Score, number_of_result
from fin_tasks.benchmarks.bizbench import formulas
from fin_tasks.errors import ConfigError
from fin_tasks.sandbox import Outcome, Ran, Status
from fin_tasks.stats.averages import average_or_none, rate
from fin_tasks.stats.executions import REASONS, execution_values

__all__ = ["PAPER_PARTS", "compare", "metric_values", "metrics_of", "number_truth", "programs", "read", "score"]

PAPER_PARTS: Mapping[str, Sequence[str]] = {
    "paper_choice": ("finknow", "formulaeval"),
    "paper_quantity": ("fincode", "codefinqa", "codetatqa", "convfinqa_e", "tatqa_e"),
}
"""Columns of the long XFinBench paper, and the parts of BizBench their rows come from."""
_ACCOUNTING = re.compile(r"\(\s*([^\w()]*[\d.,]+\s*%?)\s*\)")
_CALL = "\nval_ = solution()\nsolution = lambda: 'text: ' + val_ if isinstance(val_, str) else val_"
"""The authors' last line; as they read a returned text as a response, the sandbox must not take "5" for 5."""


@lru_cache(maxsize=8192)
def number_truth(text: str) -> Number | None:
    """Read an answer of the file such as `(5.2)` or `$ 4.5 million`; None if it is not one number."""
    text = _ACCOUNTING.sub(r"-\1", text.strip().strip("[]'\"").strip())
    return read_quantity(f"{MARKER} [{text}].")[0] if len(text) <= 80 else None


def programs(doc: Mapping[str, Any], response: str, *, variant: str) -> tuple[str | None, ...]:
    """Return the program in a response, or a function and its reference; nothing for a row without programs."""
    if doc["kind"] == "code":
        return formulas.programs(doc, response)
    if doc["mode"] != "pot":
        return ()
    return (extract_program(response) if variant == "robust" else xfinbench_program(response) + _CALL,)


def read(doc: Mapping[str, Any], response: str | Ran, *, variant: str) -> Reading:
    """Read the answer in a response, or the results of its programs once they ran."""
    if variant not in ("paper", "robust"):
        raise ConfigError(f"variant: expected 'paper' or 'robust', got {variant!r}.")
    text, outcomes = response if isinstance(response, Ran) else (response, ())
    answer: str | float | Number | None
    if doc["kind"] == "code":
        return formulas.read(outcomes, variant=variant)
    if doc["mode"] == "pot":
        return _read_result(outcomes[0], variant)
    if doc["kind"] == "choice":
        answer, reason = read_choice(text, doc["options"]) if variant == "robust" else marked_letter(text)
    else:
        answer, reason = read_quantity(text) if variant == "robust" else marked_number(text)
    return Reading(variant=variant, answer=answer, reason=reason)


def compare(doc: Mapping[str, Any], reading: Reading) -> Score:
    """Compare what was read with the truth; an unusable truth is wrong in `paper` and unscored in `robust`."""
    numeric, read_as = doc["kind"] == "number", reading.answer
    answer = read_as.value + 0.0 if isinstance(read_as, Number) else read_as
    truth = number_truth(doc["ground_truth"]) if numeric else doc["letter"] or None
    if doc["kind"] == "code":
        calls = str(answer).rpartition("/")[2]
        truth = f"{calls}/{calls}"
    flaw = "" if truth else f"the truth is {'not one number' if numeric else 'none of the options'}"
    correct: bool | None = False
    near: bool | None = False if numeric else None
    if reading.unscored or (flaw and reading.variant == "robust"):
        correct, near, reason = None, None, f"unscored: {flaw or reading.reason}"
    elif answer is None or flaw:
        reason = reading.reason or f"wrong: {flaw}"
    else:
        if isinstance(truth, Number) and isinstance(read_as, Number):
            equal = [equal_reading(read_as, value, truth.step_of(value)) for value in truth.readings]
            close = [*equal, *(near_reading(read_as, value) for value in truth.readings)]
            correct, near = set(equal) != {None}, set(close) != {None}
            answer = next((value for value in close if value is not None), answer)
        elif isinstance(truth, Number):
            correct, near = answer == as_written(truth), near_marked(float(answer), as_written(truth))
        else:
            correct = answer == truth
        reason = "right" if correct else "near, not equal" if near else reading.reason or "wrong"
    return Score(answer=answer, correct=correct, correct_err=near, reason=reason, status=reading.status)


def score(doc: Mapping[str, Any], response: str | Ran, *, variant: str) -> Score:
    """Score a response, or the results of its programs, under `paper` or `robust`."""
    return compare(doc, read(doc, response, variant=variant))


def metrics_of(*, part: str, mode: str, **_: Any) -> dict[str, bool]:
    """Name the metrics of a task and whether more is better; without numbers, `acc_err` is `acc`."""
    names = ["acc", "acc_err", *(f"acc_{held}" for held in PAPER_PARTS.get(part, ()))]
    names += ["no_answer", "unscored", "context_cut", *(("execution_rate", *REASONS) if mode != "cot" else ())]
    return {name: name not in ("no_answer", "unscored", "context_cut", *REASONS) for name in names}


def metric_values(doc: Mapping[str, Any], readings: Sequence[Reading]) -> dict[str, float | None]:
    """Return a document's metrics, each the mean over its responses; None if it does not apply or is unscored."""
    rows: list[dict[str, float | None]] = []
    for one in (compare(doc, reading) for reading in readings):
        row = {
            "acc": rate(one.correct),
            f"acc_{doc['part']}": rate(one.correct),
            "unscored": float(one.correct is None),
        }
        row["acc_err"] = rate(one.correct_err) if doc["kind"] == "number" else row["acc"]
        row["no_answer"] = None if one.correct is None else float(one.answer is None)
        row["context_cut"] = float(doc["context_cut"] > 0)
        rows.append({**row, **(execution_values(one.status) if one.status else {})})
    names = metrics_of(part=doc["subset"], mode=doc["task_mode"])
    return {name: average_or_none(row.get(name) for row in rows) for name in names}


def _read_result(outcome: Outcome, variant: str) -> Reading:
    answer: float | Number | None = None
    reason, status = "no finite number returned", outcome.status.value
    unscored = outcome.status in (Status.broken, Status.unsupported)
    if not outcome.ran:
        reason = outcome.detail or status
        answer = None if unscored or variant == "robust" else 0.0  # the authors' answer of a program that fails
    elif variant == "robust":
        answer = number_of_result(outcome.number, outcome.value)
    elif outcome.number is None:
        answer, reason = marked_number(outcome.value or "")
    elif math.isfinite(outcome.number):
        answer, reason = outcome.number, ""
    return Reading(variant=variant, answer=answer, reason=reason, unscored=unscored, status=status)
