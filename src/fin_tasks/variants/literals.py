"""Find the numbers of a program that can change together with the question, and change them."""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from .mentions import Mention

_CONVENTIONS = frozenset(
    map(Decimal, (0, 1, 2, 4, 12, 30, 52, 100, 250, 252, 360, 365))
)
"""Numbers that mean the same in every question, such as the parts of a year."""
_LARGEST_COUNT = 12
"""Numbers up to this are often sums of others by chance."""


class ProgramNumber(NamedTuple):
    """A number of a program, and the one number of the question that it stands for."""

    value: Decimal
    mention: Mention

    @property
    def factor(self) -> Decimal:
        """By what the number as the question writes it is multiplied."""
        return self.value / self.mention.value


def parse(program: str) -> ast.Module:
    """Return the tree of a program; an empty one if it is not Python."""
    try:
        return ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.parse("")


def literals_in(tree: ast.Module, mentions: Sequence[Mention]) -> list[ProgramNumber]:
    """Return the literals that may change: those that occur once in the program and once in the question."""
    fixed_nodes = _fixed_nodes(tree)
    counts = Counter(values_in(tree))
    question_values = set()
    for mention in mentions:
        question_values.update(mention.program_values())
    question_amounts = list(filter(_is_amount, question_values))
    # Amounts that only the program holds: somebody may have worked them out from those of the question.
    other_amounts = set(filter(_is_amount, counts)) - question_values
    literals = []
    for node in _numbers_in(tree):
        value = _value_of(node)
        is_alone = counts[value] == 1 and not _has_relative(value, counts)
        if is_alone and node not in fixed_nodes and value not in _CONVENTIONS:
            only_mention = _only_mention(value, mentions)
            sums = set()
            for amount in question_amounts:
                sums |= {abs(value - amount), value + amount}
            if only_mention is not None and not sums & other_amounts:
                literals.append(ProgramNumber(value, only_mention))
    return literals


def _is_amount(value: Decimal) -> bool:
    return value > _LARGEST_COUNT


def values_in(tree: ast.Module) -> list[Decimal]:
    """Return the values of all literals."""
    return list(map(_value_of, _numbers_in(tree)))


def with_literals(tree: ast.Module, values: Mapping[Decimal, Decimal]) -> str:
    """Return the program with new values in place of those literals that have one."""
    changed = ast.parse(ast.unparse(tree))
    for node in _numbers_in(changed):
        new_value = values.get(_value_of(node))
        if new_value is not None:
            is_whole = isinstance(node.value, int) and new_value % 1 == 0
            node.value = int(new_value) if is_whole else float(new_value)
    return ast.unparse(changed)


def _numbers_in(tree: ast.Module) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        # isinstance would take a bool for an int.
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            yield node


def _value_of(node: ast.Constant) -> Decimal:
    return Decimal(repr(node.value))


def _fixed_nodes(tree: ast.Module) -> set[ast.AST]:
    """Return what may not change: indices, decimals to round to, the n of an n-th root, and values of unused names."""
    used_names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            used_names.add(node.id)
    fixed_nodes: set[ast.AST] = set()
    for node in ast.walk(tree):
        parts = []
        match node:
            case ast.Subscript():
                parts = [node.slice]
            case ast.Call(func=ast.Name(id="round")):
                parts = node.args[1:]
            case ast.BinOp(op=ast.Pow(), right=ast.BinOp(op=ast.Div(), right=degree)):
                parts = [degree]
            case ast.Assign(targets=[ast.Name(id=name)]) if name not in used_names:
                parts = [node.value]
        for part in parts:
            fixed_nodes.update(ast.walk(part))
    return fixed_nodes


def _has_relative(value: Decimal, counts: Mapping[Decimal, int]) -> bool:
    """Return whether the program also holds a number that somebody worked out from this one, such as 1 - value."""
    relatives = (value + 1, value - 1, 1 - value, value * 100, value / 100, -value)
    return any(relative in counts for relative in relatives)


def _only_mention(value: Decimal, mentions: Sequence[Mention]) -> Mention | None:
    """Return the number of the question that a literal stands for; None unless there is one only, and it may change."""
    fitting = [mention for mention in mentions if value in mention.program_values()]
    if len(fitting) != 1 or fitting[0].is_fixed:
        return None
    values = [mention.value for mention in mentions]
    return fitting[0] if values.count(fitting[0].value) == 1 else None
