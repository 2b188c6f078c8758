"""Turn LaTeX, Markdown and typographic signs into plain text for the readers of answers."""

import re
import unicodedata
from collections.abc import Mapping
from typing import NamedTuple, TypeVar

CURRENCY = "¤"  # stands for any currency symbol or code in plain text

_CHARACTERS_BY_SIGN = {
    "-": "− ⁃",
    "x": "× ✕ ⋅ · ∙",
    "/": "÷",
    "≈": "≃ ≅ ∼",
    "[": "【",
    "]": "】",
    "'": "‘ ’",
    '"': "“ ”",
    " ": "~",
    ". ": "。",
    ", ": "、",
}
_SIGNS_BY_CATEGORY = {"Pd": "-", "Cf": "", "Zs": " "}
_COMMANDS_BY_SIGN = {
    " x ": "times cdot ast",
    " ≈ ": "approx simeq sim cong",
    " ± ": "pm",
    " ln ": "ln",
    " log ": "log",
    " exp ": "exp",
    "/": "div",
    "%": "percent",
    "√": "sqrt",
    "π": "pi",
    "": "! { }",
    CURRENCY: "dollar pounds euro",
}
# Behind a backslash these stand for themselves.
_ESCAPED = "\n%$&#_"
Key = TypeVar("Key")


def keys_by_word(words_by_key: Mapping[Key, str]) -> dict[str, Key]:
    """Return the key of each word; the words of a key are separated by blanks."""
    keys = {}
    for key, words in words_by_key.items():
        for word in words.split():
            keys[word] = key
    return keys


class _Signs(dict[int, str]):
    """A translation table that fills itself: dashes, blanks, digits of all scripts, fractions."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        sign = _SIGNS_BY_CATEGORY.get(unicodedata.category(character))
        if sign is None:
            sign = unicodedata.normalize("NFKC", character)
        if "⁄" in sign:  # ½ becomes 1/2
            sign = " " + sign.replace("⁄", "/")
        self[code] = sign
        return sign


_SIGNS = _Signs(str.maketrans({**keys_by_word(_CHARACTERS_BY_SIGN), "\t": " "}))
_SIGN_BY_COMMAND = keys_by_word(_COMMANDS_BY_SIGN)
_LATEX_FRACTION = re.compile(r"\\[dtc]?frac\s?(\{[^{}]{1,60}\}|\d)\s?(\{[^{}]{1,60}\}|\d)")
_LATEX_COMMAND = re.compile(r"\\(?:([A-Za-z]{1,30})\*?|(.))", re.DOTALL)
_LATEX_BOX = re.compile(r"\\(?:boxed|fbox)\s?\{")

_SUPERSCRIPT = re.compile("[⁺⁻⁰¹²³⁴-⁹]{1,5}")
_TILDE_RANGE = re.compile(r"(?<=\d)\s?~\s?(?=\d)")
_PYTHON_POWER = re.compile(r"(?<!\d)10\s?\*\*\s?(?=[-+(]?\d)")
_UNDERSCORE_GROUPS = re.compile(r"(?<![\w.])\d{1,3}(?:_\d{3}){1,20}(?!\w)")
_EMPHASIS = re.compile(r"\*{2,}|_{2,}|`+|[{}]|(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])")
# `<br>` is markup. `<False>` and `<B>` are answers in angle brackets.
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]{0,20})(?:\s[^<>\n]{0,40})?/?>")
_EMPTY_TAGS = frozenset({"br", "hr", "p", "li", "img"})
_CURRENCIES = re.compile(
    # `A$` is a currency only before digits: `$\boxed{A}$` has become `$ A$` here.
    r"(?<![A-Za-z])(?:US|CA|HK|AU|NZ|SG|[CAS])\$(?=\s?[-+(]?\d)"
    r"|[$€£¥₹₤₩₽]"
    r"|(?<![A-Za-z])(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|CNY|RMB|INR|HKD|SGD|NZD|SEK|NOK|DKK|KRW|BRL"
    r"|MXN|ZAR|Rs\.?|[Ee]uros?(?=\s?\d))(?![A-Za-z])"
    r"|(?<=[\d万亿])\s?(?:美元|欧元|英镑|人民币|日元|元|円|ドル)"
)


def plain(text: str) -> str:
    r"""Return text without LaTeX and Markdown: `¤` for currencies, `a/b` for fractions, ASCII signs."""
    text = _SUPERSCRIPT.sub(_power_of_superscript, text)
    text = _TILDE_RANGE.sub("-", text)
    text = _PYTHON_POWER.sub("10^", text)
    text = text.translate(_SIGNS)
    if "\\" in text:
        text = _LATEX_FRACTION.sub(r" \1/\2 ", text)
        text = _LATEX_COMMAND.sub(_sign_of_command, text)
    text = _without_tags(text)
    text = _EMPHASIS.sub("", text)
    text = _UNDERSCORE_GROUPS.sub(_without_underscores, text)
    return _CURRENCIES.sub(CURRENCY, text)


class Box(NamedTuple):
    r"""The content of a `\boxed{...}`, and where it starts."""

    content: str
    start: int


def last_box(text: str) -> Box | None:
    r"""Return the last `\boxed{...}`, which may lack its closing brace; None without."""
    start = None
    for match in _LATEX_BOX.finditer(text):
        start = match.end()
    if start is None:
        return None
    depth = 1
    for position in range(start, len(text)):
        if text[position] == "{":
            depth += 1
        elif text[position] == "}":
            depth -= 1
        if depth == 0:
            return Box(text[start:position], start)
    return Box(text[start:], start)


def _power_of_superscript(match: re.Match[str]) -> str:
    return "^" + unicodedata.normalize("NFKC", match[0])


def _sign_of_command(match: re.Match[str]) -> str:
    command = match[1] or match[2]
    return command if command in _ESCAPED else _SIGN_BY_COMMAND.get(command, " ")


def _without_underscores(match: re.Match[str]) -> str:
    return match[0].replace("_", "")


def _without_tags(text: str) -> str:
    # A tag is markup if the text closes it somewhere; else the angle brackets hold an answer.
    if "<" not in text:
        return text
    closed = {match[2].lower() for match in _TAG.finditer(text) if match[1]}

    def replace_tag(match: re.Match[str]) -> str:
        name = match[2].lower()
        is_markup = match[1] or name in closed or name in _EMPTY_TAGS
        return " " if is_markup else match[0]

    return _TAG.sub(replace_tag, text)
