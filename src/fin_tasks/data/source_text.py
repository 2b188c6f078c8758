"""Follow the statements of an author's function that build a text. The code is parsed with `ast` and never executed."""

import ast
from collections.abc import Sequence
from typing import Any

from fin_tasks.errors import DataError

_METHODS = ("format", "join", "replace", "strip")


def follow(body: Sequence[ast.stmt], known: dict[str, Any]) -> None:
    """Follow assignments and branches, and leave the variables in `known`.

    `known` maps expressions such as `line` or `line['question']` to values, and calls of a function, whatever their
    arguments, by its name: `load()`. A variable whose value cannot be worked out is removed from `known`. A condition
    that cannot be worked out is a DataError.
    """
    for statement in body:
        if isinstance(statement, ast.If):
            follow(statement.body if value_of(statement.test, known) else statement.orelse, known)
        elif isinstance(statement, ast.Assign | ast.AugAssign):
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            names = [
                ast.unparse(one)
                for one in (target.elts if isinstance(target, ast.Tuple) else [target])
            ]
            try:
                value = value_of(statement.value, known)
                if isinstance(statement, ast.AugAssign):
                    value = known[names[0]] + value
                known |= dict(
                    zip(names, value if isinstance(target, ast.Tuple) else [value], strict=True)
                )
            except (DataError, KeyError, TypeError, ValueError):
                for name in names:
                    known.pop(name, None)


def value_of(node: ast.expr, known: dict[str, Any]) -> Any:
    """Work out an expression of texts: constants, f-strings, choices, lists, tables and a few methods of `str`."""
    text = ast.unparse(node)
    name = f"{ast.unparse(node.func)}()" if isinstance(node, ast.Call) else text
    if name in known:
        return known[name]
    match node:
        case ast.Constant(value=value):
            return value
        case ast.JoinedStr(values=parts):
            return "".join(str(value_of(part, known)) for part in parts)
        case ast.FormattedValue(value=inner):
            return value_of(inner, known)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return value_of(body if value_of(test, known) else orelse, known)
        case ast.List(elts=parts):
            return [value_of(part, known) for part in parts]
        case ast.Dict(keys=keys, values=values):
            names = [value_of(key, known) for key in keys if key is not None]
            return dict(zip(names, [value_of(value, known) for value in values], strict=True))
        case ast.Subscript(value=table, slice=key):
            return value_of(table, known)[value_of(key, known)]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return value_of(left, known) + value_of(right, known)
        case ast.BoolOp(op=op, values=parts):
            return (any if isinstance(op, ast.Or) else all)(value_of(part, known) for part in parts)
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            return value_of(left, known) == value_of(right, known)
        case ast.Compare(left=left, ops=[ast.In()], comparators=[right]):
            return value_of(left, known) in value_of(right, known)
        case ast.Call(func=ast.Name(id="str"), args=[inner]):
            return str(value_of(inner, known))
        case ast.Call(func=ast.Attribute(value=text_node, attr=name), args=args) if (
            name in _METHODS
        ):
            return getattr(str(value_of(text_node, known)), name)(
                *(value_of(part, known) for part in args)
            )
    raise DataError(
        f"a prompt of the authors: expected an expression of texts, got {text[:80]!r}. Use our own wording."
    )
