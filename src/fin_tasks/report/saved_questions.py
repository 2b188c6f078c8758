"""Tells whether a prediction file's questions are those of the data set, whatever a spreadsheet did to them."""

import logging
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError
from fin_tasks.report.predictions_files import SavedRow
from fin_tasks.report.predictions_tables import CELL_LIMIT, NO_VALUE

__all__ = ["check_questions", "find_index", "same_question"]

_log = logging.getLogger(__name__)
_SHOWN = 60


def check_questions(path: Path, rows: Iterable[SavedRow], questions: Mapping[str, str]) -> None:
    """Compare the questions of a file with those of the data set; rows the data set does not know are not looked at.

    Args:
        path: The file, for messages.
        rows: Its rows.
        questions: Index to question.

    Raises:
        DataError: Predictions are for other questions.
    """
    different = []
    unsaid = 0
    for row in rows:
        index = find_index(row.fields.get("index"), questions)
        if index is None:
            continue
        if "question" not in row.fields:
            unsaid += 1
        elif not same_question(row.fields["question"], questions[index]):
            different.append((row, index))
    if different:
        row, index = different[0]
        raise DataError(
            f"{row.where}: expected the question {questions[index][:_SHOWN]!r} for index {index}, got "
            f"{str(row.fields['question'])[:_SHOWN]!r} ({len(different)} such rows). The predictions are for other "
            "data: choose theirs with FIN_TASKS_METADATA and FIN_TASKS_DATA, or move the file away and ask the model "
            "again."
        )
    if unsaid:
        _log.warning("%s: no column question, so nothing shows that the predictions are for this data set.", path.name)


def find_index(value: Any, known: Iterable[str]) -> str | None:
    """Return the data set's index that a cell holds, `7` also for 7.0; None where there is none."""
    text = str(value)
    return next((form for form in (text, text.removesuffix(".0")) if form in known), None)


def same_question(saved: Any, question: str) -> bool:
    r"""Tell whether a cell can come from a question.

    Spaces, forms of characters and what spreadsheets do (cut cells, numbers, formulas, `N/A`) make no difference.

    Example:
        >>> same_question("What  is 7?", "What is 7?\n"), same_question(7, "007.0"), same_question("x", "y")
        (True, True, False)
    """
    found, expected = _plain("" if saved is None else str(saved)), _plain(question)
    if found == expected or expected.startswith(("=", "{=")):
        return True
    if found in NO_VALUE and expected in NO_VALUE:
        return True
    if len(str(saved)) >= CELL_LIMIT:
        return expected.startswith(found)
    try:
        return float(found) == float(expected)
    except ValueError:
        return False


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text)
    shown = "".join(char if char.isprintable() else " " for char in text)  # spreadsheets drop control characters
    return "".join(shown.split()).casefold()
