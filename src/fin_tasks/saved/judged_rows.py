"""Rows for a judge, with the benchmark's own questions and answers where these are at hand."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from fin_tasks.benchmarks.contract import Document, id_of
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.errors import DataError, FinTasksError

from .files import SavedRow
from .json_records import leave_out
from .matching import asks, check_rows, match_rows, others_text
from .questions import load_questions, questions_in


def with_questions(
    file: Path, rows: Sequence[SavedRow], task: str, *, strict: bool
) -> list[SavedRow]:
    """Return the rows with question and answer, which are the benchmark's own if its files are at hand.

    A file without questions or answers needs these files, which are downloaded.
    """
    if all(row.id and {"question", "answer"} <= row.fields.keys() for row in rows):
        return _with_own_answers(file, rows, TaskFile(task), strict=strict)
    questions, options = questions_in(TaskFile(task), rows, {}, file)
    matched = match_rows(rows, questions.docs)
    if not matched.rows_by_id:
        raise DataError(
            f"{file}: expected the columns question and answer, or ids of the questions of {task}, such as "
            f"{id_of(questions.docs[0])!r}, got {rows[0].id or rows[0].question!r:.80}."
        )
    if matched.others:
        text = others_text(matched.others, len(rows), questions.file, options)
        leave_out(f"{file}: {text}", strict=strict)
    for message in check_rows(
        matched, questions.docs, questions.file.benchmark, str(file)
    ):
        leave_out(message, strict=strict)
    filled = []
    for doc in questions.docs:
        for row in matched.rows_by_id.get(id_of(doc), ()):
            fields = {**row.fields, **doc}
            filled.append(row._replace(id=id_of(doc), fields=fields))
    return filled


def _with_own_answers(
    file: Path, rows: Sequence[SavedRow], task: TaskFile, *, strict: bool
) -> list[SavedRow]:
    """Return rows with the benchmark's answer where a row has the id and the text of one of its questions."""
    docs_by_id = _docs_at_hand(task)
    known = []
    filled = []
    for row in rows:
        doc = docs_by_id.get(row.id)
        if doc is not None and asks(row, doc):
            known.append(row)
            answer = {"answer": task.benchmark.truth_of(doc)}
            row = row._replace(fields={**row.fields, **answer})
        filled.append(row)
    if known:
        docs = list(docs_by_id.values())
        matched = match_rows(known, docs)
        for message in check_rows(matched, docs, task.benchmark, str(file)):
            leave_out(message, strict=strict)
    return filled


def _docs_at_hand(task: TaskFile) -> Mapping[str, Document]:
    """Return the documents in the user's own folder by id; none if there are none."""
    with suppress(FinTasksError):
        docs = load_questions(task, {"source": "data_dir"}).docs
        return {id_of(doc): doc for doc in docs}
    return {}
