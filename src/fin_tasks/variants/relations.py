"""Find the numbers of a question that follow from others, so that none of them may change alone."""

import math
from collections.abc import Sequence
from decimal import Decimal
from itertools import combinations, permutations

from .mentions import Mention

_MOST_NUMBERS = 150
"""Sums are not checked among more numbers, where many are right by chance."""
_MOST_SUMS = 2_000
"""Sums of three or four numbers are not checked if there are more of them; that takes long."""
_LEAST_SUM = 20
_LEAST_LONG_SUM = 1000
_LEAST_PRODUCT = 100
_MOST_SHARES = 14


def related(mentions: Sequence[Mention]) -> set[Mention]:
    """Return the numbers that are parts of 100 % or of 1, of a sum or product, or of a change in percent."""
    shares = [mention for mention in mentions if mention.is_share]
    amounts = [mention for mention in mentions if not mention.is_share]
    fractions = [mention for mention in amounts if 0 < mention.value < 1]
    tied = _parts_of_a_whole(shares[:_MOST_SHARES], 100)
    tied |= _parts_of_a_whole(fractions[:_MOST_SHARES], 1)
    if len(amounts) <= _MOST_NUMBERS:
        tied |= _parts_of_sums(amounts)
        tied |= _factors_of_products(amounts)
        tied |= _changes_in_percent(amounts, shares)
    return tied


def _parts_of_a_whole(
    shares: Sequence[Mention],
    whole: int,
) -> set[Mention]:
    tied: set[Mention] = set()
    for count in (2, 3, 4, 5):
        for group in combinations(shares, count):
            if sum(mention.value for mention in group) == whole:
                tied.update(group)
    return tied


def _by_value(amounts: Sequence[Mention]) -> dict[Decimal, list[Mention]]:
    by_value: dict[Decimal, list[Mention]] = {}
    for mention in amounts:
        by_value.setdefault(mention.value, []).append(mention)
    return by_value


def _parts_of_sums(amounts: Sequence[Mention]) -> set[Mention]:
    by_value = _by_value(amounts)
    tied = set()
    positive = [mention for mention in amounts if mention.value > 0]
    for count in (2, 3, 4):
        if count > 2 and math.comb(len(positive), count) > _MOST_SUMS:
            continue
        for parts in combinations(positive, count):
            total = sum((part.value for part in parts), Decimal(0))
            if total in by_value and _is_telling(parts, total):
                tied.update([*parts, *by_value[total]])
    return tied


def _factors_of_products(amounts: Sequence[Mention]) -> set[Mention]:
    """Return numbers of which one is the product of two others: units, price and cost."""
    factors = [mention for mention in amounts if mention.value > 1]
    by_value = _by_value(amounts)
    tied = set()
    for first, second in combinations(factors, 2):
        product = first.value * second.value
        if product > _LEAST_PRODUCT and product in by_value:
            tied.update([first, second, *by_value[product]])
    return tied


def _is_telling(parts: Sequence[Mention], total: Decimal) -> bool:
    """Return whether a sum is probably not by chance: it is large, or its parts have decimals."""
    has_decimals = all(part.decimals for part in parts)
    return total > (_LEAST_SUM if len(parts) == 2 else _LEAST_LONG_SUM) or has_decimals


def _changes_in_percent(
    amounts: Sequence[Mention],
    shares: Sequence[Mention],
) -> set[Mention]:
    tied = set()
    for old, new in permutations(amounts, 2):
        if old.value == 0:
            continue
        change = abs(new.value / old.value - 1) * 100
        for share in shares:
            rounding = Decimal(1).scaleb(-share.decimals) / 2
            if abs(change - share.value) <= rounding:
                tied.update([old, new, share])
    return tied
