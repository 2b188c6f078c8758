"""Responses to the documents of a task: by id, in the order of the documents, as a table or a file."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from fin_tasks.answers.cut_off import CutOffResponse, mark_response
from fin_tasks.benchmarks.contract import Document, id_of
from fin_tasks.data.tables import read_csv, read_json
from fin_tasks.errors import DataError

if TYPE_CHECKING:
    from pandas import DataFrame

Response = str | Sequence[str | None] | None
"""A response, or several to one document; None if the model gave none."""
Responses: TypeAlias = "Mapping[str, Response] | Iterable[Response] | DataFrame"
Texts = list[str | None]
TextsById = dict[str, Texts]

_COLUMNS = ("id", "response")
_ALIASES = {"id": "question_id", "response": "output"}
"""What FinanceMath and lm-eval's samples call the columns."""


def read_responses(file: Path) -> TextsById:
    """Read the responses in a file by id: CSV, JSON lines or a JSON list with `id` and `response`.

    Several rows of one id are several responses. `finish_reason` says which were cut off. A file of
    lm-eval's samples is read, too.
    """
    if file.suffix == ".csv":
        rows = [record.cells for record in read_csv(file, _COLUMNS)]
    else:
        rows = read_json(file, _COLUMNS, aliases=_ALIASES)
    return _texts_by_id(str(file), rows)


def match_responses(
    task: str,
    docs: Sequence[Document],
    responses: Responses,
) -> tuple[list[Document], list[list[str]], list[int]]:
    """Return the documents that have responses, the responses to each, and where all are lost.

    Raises:
        DataError: There is no response, one of no document, or one that is no text; or responses
            without ids are fewer or more than the documents.
    """
    texts_by_id = _texts_by_id(task, _rows(task, docs, responses))
    if not texts_by_id:
        raise DataError(f"{task}: expected at least one response, got none.")
    answered: list[Document] = []
    texts = []
    lost = []
    for doc in docs:
        own_texts = texts_by_id.pop(id_of(doc), None)
        if own_texts is None:
            continue
        if set(own_texts) == {None}:
            lost.append(len(answered))
        answered.append(doc)
        # An empty text may be marked as cut off, so it must stay the same object.
        texts.append(["" if text is None else text for text in own_texts])
    if texts_by_id:
        stranger = next(iter(texts_by_id))
        raise DataError(
            f"{task}: expected ids of its documents, such as {id_of(docs[0])!r}; no document has the "
            f"id {stranger!r:.80} (and {len(texts_by_id) - 1:,} other ids)."
        )
    return answered, texts, lost


def _rows(
    task: str,
    docs: Sequence[Document],
    responses: Any,
) -> Iterable[Document]:
    if hasattr(responses, "columns"):
        names = list(map(str, responses.columns))
        if not set(_COLUMNS).issubset(names):
            raise DataError(
                f"{task}: expected a table with the columns id and response, got {', '.join(names)}."
            )
        return list(responses.to_dict("records"))
    if not isinstance(responses, Mapping):
        # A text is a sequence of letters, which nobody means.
        listed = [responses] if isinstance(responses, str) else list(responses)
        if len(listed) != len(docs):
            raise DataError(
                f"{task}: expected a response to each of {len(docs):,} documents, got "
                f"{len(listed):,}. Give them by id if some are missing."
            )
        responses = dict(zip(map(id_of, docs), listed, strict=True))
    return [{"id": name, "response": response} for name, response in responses.items()]


def _texts_by_id(source: str, rows: Iterable[Document]) -> TextsById:
    """Return the texts of rows; None is lost, unless the limit of tokens left no text."""
    texts_by_id: TextsById = {}
    for row in rows:
        name = str(row["id"])
        texts = texts_by_id.setdefault(name, [])
        for response in _flat(row["response"]):
            is_missing = response is None or response != response  # NaN in a table
            text = "" if is_missing else response
            if not isinstance(text, str):
                raise DataError(
                    f"{source}, {name}: expected text as response, got {text!r:.80}."
                )
            text = mark_response(text, row.get("finish_reason"))
            is_lost = is_missing and not isinstance(text, CutOffResponse)
            texts.append(None if is_lost else text)
    return texts_by_id


def _flat(response: Any) -> list[Any]:
    """Return the responses in nested lists, as lm-eval's samples have them."""
    if not isinstance(response, list | tuple) or not response:
        return [response]
    texts = []
    for inner in response:
        texts += _flat(inner)
    return texts
