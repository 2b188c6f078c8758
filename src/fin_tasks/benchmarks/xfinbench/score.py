"""Read answers and compare them with the truth: `paper` as the authors do, defects included; `robust` with care."""

from collections.abc import Mapping, Sequence
from typing import Any

from fin_tasks.answers.types import Reading, Score
from fin_tasks.benchmarks import short_answers
from fin_tasks.benchmarks.final_answer import READ_BY_MODEL, Kind, share_read_by_model
from fin_tasks.benchmarks.short_answers import compare_with, read_answer
from fin_tasks.benchmarks.xfinbench.document import (
    CAPABILITIES,
    Mode,
    Subset,
    Task,
    XFinBenchDocument,
)
from fin_tasks.benchmarks.xfinbench.math_types import PUBLISHED
from fin_tasks.benchmarks.xfinbench.truth import parse_truth
from fin_tasks.judging.item import Item, Judged
from fin_tasks.sandbox import REASONS, Ran, execution_values
from fin_tasks.stats.averages import over_responses, rate

Response = str | Ran | Judged
"""A response, with the outcomes of its programs, or with the replies of a model that read it."""
Values = dict[str, float | None]
"""Metrics by name; None if a metric does not apply or the response is unscored."""

programs = short_answers.programs
_KINDS: Mapping[Task, Kind] = {"bool": "verdict", "mcq": "letter", "calcu": "number"}
_LOWER_IS_BETTER = frozenset(("no_answer", "cut_off", "unscored", READ_BY_MODEL, *REASONS))


def reader_item(doc: XFinBenchDocument, response: str) -> Item | None:
    """Return what a model is shown that reads answers; None if the rules read one."""
    kind = _KINDS[doc["task"]]
    return short_answers.reader_item(kind, doc, response, doc["choices"])


def read(doc: XFinBenchDocument, response: Response, *, variant: str) -> Reading:
    """Read the answer in a response, in a model's copy of it, or the result of its program once that ran."""
    kind = _KINDS[doc["task"]]
    return read_answer(kind, response, variant=variant, choices=doc["choices"])


def compare(doc: XFinBenchDocument, reading: Reading) -> Score:
    """Compare a reading with the truth."""
    is_number = doc["task"] == "calcu"
    truth = parse_truth(doc["task"], doc["ground_truth"])
    if truth.value is None:
        flaw = f"the truth is {truth.flaw}"
        return compare_with([], reading, numeric=is_number, flaw=flaw)
    return compare_with([(truth.value, truth.step)], reading, numeric=is_number)


def score(doc: XFinBenchDocument, response: Response, *, variant: str) -> Score:
    """Score a response, or the result of its program, under `paper` or `robust`."""
    reading = read(doc, response, variant=variant)
    return compare(doc, reading)


def metrics_of(
    *,
    subset: Subset,
    mode: Mode,
    math_types: str | None = None,
    **_: Any,
) -> dict[str, bool]:
    """Name the metrics of a task, the headline first, and whether more is better."""
    names = ["acc"]
    if subset == "calc":
        parts = ["table", "no_table"]
        if math_types:
            parts += PUBLISHED
        names += ["acc_em", "acc_err"]
        names += [f"acc_em_{part}" for part in parts]
        names += [f"acc_err_{part}" for part in (*parts, *CAPABILITIES)]
    names += [f"acc_{capability}" for capability in CAPABILITIES]
    names += ["no_answer", "cut_off", "unscored"]
    if mode == "pot":
        names += ["execution_rate", *REASONS]
    else:
        names.append(READ_BY_MODEL)
    return {name: name not in _LOWER_IS_BETTER for name in names}


def metric_values(doc: XFinBenchDocument, readings: Sequence[Reading]) -> Values:
    """Return a document's metrics, each the mean over its responses."""
    values = over_responses([_values(doc, reading) for reading in readings])
    if doc["mode"] != "pot":
        values[READ_BY_MODEL] = share_read_by_model(readings)
    return values


def _values(doc: XFinBenchDocument, reading: Reading) -> Values:
    """Return the metrics of one response."""
    scored = compare(doc, reading)
    is_unscored = scored.correct is None
    correct = rate(scored.correct)
    values: Values = {"acc": correct}
    if doc["subset"] == "calc":
        values |= _calculation_values(doc, scored)
    for capability in CAPABILITIES:
        values[f"acc_{capability}"] = correct if capability in doc["capabilities"] else None
    values["no_answer"] = None if is_unscored else float(scored.answer is None)
    values["cut_off"] = float(reading.cut_off)
    values["unscored"] = float(is_unscored)
    if doc["mode"] == "pot":
        values |= execution_values(scored.status or "broken")
    return values


def _calculation_values(doc: XFinBenchDocument, scored: Score) -> Values:
    """Return exact match and match within the margin, over all and over what the question has."""
    exact = rate(scored.correct)
    near = rate(scored.correct_err)
    values: Values = {"acc_em": exact, "acc_err": near}
    has_part = {"table": doc["has_table"] is True, "no_table": doc["has_table"] is False}
    if "math_types" in doc:
        for name in PUBLISHED:
            has_part[name] = name in doc["math_types"]
    for part, is_there in has_part.items():
        values[f"acc_em_{part}"] = exact if is_there else None
        values[f"acc_err_{part}"] = near if is_there else None
    for capability in CAPABILITIES:
        values[f"acc_err_{capability}"] = near if capability in doc["capabilities"] else None
    return values
