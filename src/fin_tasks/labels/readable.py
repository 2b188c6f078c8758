"""Texts as people read them in a cell: LaTeX in plain signs, and tables apart from the text."""

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

Table = list[list[str]]
"""The rows of a table, each with its cells."""

_NAMED_SIGNS = """
times × cdot · div ÷ pm ± leq ≤ le ≤ geq ≥ ge ≥ neq ≠ ne ≠ approx ≈ sum Σ prod Π int ∫ infty ∞
to → rightarrow → Rightarrow ⇒ ldots … dots … cdots …
"""
_SIGNS: dict[str, str] = dict(re.findall(r"(\S+) (\S+)", _NAMED_SIGNS))
"""What a command prints; Greek letters are found by their names."""
_SIGNS |= dict.fromkeys(("quad", "qquad"), " ")
_SIGNS |= dict.fromkeys(("left", "right", "displaystyle", "centering", "hline"), "")
_WRAPPERS = "text|textbf|textit|textrm|mathrm|mathbf|mathit|operatorname|boxed|caption"
_GROUP = r"\{([^{}]*)\}"
_OUTER_MARKS = (
    (r"\\(?:begin|end)\{(?:table|center|align|equation)\*?\}(\[\w*\])?", ""),
    (r"\\[()\[\]]|\$\$", ""),
    # A formula between dollars; sums of money have no such signs between them.
    (r"(?<![\\\w$])\$([^$\n]*[\\^_{=][^$\n]*)\$(?![\d$])", r"\1"),
)
_INNER_MARKS = (
    (rf"\\(?:{_WRAPPERS})\s*{_GROUP}", r"\1"),
    (rf"\\[dt]?frac\s*{_GROUP}\s*{_GROUP}", r"(\1)/(\2)"),
    (rf"\\sqrt\s*{_GROUP}", r"√(\1)"),
    (r"([\^_])\{([^{}])\}", r"\1\2"),
    (rf"([\^_]){_GROUP}", r"\1(\2)"),
)
_LAST_MARKS = (
    (r"\\[,;:! ]", " "),
    (r"\\([$%&_#{}])", r"\1"),
)
_COMMAND = re.compile(r"\\([A-Za-z]+)(?![A-Za-z])")
_TABULAR = re.compile(
    r"\\begin\{(tabular|array)\*?\}(?:\{[^{}]*\})*(.*?)\\end\{\1\*?\}", re.DOTALL
)
_RULES = re.compile(
    r"\\(?:hline|(?:top|mid|bottom)rule|c(?:mid)?(?:rule|line)\{[^{}]*\})"
)
_SPAN = re.compile(rf"\\multi(?:column|row)\{{[^{{}}]*\}}\{{[^{{}}]*\}}{_GROUP}")
_MARKDOWN_TABLE = re.compile(
    r"^[ \t]*\|.*\|[ \t]*\n[ \t]*\|[ \t:|-]+\|[ \t]*(?:\n[ \t]*\|.*\|[ \t]*)*",
    re.MULTILINE,
)
_GAP = re.compile(r"\n\s*\n")
_MARK = "[table {}]"
_MAX_COLUMNS = (
    200  # of a table; a wider one stays in the text, as spreadsheets end at 16,384
)


class Readable(NamedTuple):
    """A text, and the tables that stood in it."""

    text: str
    """It has `[table 1]` in the place of the first table."""
    tables: list[Table]

    def inline(self) -> str:
        """Return the text with its tables, a line for each row."""
        text = self.text
        for number, table in enumerate(self.tables, start=1):
            rows = "\n".join(" | ".join(row) for row in table)
            text = text.replace(_MARK.format(number), rows, 1)
        return text


def readable(text: str) -> Readable:
    """Return a text without the marks of LaTeX, apart from its tables; programs stay as they are."""
    if "```" in text:
        return Readable(text, [])
    tables: list[Table] = []

    def take(match: re.Match[str]) -> str:
        is_tabular = match.re is _TABULAR
        rows = _rows_of_tabular(match[2]) if is_tabular else _rows_of_markdown(match[0])
        if max(map(len, rows), default=0) > _MAX_COLUMNS:
            return match[0]
        tables.append(rows)
        return _MARK.format(len(tables))

    text = _TABULAR.sub(take, text)
    text = _MARKDOWN_TABLE.sub(take, text)
    if not tables and "\\" not in text and "$" not in text:
        return Readable(text, [])
    return Readable(_GAP.sub("\n\n", plain_formulas(text)).strip(), tables)


def _rows_of_tabular(body: str) -> Table:
    lines = re.split(r"\\\\(?:\[[^\]]*\])?", _RULES.sub("", body))
    rows = []
    for line in lines:
        cells = re.split(r"(?<!\\)&", _SPAN.sub(r"\1", line))
        rows.append(_row_of(cells))
    return list(filter(any, rows))


def _rows_of_markdown(text: str) -> Table:
    header, _, *lines = text.strip().splitlines()
    rows = []
    for line in (header, *lines):
        cells = line.strip().removeprefix("|").removesuffix("|")
        rows.append(_row_of(cells.split("|")))
    return rows


def _row_of(cells: Sequence[str]) -> list[str]:
    return [plain_formulas(cell).strip() for cell in cells]


def plain_formulas(text: str) -> str:
    r"""Write the usual LaTeX of formulas in plain signs; a command that is not known stays.

    >>> plain_formulas(r"\(\frac{D_1}{r - g} \times 2\)")
    '(D_1)/(r - g) × 2'
    """
    text = _replaced(_OUTER_MARKS, text)
    before = ""
    while before != text:  # groups may stand in groups
        before = text
        text = _replaced(_INNER_MARKS, text)
    return _COMMAND.sub(_sign, _replaced(_LAST_MARKS, text))


def _replaced(marks: Sequence[tuple[str, str]], text: str) -> str:
    for pattern, replacement in marks:
        text = re.sub(pattern, replacement, text)
    return text


def _sign(match: re.Match[str]) -> str:
    name = match[1]
    if name in _SIGNS:
        return _SIGNS[name]
    case = "SMALL" if name.islower() else "CAPITAL"
    letter = "LAMDA" if name.lower() == "lambda" else name.upper()
    try:
        return unicodedata.lookup(f"GREEK {case} LETTER {letter}")
    except KeyError:
        return match[0]
