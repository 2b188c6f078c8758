"""Values of Python expressions that hold numbers and their arithmetic: nothing is executed."""

import ast
import operator
import warnings
from collections.abc import Callable, Mapping
from typing import Any

_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_MAX_TEXT = 20_000
"""Characters of an expression; a longer one has no value."""
_MAX_POWER_BITS = 10_000
"""A power with more bits than this has no value."""
_NO_VALUE = (
    ValueError,
    SyntaxError,
    TypeError,
    ArithmeticError,
    RecursionError,
    MemoryError,
)


def python_value(text: str, *, arithmetic: bool = False) -> object:
    """Return the value of a text that is a literal of Python; None if it is none.

    With `arithmetic`, a number in it may also be worked out, as in `{"score": 8 / 10}`.
    """
    if arithmetic and len(text) > _MAX_TEXT:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns about odd escapes in a text
        try:
            tree = ast.parse(text.lstrip(" \t"), mode="eval")
            if arithmetic:
                tree = _Arithmetic().visit(tree)
            return ast.literal_eval(tree)
        except _NO_VALUE:
            return None


class _Arithmetic(ast.NodeTransformer):
    """Puts a number in place of each operation on two numbers, and of each sign."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Work out an operation on two numbers."""
        self.generic_visit(node)
        left = _number(node.left)
        right = _number(node.right)
        if left is None or right is None or type(node.op) not in _OPERATORS:
            return node
        is_whole_power = isinstance(node.op, ast.Pow) and isinstance(left, int)
        if is_whole_power and abs(right) * int(left).bit_length() > _MAX_POWER_BITS:
            raise ValueError("the power is too large")
        return ast.Constant(_OPERATORS[type(node.op)](left, right))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """Work out a sign before a number."""
        self.generic_visit(node)
        number = _number(node.operand)
        if number is None or not isinstance(node.op, ast.UAdd | ast.USub):
            return node
        return ast.Constant(-number if isinstance(node.op, ast.USub) else number)


def _number(node: ast.expr) -> int | float | None:
    """Return the number that a part of an expression is; None for every other part."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value  # type: ignore[return-value]
    return None
