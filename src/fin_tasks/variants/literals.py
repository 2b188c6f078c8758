"""Find the numbers of a program that can change together with the question, and change them."""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from fin_tasks.variants.mentions import Mention

_OPERANDS = (0, 1, 2, 100)
_PARTS_OF_A_YEAR = (4, 12, 30, 52, 250, 252, 360, 365)
_CONVENTIONS = frozenset(map(Decimal, _OPERANDS + _PARTS_OF_A_YEAR))
"""Numbers that mean the same in every question."""


@dataclass(frozen=True, kw_only=True)
class ProgramNumber:
    """A number of a program, and the one number of the question that it stands for."""

    value: Decimal
    is_whole: bool
    """It is an `int` in the program."""
    mention: Mention
    factor: Decimal
    """What the number in the question is multiplied by."""


def parse(program: str) -> ast.Module | None:
    """Return the tree of a program; None if it is not Python."""
    try:
        return ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def literals_in(tree: ast.Module, mentions: Sequence[Mention]) -> list[ProgramNumber]:
    """Return the literals that occur once in the program and once in the question."""
    fixed = _positions_of_digits(tree)
    counts: Counter[Decimal] = Counter()
    whole: dict[Decimal, bool] = {}
    changeable: set[Decimal] = set()
    for node in _numbers_in(tree):
        value = _decimal(node)
        counts[value] += 1
        whole[value] = isinstance(node.value, int)
        if (node.lineno, node.col_offset) not in fixed:
            changeable.add(value)
    literals = []
    for value, count in counts.items():
        is_alone = count == 1 and value in changeable and value not in _CONVENTIONS
        if is_alone and not _has_relative(value, counts):
            mention = _only_mention(value, mentions)
            if mention is not None:
                factor = value / mention.value
                literals.append(
                    ProgramNumber(
                        value=value, is_whole=whole[value], mention=mention, factor=factor
                    )
                )
    return literals


def values_in(tree: ast.Module) -> list[Decimal]:
    """Return the values of all literals."""
    return [_decimal(node) for node in _numbers_in(tree)]


def with_literals(tree: ast.Module, values: Mapping[Decimal, Decimal]) -> str:
    """Return the program with other literals."""
    changed = _Change(values).visit(ast.parse(ast.unparse(tree)))
    return ast.unparse(changed)


class _Change(ast.NodeTransformer):
    def __init__(self, values: Mapping[Decimal, Decimal]) -> None:
        self.values = values

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if not _is_number(node) or _decimal(node) not in self.values:
            return node
        value = self.values[_decimal(node)]
        return ast.Constant(int(value) if isinstance(node.value, int) else float(value))


def _numbers_in(tree: ast.Module) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and _is_number(node):
            yield node


def _is_number(node: ast.Constant) -> bool:
    # A bool is an int, too.
    return type(node.value) in (int, float)


def _decimal(node: ast.Constant) -> Decimal:
    return Decimal(repr(node.value)).normalize()


def _positions_of_digits(tree: ast.Module) -> set[tuple[int, int]]:
    """Return where indices, exponents and counts of decimals stand, which are no amounts."""
    positions = set()
    for node in ast.walk(tree):
        parts: list[ast.AST] = []
        if isinstance(node, ast.Subscript):
            parts = list(ast.walk(node.slice))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "round":
            parts = [part for argument in node.args[1:] for part in ast.walk(argument)]
        for part in parts:
            if isinstance(part, ast.Constant):
                positions.add((part.lineno, part.col_offset))
    return positions


def _has_relative(value: Decimal, counts: Mapping[Decimal, int]) -> bool:
    """Return whether the program holds a number that was worked out from this one by hand."""
    relatives = (value + 1, value - 1, 1 - value, value * 100, value / 100, -value)
    return any(relative.normalize() in counts for relative in relatives)


def _only_mention(value: Decimal, mentions: Sequence[Mention]) -> Mention | None:
    fitting = []
    for mention in mentions:
        if any((mention.value * factor).normalize() == value for factor in mention.factors):
            fitting.append(mention)
    if len(fitting) != 1 or fitting[0].is_fixed:
        return None
    values = [mention.value for mention in mentions]
    return fitting[0] if values.count(fitting[0].value) == 1 else None
