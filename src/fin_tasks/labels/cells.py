"""What people may write in a cell, in the spelling of their spreadsheet's language."""

import re
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

# What people write, and what a spreadsheet makes of a truth value, where it does not speak English.
_YES = "yes true ja wahr oui vrai sí si verdadero sì vero sim verdadeiro да истина 是 真 はい 예 참"
_NO = (
    "no false nein falsch non faux falso não nee nej нет ложь 否 假 いいえ 아니요 거짓"
)
_OTHER_WORDS = {
    "yes": _YES.split(),
    "true": _YES.split(),
    "no": _NO.split(),
    "false": _NO.split(),
}
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+")
_MOST_PLACES = 30  # of a number, before or behind its point


class CellRule(NamedTuple):
    """What a cell may hold: one of some words, or a number up to a limit."""

    words: Sequence[str]
    largest: float | None = None
    """The limit of a number and of its negative; None if numbers are not allowed."""
    summary: str = ""
    """What is allowed, for people, where the words are too many to be listed."""

    def read(self, text: str) -> str | None:
        """Return a cell's value in its usual spelling; None if it is not allowed."""
        # A spreadsheet may write a whole number with `.0`.
        plain = text.casefold().removesuffix(".0").removesuffix(",0")
        for word in self.words:
            if word.casefold() == plain:
                return word
        for word in self.words:
            if plain in _OTHER_WORDS.get(word.casefold(), ()):
                return word
        if self.largest is not None:
            number = _number_in(text)
            if number is not None and abs(number) <= self.largest:
                return f"{number:f}"
        return None

    def __str__(self) -> str:
        if self.summary:
            return self.summary
        if self.largest is None:
            return ", ".join(self.words)
        return ", ".join([*self.words, f"a number up to {self.largest:g}"])


def _number_in(text: str) -> Decimal | None:
    """Return a number such as 1,234.5, 1.234,5 or 2,5; None if the text is none. `1,234` is 1234."""
    is_decimal_comma = text.rfind(",") > text.rfind(".")
    if is_decimal_comma and not _THOUSANDS.fullmatch(text):
        text = text.replace(".", "").replace(",", ".")
    with suppress(InvalidOperation):
        number = Decimal(text.replace(",", "").replace("\u2212", "-"))
        # Written out, 1E-9999999 would fill the memory.
        if number.is_finite() and abs(int(number.as_tuple().exponent)) <= _MOST_PLACES:
            return number
    return None
