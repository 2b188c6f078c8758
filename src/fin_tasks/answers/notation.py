"""Turn LaTeX, Markdown and typographic signs into plain text a number or a letter can be read from."""

import re

__all__ = ["CURRENCY", "boxed", "plain"]

CURRENCY = "¤"
"""Stands for any currency symbol or code in plain text: which one it was never matters, that there was one may."""

_SIGNS = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—―−﹣-⁃", "-"),
        **dict.fromkeys(
            "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000~", " "
        ),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", None),
        **{chr(ord("０") + digit): str(digit) for digit in range(10)},
        **{chr(ord("Ａ") + i): chr(ord("A") + i) for i in range(26)},
        **{chr(ord("ａ") + i): chr(ord("a") + i) for i in range(26)},
        **dict.fromkeys("×✕⋅·∙", "x"),
        **dict.fromkeys("≃≅∼", "≈"),
        "％": "%",
        "．": ".",
        "，": ",",
        "（": "(",
        "）": ")",
        "［": "[",
        "］": "]",
        "：": ":",
        "【": "[",
        "】": "]",
        "＝": "=",
        "½": " 1/2",
        "¼": " 1/4",
        "¾": " 3/4",
        "⅓": " 1/3",
        "⅔": " 2/3",
        "⅛": " 1/8",
    }
)
_SUPERSCRIPT = re.compile(r"(?<=10)[⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹]{1,5}")
_RAISED = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_PYTHON_POWER = re.compile(r"(?<!\d)10\s?\*\*\s?(?=[-+(]?\d)")
_FRACTION = re.compile(r"\\[dtc]?frac\s?\{([^{}]{1,60})\}\s?\{([^{}]{1,60})\}")
_LATEX = {
    "times": " x ",
    "cdot": " x ",
    "ast": " x ",
    "approx": " ≈ ",
    "simeq": " ≈ ",
    "sim": " ≈ ",
    "cong": " ≈ ",
    "pm": " ± ",
    "dollar": CURRENCY,
    "pounds": CURRENCY,
    "euro": CURRENCY,
    "percent": "%",
    "sqrt": "√",
    "pi": "π",
    "ln": " ln ",
    "log": " log ",
    "exp": " exp ",
}
_COMMAND = re.compile(r"\\([A-Za-z]+)\*?")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"%": "%", "$": "$", "!": "", "&": "&", "#": "#", "_": "_", "{": "", "}": "", "\n": "\n"}
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,30}>")
_UNDERSCORED = re.compile(r"(?<![\w.])\d{1,3}(?:_\d{3}){1,20}(?!\w)")
_EMPHASIS = re.compile(r"\*{2,}|_{2,}|`+")
# `A$` is a currency before digits only: `$\boxed{A}$` has become `$ A$` here.
_SYMBOL = re.compile(r"(?<![A-Za-z])(?:US|CA|HK|AU|NZ|SG|[CAS])\$(?=\s?[-+(]?\d)|\$|[€£¥₹₤₩₽￥]")
_CODE = re.compile(
    r"(?<![A-Za-z])(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|CNY|RMB|INR|HKD|SGD|NZD|SEK|NOK|DKK|KRW|BRL|MXN|ZAR|Rs\.?)(?![A-Za-z])"
)
_BOX = re.compile(r"\\(?:f?boxed|fbox)\s?\{")


def plain(text: str) -> str:
    r"""Return text without LaTeX, Markdown emphasis and typographic variants.

    Dashes become hyphens, wide and thin spaces become spaces, currencies become `¤`, `\frac{a}{b}` becomes `a/b`.
    Square brackets stay, except LaTeX's own `\[` and `\]`.

    Example:
        >>> plain(r"**\(\boxed{-\$1{,}234.50}\)**").strip()
        '-¤1,234.50'
        >>> plain(r"5 \times 10^{-5}")
        '5  x  10^-5'
    """
    text = text.translate(_SIGNS)
    text = _SUPERSCRIPT.sub(lambda match: "^" + match[0].translate(_RAISED), text)
    text = _PYTHON_POWER.sub("10^", text)
    if "\\" in text:
        text = _FRACTION.sub(r" \1/\2 ", text)
        text = _COMMAND.sub(lambda match: _LATEX.get(match[1], " "), text)
        text = _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], " "), text)
    text = _TAG.sub(" ", text)
    text = _EMPHASIS.sub("", text).replace("{", "").replace("}", "")
    text = _UNDERSCORED.sub(lambda match: match[0].replace("_", ""), text)
    return _CODE.sub(CURRENCY, _SYMBOL.sub(CURRENCY, text))


def boxed(text: str) -> str | None:
    r"""Return what stands in the last `\boxed{...}`; None where there is none.

    Example:
        >>> boxed(r"so \boxed{\frac{3}{4}}.")
        '\\frac{3}{4}'
    """
    starts = list(_BOX.finditer(text))
    if not starts:
        return None
    start = starts[-1].end()
    depth = 1
    for position in range(start, len(text)):
        if text[position] == "{":
            depth += 1
        elif text[position] == "}":
            depth -= 1
            if depth == 0:
                return text[start:position]
    return text[start:]
