"""Numbers as somebody reads them off an axis, where none is printed."""

from decimal import ROUND_HALF_UP, Decimal

__all__ = ["read_off"]

_STEPS = 20
"""What an eye tells apart: a twentieth of the panel, a quarter of what lies between two ticks."""


def read_off(value: float, *, room: float) -> Decimal:
    """Round a value to what can be read: a 1, 2 or 5 of some power of ten, at most a twentieth of the panel.

    Args:
        value: What the picture draws.
        room: What the panel spans, in the value's unit.

    Example:
        >>> read_off(83.47, room=20.0), read_off(83.47, room=70.0), read_off(1283.0, room=900.0)
        (Decimal('83'), Decimal('84'), Decimal('1280'))
    """
    least = Decimal(str(room)) / _STEPS
    power = Decimal(1).scaleb(least.adjusted())
    step = max(power * factor for factor in (1, 2, 5) if power * factor <= least)
    whole = (Decimal(str(value)) / step).quantize(Decimal(1), rounding=ROUND_HALF_UP)
    return Decimal(f"{whole * step:f}")
