"""Numbers in Chinese characters, in digits."""

import re

__all__ = ["in_digits"]

_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_SMALL = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10**4, "亿": 10**8}
_FIGURE = "".join(_DIGITS)
_COMPOUND = re.compile(
    rf"(?<![第\d{_FIGURE}十百千])(?:[{_FIGURE}][十百千]|十(?=[{_FIGURE}]))[{_FIGURE}十百千]{{0,8}}"
    rf"(?:[万亿][{_FIGURE}十百千]{{0,8}}){{0,2}}(?:点[{_FIGURE}]{{1,6}})?"
)
_YEAR = re.compile(rf"[{_FIGURE}]{{4}}(?=\s?年)")
_DATED = re.compile(
    rf"(?<=[年月])\s?[{_FIGURE}十]{{1,3}}(?=\s?[月日号])|[一二三四五六七八九十]{{1,2}}(?=月[{_FIGURE}十\d])"
)
_SHARE = re.compile(rf"(?<=百分之)负?[{_FIGURE}十百]{{1,5}}(?:点[{_FIGURE}]{{1,6}})?")


def in_digits(text: str) -> str:
    """Return a text with its compound Chinese numbers, days and percentages in digits.

    A single character stays, as it may be no number at all (`一季度`); so does a scale word without a number before it
    (`百万美元`) and what joins two numbers (`三四个`).

    Example:
        >>> in_digits("二〇〇六年八月十日"), in_digits("一百三十美元"), in_digits("四十五点二个百分点")
        ('2006年8月10日', '130美元', '45.2个百分点')
        >>> in_digits("百分之五"), in_digits("三四个，单位百万")
        ('百分之5', '三四个，单位百万')
    """
    text = _YEAR.sub(lambda match: "".join(str(_DIGITS[character]) for character in match[0]), text)
    for pattern in (_DATED, _SHARE, _COMPOUND):
        text = pattern.sub(_written, text)
    return text


def _written(match: re.Match[str]) -> str:
    words = match[0].strip()
    sign, words = ("负", words[1:]) if words.startswith("负") else ("", words)
    whole, _, behind = words.partition("点")
    decimals = "." + "".join(str(_DIGITS[character]) for character in behind) if behind else ""
    return f"{sign}{_value(whole)}{decimals}"


def _value(words: str) -> int:
    total = section = figure = 0
    for character in words:
        if character in _DIGITS:
            figure = _DIGITS[character]
        elif character in _SMALL:
            section += (figure or 1) * _SMALL[character]
            figure = 0
        else:
            total += (section + figure) * _LARGE[character]
            section = figure = 0
    return total + section + figure
