"""Find the numbers of a question that follow from others, so that none of them may change alone."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import combinations, permutations

from fin_tasks.variants.mentions import Mention

_MOST_NUMBERS = 150
"""In a text with more numbers, sums come out by chance; none of its sums is looked at."""
_LEAST_SUM = 20
_MOST_SHARES = 14


def related(mentions: Sequence[Mention]) -> set[Mention]:
    """Return the numbers that are parts of 100 % or of 1, of a sum, or of a change in percent."""
    shares = [mention for mention in mentions if mention.is_share]
    amounts = [mention for mention in mentions if not mention.is_share]
    fractions = [mention for mention in amounts if 0 < mention.value < 1]
    found = _parts_of_a_whole(shares[:_MOST_SHARES], 100)
    found |= _parts_of_a_whole(fractions[:_MOST_SHARES], 1)
    if len(amounts) <= _MOST_NUMBERS:
        found |= _parts_of_sums(amounts)
        found |= _changes_in_percent(amounts, shares)
    return found


def _parts_of_a_whole(shares: Sequence[Mention], whole: int) -> set[Mention]:
    found: set[Mention] = set()
    for count in (2, 3, 4, 5):
        for group in combinations(shares, count):
            if sum(mention.value for mention in group) == whole:
                found.update(group)
    return found


def _parts_of_sums(amounts: Sequence[Mention]) -> set[Mention]:
    by_value: dict[Decimal, list[Mention]] = {}
    for mention in amounts:
        by_value.setdefault(mention.value, []).append(mention)
    found: set[Mention] = set()
    for first, second in combinations(amounts, 2):
        total = first.value + second.value
        is_sum = total > _LEAST_SUM and min(first.value, second.value) > 0
        if is_sum and total in by_value:
            found.update([first, second, *by_value[total]])
    return found


def _changes_in_percent(amounts: Sequence[Mention], shares: Sequence[Mention]) -> set[Mention]:
    found: set[Mention] = set()
    for old, new in permutations(amounts, 2):
        if old.value == 0:
            continue
        change = abs(new.value / old.value - 1) * 100
        for share in shares:
            exponent = share.value.as_tuple().exponent
            step = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)
            if abs(change - share.value) <= step / 2:
                found.update([old, new, share])
    return found
