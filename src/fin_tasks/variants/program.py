"""The programs of experts as functions that the sandbox can run."""

import ast
import json
import textwrap

_HEAD = "def solution():"
_RESULT = "answer"


def as_function(script: str, context: str = "") -> str | None:
    """Return a program as a function `solution()`; None if it is not Python.

    Many programs are scripts that leave the result in `answer` or in their last line. Some read the
    question's table, which stands in the context as JSON, and call it `df`.
    """
    if not script.strip():
        return None
    if _HEAD in script:
        return script
    try:
        result = _result_of(ast.parse(script.strip()))
    except (SyntaxError, ValueError, RecursionError):
        return None
    lines = [script.strip(), f"return {result}"]
    if "df" in script:
        lines.insert(0, f"df = {_table_in(context)!r}")
    body = textwrap.indent("\n".join(lines), "    ")
    return f"{_HEAD}\n{body}"


def _result_of(script: ast.Module) -> str:
    """Return the expression that holds the result of a script."""
    for node in ast.walk(script):
        if isinstance(node, ast.Name) and node.id == _RESULT:
            return _RESULT
    last = script.body[-1]
    if isinstance(last, ast.Assign):
        return ast.unparse(last.targets[0])
    if isinstance(last, ast.Expr):
        return ast.unparse(last.value)
    return _RESULT


def _table_in(context: str) -> object:
    try:
        return json.loads(context)
    except (ValueError, RecursionError):
        return None
