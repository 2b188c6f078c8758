"""Follow the statements of an author's function that build a text.

The code is parsed with `ast`. Only expressions of texts are worked out, and nothing else is executed.
"""

import ast
import re
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError

_METHODS = ("format", "join", "replace", "strip")
_ALLOWED = re.compile(
    "Constant|JoinedStr|FormattedValue|IfExp|List|Dict|Subscript|BinOp|Add|BoolOp|Or|And"
    "|Compare|Eq|In|Call|keyword|Name|Attribute|Load"
)
_VARIABLES = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
_UNKNOWN = (DataError, LookupError, TypeError, ValueError, AttributeError, NameError)

Known = dict[str, Any]
"""Values by the source of their expression, `line['question']`, or `load()` for any call of it."""


def parse_code(path: Path) -> ast.Module:
    """Parse a file of the authors."""
    try:
        return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        raise DataError(
            f"{path}: expected Python code, got {error}. Take the file of the pinned commit."
        ) from error


def not_found(path: Path, expected: str) -> DataError:
    """Return the error for a file of the authors without what is read from it."""
    return DataError(
        f"{path}: expected {expected}, found none. Take the file of the pinned commit."
    )


def follow_statements(body: Sequence[ast.stmt], known: Known) -> None:
    """Follow assignments and branches, and leave the variables in `known`.

    A variable whose value cannot be worked out is removed from `known`. A condition that cannot be
    worked out is a DataError.
    """
    for statement in body:
        if isinstance(statement, ast.If):
            condition = value_of(statement.test, known)
            follow_statements(statement.body if condition else statement.orelse, known)
        elif isinstance(statement, ast.Assign):
            _assign(statement.targets[0], statement.value, known)
        elif isinstance(statement, ast.AugAssign):
            total = ast.BinOp(statement.target, statement.op, statement.value)
            _assign(statement.target, total, known)


def _assign(target: ast.expr, expression: ast.expr, known: Known) -> None:
    targets = target.elts if isinstance(target, ast.Tuple) else [target]
    names = list(map(ast.unparse, targets))
    try:
        value = value_of(expression, known)
        values = value if isinstance(target, ast.Tuple) else [value]
        known.update(zip(names, values, strict=True))
    except _UNKNOWN:
        for name in names:
            known.pop(name, None)


def value_of(node: ast.expr, known: Known) -> Any:
    """Work out an expression of texts; raise DataError if it holds anything else."""
    expression = _Expression(known)
    tree = ast.Expression(expression.visit(deepcopy(node)))
    code = compile(ast.fix_missing_locations(tree), "<prompt>", "eval")
    # Only calls of `str` and of methods of texts are left in the code.
    return eval(code, {"__builtins__": {"str": str}}, expression.values)  # noqa: S307


class _Expression(ast.NodeTransformer):
    """Puts variables in the place of what is known; refuses all but expressions of texts."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.values: Known = {}

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, _VARIABLES):
            source = ast.unparse(node)
            if isinstance(node, ast.Call):
                source = f"{ast.unparse(node.func)}()"
            if source in self.known:
                variable = f"known_{len(self.values)}"
                self.values[variable] = self.known[source]
                return ast.Name(variable, ast.Load())
        name = getattr(node, "id", getattr(node, "attr", "str"))
        if not _ALLOWED.fullmatch(type(node).__name__) or name not in (
            "str",
            *_METHODS,
        ):
            problem = f"expected an expression of texts, got {ast.unparse(node)[:80]!r}"
            raise DataError(f"a prompt of the authors: {problem}. Use our own wording.")
        return self.generic_visit(node)
