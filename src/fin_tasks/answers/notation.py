"""Turn LaTeX, Markdown and typographic signs into plain text that a number or a letter can be read from."""

import re
import unicodedata

__all__ = ["CURRENCY", "boxed", "plain"]

CURRENCY = "¤"
"""Stands for any currency symbol or code in plain text."""


class _Signs(dict[int, str]):
    def __missing__(self, code: int) -> str:
        char = chr(code)
        sign = {"Pd": "-", "Cf": "", "Zs": " "}.get(unicodedata.category(char), unicodedata.normalize("NFKC", char))
        self[code] = f" {sign.replace('⁄', '/')}" if "⁄" in sign else sign  # ½ becomes 1/2
        return self[code]


_SIGNS = _Signs({ord(char): sign for char, sign in zip("−⁃×✕⋅·∙÷≃≅∼【】‘’“”~", "--xxxxx/≈≈≈[]''\"\" ", strict=True)})
_LATEX = {
    **dict.fromkeys(("times", "cdot", "ast"), " x "),
    **dict.fromkeys(("approx", "simeq", "sim", "cong"), " ≈ "),
    **dict.fromkeys(("dollar", "pounds", "euro"), CURRENCY),
    **{name: f" {name} " for name in ("ln", "log", "exp")},
    **{"div": "/", "pm": " ± ", "percent": "%", "sqrt": "√", "pi": "π"},
    **{"%": "%", "$": "$", "!": "", "&": "&", "#": "#", "_": "_", "{": "", "}": "", "\n": "\n"},
}
_SUPERSCRIPT = re.compile(r"[⁺⁻⁰¹²³⁴-⁹]{1,5}")
_TILDE_RANGE = re.compile(r"(?<=\d)\s?~\s?(?=\d)")
_PYTHON_POWER = re.compile(r"(?<!\d)10\s?\*\*\s?(?=[-+(]?\d)")
_FRACTION = re.compile(r"\\[dtc]?frac\s?\{([^{}]{1,60})\}\s?\{([^{}]{1,60})\}")
_COMMAND = re.compile(r"\\(?:([A-Za-z]{1,30})\*?|(.))", re.DOTALL)
_MARKS = re.compile(r"</?[A-Za-z][^<>\n]{0,30}>|(\*{2,}|_{2,}|`+|[{}])")
_UNDERSCORED = re.compile(r"(?<![\w.])\d{1,3}(?:_\d{3}){1,20}(?!\w)")
# `A$` is a currency before digits only: `$\boxed{A}$` has become `$ A$` here.
_CURRENCIES = re.compile(
    r"(?<![A-Za-z])(?:US|CA|HK|AU|NZ|SG|[CAS])\$(?=\s?[-+(]?\d)|[$€£¥₹₤₩₽]"
    r"|(?<![A-Za-z])(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|CNY|RMB|INR|HKD|SGD|NZD|SEK|NOK|DKK|KRW|BRL|MXN|ZAR|Rs\.?)(?![A-Za-z])"
)


def plain(text: str) -> str:
    r"""Return text without LaTeX, Markdown emphasis and typographic variants.

    Dashes become hyphens, odd spaces become spaces, currencies become `¤`, `\frac{a}{b}` becomes `a/b`. Square brackets
    stay, except LaTeX's own `\[` and `\]`.
    """
    text = _SUPERSCRIPT.sub(lambda found: "^" + unicodedata.normalize("NFKC", found[0]), text)
    text = _PYTHON_POWER.sub("10^", _TILDE_RANGE.sub("-", text)).translate(_SIGNS)
    if "\\" in text:
        text = _FRACTION.sub(r" \1/\2 ", text)
        text = _COMMAND.sub(lambda found: _LATEX.get(found[1] or found[2], " "), text)
    text = _MARKS.sub(lambda found: "" if found[1] else " ", text)
    return _CURRENCIES.sub(CURRENCY, _UNDERSCORED.sub(lambda found: found[0].replace("_", ""), text))


def boxed(text: str) -> str | None:
    r"""Return the content of the last `\boxed{...}`, or None."""
    starts = [found.end() for found in re.finditer(r"\\(?:boxed|fbox)\s?\{", text)]
    if not starts:
        return None
    depth = 1
    for position in range(starts[-1], len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return text[starts[-1] : position]
    return text[starts[-1] :]
