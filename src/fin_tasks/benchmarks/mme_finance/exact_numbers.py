"""Which number a short answer gives, and whether it is the one printed or worked out."""

import re
from dataclasses import dataclass

from fin_tasks.answers.notation import plain
from fin_tasks.answers.numbers import FoundNumber, find_numbers
from fin_tasks.benchmarks.mme_finance.exact_days import MONTH
from fin_tasks.benchmarks.mme_finance.exact_results import is_lower, is_result_told, results
from fin_tasks.benchmarks.mme_finance.exact_words import SCALES, lines_of, marked_sentence

__all__ = ["Reading", "answer_number", "scale_of"]

_DAY = re.compile(
    r"\b(?:19|20)\d{2}\s?[-/.年]\s?\d{1,2}(?:\s?[-/.月]\s?\d{1,2}(?:\s?日)?|\s?月)?|\b\d{1,2}\s?月\s?\d{1,2}\s?日"
    rf"|\b{MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s(?:19|20)\d{{2}})?\b"
    rf"|\b\d{{1,2}}\s{MONTH}(?:,?\s(?:19|20)\d{2})?\b"
    r"|\b(?:19|20)\d{2}\s?年?\s?(?:q[1-4]|h[12])|\bq[1-4]\s(?:19|20)\d{2}"
    r"|第\s?[一二三四\d]\s?季度",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<![\d.,$¤¥])(?:19|20)\d{2}(?=\s?年|(?![\d,%]|\.\d)(?!\s?(?:[a-z%]*illion|shares|points|元|股)))")
