"""What a model wrote, where a spreadsheet may have changed it and the whole of it is kept beside.

Our data sets keep whole responses beside VLMEvalKit's tables, in `NAME_responses.jsonl`. A cell is as old as its table,
which somebody may have edited or made anew, so the kept response counts only where the cell can be what became of it.
"""

import math
from dataclasses import dataclass

from fin_tasks.judging.predictions_tables import CELL_LIMIT, NO_VALUE, respelt

__all__ = ["CUT", "TABLES", "WholeResponse", "can_have_become", "whole_response"]

CUT = "a spreadsheet cut it, and nobody kept it whole: hand in `_responses.jsonl` too"
"""Why nothing is known of a response."""

TABLES = ("xlsx", "tsv", "csv")
"""Forms that spreadsheet programs write."""
_ERRORS = ("#NAME?", "#REF!", "#VALUE!", "#DIV/0!", "#NUM!", "#NULL!")


@dataclass(frozen=True, kw_only=True)
class WholeResponse:
    """A response.

    Attributes:
        text: What the model wrote, as far as it is known.
        is_cut: Whether it goes on, and nobody knows how.
    """

    text: str
    is_cut: bool


def whole_response(cell: str, kept: str | None, *, form: str) -> WholeResponse:
    """Take the kept response where the cell can have become of it, else the cell.

    Args:
        cell: The prediction as the file has it.
        kept: The response kept beside it; None where none is.
        form: The file's form, as in `predictions_files.SavedRows`.

    Example:
        >>> whole_response("7.5", "007.50", form="xlsx")
        WholeResponse(text='007.50', is_cut=False)
        >>> whole_response("8", "007.50", form="xlsx")
        WholeResponse(text='8', is_cut=False)
    """
    is_full = form == "xlsx" and len(cell) >= CELL_LIMIT
    # what was kept after the table had been cut is no longer than the cell, and tells nothing of the rest
    if form in TABLES and kept is not None and can_have_become(cell, kept) and (len(kept) > len(cell) or not is_full):
        return WholeResponse(text=kept, is_cut=False)
    return WholeResponse(text=cell, is_cut=is_full)


def can_have_become(cell: str, text: str) -> bool:
    r"""Tell whether a spreadsheet can have made a cell out of a text.

    Such programs cut cells, drop spaces, line ends and control characters or spell them out, take numbers, formulas and
    words for `no value` as what they look like. Letters stay what they are.

    Example:
        >>> can_have_become("7.5", "007.50"), can_have_become("2", "=1+1"), can_have_become("nan", "N/A")
        (True, True, True)
        >>> can_have_become("a\nb", "a\r\nb"), can_have_become("A", "_x0041_"), can_have_become("a", "b")
        (True, True, False)
    """
    if cell == text:
        return True
    found, expected = _plain(cell), _plain(text)
    if len(cell) >= CELL_LIMIT:
        return len(text) > len(cell) and expected.startswith(found)
    if found == expected or (found.casefold() in NO_VALUE and expected.casefold() in NO_VALUE):
        return True
    if found.casefold() == expected.casefold() and found.casefold() in ("true", "false"):
        return True
    if expected.startswith("=") and (found in _ERRORS or found.startswith(("=", "{=")) or _number(found) is not None):
        return True
    number = _number(found)
    return number is not None and number == _number(expected)


def _plain(text: str) -> str:
    return "".join(char for char in respelt(text) if char.isprintable() and not char.isspace())


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
