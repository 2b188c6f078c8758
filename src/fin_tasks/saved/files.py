"""The rows of a file of saved responses: who answered which question with what, and what was cut off."""

import json
import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fin_tasks.answers.cut_off import CutOffResponse, mark_response
from fin_tasks.errors import DataError

from .columns import Columns, Json, candidates, find_columns, names_of
from .json_records import leave_out
from .records import read_records

_log = logging.getLogger(__name__)
Texts = list[str | None]
"""The responses to a question; None stands for one that the model did not give."""


class SavedRow(NamedTuple):
    """The responses to a question, and what the file says of the question."""

    id: str
    """Empty if the file has no ids; then it has questions."""
    texts: Texts
    """Responses that were cut off are marked."""
    fields: Json
    """All columns but the response; of lm-eval's samples the fields of the document."""
    is_sample: bool = False
    """Whether the row is a line of lm-eval's samples."""
    question: str = ""
    """The text of the question, if the file has it."""
    truth: object = None
    """The right answer by the file, which is never trusted."""


def read_saved_rows(
    path: Path, *, columns: Mapping[str, str] | None = None, strict: bool = False
) -> list[SavedRow]:
    """Read the rows of a file of responses, whatever form it has.

    Args:
        path: The file.
        columns: The file's names of our columns, for those that are not found by their usual names.
        strict: A row that cannot be used is an error. Otherwise it is left out, which is logged.

    Raises:
        DataError: The file cannot be read, is empty, has no column with responses, or no row can be used.
    """
    records = read_records(path, strict=strict)
    if all(isinstance(record.get("doc"), dict) for record in records):
        return _rows_of_samples(path, records)
    return rows_of_records(str(path), records, columns=columns or {}, strict=strict)


def rows_of_records(
    where: str,
    records: Sequence[Json],
    *,
    columns: Mapping[str, str],
    strict: bool = False,
) -> list[SavedRow]:
    """Return the rows in some records; messages begin with `where`."""
    found, notes = find_columns(names_of(records), columns, where)
    for note in notes:
        _log.warning("%s %s.", where, note)
    rows = []
    problems = []
    for number, record in enumerate(records, start=1):
        try:
            rows.append(_row_of(record, found, f"{where}, row {number}"))
        except DataError as error:
            problems.append(str(error))
    if problems:
        n_others = len(problems) - 1
        others = f" {n_others:,} more rows cannot be used." if n_others else ""
        message = f"{problems[0]}{others}"
        if not rows:
            raise DataError(message)
        leave_out(f"{message} They are left out.", strict=strict)
    return rows


def _row_of(record: Json, columns: Columns, where: str) -> SavedRow:
    row_id = ""
    if columns.id:
        row_id = _id_text(record.get(columns.id), where)
    question = record.get(columns.question)
    if not isinstance(question, str):
        question = ""
    if not row_id and not question.strip():
        raise DataError(f"{where}: expected an id or the question's text, got none.")
    response = _cell_of(record.get(columns.response))
    reason = record.get(columns.finish_reason)
    texts = texts_of(f"{where}, {row_id or question:.80}", response, reason)
    fields = {name: value for name, value in record.items() if name != columns.response}
    truth = record.get(columns.truth)
    return SavedRow(row_id, texts, fields, question=question, truth=truth)


def _id_text(value: object, where: str) -> str:
    if not isinstance(value, str | int | float):
        raise DataError(f"{where}: expected a text as id, got {value!r:.80}.")
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # a table in memory with a gap among its whole numbers
    return "" if value != value else str(value).strip()


def texts_by_id(rows: Iterable[SavedRow]) -> dict[str, Texts]:
    """Return the responses by id. Several rows of one id are several responses."""
    texts: dict[str, Texts] = {}
    for row in rows:
        texts.setdefault(row.id, []).extend(row.texts)
    return texts


def texts_of(where: str, response: Any, finish_reason: object = None) -> Texts:
    """Return the texts in a response: itself, or those in a list or in lists of lists.

    An empty list is one missing response. Texts whose finish reason is the limit of tokens are
    marked as cut off.

    Raises:
        DataError: A response is no text; it begins with `where`.
    """
    if isinstance(response, list | tuple) and response:
        texts: Texts = []
        for inner in response:
            texts += texts_of(where, inner, finish_reason)
        return texts
    if _is_missing(response):
        text = mark_response("", finish_reason)
        return [text] if isinstance(text, CutOffResponse) else [None]
    if not isinstance(response, str):
        raise DataError(f"{where}: expected text as response, got {response!r:.80}.")
    return [mark_response(response, finish_reason)]


def _is_missing(response: Any) -> bool:
    if isinstance(response, str):
        return False
    if response is None or isinstance(response, list | tuple):  # an empty list
        return True
    from pandas import isna  # knows the missing values of tables in memory

    return isna(response) is True


def _rows_of_samples(path: Path, samples: Sequence[Json]) -> list[SavedRow]:
    """Return a row for each document; all filters list the same responses, so the first is enough."""
    rows = []
    first_filter = samples[0].get("filter")
    names = names_of(sample["doc"] for sample in samples)
    id_name = next(iter(candidates(names, "id")), "")
    question_name = next(iter(candidates(names, "question")), "")
    for number, sample in enumerate(samples, start=1):
        if sample.get("filter") != first_filter:
            continue
        doc = sample["doc"]
        where = f"{path}, row {number}"
        row_id = _id_text(doc[id_name], where) if id_name in doc else ""
        question = str(doc.get(question_name, ""))
        if not row_id and not question:
            raise DataError(
                f"{where}: expected a document with id or question, got {', '.join(doc):.200}."
            )
        texts = _marked(sample, texts_of(f"{where}, {row_id}", sample.get("resps")))
        rows.append(SavedRow(row_id, texts, doc, is_sample=True, question=question))
    return rows


def _marked(sample: Json, texts: Texts) -> Texts:
    """Mark the responses of a line of lm-eval's samples that were cut off.

    The readings of a line say which of its responses were cut off. A line without readings has
    only the share of its responses that were.
    """
    share = sample.get("cut_off")
    readings = _flat(sample.get("filtered_resps"))
    if not share or len(readings) != len(texts):
        return texts
    marked = []
    for text, reading in zip(texts, readings, strict=True):
        if text is not None and (share == 1 or _says_cut_off(reading)):
            text = CutOffResponse(text)
        marked.append(text)
    return marked


def _flat(lists: Any) -> list[Any]:
    """Return the values in a list of lists; empty if it is something else."""
    values: list[Any] = []
    for inner in lists if isinstance(lists, list) else []:
        if not isinstance(inner, list):
            return []
        values += inner
    return values


def _says_cut_off(reading: Any) -> bool:
    try:
        fields = json.loads(reading) if isinstance(reading, str) else reading
        return fields["cut_off"] is True
    except (KeyError, TypeError, ValueError):
        return False


def _cell_of(value: Any) -> Any:
    """Return a number of JSON as the text that a table would hold; other values stay."""
    is_number = isinstance(value, int | float) and not math.isnan(value)
    return json.dumps(value) if is_number else value
