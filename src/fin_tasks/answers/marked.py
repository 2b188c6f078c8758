"""Answers as XFinBench's authors read them, bug for bug: what follows the last marker.

They ask for `Therefore, my answer is` and look nowhere else. These are the readings of the `paper` variants; a careful
reader's are in `verdicts`, `choices` and `quantities`.
"""

import math

from fin_tasks.answers.comparison import TOLERANCE

__all__ = ["MARKER", "marked_letter", "marked_number", "marked_verdict", "near_marked"]

MARKER = "Therefore, my answer is"
"""What a model is asked to write before its answer."""

_TRUE = ("TRUE", "true", "True", "correct")
_FALSE = ("FALSE", "false", "False", "incorrect")
_NUMERIC = frozenset("-./0123456789")


def marked_verdict(reply: str) -> tuple[int | None, str]:
    """Read a verdict up to the first full stop behind the last marker.

    "incorrect" holds "correct", so the authors count it as true, and so does this.

    Returns:
        1, 0 or None, and beside None why.

    Example:
        >>> marked_verdict("Therefore, my answer is incorrect.")
        (1, '')
    """
    behind = _behind(reply)
    if behind is None:
        return None, "no marker"
    sentence = behind.partition(".")[0]
    if any(word in sentence for word in _TRUE):
        return 1, ""
    if any(word in sentence for word in _FALSE):
        return 0, ""
    return None, "no verdict up to the first full stop"


def marked_letter(reply: str) -> tuple[str | None, str]:
    """Read the alphabetically first of A to D that stands anywhere up to the first full stop behind the last marker.

    Returns:
        The letter or None, and beside None why.

    Example:
        >>> marked_letter("Therefore, my answer is B, Accrued interest.")
        ('A', '')
    """
    behind = _behind(reply)
    if behind is None:
        return None, "no marker"
    sentence = behind.partition(".")[0]
    letter = next((letter for letter in "ABCD" if letter in sentence), None)
    return letter, "" if letter else "no letter up to the first full stop"


def marked_number(reply: str) -> tuple[float | None, str]:
    """Read the number in the last square brackets behind the last marker, signs of currency and units dropped.

    Returns:
        A finite number or None, and beside None why.

    Example:
        >>> marked_number("Therefore, my answer is [$1,250.5].")
        (1250.5, '')
    """
    behind = _behind(reply)
    if behind is None:
        return None, "no marker"
    held = behind.rpartition("[")[2].partition("]")[0]
    kept = "".join(char for char in held if char in _NUMERIC)
    try:
        number = float(kept)
    except ValueError:
        number = math.nan
    return (number, "") if math.isfinite(number) else (None, "no number where the authors look")


def near_marked(answer: float, truth: float) -> bool:
    r"""Tell whether a number is near the truth as the authors' ACC_ERR has it.

    With m the answer and g the truth: |m - g| / |m| < 0.005, or |m/100 - g| / |m/100| < 0.005, or
    |m - g/100| / |m| < 0.005. Relative to the answer, blind to a factor of 100 either way; an answer of 0 is wrong.

    Example:
        >>> near_marked(7.66, 0.0766), near_marked(100.4, 100.0), near_marked(0.0, 0.0)
        (True, True, False)
    """
    m, g = answer, truth
    if m == 0 or m / 100 == 0:
        return False
    return (
        abs(m - g) / abs(m) < TOLERANCE
        or abs(m / 100 - g) / abs(m / 100) < TOLERANCE
        or abs(m - g / 100) / abs(m) < TOLERANCE
    )


def _behind(reply: str) -> str | None:
    _, marker, behind = reply.rpartition(MARKER)
    return behind if marker else None
