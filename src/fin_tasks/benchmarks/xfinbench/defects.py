"""What is odd about XFinBench's rows, and what is done about it."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from fin_tasks.benchmarks.xfinbench.cells import capability_codes, parse_choices
from fin_tasks.benchmarks.xfinbench.metrics import CAPABILITIES
from fin_tasks.data.schema import Defect, Record

if TYPE_CHECKING:
    from fin_tasks.benchmarks.xfinbench.rows import Row

__all__ = ["DEFECTS", "row_defects"]

DEFECTS: Mapping[str, str] = {
    "bom": "byte order mark at the start of the file; ignored",
    "bool-truth-as-integer": "a verdict written 1 or 0 instead of 1.0 or 0.0; read as the same",
    "cell-count": "too few or too many cells; row left out",
    "colon-separated-capabilities": "capabilities separated by a colon instead of a semicolon; both are read",
    "duplicate-id": "an id that an earlier row has; the later row is left out",
    "duplicate-question": "a question that an earlier row asks; both are kept",
    "empty-id": "no id; row left out",
    "empty-question": "no question; row left out",
    "en-dash-minus": "a dash instead of a minus sign; read as a minus",
    "literal-newline-in-choices": "choices separated by a backslash and an n instead of a newline; both are read",
    "mcq-without-choices": "multiple choice without choices; row left out",
    "missing-figure": "a figure that has no file; row left out of the figure task",
    "scientific-notation": "a truth such as 5e-05; read as a number",
    "several-numbers": "more than one number as the truth; wrong in `paper`, unscored in `robust`",
    "truth-not-a-choice": "a letter that none of the choices has; asked all the same, no listed choice is right",
    "unknown-capability": "a capability that does not exist; ignored",
    "unknown-task": "a task that does not exist; row left out",
    "unreadable-choices": "choices that are not lettered A, B, C in order; one choice per line is read",
    "unusable-truth": "a truth that answers no question of its task; wrong in `paper`, unscored in `robust`",
    "zero-truth": "a truth of zero, never right in `paper`'s tolerant comparison; kept",
}
"""Kind of defect to what it is and what is done about it."""

_SCIENTIFIC = re.compile(r"\d[eE][-+]?\d")
_DASH = re.compile("[‐‑‒–—−]")


def row_defects(record: Record, row: "Row") -> Iterator[Defect]:
    """Yield what is odd about a row by itself.

    Args:
        record: Its cells.
        row: What was read from them.
    """
    for kind, detail in (*_cell_defects(record, row), *_truth_defects(row)):
        yield Defect(kind, row.id, detail)


def _cell_defects(record: Record, row: "Row") -> Iterator[tuple[str, str]]:
    cells = record.cells
    if row.left_out:
        yield row.left_out, f"line {record.line}"
    if row.figure and row.figure_path is None:
        yield "missing-figure", row.figure
    if ":" in cells["fin_capability"]:
        yield "colon-separated-capabilities", cells["fin_capability"]
    if unknown := [code for code in capability_codes(cells["fin_capability"]) if code not in CAPABILITIES]:
        yield "unknown-capability", ", ".join(unknown)
    if row.choice_text.strip():
        if "\\n" in row.choice_text and len(row.choices) > len(row.choice_text.splitlines()):
            yield "literal-newline-in-choices", f"{len(row.choices)} choices"
        if not parse_choices(row.choice_text):
            yield "unreadable-choices", row.choice_text[:80]


def _truth_defects(row: "Row") -> Iterator[tuple[str, str]]:
    truth, text = row.truth, row.truth_text.strip()
    if truth.kind == "unusable":
        yield "several-numbers" if truth.reason == "two numbers" else "unusable-truth", f"{text!r}: {truth.reason}"
    if row.task == "bool" and text in ("0", "1"):
        yield "bool-truth-as-integer", text
    if row.task == "calcu":
        if _DASH.search(text):
            yield "en-dash-minus", text
        if _SCIENTIFIC.search(text):
            yield "scientific-notation", text
        if truth.value == 0:
            yield "zero-truth", text
    if truth.kind == "choice" and row.choices and ord(str(truth.value)) - ord("A") >= len(row.choices):
        yield "truth-not-a-choice", f"{text} of {len(row.choices)} choices"
