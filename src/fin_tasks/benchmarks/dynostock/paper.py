"""How DynoStock's authors read a probability in a response."""

import re

_UNSIGNED_NUMBER = re.compile(r"\d+\.\d*|\d+|\.\d+")


def paper_probability(response: str) -> float | None:
    """Read the last number within [0, 1] among the last two numbers, whose signs do not count."""
    last_two = _UNSIGNED_NUMBER.findall(response)[-2:]
    for text in reversed(last_two):
        number = float(text)
        if 0 <= number <= 1:
            return number
    return None
