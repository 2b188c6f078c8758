"""Follow the statements of a function of the authors that build a text.

The code is parsed with `ast` and never executed. The texts stand inside of functions that choose
among them by the row's category, so no constant holds a whole prompt.
"""

import ast
from collections.abc import Sequence
from functools import partial
from typing import Any

from fin_tasks.errors import DataError

_UNKNOWN = (DataError, KeyError, TypeError, ValueError)
"""What `_value_of` raises for an expression that it cannot work out."""

Known = dict[str, Any]
"""Values by the source of their expression, `line['question']`, or `load()` for any call of it."""


def follow_statements(
    body: Sequence[ast.stmt],
    known: Known,
) -> None:
    """Follow assignments and branches, and leave the variables in `known`.

    A variable whose value cannot be worked out is removed from `known`. A condition that cannot be
    worked out is a DataError.
    """
    for statement in body:
        if isinstance(statement, ast.If):
            condition = _value_of(statement.test, known)
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
        value = _value_of(expression, known)
        values = value if isinstance(target, ast.Tuple) else [value]
        known.update(zip(names, values, strict=True))
    except _UNKNOWN:
        for name in names:
            known.pop(name, None)


def _value_of(node: ast.expr, known: Known) -> Any:
    """Work out an expression of texts; raise DataError if it holds anything else."""
    source = ast.unparse(node)
    if isinstance(node, ast.Call):
        source = f"{ast.unparse(node.func)}()"
    if source in known:
        return known[source]
    return _worked_out(node, known)


def _worked_out(node: ast.expr, known: Known) -> Any:
    read = partial(_value_of, known=known)
    match node:
        case ast.Constant(value=value):
            return value
        case ast.JoinedStr(values=parts):
            return "".join(map(str, map(read, parts)))
        case ast.FormattedValue(value=value):
            return read(value)
        case ast.IfExp(test=test, body=body, orelse=other):
            return read(body if read(test) else other)
        case ast.List(elts=elements):
            return list(map(read, elements))
        case ast.Dict(keys=keys, values=values):
            names = map(read, filter(None, keys))
            return dict(zip(names, map(read, values), strict=True))
        case ast.Subscript(value=table, slice=key):
            return read(table)[read(key)]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return read(left) + read(right)
        case ast.BoolOp(op=operation, values=values):
            combine = {ast.Or: any, ast.And: all}[type(operation)]
            return combine(map(read, values))
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            return read(left) == read(right)
        case ast.Compare(left=left, ops=[ast.In()], comparators=[right]):
            return read(left) in read(right)
        case ast.Call(func=ast.Name(id="str"), args=[argument]):
            return str(read(argument))
        case ast.Call(func=ast.Attribute(attr=name, value=text), args=arguments) if (
            name in ("format", "join", "replace", "strip")
        ):
            return getattr(str(read(text)), name)(*map(read, arguments))
    raise DataError(
        f"a prompt of the authors: expected an expression of texts, got {ast.unparse(node)[:80]!r}. "
        "Use our own wording."
    )
