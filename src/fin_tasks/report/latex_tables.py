"""The tables of a report in LaTeX: a section for each way to ask and score, the best values in bold."""

from .latex import Section, bold, plain, table
from .paper_tables import Line, ModelSection, PaperTable, note_of, number_texts

_MOST_WITH_INTERVALS = 4
"""A table with more columns of values has no room for their intervals."""


def latex_of(paper_table: PaperTable) -> str:
    """Return a table; a section lacks the columns that none of its models has."""
    headers: dict[str, None] = {}
    for section in paper_table.sections:
        headers.update(dict.fromkeys(section.headers))
    has_intervals = len(headers) <= _MOST_WITH_INTERVALS
    notes: dict[str, int] = {}
    sections = []
    for section in paper_table.sections:
        rows = _rows_of(section, list(headers), notes, has_intervals=has_intervals)
        sections.append(Section(section.heading, rows))
    sentences = [paper_table.about, "The best values are in bold."]
    if has_intervals:
        sentences.append("95 % intervals in brackets.")
    else:
        sentences.append(f"The intervals are in {paper_table.stem}.md.")
    sentences += [f"({number}) {note}." for note, number in notes.items()]
    return table(
        ["Model", *headers],
        sections,
        caption=paper_table.title,
        label=f"tab:{paper_table.stem.replace('_', '-')}",
        notes=sentences,
    )


def _rows_of(
    section: ModelSection,
    headers: list[str],
    notes: dict[str, int],
    *,
    has_intervals: bool,
) -> list[list[str]]:
    """Return the rows of a section, and number the notes on its values."""
    rows = []
    for row in section.rows:
        label = plain(row.label)
        cells = [rf"{label}, \emph{{published}}" if row.is_published else label]
        for header in headers:
            line = row.cells.get(header)
            if line is None:
                cells.append("--")
                continue
            is_best = not line["doubts"] and line["value"] == section.best.get(header)
            cells.append(
                _cell(line, notes, is_best=is_best, has_interval=has_intervals)
            )
        rows.append(cells)
    return rows


def _cell(
    line: Line, notes: dict[str, int], *, is_best: bool, has_interval: bool
) -> str:
    """Return a value with its interval and the number of its note."""
    value, interval = map(plain, number_texts(line))
    if is_best:
        value = bold(value)
    if has_interval and interval:
        value += f" {interval}"
    note = note_of(line)
    if note:
        value += rf"\textsuperscript{{({notes.setdefault(note, len(notes) + 1)})}}"
    return value
