"""FormulaEval: run the function that a response finishes and the reference on the same arguments, and compare results.

They run in the sandbox as two programs, so that the process with the model's code never holds the reference.
"""

import ast
import math
import random
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from fin_tasks.answers.programs import extract_function
from fin_tasks.answers.reasoning import strip_reasoning
from fin_tasks.answers.types import Reading
from fin_tasks.sandbox import Outcome, Status

_CALLS = 8  # with each choice of argument types
_DEF = re.compile(r"^def[ \t]+(\w+)[ \t]*\(", re.MULTILINE)
_IMPORTS = {"math.": "import math", "np.": "import numpy as np", "List[": "from typing import List"}
_WORDS = {  # a parameter with one of these words in its name, or type, takes this kind of argument; others an amount
    "list": "list series values flows payments dividends prices returns weights amounts probabilities rates yields",
    "share": "r g i rate yield growth margin percent percentage pct prob probability discount return volatility sigma"
    " wacc inflation weight tax alpha beta correlation",
    "count": "int n m t k num number period periods year years month months day days weeks quarters times count term",
}
_DRAW: Mapping[str, Callable[[random.Random], Any]] = {
    "list": lambda draw: [round(draw.uniform(10.0, 1000.0), 2) for _ in range(4)],
    "share": lambda draw: round(draw.uniform(0.01, 0.3), 4),
    "count": lambda draw: draw.randint(2, 9),
    "amount": lambda draw: round(draw.uniform(10.0, 1000.0), 2),
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
_RESULTS = TypeAdapter(list[list[float] | str])  # of each call the numbers, or the error's class


def stub_of(text: str) -> ast.FunctionDef | None:
    """Return the last function that a text begins, with the statements it shows but without its `return`."""
    text = text.replace("\r\n", "\n").expandtabs(4)
    starts = [match.start() for match in _DEF.finditer(text)] or [0]
    lines = text[starts[-1] :].split("\n")
    for end in range(len(lines), 0, -1):
        indent = " " * (len(lines[end - 1]) - len(lines[end - 1].lstrip()) or 4)
        tree = _parse("\n".join([*lines[:end], f"{indent}pass"]))
        if tree and isinstance(stub := tree.body[-1], ast.FunctionDef):
            stub.body = [
                node
                for node in stub.body
                if not isinstance(node, ast.Raise | ast.Pass | ast.Return)
            ]
            return stub
    return None


def reference_of(question: str, texts: Sequence[str]) -> str:
    """Return the source of the right function, which one of the texts holds or finishes; empty if none does."""
    for text in filter(str.strip, texts):
        stub = stub_of(question) or stub_of(text)
        code = stub and _finished(stub, text)
        if code and _parse(code):
            return code
    return ""


def programs(doc: Mapping[str, Any], response: str) -> tuple[str | None, ...]:
    """Return two programs, None for a missing one: the model's function and the reference, on the same calls."""
    if (stub := stub_of(doc["stub"]) or stub_of(doc["program"])) is None:
        return (None, None)
    harness = _HARNESS.format(name=stub.name, calls=repr(_calls(stub)))
    return tuple(
        code + harness if code else None for code in (_finished(stub, response), doc["program"])
    )


def read(outcomes: Sequence[Outcome], *, variant: str) -> Reading:
    """Compare the results of both programs; the answer is the number of calls that agree, such as `7/8`.

    Calls on which the reference fails do not count; without any other call the response is unscored.
    """
    mine, reference = outcomes
    given, right, status = _results(mine), _results(reference), mine.status.value
    shapes = [range(start, start + _CALLS) for start in range(0, len(right), _CALLS)]
    works = [
        [place for place in shape if right[place] and isinstance(right[place], list)]
        for shape in shapes
    ]
    counted = max(works, key=len, default=[])
    if not counted or not mine.ran:
        reason = (
            mine.detail
            if counted
            else f"the reference gives no results. {reference.detail}".strip()
        )
        unscored = not counted or mine.status in (Status.broken, Status.unsupported)
        return Reading(
            variant=variant, answer=None, reason=reason or status, unscored=unscored, status=status
        )
    results = [given[place] if len(given) == len(right) else [] for place in counted]
    if all(isinstance(result, str) for result in results):
        return Reading(
            variant=variant,
            answer=None,
            reason=str(results[0])[:100],
            status=Status.exception.value,
        )
    agreeing = sum(
        _agree(result, right[place]) for result, place in zip(results, counted, strict=True)
    )
    return Reading(variant=variant, answer=f"{agreeing}/{len(counted)}", status=status)


def _finished(stub: ast.FunctionDef, response: str) -> str | None:
    """Finish the function with a response that holds all of it, its body, or one expression."""
    reply = strip_reasoning(response).replace("\r\n", "\n")
    head, expression, names = (
        ast.unparse(stub),
        reply.partition("```")[0].strip(),
        set(_DEF.findall(reply)),
    )
    codes = [extract_function(reply, name=stub.name, head=head)]
    tree = _parse(f"({expression})")
    if tree and any(isinstance(node, ast.BinOp | ast.Call) for node in ast.walk(tree)):
        codes.append(f"{head}\n    return ({expression})")
    if len(names) == 1:  # the only function there, under a name of its own
        other = names.pop()
        codes.append(f"{extract_function(reply, name=other, head='')}\n\n{stub.name} = {other}")
    found = [code for code in codes if code]
    code = next(filter(_parse, found), found[0] if found else None)
    return code and "\n".join([*(line for used, line in _IMPORTS.items() if used in code), code])


def _calls(stub: ast.FunctionDef) -> list[list[Any]]:
    parameters = [*stub.args.posonlyargs, *stub.args.args]
    defaults = dict(zip(reversed(parameters), reversed(stub.args.defaults), strict=False))
    likely: list[str] = []
    for parameter in parameters:
        given = getattr(defaults.get(parameter), "value", None)
        if isinstance(given, str):
            break  # no text can be made up: the defaults hold from here on
        words = set(
            re.findall("[a-z]+", f"{ast.unparse(parameter)} {type(given).__name__}".lower())
        )
        likely.append(
            next((kind for kind, names in _WORDS.items() if words & set(names.split())), "amount")
        )
    # Names mislead: `dividends` may be a list or one number. `read` takes the types on which the reference works best.
    lists = ["list" if kind == "amount" else kind for kind in likely]
    numbers = ["amount" if kind == "list" else kind for kind in likely]
    calls: list[list[Any]] = []
    for place, kinds in enumerate(dict.fromkeys(map(tuple, (likely, lists, numbers)))):
        draw = random.Random(f"20240308:{stub.name}:{place}")  # noqa: S311 - made-up numbers, the same in every run
        calls += [[_DRAW[kind](draw) for kind in kinds] for _ in range(_CALLS)]
    return calls


def _results(outcome: Outcome) -> list[list[float] | str]:
    try:
        return _RESULTS.validate_json(outcome.value or "") if outcome.ran else []
    except ValidationError:
        return []


def _agree(given: list[float] | str, right: list[float] | str) -> bool:
    if isinstance(given, str) or isinstance(right, str) or len(given) != len(right):
        return False
    return all(
        math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-12) for a, b in zip(given, right, strict=True)
    )


def _parse(code: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in strings of the code
            return ast.parse(code) if len(code) <= 20_000 else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
