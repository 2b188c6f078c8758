"""The tables of a report in LaTeX: a section for each way to ask and score, the best values in bold."""

from collections.abc import Sequence

from .latex import Section, bold, plain, table
from .paper_tables import Line, ModelSection, PaperTable, note_of, number_texts

_MOST_COLUMNS = 4
"""A table with more columns of values becomes several, which a page has room for."""


def latex_of(paper_table: PaperTable) -> str:
    """Return a table, or several below each other if it has many columns."""
    headers: dict[str, None] = {}
    for section in paper_table.sections:
        headers.update(dict.fromkeys(section.headers))
    names = list(headers)
    n_parts = -(-len(names) // _MOST_COLUMNS)
    width = -(-len(names) // n_parts)
    parts = []
    for number in range(n_parts):
        columns = names[number * width : (number + 1) * width]
        parts.append(_part(paper_table, columns, number + 1, n_parts))
    return "\n".join(parts)


def _part(
    paper_table: PaperTable, headers: Sequence[str], number: int, n_parts: int
) -> str:
    """Return the table of some columns; rows and sections without a value in them are left out."""
    notes: dict[str, int] = {}
    sections = []
    for section in paper_table.sections:
        rows = _rows_of(section, headers, notes)
        if rows:
            sections.append(Section(section.heading, rows))
    is_whole = n_parts == 1
    label = f"tab:{paper_table.stem.replace('_', '-')}"
    sentences = [
        paper_table.about,
        "The best values are in bold, 95 % intervals in brackets.",
        *(f"({number_of_note}) {note}." for note, number_of_note in notes.items()),
    ]
    return table(
        ["Model", *headers],
        sections,
        caption=paper_table.title + ("" if is_whole else f", part {number}"),
        label=label if is_whole else f"{label}-{number}",
        notes=sentences,
    )


def _rows_of(
    section: ModelSection, headers: Sequence[str], notes: dict[str, int]
) -> list[list[str]]:
    """Return the rows of a section that have a value, and number the notes on their values."""
    rows = []
    for row in section.rows:
        if row.cells.keys().isdisjoint(headers):
            continue
        label = plain(row.label)
        cells = [rf"{label}, \emph{{published}}" if row.is_published else label]
        for header in headers:
            line = row.cells.get(header)
            if line is None:
                cells.append("--")
                continue
            is_best = not line["doubts"] and line["value"] == section.best.get(header)
            cells.append(_cell(line, notes, is_best=is_best))
        rows.append(cells)
    return rows


def _cell(line: Line, notes: dict[str, int], *, is_best: bool) -> str:
    """Return a value with its interval and the number of its note."""
    value, interval = map(plain, number_texts(line))
    if is_best:
        value = bold(value)
    if interval:
        value += f" {interval}"
    note = note_of(line)
    if note:
        value += rf"\textsuperscript{{({notes.setdefault(note, len(notes) + 1)})}}"
    return value
