"""FormulaEval: run the function that a response finishes and the reference on the same arguments, and compare results.

They run in the sandbox as two programs, so that the process with the model's code never holds the reference.
"""

import ast
import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from pydantic import TypeAdapter, ValidationError

from fin_tasks.answers.programs import extract_program
from fin_tasks.answers.text import strip_reasoning
from fin_tasks.answers.types import Reading
from fin_tasks.sandbox import Outcome, Status

from ..contract import Document
from .arguments import CALLS_BY_KINDS, calls_of

_MAX_CODE = 20_000  # characters
_DEF = re.compile(r"^def[ \t]+(\w+)[ \t]*\(", re.MULTILINE)
_IMPORT_BY_USE = {
    "math.": "import math",
    "np.": "import numpy as np",
    "List[": "from typing import List",
}
_HARNESS = """
_fin_tasks_function = {name}
def solution():
    results = []
    for arguments in {calls}:
        try:
            value = _fin_tasks_function(*arguments)
            several = isinstance(value, (list, tuple)) or hasattr(value, "__len__")
            values = [] if value is None else list(value) if several else [value]
            numbers = [float(format(float(each), ".12g")) for each in values]
            if len(repr(numbers)) > 75 or not all(abs(number) < 1e300 for number in numbers):
                raise ValueError("expected a few finite numbers")
            results.append(numbers)
        except Exception as error:
            results.append(type(error).__name__)
    return repr(results).replace("'", '"')
"""

CallResult = list[float] | str
"""The numbers that a call returned, or the class of its error."""
_CALL_RESULTS = TypeAdapter(list[CallResult])


@dataclass(frozen=True, kw_only=True)
class FormulaReading(Reading):
    """How far a function agrees with the reference; the answer is a text such as `7/8`."""

    n_agreeing: int = 0
    n_calls: int = 0
    """Calls on which the reference works; 0 without results."""


def stub_of(text: str) -> ast.FunctionDef | None:
    """Return the last function that a text begins, with the statements it shows but without its `return`."""
    text = text.replace("\r\n", "\n").expandtabs(4)
    starts = [match.start() for match in _DEF.finditer(text)] or [0]
    lines = text[starts[-1] :].split("\n")
    for end in range(len(lines), 0, -1):
        last_line = lines[end - 1]
        indent = len(last_line) - len(last_line.lstrip()) or 4
        tree = _parse("\n".join([*lines[:end], f"{' ' * indent}pass"]))
        if tree and isinstance(tree.body[-1], ast.FunctionDef):
            stub = tree.body[-1]
            stub.body = [
                node
                for node in stub.body
                if not isinstance(node, ast.Raise | ast.Pass | ast.Return)
            ]
            return stub
    return None


def head_of(text: str) -> str:
    """Return the first line of the last function that a text begins; empty if it begins none."""
    stub = stub_of(text)
    return ast.unparse(stub).split("\n")[0] if stub else ""


def reference_of(question: str, texts: Sequence[str]) -> str:
    """Return the source of the right function, which one of the texts is or finishes; empty if none does."""
    for text in filter(str.strip, texts):
        stub = stub_of(question) or stub_of(text)
        code = _finished(stub, text) if stub else None
        if code and _parse(code):
            return code
    return ""


def programs(doc: Document, response: str) -> tuple[str | None, ...]:
    """Return two programs, None for a missing one: the model's function and the reference, on the same calls."""
    stub = stub_of(doc["stub"]) or stub_of(doc["program"])
    if stub is None:
        return (None, None)
    harness = _HARNESS.format(name=stub.name, calls=repr(calls_of(stub)))
    codes = (_finished(stub, response), doc["program"])
    return tuple(code + harness if code else None for code in codes)


def read(outcomes: Sequence[Outcome], *, scoring: str) -> FormulaReading:
    """Compare the results of both programs call by call.

    Calls on which the reference fails do not count; without any other call the response is unscored.
    """
    model, reference = outcomes
    reading = FormulaReading(scoring=scoring, answer=None, status=model.status.value)
    expected_results = _results_of(reference)
    calls = _usable_calls(expected_results)
    if not calls:
        reason = f"the reference gives no results. {reference.detail}".strip()
        return replace(reading, reason=reason, unscored=True)
    if model.status is not Status.ok:
        reason = model.detail or model.status.value
        return replace(reading, reason=reason, unscored=model.is_unscored)
    results = _results_of(model)
    if len(results) != len(expected_results):
        results = [[] for _ in expected_results]  # agrees with no call
    errors = [results[call] for call in calls if isinstance(results[call], str)]
    if len(errors) == len(calls):
        reason = str(errors[0])[:100]
        return replace(reading, reason=reason, status=Status.exception.value)
    n_agreeing = sum(_agree(results[call], expected_results[call]) for call in calls)
    return replace(
        reading,
        answer=f"{n_agreeing}/{len(calls)}",
        n_agreeing=n_agreeing,
        n_calls=len(calls),
    )


def _usable_calls(expected_results: Sequence[CallResult]) -> list[int]:
    # The reference expects one choice of kinds of arguments: the one for which it returns most results.
    calls_by_choice: dict[int, list[int]] = {}
    for call, result in enumerate(expected_results):
        if result and isinstance(result, list):
            calls_by_choice.setdefault(call // CALLS_BY_KINDS, []).append(call)
    return max(calls_by_choice.values(), key=len, default=[])


def _finished(stub: ast.FunctionDef, response: str) -> str | None:
    """Finish the function with a response that is the whole function, its body, or one expression."""
    reply = strip_reasoning(response).replace("\r\n", "\n")
    head = ast.unparse(stub)
    candidates = [
        extract_program(reply, name=stub.name, head=head),
        _from_expression(head, reply.partition("```")[0].strip()),
        _under_another_name(stub.name, reply),
    ]
    codes = [code for code in candidates if code]
    if not codes:
        return None
    code = next(filter(_parse, codes), codes[0])
    imports = [line for use, line in _IMPORT_BY_USE.items() if use in code]
    return "\n".join([*imports, code])


def _from_expression(head: str, expression: str) -> str | None:
    # A response may be nothing but the expression to return.
    tree = _parse(f"({expression})")
    if tree is None:
        return None
    computes = any(isinstance(node, ast.BinOp | ast.Call) for node in ast.walk(tree))
    return f"{head}\n    return ({expression})" if computes else None


def _under_another_name(name: str, reply: str) -> str | None:
    # The only function of a response counts under whatever name it has.
    names = set(_DEF.findall(reply))
    if len(names) != 1:
        return None
    own_name = names.pop()
    code = extract_program(reply, name=own_name, head="")
    return f"{code}\n\n{name} = {own_name}"


def _results_of(outcome: Outcome) -> list[CallResult]:
    if outcome.status is not Status.ok:
        return []
    try:
        return _CALL_RESULTS.validate_json(outcome.value or "")
    except ValidationError:
        return []


def _agree(result: CallResult, expected: CallResult) -> bool:
    if isinstance(result, str) or len(result) != len(expected):
        return False
    is_close = partial(math.isclose, rel_tol=1e-6, abs_tol=1e-12)
    return all(map(is_close, result, expected))


def _parse(code: str) -> ast.Module | None:
    if len(code) > _MAX_CODE:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in strings of the code
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
