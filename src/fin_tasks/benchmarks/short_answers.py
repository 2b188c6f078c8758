"""Score a letter, a verdict or a number, as XFinBench's authors do (`paper`) or with care (`robust`).

XFinBench and BizBench share this scorer: the long XFinBench paper reports BizBench with its own.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fin_tasks.answers.choices import read_choice
from fin_tasks.answers.numbers import TOLERANCE, Number, fit, number_from_float
from fin_tasks.answers.programs import extract_program
from fin_tasks.answers.quantities import read_quantity
from fin_tasks.answers.types import Extraction, Reading, Score
from fin_tasks.answers.verdicts import read_verdict
from fin_tasks.judging.item import Item, Judged
from fin_tasks.sandbox import Outcome, Ran, Status
from fin_tasks.stats.averages import over_responses

from . import final_answer
from .contract import Document
from .final_answer import AnyExtraction, Kind
from .request import MARKER

Response = str | Ran | Judged
"""A response, with the outcomes of its programs, or with the replies of a model that read it."""
Values = dict[str, float | None]
"""Metrics by name; None if a metric does not apply or the response is unscored."""
Value = int | float | str
Truth = tuple[Value, float]
"""A right answer; if it is a number, with its last written place, else with 0."""

_FAILED_PROGRAM = 0.0
"""The answer that the authors count if a program fails."""
LONGEST_RESULT = 200
"""Characters of a returned text that are read."""


# The authors' own script imports these names, so their programs can use them without an import.
# `pd` and `np` are also names of amounts, as of a probability of default: only `pd.` means pandas.
_SCRIPT_NAMES = {
    r"\bnp\s*\.": "import numpy as np",
    r"\bpd\s*\.": "import pandas as pd",
    r"\brandom\s*\.": "import random",
    r"\bjson\s*\.": "import json",
    r"\bcsv\s*\.": "import csv",
    r"\bos\s*\.": "import os",
    r"\bsys\s*\.": "import sys",
    r"\bdatetime\b": "from datetime import datetime",
}
# The sandbox calls `solution()`, and must give back a text as one: the authors read "5" as a response.
# A returned text is put behind the marker, as in the authors' script. Only its end is kept, because the
# sandbox cuts long results.
RETURN_RESULT = f"""
solution = lambda: {MARKER + " "!r} + val_[-800:] if isinstance(val_, str) else val_
"""


def programs(
    doc: Document,
    response: str,
    *,
    scoring: str,
    authors: Callable[[str], str | None] | None = None,
) -> tuple[str | None, ...]:
    """Return the program in a response; nothing unless the task asks for programs.

    `authors` takes the program as the authors of the benchmark do, by default XFinBench's.
    """
    if doc["mode"] != "pot":
        return ()
    take_program = authors or sandboxed_program
    if scoring == "robust":
        take_program = extract_program
    return (take_program(response),)


def reader_item(
    kind: Kind, doc: Document, response: str, choices: Sequence[str] = ()
) -> Item | None:
    """Return what a model is shown that reads answers; None if the rules read one."""
    reading = read_answer(kind, response, scoring="robust", choices=choices)
    if reading.answer is not None:
        return None
    return final_answer.item_of(kind, doc, response, choices)


def read_answer(
    kind: Kind, response: Response, *, scoring: str, choices: Sequence[str] = ()
) -> Reading:
    """Read the answer in a response, or the result of its program once that ran.

    Only `robust` takes the answer that a model read.
    """
    if isinstance(response, Ran) and response.outcomes:
        return _read_result(response.outcomes[0], scoring)
    if isinstance(response, Judged) and scoring == "robust" and response.was_asked:
        return final_answer.read_by_model(kind, response, choices)
    text = response if isinstance(response, str) else response.response
    extraction: AnyExtraction
    if scoring == "paper":
        extraction = _READERS_OF_AUTHORS[kind](text)
    elif kind == "verdict":
        extraction = read_verdict(text)
    elif kind == "letter":
        extraction = read_choice(text, choices)
    else:
        extraction = read_quantity(text)
    return Reading(
        scoring=scoring,
        answer=extraction.answer,
        reason=extraction.reason,
        rule=extraction.rule,
    )


def _read_result(outcome: Outcome, scoring: str) -> Reading:
    reading = Reading(scoring=scoring, answer=None, status=outcome.status.value)
    if outcome.status is not Status.ok:
        if scoring == "paper" and not outcome.is_unscored:
            reading = replace(reading, answer=_FAILED_PROGRAM)
        reason = outcome.detail or outcome.status.value
        return replace(reading, reason=reason, unscored=outcome.is_unscored)
    # A program may return a text with a number instead of a number.
    number = outcome.number
    text = outcome.value or ""
    answer: Number | float | None = None
    if scoring == "paper" and number is not None:
        answer = number if math.isfinite(number) else None
    elif scoring == "paper" and text.startswith(MARKER):
        answer = marked_number(text).answer
    elif scoring == "robust" and number is not None:
        answer = number_from_float(number)
    elif scoring == "robust" and text:
        answer = read_quantity(text[:LONGEST_RESULT]).answer
    if answer is None:
        return replace(reading, reason="no finite number returned")
    return replace(reading, answer=answer)


def compare_with(
    truths: Sequence[Truth], reading: Reading, *, numeric: bool, flaw: str = ""
) -> Score:
    """Compare a reading with a truth.

    Args:
        truths: The truth in each of its units; the last one is the number without its unit.
        reading: What was read in the response.
        numeric: Whether the question asks for a number. Only then `within_margin` is known.
        flaw: Why the file has no usable truth. The answer is then wrong in `paper`, and unscored in `robust`.
    """
    answer = reading.answer
    value = answer.value + 0.0 if isinstance(answer, Number) else answer
    if reading.unscored or (flaw and reading.scoring == "robust"):
        reason = f"unscored: {flaw or reading.reason}"
        return score_of(reading, value, None, reason=reason)
    if answer is None or flaw:
        reason = "" if answer is None else f"wrong: {flaw}"
        return score_of(reading, value, False, False if numeric else None, reason)
    if isinstance(answer, Number):  # as `robust` reads it; below are the authors' rules
        found = fit(answer, [(float(truth), step) for truth, step in truths])
        if found is None:
            return score_of(reading, value, False, False)
        return score_of(reading, found.value, found.is_equal, True)
    truth, _ = truths[-1]
    is_near = None
    if numeric:
        # XFinBench's authors also accept a factor of 100. For them an answer of 0 is near nothing.
        mine, right = float(answer), float(truth)
        # They multiply by 0.01: to divide by 100 rounds otherwise, which counts at exactly 0.5 %.
        percent = mine * 0.01
        pairs = ((mine, right), (percent, right), (mine, right * 0.01))
        is_near = percent != 0 and any(
            abs(first - second) / abs(first) < TOLERANCE for first, second in pairs
        )
    return score_of(reading, answer, answer == truth, is_near)


def score_of(
    reading: Reading,
    answer: Value | None,
    is_right: bool | None,
    is_near: bool | None = None,
    reason: str = "",
) -> Score:
    """Return the score of a reading with the answer that results show; by default the reason is the reading's."""
    reason = reason or reading.reason or "wrong"
    if is_right:
        reason = "right"
    elif is_near:
        reason = "near, not equal"
    return Score(
        answer=answer,
        correct=is_right,
        within_margin=is_near,
        reason=reason,
        status=reading.status,
    )


