"""Responses to the documents of a task: by id, in the order of the documents, as a table or a file."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from fin_tasks.answers.cut_off import is_cut_off, mark_response
from fin_tasks.benchmarks.contract import Document, id_of
from fin_tasks.data.tables import read_csv, read_json
from fin_tasks.errors import DataError

if TYPE_CHECKING:
    from pandas import DataFrame

Response: TypeAlias = str | Sequence[str | None] | None
"""A response, or several to one document; None if the model gave none."""
Responses: TypeAlias = "Mapping[str, Response] | Iterable[Response] | DataFrame"
Texts: TypeAlias = list[str | None]
TextsById: TypeAlias = dict[str, Texts]
Row: TypeAlias = Mapping[str, object]

_COLUMNS = ("id", "response")
_ALIASES = {"id": "question_id", "response": "output"}
"""What FinanceMath and lm-eval's samples call the columns."""


def read_responses(file: Path) -> TextsById:
    """Read the responses in a file by id: CSV, JSON lines or a JSON list with `id` and `response`.

    Several rows of one id are several responses. `finish_reason` says which were cut off. A file of
    lm-eval's samples is read, too.
    """
    rows: Iterable[Row]
    if file.suffix == ".csv":
        rows = [record.cells for record in read_csv(file, _COLUMNS)]
    else:
        rows = read_json(file, _COLUMNS, aliases=_ALIASES)
    return _texts_of_rows(str(file), rows)


def match_responses(
    task: str,
    docs: Sequence[Document],
    responses: Responses,
) -> tuple[list[Document], list[Texts]]:
    """Return the documents that have responses, and the responses to each.

    Raises:
        DataError: There is no response, one of no document, or one that is no text; or responses
            without ids are fewer or more than the documents.
    """
    texts_by_id = _texts_by_id(task, docs, responses)
    if not texts_by_id:
        raise DataError(f"{task}: expected at least one response, got none.")
    answered: list[Document] = []
    texts: list[Texts] = []
    for doc in docs:
        own_texts = texts_by_id.pop(id_of(doc), None)
        if own_texts is not None:
            answered.append(doc)
            texts.append(own_texts)
    if texts_by_id:
        expected = f"expected ids of its documents, such as {id_of(docs[0])!r}"
        stranger = next(iter(texts_by_id))
        others = f"(and {len(texts_by_id) - 1:,} other ids)"
        raise DataError(f"{task}: {expected}; no document has the id {stranger!r:.80} {others}.")
    return answered, texts


def _texts_by_id(
    task: str,
    docs: Sequence[Document],
    responses: Responses,
) -> TextsById:
    if hasattr(responses, "columns"):
        return _texts_of_table(task, responses)
    if not isinstance(responses, Mapping):
        responses = _in_order(task, docs, responses)
    texts_by_id: TextsById = {}
    for name, response in responses.items():
        texts_by_id[str(name)] = _texts_of(f"{task}, {name}", response)
    return texts_by_id


def _in_order(
    task: str,
    docs: Sequence[Document],
    responses: Iterable[Response],
) -> dict[str, Response]:
    # A text is a sequence of letters, which nobody means.
    listed = [responses] if isinstance(responses, str) else list(responses)
    if len(listed) != len(docs):
        expected = f"expected a response to each of {len(docs):,} documents, got {len(listed):,}"
        raise DataError(f"{task}: {expected}. Give them by id if some are missing.")
    return dict(zip(map(id_of, docs), listed, strict=True))


def _texts_of_table(task: str, table: "DataFrame") -> TextsById:
    names = [str(name) for name in table.columns]
    if not set(_COLUMNS).issubset(names):
        expected = "expected a table with the columns id and response"
        raise DataError(f"{task}: {expected}, got {', '.join(names)}.")
    return _texts_of_rows(task, table.to_dict("records"))


def _texts_of_rows(source: str, rows: Iterable[Row]) -> TextsById:
    texts_by_id: TextsById = {}
    for row in rows:
        name = str(row["id"])
        reason = row.get("finish_reason")
        own_texts = texts_by_id.setdefault(name, [])
        for text in _texts_of(f"{source}, {name}", row["response"]):
            own_texts.append(_marked(text, reason))
    return texts_by_id


def _marked(text: str | None, finish_reason: object) -> str | None:
    """Mark a response that was cut off; None is lost, unless the limit of tokens left no text."""
    if text is not None:
        return mark_response(text, finish_reason)
    response = mark_response("", finish_reason)
    return response if is_cut_off(response) else None


def _texts_of(place: str, response: object) -> Texts:
    """Return the responses in nested lists, as lm-eval's samples have them."""
    if isinstance(response, list | tuple) and response:
        texts: Texts = []
        for inner in response:
            texts += _texts_of(place, inner)
        return texts
    if response is None or response != response:  # a missing cell of a table is NaN
        return [None]
    if not isinstance(response, str):
        raise DataError(f"{place}: expected text as response, got {response!r:.80}.")
    return [response]
