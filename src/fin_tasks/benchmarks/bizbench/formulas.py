"""Scores functions by what they return: the model's and the reference's, on the same arguments, in separate processes.

Both run in the sandbox, each as a program of its own, so what is right never stands in the process that runs the
model's code. Here, outside, functions are parsed for their parameters and results are compared; nothing is executed.
"""

import ast
import math
from collections.abc import Mapping, Sequence
from typing import Any

from fin_tasks.answers.score import Score
from fin_tasks.benchmarks.bizbench.functions import Stub, finished, read_stub
from fin_tasks.benchmarks.bizbench.inputs import CALLS, Call, calls_for
from fin_tasks.sandbox import Outcome, Status

__all__ = ["programs_of", "reference_of", "score_function"]

_TOLERANCE = 1e-6
_TINY = 1e-12
_LONGEST = 75
"""Characters of one result; the results of three shapes of arguments have to fit into what the sandbox hands out."""
_ERROR = "!"
"""First character of what a program tells of a call that raised."""

_HARNESS = """

_fin_tasks_function = {name}


def _fin_tasks_told(value):
    if value is None or isinstance(value, str):
        return value
    try:
        number = float(value)
    except Exception:
        number = None
    if number is not None:
        return float(format(number, ".12g")) if abs(number) < 1e300 else "{error}" + repr(number)
    if isinstance(value, dict):
        return [[_fin_tasks_told(key), _fin_tasks_told(held)] for key, held in value.items()]
    return [_fin_tasks_told(held) for held in value]


def solution():
    told = []
    for call in {calls}:
        try:
            result = _fin_tasks_told(_fin_tasks_function(*call[0], **call[1]))
            told.append(result if len(repr(result)) <= {longest} else "{error}too long")
        except Exception as error:
            told.append("{error}" + type(error).__name__)
    return repr(told)
"""


def reference_of(question: str, texts: Sequence[str]) -> str:
    r"""Return the source of the right function.

    Args:
        question: With the function's beginning, where it shows one.
        texts: Where the function may stand, whole or as what is missing from the question, the likeliest first.

    Returns:
        Code that parses; empty where none of the texts holds a function.

    Example:
        >>> print(reference_of("def half(x):\n    pass", ["", "return x / 2"]))
        def half(x):
            return x / 2
    """
    for text in filter(str.strip, texts):
        stub = _stub(question, text)
        if stub is None:
            continue
        code = finished(stub, f"```python\n{text}\n```" if "```" not in text else text)
        if code is not None and read_stub(code) is not None:
            return code
    return ""


def programs_of(doc: Mapping[str, Any], response: str) -> tuple[str | None, ...]:
    """Return what the sandbox has to run for a response: the model's function, and the reference.

    Args:
        doc: A document of `data.load`.
        response: What the model wrote.

    Returns:
        Two programs, None for one that is not there; none at all for a document that asks for no function.
    """
    if doc["kind"] != "code":
        return ()
    stub = _stub(doc["stub"], doc["program"])
    if stub is None:
        return (None, None)
    code = finished(stub, response)
    calls = [call for shape in _shapes(stub) for call in shape]
    return tuple(None if not source else _program(source, stub.name, calls) for source in (code, doc["program"]))


def score_function(doc: Mapping[str, Any], outcomes: Sequence[Outcome]) -> tuple[Score, Outcome]:
    """Compare what two functions returned.

    A call on which the reference raises, or returns nothing finite, is left out. Right is who agrees on all the others
    to a relative 1e-6. Without any other the row says nothing about the model.

    Args:
        doc: A document of `data.load`, of kind `code`.
        outcomes: Of the programs of `programs_of`, in order.

    Returns:
        The score, its answer being the calls that agree (`"7/8"`); and the outcome of the model's program, an
        `exception` where every call that counts raised.
    """
    mine, reference = outcomes
    stub = _stub(doc["stub"], doc["program"])
    shapes = [] if stub is None else _shapes(stub)
    right = _results(reference, len(shapes) * CALLS)
    chosen = _usable(right)
    if not chosen:
        detail = reference.detail if not reference.ran else "it gives nothing to compare with"
        return Score(answer=None, correct=None, correct_err=None, reason=f"unscored: reference: {detail}"), mine
    if mine.status in (Status.broken, Status.unsupported):
        return Score(answer=None, correct=None, correct_err=None, reason=f"unscored: {mine.detail}"), mine
    if not mine.ran:
        return Score(answer=None, correct=False, correct_err=None, reason=mine.detail or mine.status.value), mine
    given = _results(mine, len(right))
    results = [given[place] if given else f"{_ERROR}not read" for place in chosen]
    if all(_raised(result) for result in results):
        mine = Outcome(status=Status.exception, detail=str(results[0])[1:100], cpu_s=mine.cpu_s)
        return Score(answer=None, correct=False, correct_err=None, reason=mine.detail), mine
    agreeing = sum(_agree(result, right[place]) for result, place in zip(results, chosen, strict=True))
    told = "right" if agreeing == len(chosen) else "wrong"
    score = Score(
        answer=f"{agreeing}/{len(chosen)}",
        correct=agreeing == len(chosen),
        correct_err=None,
        reason=f"{told}: agrees on {agreeing} of {len(chosen)} calls",
    )
    return score, mine


def _stub(question: str, reference: str) -> Stub | None:
    return read_stub(question) or read_stub(reference)


def _shapes(stub: Stub) -> tuple[tuple[Call, ...], ...]:
    return calls_for(stub.args, stub.name)


def _program(source: str, name: str, calls: Sequence[Call]) -> str:
    listed = [(list(call.positional), dict(call.named)) for call in calls]
    return source + _HARNESS.format(name=name, calls=repr(listed), longest=_LONGEST, error=_ERROR)


def _results(outcome: Outcome, count: int) -> list[Any]:
    """What a program told of its calls; empty where it told something else."""
    try:
        told = ast.literal_eval(outcome.value) if outcome.ran and outcome.value else []
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return []
    return told if isinstance(told, list) and len(told) == count else []


def _usable(right: Sequence[Any]) -> list[int]:
    """Places of the calls that count: of the shape of arguments on which the reference works best, the first such."""
    shapes = [
        [place for place in range(start, start + CALLS) if not _failed(right[place])]
        for start in range(0, len(right), CALLS)
    ]
    return max(shapes, key=len, default=[])


def _failed(result: Any) -> bool:
    """Whether a call raised, returned nothing, or something that is no finite number, text or list of such."""
    if isinstance(result, list):
        return not result or any(_failed(held) for held in result)
    return result is None or _raised(result)


def _raised(result: Any) -> bool:
    return isinstance(result, str) and result.startswith(_ERROR)


def _agree(result: Any, right: Any) -> bool:
    if isinstance(result, float) and isinstance(right, float):
        return math.isclose(result, right, rel_tol=_TOLERANCE, abs_tol=_TINY)
    if isinstance(result, list) and isinstance(right, list):
        return len(result) == len(right) and all(map(_agree, result, right))
    return isinstance(result, str) and isinstance(right, str) and result == right
