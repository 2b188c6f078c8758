"""The experts' programs, as functions that the sandbox can run."""

import ast
import json
import textwrap
from collections.abc import Mapping
from typing import Any

_HEAD = "def solution():"
_RESULT = "answer"


def gold_program(row: Mapping[str, Any]) -> str | None:
    """Return a row's program as a function `solution()`; None if the row has none that is Python.

    Half of the programs are scripts that leave the result in `answer` or in their last line. Some
    read the row's table, which they call `df`.
    """
    script = row.get("python_solution")
    if not isinstance(script, str) or not script.strip():
        return None
    if _HEAD in script:
        return script
    try:
        result = _result_of(ast.parse(script.strip()))
    except (SyntaxError, ValueError, RecursionError):
        return None
    lines = [script.strip(), f"return {result}"]
    if "df" in script:
        lines.insert(0, f"df = {_table_of(row)!r}")
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


def _table_of(row: Mapping[str, Any]) -> object:
    try:
        return json.loads(row["context"])
    except (KeyError, TypeError, ValueError):
        return None
