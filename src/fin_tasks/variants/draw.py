"""Draw other numbers of the same kind, decimals and rough size, in the same order among the numbers of a program."""

import random
from collections.abc import Sequence
from decimal import Decimal

from .literals import ProgramNumber
from .mentions import Mention

MAX_CHANGES = 3
_MAX_TRIES = 20
_FINE_DECIMALS = 4
"""Numbers with so many decimals often belong to a curve, such as discount factors."""
_PRICE_DECIMALS = 2
_LOWEST_RATIO = Decimal("0.55")
_HIGHEST_RATIO = Decimal("1.8")
_MIN_CHANGE = Decimal("0.03")
"""A number changes by more than this share of itself, unless numbers close to it leave no room."""

Change = tuple[ProgramNumber, Decimal]
"""A literal and its new value, as the question writes it."""


def draw_changes(
    literals: Sequence[ProgramNumber],
    values: Sequence[Decimal],
    mentions: Sequence[Mention],
    generator: random.Random,
) -> list[Change]:
    """Return new values for one to three literals; a literal for which no value fits keeps its own.

    `values` are those of all literals of the program, `mentions` all numbers of the question.
    """
    count = generator.randint(1, min(MAX_CHANGES, len(literals)))
    changes = []
    current_values = list(values)
    for literal in generator.sample(list(literals), count):
        new_value = _new_value(literal, current_values, mentions, generator)
        if new_value is not None:
            changes.append((literal, new_value))
            position = current_values.index(literal.value)
            current_values[position] = new_value * literal.factor
    return changes


def _new_value(
    literal: ProgramNumber,
    values: Sequence[Decimal],
    mentions: Sequence[Mention],
    generator: random.Random,
) -> Decimal | None:
    old = literal.mention.value
    step = _step_of(literal.mention)
    shown_values = [mention.value for mention in mentions]
    if literal.mention.decimals >= _FINE_DECIMALS:
        values = list(values)
        for mention in mentions:
            if mention.decimals == literal.mention.decimals:
                values.append(mention.value * literal.factor)
    # The next smaller and the next larger number of the program.
    lower = max(value for value in [Decimal(0), *values] if value < literal.value)
    upper = min(value for value in [Decimal("inf"), *values] if value > literal.value)
    low = old * _LOWEST_RATIO
    high = old * _HIGHEST_RATIO
    min_change = _MIN_CHANGE * old
    distance = min(literal.value - lower, upper - literal.value) / literal.factor
    if literal.mention.decimals >= _PRICE_DECIMALS and distance < min_change:
        # One of several prices or rates that are close to each other stays close to them.
        low = old - distance
        high = old + distance
        min_change = Decimal(0)
    for _ in range(_MAX_TRIES):
        share = Decimal(repr(generator.random()))
        new = ((low + (high - low) * share) / step).to_integral_value() * step
        new = new.quantize(old)
        is_other = abs(new - old) > min_change and new not in shown_values
        is_in_order = lower < new * literal.factor < upper
        if is_other and is_in_order and _is_alike(literal.mention, new):
            return new
    return None


def _step_of(mention: Mention) -> Decimal:
    """Return the place value of the last digit that changes: 100 for 1,200, and 0.01 for 12.50."""
    if mention.decimals:
        return Decimal(1).scaleb(-mention.decimals)
    digits = str(mention.value)
    zeros = len(digits) - len(digits.rstrip("0"))
    # At least two digits change, because 5,000 would have few other values with one.
    return Decimal(1).scaleb(max(0, min(zeros, len(digits) - 2)))


def _is_alike(mention: Mention, new: Decimal) -> bool:
    """Return whether a new number is of the same kind as the old one.

    A word stays a word, a number below 1 stays below 1, and a share below 100 % stays below 100 %.
    """
    old = mention.value
    if mention.written.isalpha():
        return mention.with_value(new).isalpha()
    if old < 1 <= new:
        return False
    return not (mention.is_share and old < 100 <= new)
