"""A question with its answer, and what the forms of questions are made with."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from random import Random
from typing import TypeVar

from fin_tasks.benchmarks.mme_finance.old_exact import Truth
from fin_tasks.benchmarks.mme_finance.row import Language

__all__ = [
    "Figure",
    "Form",
    "Forms",
    "Question",
    "choice",
    "choice_in",
    "figure",
    "lookup",
    "percent",
    "rounded",
    "say",
    "unanswerable",
    "worked",
    "written",
]

_SHOWN = re.compile(r"(?P<sign>[-+−]?)\$?(?P<digits>\d[\d,]*(?:\.\d+)?)\s?(?P<unit>.*)", re.DOTALL)
_UNITS = {"M": "million", "B": "billion"}
_ROUNDING = 0.011
"""How far a ratio or a percentage of two places may be off: intermediate results are rounded differently."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question about a scene.

    Attributes:
        question: As the model is asked.
        answer: The reference answer, with the working where there is one.
        background: What else the model is told; empty for nothing.
        truth: What scores an answer without a judge; None where only a judge can.
    """

    question: str
    answer: str
    background: str = ""
    truth: Truth | None = None


SceneT = TypeVar("SceneT")
Form = Callable[[SceneT, Random], Question | None]
"""Makes one kind of question about a scene; None where the scene does not allow it."""
Forms = Mapping[str, Sequence[Form[SceneT]]]
"""Forms by category."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A printed number: its exact value, and the unit behind it."""

    value: Decimal
    unit: str


def say(language: Language, en: str, zh: str) -> str:
    """Return the text in the language asked for."""
    return en if language == "en" else zh


def figure(shown: str) -> Figure:
    """Read a number as a picture prints it.

    Raises:
        ValueError: It is none.

    Example:
        >>> figure("$4,923 million"), figure("-0.69%").value, figure("51.20M").unit, figure("49.23亿美元").unit
        (Figure(value=Decimal('4923'), unit='million'), Decimal('-0.69'), 'million', '亿美元')
    """
    match = _SHOWN.fullmatch(shown.strip())
    if match is None:
        raise ValueError(f"expected a printed number, got {shown!r}")
    size = Decimal(match["digits"].replace(",", ""))
    unit = match["unit"].strip()
    return Figure(value=-size if match["sign"] in ("-", "−") and match["sign"] else size, unit=_UNITS.get(unit, unit))


def rounded(value: Decimal, places: int) -> Decimal:
    """Round halves away from zero, as people do.

    Example:
        >>> rounded(Decimal("2.345"), 2), rounded(Decimal("-0.125"), 2)
        (Decimal('2.35'), Decimal('-0.13'))
    """
    return value.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)


def written(value: Decimal | float, places: int) -> str:
    """Write a number with commas between thousands.

    Example:
        >>> written(Decimal("12345.6"), 1), written(-0.5, 2)
        ('12,345.6', '-0.50')
    """
    return f"{rounded(Decimal(str(value)), places):,f}"


def percent(part: Decimal, of: Decimal) -> Decimal:
    """Return a share in per cent, with two places.

    Example:
        >>> percent(Decimal(1), Decimal(3))
        Decimal('33.33')
    """
    return rounded(100 * part / of, 2)


def lookup(question: str, shown: str) -> Question:
    """Ask for a number as it is printed."""
    read = figure(shown)
    return Question(
        question=question, answer=shown, truth=Truth(kind="number", value=float(read.value), unit=read.unit)
    )


def worked(
    question: str,
    steps: str,
    result: Decimal,
    *,
    unit: str = "",
    written_unit: str = "",
    exact: bool = True,
    signed: bool = False,
) -> Question:
    """Ask for a result that is worked out of printed numbers.

    Args:
        question: Says how the result is to be rounded, where it is.
        steps: The working up to the result, which ends in a sign of equality.
        result: Rounded as the question asks.
        unit: Of the result, `%` or a currency.
        written_unit: Of the reference answer, where that is another one (`percentage points` for `%`).
        signed: Write a plus before the reference answer, where the question asks for a sign.
        exact: The result is a sum or a difference, so that there is nothing to round on the way.
    """
    behind = written_unit or unit
    number = f"{result:+,f}" if signed else f"{result:,f}"
    shown = f"{number}{behind}" if behind in ("", "%") else f"{number} {behind}"
    margin = 0.0 if exact else _ROUNDING
    truth = Truth(kind="number", value=float(result), margin=margin, unit=unit, worked=True)
    return Question(question=question, answer=f"{steps} {shown}", truth=truth)


def choice(question: str, right: Sequence[str], wrong: Sequence[str]) -> Question:
    """Ask for one of several names; the first form of the right one is the reference answer."""
    return Question(
        question=question, answer=right[0], truth=Truth(kind="choice", accepted=tuple(right), wrong=tuple(wrong))
    )


def choice_in(language: Language, question: str, right: Sequence[str], wrong: Sequence[str]) -> Question:
    """Ask for one of several names; the first form of the right one is English, the second Chinese."""
    return choice(question, right if language == "en" else [right[1], right[0], *right[2:]], wrong)


def unanswerable(language: Language, question: str) -> Question:
    """Ask for what the picture does not tell."""
    return Question(
        question=question,
        answer=say(language, "Not Applicable", "无法回答"),
        truth=Truth(kind="not_applicable"),
    )
