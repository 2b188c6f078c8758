"""The programs of experts as functions that the sandbox can run."""

import ast
import json
import textwrap
from contextlib import suppress

_HEAD = "def solution():"
_RESULT = "answer"


def as_function(script: str, context: str = "") -> str | None:
    """Return a program as a function `solution()`; None if it is not Python.

    Many programs are scripts that leave the result in `answer` or in their last line. Some read the
    question's table, which stands in the context as JSON, and call it `df`.
    """
    script = script.strip()
    if _HEAD in script or not script:
        return script or None
    try:
        result = _result_of(ast.parse(script))
    except (SyntaxError, ValueError, RecursionError):
        return None
    lines = [script, f"return {result}"]
    if "df" in script:
        table = None
        with suppress(ValueError, RecursionError):
            table = json.loads(context)
        lines.insert(0, f"df = {table!r}")
    body = textwrap.indent("\n".join(lines), "    ")
    return f"{_HEAD}\n{body}"


def _result_of(script: ast.Module) -> str:
    """Return the expression that holds the result of a script."""
    names = [node.id for node in ast.walk(script) if isinstance(node, ast.Name)]
    last = script.body[-1]
    if _RESULT not in names and isinstance(last, ast.Assign):
        return ast.unparse(last.targets[0])
    if _RESULT not in names and isinstance(last, ast.Expr):
        return ast.unparse(last.value)
    return _RESULT
