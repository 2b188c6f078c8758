"""The tables of a report in Markdown."""

import html
import re
from collections.abc import Sequence
from pathlib import Path

from fin_tasks.errors import escape

from .leaderboard_model import QuestionCorrection
from .paper_tables import Line, ModelSection, PaperTable, note_of, number_text

_MARKUP = re.compile(r"([\\`*_\[\]|~$#@])|(:)(?=//)")
_WWW = re.compile(r"(?i)\b(www)\.")  # GitHub makes a link of it
_MAX_TEXT = 400
_CORRECTIONS = "corrections.md"


def markdown_of(table: PaperTable) -> str:
    """Return a table in Markdown."""
    parts = [f"# {table.title}", table.about]
    for section in table.sections:
        parts += [f"## {safe(section.heading)}", *_section_parts(section)]
    if table.is_corrected:
        parts.append(f"[The corrections of questions]({_CORRECTIONS})")
    return "\n\n".join(parts) + "\n"


def _section_parts(section: ModelSection) -> list[str]:
    """Return the Markdown table of a section, and its notes."""
    notes: dict[str, int] = {}
    rows = []
    for row in section.rows:
        cells = [safe(row.label) + (", *published*" if row.is_published else "")]
        for header in section.headers:
            line = row.cells.get(header)
            cells.append(_cell(line, notes) if line else "–")
        rows.append(cells)
    titles = ["Model", *section.headers]
    rules = ["---", *["---:"] * len(section.headers)]
    table = [f"| {' | '.join(cells)} |" for cells in (titles, rules, *rows)]
    listed = [f"- ({number}) {safe(note)}" for note, number in notes.items()]
    return ["\n".join(part) for part in (table, listed) if part]


def _cell(line: Line, notes: dict[str, int]) -> str:
    """Return a value with the number of its note."""
    text = number_text(line)
    note = note_of(line)
    if note:
        text += f" ({notes.setdefault(note, len(notes) + 1)})"
    return text


def write_corrections(corrections: Sequence[QuestionCorrection], folder: Path) -> None:
    """Write the table of corrections of questions into a folder."""
    lines = [
        "# Corrections of questions",
        "",
        "| Benchmark | Question | Published truth | Correction | Reason | By | Date |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for correction in corrections:
        decision = "excluded" if correction.exclude else f"truth {correction.truth}"
        cells = (
            correction.benchmark,
            correction.id,
            correction.published,
            decision,
            correction.reason,
            correction.by,
            correction.date,
        )
        lines.append(f"| {' | '.join(map(safe, cells))} |")
    (folder / _CORRECTIONS).write_text("\n".join(lines) + "\n", "utf-8")


def safe(text: str) -> str:
    r"""Write text so that Markdown and HTML show it letter by letter, on one line."""
    visible = _MARKUP.sub(r"\\\g<0>", escape(text[:_MAX_TEXT]))
    return _WWW.sub(r"\1\\.", html.escape(visible, quote=False))
