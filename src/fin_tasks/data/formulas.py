"""Keep spreadsheet programs from running texts in our CSV files as formulas."""

import re

# Some spreadsheet programs begin a new cell at `;`, a tab or a line break. Plain numbers are no
# formulas.
_FORMULA = re.compile(
    r"""
    ^ (?= [\t\r] ) |
    (?: ^ | (?<=[;\t\r\n]) )
    (?= [^\S\t\r\n]* (?: [=@＝＠] | [-+−－＋] (?! [\d.,]+ [^\S\t\r\n]* (?: [;\t\r\n] | \Z ) ) ) )
    """,
    re.VERBOSE,
)


def quote_formulas(text: str) -> str:
    """Return a text with an apostrophe before each part that would be run as a formula.

    >>> quote_formulas("a; =1+1")
    "a;' =1+1"
    """
    return _FORMULA.sub("'", text)
