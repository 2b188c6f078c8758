"""Follow the statements of an author's function that build a text.

The code is parsed with `ast` and never executed.
"""

import ast
from collections.abc import Sequence
from typing import Any, NoReturn

from fin_tasks.errors import DataError

_METHODS = ("format", "join", "replace", "strip")
_UNKNOWN = (DataError, KeyError, TypeError, ValueError)
_MAX_SHOWN = 80  # characters

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
            condition = value_of(statement.test, known)
            follow_statements(statement.body if condition else statement.orelse, known)
        elif isinstance(statement, ast.Assign):
            _assign(statement.targets[0], statement.value, known)
        elif isinstance(statement, ast.AugAssign):
            _append(statement.target, statement.value, known)


def _assign(
    target: ast.expr,
    expression: ast.expr,
    known: Known,
) -> None:
    names = [ast.unparse(target)]
    if isinstance(target, ast.Tuple):
        names = [ast.unparse(element) for element in target.elts]
    try:
        value = value_of(expression, known)
        values = value if isinstance(target, ast.Tuple) else [value]
        known.update(zip(names, values, strict=True))
    except _UNKNOWN:
        for name in names:
            known.pop(name, None)


def _append(
    target: ast.expr,
    expression: ast.expr,
    known: Known,
) -> None:
    name = ast.unparse(target)
    try:
        known[name] = known[name] + value_of(expression, known)
    except _UNKNOWN:
        known.pop(name, None)


def value_of(node: ast.expr, known: Known) -> Any:
    """Work out an expression of texts; raise DataError if it holds anything else."""
    return _Reader(known).visit(node)


class _Reader(ast.NodeVisitor):
    """Works out constants, f-strings, choices, lists, tables, comparisons and methods of `str`."""

    def __init__(self, known: Known) -> None:
        self.known = known

    def visit(self, node: ast.AST) -> Any:
        """Return the known value of an expression, or work it out."""
        source = ast.unparse(node)
        if isinstance(node, ast.Call):
            source = f"{ast.unparse(node.func)}()"
        if source in self.known:
            return self.known[source]
        return super().visit(node)

    def visit_all(self, nodes: Sequence[ast.expr]) -> list[Any]:
        """Return the value of each expression."""
        return [self.visit(node) for node in nodes]

    def generic_visit(self, node: ast.AST) -> NoReturn:
        """Refuse an expression of any other kind."""
        raise _unreadable(node)

    def visit_Constant(self, node: ast.Constant) -> object:
        return node.value

    def visit_JoinedStr(self, node: ast.JoinedStr) -> str:
        parts = self.visit_all(node.values)
        return "".join(str(part) for part in parts)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> object:
        return self.visit(node.value)

    def visit_IfExp(self, node: ast.IfExp) -> object:
        condition = self.visit(node.test)
        return self.visit(node.body if condition else node.orelse)

    def visit_List(self, node: ast.List) -> object:
        return self.visit_all(node.elts)

    def visit_Dict(self, node: ast.Dict) -> object:
        keys = [key for key in node.keys if key is not None]
        names = self.visit_all(keys)
        values = self.visit_all(node.values)
        return dict(zip(names, values, strict=True))

    def visit_Subscript(self, node: ast.Subscript) -> object:
        table = self.visit(node.value)
        key = self.visit(node.slice)
        return table[key]

    def visit_BinOp(self, node: ast.BinOp) -> object:
        if not isinstance(node.op, ast.Add):
            raise _unreadable(node)
        left = self.visit(node.left)
        right = self.visit(node.right)
        return left + right

    def visit_BoolOp(self, node: ast.BoolOp) -> bool:
        parts = (self.visit(part) for part in node.values)  # not all are evaluated
        return any(parts) if isinstance(node.op, ast.Or) else all(parts)

    def visit_Compare(self, node: ast.Compare) -> bool:
        operands = self.visit_all([node.left, *node.comparators])
        match node.ops, operands:
            case [ast.Eq()], [left, right]:
                return bool(left == right)
            case [ast.In()], [element, container]:
                return element in container
        raise _unreadable(node)

    def visit_Call(self, node: ast.Call) -> object:
        arguments = self.visit_all(node.args)
        match node.func, arguments:
            case ast.Name(id="str"), [argument]:
                return str(argument)
            case ast.Attribute(attr=name), _ if name in _METHODS:
                text = str(self.visit(node.func.value))
                return getattr(text, name)(*arguments)
        raise _unreadable(node)


def _unreadable(node: ast.AST) -> DataError:
    problem = f"expected an expression of texts, got {ast.unparse(node)[:_MAX_SHOWN]!r}"
    return DataError(f"a prompt of the authors: {problem}. Use our own wording.")
