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
        """What the number in the question is multiplied by."""
        return self.value / self.mention.value


def parse(program: str) -> ast.Module:
    """Return the tree of a program; an empty one if it is not Python."""
    try:
        return ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.parse("")


def literals_in(
    tree: ast.Module,
    mentions: Sequence[Mention],
) -> list[ProgramNumber]:
    """Return the literals that occur once in the program and once in the question."""
    fixed = _fixed_in(tree)
    counts = Counter(values_in(tree))
    in_question = set()
    for in_text in mentions:
        in_question.update(in_text.program_values())
    amounts = list(filter(_is_amount, in_question))
    # Numbers of the program that somebody worked out from those of the question.
    worked_out = set(filter(_is_amount, counts)) - in_question
    literals = []
    for node in _numbers_in(tree):
        value = _value_of(node)
        is_alone = counts[value] == 1 and not _has_relative(value, counts)
        if is_alone and node not in fixed and value not in _CONVENTIONS:
            mention = _only_mention(value, mentions)
            sums = set()
            for amount in amounts:
                sums |= {abs(value - amount), value + amount}
            if mention is not None and not sums & worked_out:
                literals.append(ProgramNumber(value, mention))
    return literals


def _is_amount(value: Decimal) -> bool:
    return value > _LARGEST_COUNT


def values_in(tree: ast.Module) -> list[Decimal]:
    """Return the values of all literals."""
    return list(map(_value_of, _numbers_in(tree)))


def with_literals(
    tree: ast.Module,
    values: Mapping[Decimal, Decimal],
) -> str:
    """Return the program with other literals."""
    changed = ast.parse(ast.unparse(tree))
    for node in _numbers_in(changed):
        if _value_of(node) in values:
            new_value = values[_value_of(node)]
            node.value = (
                int(new_value) if isinstance(node.value, int) else float(new_value)
            )
    return ast.unparse(changed)


def _numbers_in(tree: ast.Module) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        # isinstance would take a bool for an int.
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            yield node


def _value_of(node: ast.Constant) -> Decimal:
    return Decimal(repr(node.value))


def _fixed_in(tree: ast.Module) -> set[ast.AST]:
    """Return indices, counts of decimals and of factors in a mean, and values that are not used."""
    used_names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            used_names.add(node.id)
    fixed: set[ast.AST] = set()
    for node in ast.walk(tree):
        parts = []
        match node:
            case ast.Subscript():
                parts = [node.slice]
            case ast.Call(func=ast.Name(id="round")):
                parts = node.args[1:]
            case ast.BinOp(op=ast.Pow(), right=ast.BinOp(op=ast.Div(), right=count)):
                parts = [count]
            case ast.Assign(targets=[ast.Name(id=name)]) if name not in used_names:
                parts = [node.value]
        for part in parts:
            fixed.update(ast.walk(part))
    return fixed


def _has_relative(
    value: Decimal,
    counts: Mapping[Decimal, int],
) -> bool:
    """Return whether the program holds a number that was worked out from this one by hand."""
    relatives = (value + 1, value - 1, 1 - value, value * 100, value / 100, -value)
    return any(relative in counts for relative in relatives)


def _only_mention(
    value: Decimal,
    mentions: Sequence[Mention],
) -> Mention | None:
    fitting = [mention for mention in mentions if value in mention.program_values()]
    if len(fitting) != 1 or fitting[0].is_fixed:
        return None
    values = [mention.value for mention in mentions]
    return fitting[0] if values.count(fitting[0].value) == 1 else None
