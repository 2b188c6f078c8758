"""Responses to the documents of a task, in every form in which a user has them.

They come by id, in the order of the documents, as a table or in a file.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

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


class Matched(NamedTuple):
    """The documents to score, with the responses to each."""

    docs: list[Document]
    texts: list[list[str]]
    unanswered: list[int]
    """Positions of documents to which the model gave no response."""


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
) -> Matched:
    """Match responses with documents; leave out documents for which `responses` has no entry.

    Raises:
        DataError: There is no response, a response has an unknown id or is no text, or responses
            without ids are fewer or more than the documents.
    """
    texts_by_id = _texts_by_id(task, _rows(task, docs, responses))
    if not texts_by_id:
        raise DataError(f"{task}: expected at least one response, got none.")
    matched = Matched([], [], [])
    for doc in docs:
        own_texts = texts_by_id.pop(id_of(doc), None)
        if own_texts is None:
            continue
        if set(own_texts) == {None}:
            matched.unanswered.append(len(matched.docs))
        matched.docs.append(doc)
        # An empty text may be marked as cut off, so it must stay the same object.
        matched.texts.append(["" if text is None else text for text in own_texts])
    if texts_by_id:
        raise DataError(
            f"{task}: expected ids of its documents, such as {id_of(docs[0])!r}; no document has the "
            f"id {next(iter(texts_by_id))!r:.80} (and {len(texts_by_id) - 1:,} other ids)."
        )
    return matched


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
        # `list` would make a response of each letter.
        listed = [responses] if isinstance(responses, str) else list(responses)
        if len(listed) != len(docs):
            raise DataError(
                f"{task}: expected a response to each of {len(docs):,} documents, got "
                f"{len(listed):,}. Give them by id if some are missing."
            )
        responses = dict(zip(map(id_of, docs), listed, strict=True))
    return [{"id": name, "response": response} for name, response in responses.items()]


def _texts_by_id(source: str, rows: Iterable[Document]) -> TextsById:
    """Return the texts of rows by id. None is a missing response that was not cut off."""
    from pandas import isna

    texts_by_id: TextsById = {}
    for row in rows:
        name = str(row["id"])
        texts = texts_by_id.setdefault(name, [])
        for response in _flat(row["response"]):
            is_missing = isna(response) is True
            text = "" if is_missing else response
            if not isinstance(text, str):
                raise DataError(
                    f"{source}, {name}: expected text as response, got {text!r:.80}."
                )
            text = mark_response(text, row.get("finish_reason"))
            is_cut_off = isinstance(text, CutOffResponse)
            texts.append(None if is_missing and not is_cut_off else text)
    return texts_by_id


def _flat(response: Any) -> list[Any]:
    """Return the responses in nested lists, as lm-eval's samples have them."""
    if not isinstance(response, list | tuple) or not response:
        return [response]
    texts = []
    for inner in response:
        texts += _flat(inner)
    return texts
