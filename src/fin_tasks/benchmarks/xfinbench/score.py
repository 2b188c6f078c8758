"""Read answers and compare them with the truth: `paper` as the authors do, defects included; `robust` with care."""

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from fin_tasks.answers.types import Reading, Score
from fin_tasks.benchmarks import short_answers
from fin_tasks.benchmarks.final_answer import READ_BY_MODEL, Kind, share_read_by_model
from fin_tasks.benchmarks.short_answers import compare_with, read_answer
from fin_tasks.benchmarks.xfinbench.math_types import PUBLISHED
from fin_tasks.judging.item import Item, Judged
from fin_tasks.sandbox import REASONS, Ran, execution_values
from fin_tasks.stats.averages import over_responses, rate

CAPABILITIES: Mapping[str, str] = {
    "TU": "terminology understanding",
    "TR": "temporal reasoning",
    "FF": "future forecasting",
    "SP": "scenario planning",
    "NM": "numerical modelling",
}
programs = short_answers.programs
_KINDS: Mapping[str, Kind] = {"bool": "verdict", "mcq": "letter", "calcu": "number"}
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−﹣-", "-"))
_NUMBER = re.compile(
    r"([-+]?)\s*[$€£¥]?\s*((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+)(e[-+]?\d{1,4})?\s*%?", re.I
)
_LETTER = re.compile(r"\**\(?([A-Za-z])(?:[).:]?\**|[).:]\s.*)", re.DOTALL)


class Truth(NamedTuple):
    """A ground truth: 1 or 0, a letter, or a number; the flaw says why a cell is none of these."""

    value: float | str | None
    flaw: str = ""
    step: float = 0.0  # the last written place of a number


@lru_cache(maxsize=8192)
def parse_truth(task: str, cell: str) -> Truth:
    """Read a cell of the `ground_truth` column; a currency or percent sign does not change the value."""
    text = cell.strip().translate(_DASHES)
    number, step = None, 0.0
    signed = re.sub(
        r"\A([$€£¥])\s*([-+])", r"\2\1", re.sub(r"\A\(([^-+]*)\)\Z", r"-\1", text)
    )  # ($6) and $-6 are -6
    if match := _NUMBER.fullmatch(signed):
        exact = Decimal(f"{match[1]}{match[2]}{match[3] or ''}".replace(",", ""))
        number, step = float(exact), float(Decimal(1).scaleb(int(exact.as_tuple().exponent)))
    if task == "calcu":
        if number is not None and math.isfinite(number):
            return Truth(number, step=step)
        return Truth(None, "two numbers" if len(_NUMBER.findall(text)) == 2 else "not one number")
    if task == "mcq":
        letter = _LETTER.fullmatch(text)
        return Truth(letter[1].upper()) if letter else Truth(None, "no letter")
    verdict = {"true": 1.0, "false": 0.0}.get(text.lower(), number)
    return Truth(int(verdict)) if verdict in (0.0, 1.0) else Truth(None, "no verdict")


def reader_item(doc: Mapping[str, Any], response: str) -> Item | None:
    """Return what a model is shown that reads answers; None if the rules read one."""
    return short_answers.reader_item(_KINDS[doc["task"]], doc, response, doc["choices"])


def read(doc: Mapping[str, Any], response: str | Ran | Judged, *, variant: str) -> Reading:
    """Read the answer in a response, in a model's copy of it, or the result of its program once that ran."""
    return read_answer(_KINDS[doc["task"]], response, variant=variant, choices=doc["choices"])


def compare(doc: Mapping[str, Any], reading: Reading) -> Score:
    """Compare a reading with the truth."""
    value, flaw, step = parse_truth(doc["task"], doc["ground_truth"])
    truths, flaw = [] if value is None else [(value, step)], flaw and f"the truth is {flaw}"
    return compare_with(truths, reading, numeric=doc["task"] == "calcu", flaw=flaw)


def score(doc: Mapping[str, Any], response: str | Ran | Judged, *, variant: str) -> Score:
    """Score a response, or the result of its program, under `paper` or `robust`."""
    return compare(doc, read(doc, response, variant=variant))


def metric_values(doc: Mapping[str, Any], readings: Sequence[Reading]) -> dict[str, float | None]:
    """Return a document's metrics, each the mean over its responses; None if it does not apply or is unscored."""
    rows = []
    for reading in readings:
        scored = compare(doc, reading)
        rows.append(values_of(doc, scored, cut_off=reading.cut_off))
    values = over_responses(rows)
    if doc["mode"] != "pot":
        values[READ_BY_MODEL] = share_read_by_model(readings)
    return values


def values_of(
    doc: Mapping[str, Any], score: Score, *, cut_off: bool = False
) -> dict[str, float | None]:
    """Return the metrics of one scored response, the headline first."""
    correct, near, unscored = rate(score.correct), rate(score.correct_err), score.correct is None
    parts = {code: code in doc["capabilities"] for code in CAPABILITIES}
    tables = {"table": doc["has_table"] is True, "no_table": doc["has_table"] is False}
    values = {"acc": correct}
    if doc["subset"] == "calc":
        values |= {"acc_em": correct, "acc_err": near}
        values |= {f"acc_em_{part}": correct if named else None for part, named in tables.items()}
        types = (
            {name: name in doc["math_types"] for name in PUBLISHED} if "math_types" in doc else {}
        )
        values |= {f"acc_em_{name}": correct if named else None for name, named in types.items()}
        values |= {
            f"acc_err_{part}": near if named else None
            for part, named in {**tables, **types, **parts}.items()
        }
    values |= {f"acc_{code}": correct if named else None for code, named in parts.items()}
    values |= {
        "no_answer": None if unscored else float(score.answer is None),
        "cut_off": float(cut_off),
        "unscored": float(unscored),
    }
    return values | (execution_values(score.status or "broken") if doc["mode"] == "pot" else {})


def metrics_of(
    *, subset: str, mode: str, math_types: str | None = None, **_: Any
) -> dict[str, bool]:
    """Name the metrics of a task, the headline first, and whether more is better."""
    doc: dict[str, Any] = {"subset": subset, "mode": mode, "capabilities": (), "has_table": None}
    doc |= {"math_types": ()} if math_types else {}
    names = list(values_of(doc, Score(answer=None, correct=None, correct_err=None, reason="")))
    if mode != "pot":
        names.append(READ_BY_MODEL)
    lower_is_better = ("no_answer", "cut_off", "unscored", READ_BY_MODEL, *REASONS)
    return {name: name not in lower_is_better for name in names}
