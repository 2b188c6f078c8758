"""Saved responses for `fin-tasks replay`: the authors' files, JSON lines like them, or lm-eval's samples."""

from pathlib import Path

from fin_tasks.answers.cut_off import mark_response
from fin_tasks.errors import DataError

from ..contract import Document
from ..recordings import texts_of
from .data import document_of, read_rows


def read(path: Path, *, mode: str) -> list[tuple[Document, str]]:
    """Return pairs of document and response. Of several responses the first counts, in lm-eval's samples all count."""
    pairs: list[tuple[Document, str]] = []
    for row in read_rows(path, "output"):
        name = row.question_id
        doc = {"id": name, "question": row.question, **document_of(row, mode)}
        for text in texts_of(row.output):
            if not isinstance(text, str | None):
                raise DataError(
                    f"{path}, {name}: expected text as output, got {text!r:.200}."
                )
            pairs.append((doc, mark_response(text or "", row.finish_reason)))
    return pairs