def mean_values(
    names: Iterable[str],
    compare: Callable[[Any, Any], Score],
    doc: Any,
    readings: Sequence[Reading],
) -> Values:
    """Return these metrics of a document, each the mean over its responses."""
    rows = []
    for reading in readings:
        score = compare(doc, reading)
        is_unscored = score.correct is None
        # A letter or a verdict is never nearly right.
        is_near = score.correct if score.within_margin is None else score.within_margin
        has_run = None
        if score.status is not None and score.status != Status.broken:
            has_run = float(score.status == Status.ok)
        values = {
            "acc": None if is_unscored else float(bool(score.correct)),
            "acc_err": None if is_unscored else float(bool(is_near)),
            "execution_rate": has_run,
            "no_answer": None if is_unscored else float(not reading.has_answer),
            "cut_off": float(reading.cut_off),
            "unscored": float(is_unscored),
        }
        rows.append({name: values[name] for name in names})
    return over_responses(rows)


# --- The rules of XFinBench's authors, defects included ---


def marked_verdict(response: str) -> Extraction[int]:
    """Read 1 or 0 between the last marker and the next full stop; "incorrect" holds "correct" and is 1."""
    sentence = _marked_sentence(response)
    if sentence is None:
        return Extraction(answer=None, reason="no marker")
    if any(word in sentence for word in ("TRUE", "true", "True", "correct")):
        return Extraction(answer=1, rule="marker")
    if any(word in sentence for word in ("FALSE", "false", "False", "incorrect")):
        return Extraction(answer=0, rule="marker")
    return Extraction(answer=None, reason="no verdict up to the first full stop")


def marked_letter(response: str) -> Extraction[str]:
    """Read A if there is any A between the last marker and the next full stop, else B, C or D."""
    sentence = _marked_sentence(response)
    if sentence is None:
        return Extraction(answer=None, reason="no marker")
    for letter in "ABCD":
        if letter in sentence:
            return Extraction(answer=letter, rule="marker")
    return Extraction(answer=None, reason="no letter up to the first full stop")


def marked_number(response: str) -> Extraction[float]:
    """Read the digits in the last square brackets behind the last marker, or in all text behind it."""
    _, marker, behind = response.rpartition(MARKER)
    if not marker:
        return Extraction(answer=None, reason="no marker")
    in_brackets = behind.rpartition("[")[2].partition("]")[0]
    digits = "".join(char for char in in_brackets if char in "-./0123456789")
    try:
        number = float(digits)
    except ValueError:
        number = math.nan
    if math.isfinite(number):
        return Extraction(answer=number, rule="marker")
    return Extraction(answer=None, reason="no number where the authors look")


def sandboxed_program(response: str) -> str:
    """Return the program that the authors run, with the names that their script imports, for our sandbox.

    They cut a response at its fences, import modules that its text names, and call `solution()`.
    """
    program = response.split("```python")[-1].split("```")[0]
    modules = [name for name in ("math", "scipy") if name in program]
    program = "".join(f"import {name}\n" for name in modules) + program
    program += "\nval_ = solution()"
    # To import pandas takes a tenth of the time limit, so only names in use are imported.
    imports = [line for use, line in _SCRIPT_NAMES.items() if re.search(use, program)]
    return "\n".join([*imports, program]) + RETURN_RESULT


def _marked_sentence(response: str) -> str | None:
    _, marker, behind = response.rpartition(MARKER)
    return behind.partition(".")[0] if marker else None


_READERS_OF_AUTHORS: Mapping[Kind, Callable[[str], AnyExtraction]] = {
    "verdict": marked_verdict,
    "letter": marked_letter,
    "number": marked_number,
}