_NOT_SAID = re.compile(
    r"\(\s?\d{1,3}(?:\s?,\s?\d{1,3})+\s?\)"  # parameters of an indicator
    r"|(?:±|\+/-)\s?[\d.,]*\d\s?%?"
    r"|\b\d{1,2}\s?(?:decimals?|d\.?p\.?|significant|位小数|位有效)(?:\s(?:places?|figures?|digits?))?"
    r"|\b\d{1,3}[\s-](?:day|week|month|period|日|天|周)s?\b"
    r"|(?:^|\n)\s*(?:step\s?)?\d{1,2}[.):]\s",
    re.IGNORECASE,
)
_REMARK = re.compile(r"\W*(?:notes?|sources?|remarks?|注意?|备注|说明|来源|数据来源)(?![A-Za-z])\W*[: ]", re.IGNORECASE)
_ASIDE = re.compile(r"(?<![*/^+-])(?<![x*/+-]\s)\([^()]{0,200}\)")
_COUNTS = {
    word: number
    for number, words in enumerate(
        (
            ("zero", "零"),
            ("one", "一"),
            ("two", "二", "两"),
            ("three", "三"),
            ("four", "四"),
            ("five", "五"),
            ("six", "六"),
            ("seven", "七"),
            ("eight", "八"),
            ("nine", "九"),
            ("ten", "十"),
            ("eleven", "十一"),
            ("twelve", "十二"),
        )
    )
    for word in words
}
_COUNT = re.compile(
    r"\b(zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b"
    r"|(十一|十二|[一二两三四五六七八九十])\s?(?=[个条根项家张天只种类段幅处份页列行]|\W*\Z)",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A number of an answer.

    Attributes:
        literal: The digits' value: 7.66 for `7.66%`, 5 for `5 million`.
        worth: With its sign: 0.0766 and 5000000; equal to `literal` where nothing stands behind the digits.
        is_lower: Words say that it goes down: False for none, True for `fell by 5`, None where either sign may be
            meant (`5 below`).
    """

    literal: float
    worth: float
    is_lower: bool | None = False

    def is_near(self, value: float, *, margin: float, scale: float) -> bool:
        """Whether it is `value` in a unit worth `scale`, give or take `margin` of that unit.

        A number with a sign or a scale word is compared by its worth, a bare one as it stands or, where the unit is a
        large one, written out in full.

        Example:
            >>> five = Reading(literal=5.0, worth=5e6)
            >>> five.is_near(5.0, margin=0.0, scale=1e6), five.is_near(5.0, margin=0.0, scale=1e9)
            (True, False)
        """
        if self.is_lower is not False and self.literal > 0:
            below = Reading(literal=-self.literal, worth=-self.worth).is_near(value, margin=margin, scale=scale)
            if below or self.is_lower:
                return below
        slack = margin + 1e-9 * max(abs(value), 1.0)
        if self.worth == self.literal:
            return abs(self.literal - value) <= slack or (scale > 1 and abs(self.worth / scale - value) <= slack)
        return abs(self.worth / scale - value) <= slack


def scale_of(unit: str) -> float:
    """Return what a unit is worth.

    Example:
        >>> scale_of("USD million"), scale_of("%"), scale_of("亿元"), scale_of("USD")
        (1000000.0, 0.01, 100000000.0, 1.0)
    """
    lower = unit.casefold()
    if "%" in lower or "percent" in lower or "百分" in lower:
        return 0.01
    for word, power in (("trillion", 12), ("billion", 9), ("million", 6), ("thousand", 3), *SCALES.items()):
        if word in lower:
            return float(10**power)
    return 1.0


def answer_number(text: str, *, worked: bool, spread: float = 0.0) -> Reading | None:
    r"""Return the number that readable text gives; None where it gives none or several.

    What a marker or a box announces counts before anything else. Without one, a lookup's answer must say one number
    only, except on a first or last line of its own; of a calculation the result on its last line counts (see
    `exact_results.results`), or a first line that is a number and no more. Dates, years, an indicator's parameters and
    what stands in round brackets are not answers.

    Args:
        text: See `exact_words.readable`.
        worked: The answer may show its working.
        spread: Of an estimate: how far, as a share, the numbers it names as results may lie apart.

    Example:
        >>> answer_number("The close on May 3 was 128.40.", worked=False).literal
        128.4
        >>> answer_number("Open 1.5, close 2.5", worked=False) is None
        True
        >>> answer_number("(130 - 125) / 125 = 5 / 125 = 4%", worked=True).worth
        0.04
    """
    if (marked := marked_sentence(text)) is not None and (numbers := _numbers(marked)):
        return _result(marked, numbers, spread=spread) if worked else _only(numbers, _prepared(marked))
    lines = lines_of(text)
    if worked:
        return _worked(lines, spread=spread)
    alone = [_alone(line) for line in lines]
    if len(lines) > 1 and not all(alone):
        ends = [reading for reading in (alone[0], alone[-1]) if reading is not None]
        if ends:
            return ends[0] if ends[0] == ends[-1] else None
    return _only(_numbers(text), _prepared(text))


def _prepared(text: str) -> str:
    text = plain(text)
    for pattern in (_DAY, _NOT_SAID, _YEAR):
        # a year alone is an answer, if there is nothing else
        blanked = pattern.sub(lambda match: " " * len(match[0]), text)
        if pattern is not _YEAR or find_numbers(blanked):
            text = blanked
    return text


def _numbers(text: str) -> list[FoundNumber]:
    """The numbers of a text, those in asides only where there are no others."""
    prepared = _prepared(text)
    numbers = find_numbers(prepared)
    if not numbers:
        numbers = find_numbers(_COUNT.sub(lambda match: f" {_COUNTS[match[0].strip().lower()]} ", prepared))
    asides = [match.span() for match in _ASIDE.finditer(prepared)]
    return [one for one in numbers if not any(start < one.end <= end for start, end in asides)] or numbers


def _only(numbers: list[FoundNumber], text: str) -> Reading | None:
    """The one number that all of them are."""
    readings = {_reading(number, text) for number in numbers}
    if len(readings) > 1:
        worths = sorted(reading.worth for reading in readings)
        if worths[-1] - worths[0] > 1e-9 * abs(worths[-1]):
            return None
        return max(readings, key=lambda reading: reading.worth != reading.literal)
    return next(iter(readings), None)


def _result(line: str, numbers: list[FoundNumber], *, spread: float) -> Reading | None:
    """The result that a line with its working ends in."""
    text = _prepared(line)
    if (only := _only(numbers, text)) is not None:
        return only
    told = [_reading(number, text) for number in results(text, numbers, estimated=spread > 0)]
    if not told or any(abs(one.worth - told[-1].worth) > spread * abs(told[-1].worth) for one in told):
        return None
    return told[-1]


def _worked(lines: list[str], *, spread: float) -> Reading | None:
    """The result on the last line with numbers, or on a first line that says nothing else."""
    said = [(line, numbers) for line in lines if not _REMARK.match(line) and (numbers := _numbers(line))]
    if not said:
        return None
    first, last = _alone(said[0][0]), said[-1]
    if len(said) > 1 and first is not None and _alone(last[0]) is None and not is_result_told(_prepared(last[0])):
        return first
    return _result(*last, spread=spread)


def _alone(line: str) -> Reading | None:
    """The number of a line that says nothing else than its unit."""
    numbers = _numbers(line)
    if len(numbers) != 1:
        return None
    text = _prepared(line)
    around = text[: numbers[0].start] + text[numbers[0].end :]
    return _reading(numbers[0], text) if sum(map(str.isalnum, around)) <= 12 and ":" not in around else None


def _reading(found: FoundNumber, text: str) -> Reading:
    number = found.number
    lower = is_lower(text, found)
    if number.value == 0.0:
        return Reading(literal=0.0, worth=0.0)
    literal = number.readings[-1]
    if abs(literal) < abs(number.value) and abs(number.value / literal) == 100.0:
        return Reading(literal=number.value, worth=literal, is_lower=lower)  # cents
    return Reading(literal=literal, worth=number.value, is_lower=lower)
