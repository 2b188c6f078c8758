"""Find the numbers of a question that follow from others, so that none of them may change alone."""

import math
from collections.abc import Sequence
from decimal import Decimal
from itertools import combinations, permutations

from .mentions import Mention

_MAX_AMOUNTS = 150
"""Among more amounts many sums and products are right by chance, so none is checked."""
_MAX_SUMS = 2_000
"""More sums of three or of four amounts would take long, so none is checked."""
_MIN_SUM = 20
"""A smaller sum of two amounts may be right by chance."""
_MIN_LONG_SUM = 1000
"""A smaller sum of three or four amounts may be right by chance."""
_MIN_PRODUCT = 100
"""A smaller product may be right by chance."""
_MAX_SHARES = 14
"""Among more shares there are too many groups of up to five, so the rest is not looked at."""


def related(mentions: Sequence[Mention]) -> set[Mention]:
    """Return the numbers that are parts of 100 % or of 1, of a sum or product, or of a change in percent."""
    shares = [mention for mention in mentions if mention.is_share]
    amounts = [mention for mention in mentions if not mention.is_share]
    fractions = [mention for mention in amounts if 0 < mention.value < 1]
    tied = _parts_of_a_whole(shares[:_MAX_SHARES], 100)
    tied |= _parts_of_a_whole(fractions[:_MAX_SHARES], 1)
    if len(amounts) <= _MAX_AMOUNTS:
        tied |= _parts_of_sums(amounts)
        tied |= _factors_of_products(amounts)
        tied |= _changes_in_percent(amounts, shares)
    return tied


def _parts_of_a_whole(shares: Sequence[Mention], whole: int) -> set[Mention]:
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
        if count > 2 and math.comb(len(positive), count) > _MAX_SUMS:
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
        if product > _MIN_PRODUCT and product in by_value:
            tied.update([first, second, *by_value[product]])
    return tied


def _is_telling(parts: Sequence[Mention], total: Decimal) -> bool:
    """Return whether a sum is probably not by chance: it is large, or its parts have decimals."""
    has_decimals = all(part.decimals for part in parts)
    return total > (_MIN_SUM if len(parts) == 2 else _MIN_LONG_SUM) or has_decimals


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
