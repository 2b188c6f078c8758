"""Turn LaTeX, Markdown and typographic signs into plain text that a number or a letter can be read from."""

import re
import unicodedata

CURRENCY = "¤"  # stands for any currency symbol or code in plain text


class _Signs(dict[int, str]):
    def __missing__(self, code: int) -> str:
        char = chr(code)
        sign = {"Pd": "-", "Cf": "", "Zs": " "}.get(
            unicodedata.category(char), unicodedata.normalize("NFKC", char)
        )
        self[code] = f" {sign.replace('⁄', '/')}" if "⁄" in sign else sign  # ½ becomes 1/2
        return self[code]


_SIGNS = _Signs(
    {
        ord(char): sign
        for char, sign in zip("−⁃×✕⋅·∙÷≃≅∼【】‘’“”~", "--xxxxx/≈≈≈[]''\"\" ", strict=True)
    }
)
_LATEX = {
    **dict.fromkeys(("times", "cdot", "ast"), " x "),
    **dict.fromkeys(("approx", "simeq", "sim", "cong"), " ≈ "),
    **dict.fromkeys(("dollar", "pounds", "euro"), CURRENCY),
    **{name: f" {name} " for name in ("ln", "log", "exp")},
    **{
        "div": "/",
        "pm": " ± ",
        "percent": "%",
        "sqrt": "√",
        "pi": "π",
        "!": "",
        "{": "",
        "}": "",
        "\n": "\n",
    },
    **{sign: sign for sign in "%$&#_"},
}
_FRACTION = re.compile(r"\\[dtc]?frac\s?(\{[^{}]{1,60}\}|\d)\s?(\{[^{}]{1,60}\}|\d)")
_COMMAND = re.compile(r"\\(?:([A-Za-z]{1,30})\*?|(.))", re.DOTALL)
_MARKS = re.compile(r"</?[A-Za-z][^<>\n]{0,30}>|(\*{2,}|_{2,}|`+|[{}])")
# `A$` is a currency before digits only: `$\boxed{A}$` has become `$ A$` here.
_CURRENCIES = re.compile(
    r"(?<![A-Za-z])(?:US|CA|HK|AU|NZ|SG|[CAS])\$(?=\s?[-+(]?\d)|[$€£¥₹₤₩₽]"
    r"|(?<![A-Za-z])(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|CNY|RMB|INR|HKD|SGD|NZD|SEK|NOK|DKK|KRW|BRL|MXN|ZAR|Rs\.?)(?![A-Za-z])"
)


def plain(text: str) -> str:
    r"""Return text without LaTeX and Markdown: `¤` for currencies, `a/b` for fractions, ASCII signs."""
    text = re.sub(
        "[⁺⁻⁰¹²³⁴-⁹]{1,5}", lambda found: "^" + unicodedata.normalize("NFKC", found[0]), text
    )
    text = re.sub(r"(?<=\d)\s?~\s?(?=\d)", "-", text)
    text = re.sub(r"(?<!\d)10\s?\*\*\s?(?=[-+(]?\d)", "10^", text).translate(_SIGNS)
    if "\\" in text:
        text = _COMMAND.sub(
            lambda found: _LATEX.get(found[1] or found[2], " "), _FRACTION.sub(r" \1/\2 ", text)
        )
    text = _MARKS.sub(lambda found: "" if found[1] else " ", text)
    text = re.sub(
        r"(?<![\w.])\d{1,3}(?:_\d{3}){1,20}(?!\w)", lambda found: found[0].replace("_", ""), text
    )
    return _CURRENCIES.sub(CURRENCY, text)


def boxed(text: str) -> str | None:
    r"""Return the content of the last `\boxed{...}`, or None."""
    start = next(
        (found.end() for found in reversed(list(re.finditer(r"\\(?:boxed|fbox)\s?\{", text)))), None
    )
    depth = 1
    for position in range(start or 0, len(text) if start else 0):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return text[start:position]
    return None if start is None else text[start:]
