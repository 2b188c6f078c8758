"""Tables in LaTeX, with the rules of booktabs and notes below."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from fin_tasks.errors import escape

_SPECIAL = {
    "--": "-{}-",
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "−": "$-$",
    "–": "--",
    "…": r"\ldots{}",
    "·": r"$\cdot$",
    "±": r"$\pm$",
}
_MARKED = re.compile("|".join(map(re.escape, _SPECIAL)))
_PREAMBLE = (
    "% \\usepackage[utf8]{inputenc} \\usepackage[T1]{fontenc}\n"
    "% \\usepackage{booktabs} \\usepackage{graphicx}\n"
)
_SHRINK = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
"""A table that is wider than the page becomes as wide as the page."""


class Section(NamedTuple):
    """Rows of a table below a title; their cells are LaTeX."""

    title: str
    """Plain text; empty for rows without a title."""
    rows: Sequence[Sequence[str]]


def plain(text: str) -> str:
    """Return a text so that LaTeX prints it letter by letter."""
    return _MARKED.sub(lambda match: _SPECIAL[match[0]], escape(text))


def bold(cell: str) -> str:
    """Return a cell in bold."""
    return rf"\textbf{{{cell}}}"


def table(
    header: Sequence[str],
    sections: Sequence[Section],
    *,
    caption: str,
    label: str,
    notes: Sequence[str] = (),
    n_texts: int = 1,
) -> str:
    """Return a table; header, caption and notes are plain texts.

    Args:
        header: Titles of the columns.
        sections: The rows.
        caption: What the table shows.
        label: Its name in references.
        notes: Sentences below it.
        n_texts: The number of first columns that hold texts; the others are aligned to the right.
    """
    columns = "l" * n_texts + "r" * (len(header) - n_texts)
    lines = [
        r"\begin{table}",
        r"\centering\small",
        rf"\caption{{{plain(caption)}}}",
        rf"\label{{{label}}}",
        _SHRINK,
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _row([plain(title) for title in header]),
    ]
    for section in sections:
        lines.append(r"\midrule")
        if section.title:
            title = rf"\emph{{{plain(section.title)}}}"
            lines.append(rf"\multicolumn{{{len(header)}}}{{l}}{{{title}}} \\")
        lines += [_row(row) for row in section.rows]
    lines += [r"\bottomrule", r"\end{tabular}}"]
    if notes:
        text = " ".join(map(plain, notes))
        lines.append(rf"\par\smallskip\parbox{{\linewidth}}{{\footnotesize {text}}}")
    lines.append(r"\end{table}")
    return _PREAMBLE + "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"
