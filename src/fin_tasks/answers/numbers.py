"""Read numbers with signs, grouping, units, scale words and powers, and compare them."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple

from .phrases import Phrases

TOLERANCE = 0.005  # a number is near the truth within this relative distance
_FLOAT_NOISE = 1e-9
Match = re.Match[str]


@dataclass(frozen=True, kw_only=True)
class Number:
    """A number with every value it may stand for."""

    value: float
    """The literal value: 0.0766 for `7.66%`, 5000000.0 for `5 million`."""
    readings: tuple[float, ...]
    """`value`, then the values in other units: (0.0766, 7.66) for `7.66%`."""
    step: float
    """The last written place, in units of `value`: 0.0001 for `7.66%`; 0.0 for the exact `3/4`."""

    def step_of(self, reading: float) -> float:
        """Return the last written place in units of a reading."""
        if not (self.value and reading):
            return self.step
        step = self.step * abs(reading / self.value)
        return step if math.isfinite(step) else 0.0

    def readings_with_steps(self) -> list[tuple[float, float]]:
        """Return each reading with its last written place."""
        return [(reading, self.step_of(reading)) for reading in self.readings]


class Mention(NamedTuple):
    """A number and its place in a text, with its sign, currency and unit."""

    start: int
    end: int
    number: Number


_NUMBERS = Phrases("numbers")
_POWERS_BY_UNIT = {
    "percent": (-2, 0),
    "bps": (-4, -2, 0),
    "cents": (-2, 0),
}


def find_numbers(text: str) -> list[Mention]:
    """Find every number in plain text (see `notation.plain`); skip ordinals and `5-year`."""
    mentions = map(_mention, _NUMBERS.number.finditer(text))
    return list(filter(None, mentions))


def number_from_float(value: float) -> Number | None:
    """Return a program's result as a number; None if it is not finite.

    Its last written place is where its shortest decimal form ends.
    """
    if not math.isfinite(value):
        return None
    mantissa, _, exponent = repr(float(value)).partition("e")
    decimals = mantissa.removesuffix(".0").partition(".")[2]
    step = float(f"1e{int(exponent or 0) - len(decimals)}")
    return Number(value=value, readings=(value,), step=step)


def as_written(number: Number) -> float:
    """Return the number without its unit, as the response writes it: 7.66 for `7.66%`."""
    return number.readings[-1]


def equal_reading(
    number: Number,
    truth: float,
    truth_step: float,
) -> float | None:
    """Return the reading that equals the truth up to the rounding shown, or None.

    Args:
        number: The number that was read.
        truth: The right value.
        truth_step: The last written place of the truth.
    """
    for reading, step in number.readings_with_steps():
        if _is_equal(reading, step, truth, truth_step):
            return reading
    return None


def near_reading(
    number: Number,
    truth: float,
) -> float | None:
    """Return the reading within 0.5 % of the truth, or None."""
    return next((size for size in number.readings if _is_near(size, truth)), None)


def same_number(
    first: Number,
    second: Number,
) -> bool:
    """Return whether two numbers are the same value, one perhaps rounded or in another unit."""
    truths = second.readings_with_steps()
    return any(equal_reading(first, *truth) is not None for truth in truths)


def merged(mentions: Sequence[Mention]) -> Mention | None:
    """Return the value that all numbers share, with the readings of all; None if they differ."""
    if not mentions:
        return None
    first = mentions[0]
    readings = {}
    for mention in mentions:
        if not same_number(first.number, mention.number):
            return None
        readings.update(dict.fromkeys(mention.number.readings))
    return first._replace(number=replace(first.number, readings=tuple(readings)))


def _mention(match: Match) -> Mention | None:
    unit = _NUMBERS.unit.match(match.string, match.end())
    size, step = _size_and_step(match)
    is_negative = (match["sign"] or "+").strip() != "+"
    if is_negative and size:
        size = -size
    powers = _powers_of_unit(unit) if unit else (0,)
    readings = [_scaled(size, power) for power in powers]
    if not all(map(math.isfinite, readings)):
        return None
    number = Number(
        value=readings[0],
        readings=tuple(dict.fromkeys(readings)),
        step=_scaled(step, powers[0]),
    )
    return Mention(match.start(), (unit or match).end(), number)


def _scaled(
    value: float,
    power: int,
) -> float:
    # Decimal keeps 7.66% at 0.0766; floats would give 0.07660000000000001.
    return float(Decimal(repr(value)).scaleb(power))


def _powers_of_unit(unit: Match) -> tuple[int, ...]:
    # The powers of ten of all readings. A truth may be stated in millions, so both are readings.
    name = str(unit.lastgroup)
    if name in _POWERS_BY_UNIT:
        return _POWERS_BY_UNIT[name]
    power, _, _ = name.removeprefix("e").partition("_")
    return int(power), 0


def _size_and_step(match: Match) -> tuple[float, float]:
    # The absolute value and the last written place, both before the unit.
    if match["over"]:
        under = float(match["under"])
        if under == 0:
            return math.nan, 0.0
        fraction = float(match["over"]) / under
        return float(match["whole"] or 0) + fraction, 0.0
    if match["power"]:
        return float(f"1e{match['power']}"), 0.0
    digits = _plain_digits(match)
    exponent = int(match["e"] or match["by"] or 0)
    decimals = len(digits.partition(".")[2])
    return float(f"{digits}e{exponent}"), float(f"1e{exponent - decimals}")


def _plain_digits(match: Match) -> str:
    if match["european"] or match["spaced"]:
        digits = match["european"] or match["spaced"].replace(".", ",")
        return re.sub("[ '.]", "", digits).replace(",", ".")
    return (match["grouped"] or match["simple"]).replace(",", "")


def _is_equal(
    reading: float,
    step: float,
    truth: float,
    truth_step: float,
) -> bool:
    # They differ by at most half of the last place of the coarser number. That number has three
    # significant digits, or they are near.
    coarser_step = max(step, truth_step)
    coarser_size = abs(reading) if step >= truth_step else abs(truth)
    if abs(reading - truth) > coarser_step / 2 + _FLOAT_NOISE * abs(truth):
        return False
    has_three_digits = coarser_size >= 100 * coarser_step * (1 - _FLOAT_NOISE)
    return has_three_digits or _is_near(reading, truth)


def _is_near(
    reading: float,
    truth: float,
) -> bool:
    return abs(reading - truth) <= TOLERANCE * abs(truth) * (1 + _FLOAT_NOISE)
