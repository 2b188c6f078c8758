"""Turn LaTeX, Markdown and typographic signs into plain text for the readers of answers."""

import re
import unicodedata

CURRENCY = "¤"  # stands for any currency symbol or code in plain text

_SIGNS_BY_CHARACTER = {
    "−": "-",
    "⁃": "-",
    "×": "x",
    "✕": "x",
    "⋅": "x",
    "·": "x",
    "∙": "x",
    "÷": "/",
    "≃": "≈",
    "≅": "≈",
    "∼": "≈",
    "【": "[",
    "】": "]",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "~": " ",
    "。": ". ",
    "、": ", ",
    "\t": " ",
}
_SIGNS_BY_CATEGORY = {"Pd": "-", "Cf": "", "Zs": " "}


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


_SIGNS = _Signs({ord(character): sign for character, sign in _SIGNS_BY_CHARACTER.items()})

_LATEX = {
    "times": " x ",
    "cdot": " x ",
    "ast": " x ",
    "approx": " ≈ ",
    "simeq": " ≈ ",
    "sim": " ≈ ",
    "cong": " ≈ ",
    "dollar": CURRENCY,
    "pounds": CURRENCY,
    "euro": CURRENCY,
    "ln": " ln ",
    "log": " log ",
    "exp": " exp ",
    "div": "/",
    "pm": " ± ",
    "percent": "%",
    "sqrt": "√",
    "pi": "π",
    "!": "",
    "{": "",
    "}": "",
    "\n": "\n",
    "%": "%",
    "$": "$",
    "&": "&",
    "#": "#",
    "_": "_",
}
_LATEX_FRACTION = re.compile(r"\\[dtc]?frac\s?(\{[^{}]{1,60}\}|\d)\s?(\{[^{}]{1,60}\}|\d)")
_LATEX_COMMAND = re.compile(r"\\(?:([A-Za-z]{1,30})\*?|(.))", re.DOTALL)
_LATEX_BOX = re.compile(r"\\(?:boxed|fbox)\s?\{")

_SUPERSCRIPT = re.compile("[⁺⁻⁰¹²³⁴-⁹]{1,5}")
_TILDE_RANGE = re.compile(r"(?<=\d)\s?~\s?(?=\d)")
_PYTHON_POWER = re.compile(r"(?<!\d)10\s?\*\*\s?(?=[-+(]?\d)")
_UNDERSCORE_GROUPS = re.compile(r"(?<![\w.])\d{1,3}(?:_\d{3}){1,20}(?!\w)")
_EMPHASIS = re.compile(r"\*{2,}|_{2,}|`+|[{}]|(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])")
# `<br>` and a tag with attributes are markup. `<False>` and `<B>` are answers in angle brackets.
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]{0,20})(\s[^<>\n]{0,40})?/?>")
_EMPTY_TAGS = frozenset({"br", "hr", "p", "li", "img"})
_IN_ANGLES = re.compile(r"<([\w$¤+.(-][^<>\n=]{0,30})>")
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


def last_box(text: str) -> tuple[int, str] | None:
    r"""Return the start of the content of the last `\boxed{...}`, and the content; None without."""
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
            return start, text[start:position]
    return start, text[start:]


def boxed(text: str) -> str | None:
    r"""Return the content of the last `\boxed{...}`, or None."""
    box = last_box(text)
    return box[1] if box else None


def _power_of_superscript(match: re.Match[str]) -> str:
    return "^" + unicodedata.normalize("NFKC", match[0])


def _sign_of_command(match: re.Match[str]) -> str:
    return _LATEX.get(match[1] or match[2], " ")


def _without_underscores(match: re.Match[str]) -> str:
    return match[0].replace("_", "")


def _without_tags(text: str) -> str:
    # A tag is markup if the text closes it somewhere; else the angle brackets hold an answer.
    if "<" not in text:
        return text
    closed = {match[2].lower() for match in _TAG.finditer(text) if match[1]}

    def replace_tag(match: re.Match[str]) -> str:
        name = match[2].lower()
        is_markup = match[1] or match[3] or name in closed or name in _EMPTY_TAGS
        return " " if is_markup else match[0]

    text = _TAG.sub(replace_tag, text)
    return _IN_ANGLES.sub(r"[\1]", text)
