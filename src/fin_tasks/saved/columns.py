"""Which columns of a file of responses hold the id, the response, the question and the truth."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from fin_tasks.errors import ConfigError, DataError

Json = dict[str, Any]
"""An object of JSON."""

COLUMN_NAMES: Mapping[str, Sequence[str]] = {
    "id": (
        *("id", "question_id", "index", "custom_id", "doc_id", "qid", "uid"),
        *("sample_id", "example_id", "instance_id"),
    ),
    "response": (
        *("response", "output", "model_response", "prediction", "responses"),
        *("completion", "generation", "generated_text", "model_output", "resps"),
        *("model_answer", "predicted_answer", "pred", "answer"),
    ),
    "question": ("question", "problem", "query", "prompt", "input", "instruction"),
    "truth": (
        *("ground_truth", "truth", "gold", "target", "reference", "label"),
        *("correct_answer", "gold_answer", "expected", "answer"),
    ),
    "finish_reason": ("finish_reason", "stop_reason"),
}
"""Our names of the columns, and those in files, in small letters: the first one that a file has counts."""


class Columns(NamedTuple):
    """The names that a file has for our columns; empty if it has none."""

    id: str = ""
    response: str = ""
    question: str = ""
    truth: str = ""
    finish_reason: str = ""


def read_columns(text: str) -> dict[str, str]:
    """Read `--columns`, such as `id=Number,response=Model text`, as our names and those of the file."""
    chosen = {}
    for part in filter(None, text.split(",")):
        ours, _, name = part.partition("=")
        if ours.strip() not in Columns._fields or not name.strip():
            raise ConfigError(
                f"--columns: expected {'=..., '.join(Columns._fields)}=..., got {part!r:.80}."
            )
        chosen[ours.strip()] = name.strip()
    return chosen


def names_of(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the names of the fields of all records, in the order in which they occur first."""
    names: dict[str, None] = {}
    for record in records:
        names.update(dict.fromkeys(record))
    return list(names)


def candidates(names: Iterable[str], column: str) -> list[str]:
    """Return the names that stand for one of our columns, the likeliest first."""
    by_simple_name: dict[str, str] = {}
    for name in names:
        by_simple_name.setdefault(_simple(name), name)
    known = COLUMN_NAMES[column]
    return [by_simple_name[name] for name in known if name in by_simple_name]


def find_columns(
    names: Sequence[str], chosen: Mapping[str, str], where: str
) -> tuple[Columns, list[str]]:
    """Return the columns of a file, and what a person should know of the choice.

    Raises:
        DataError: There is no column of responses, none of ids or questions, or a chosen one is missing.
    """
    columns = {}
    notes = []
    for column in Columns._fields:
        if column in chosen:
            columns[column] = _chosen(names, chosen[column], where)
            continue
        taken = {*chosen.values(), *columns.values()}
        likely = [name for name in candidates(names, column) if name not in taken]
        columns[column] = likely[0] if likely else ""
        if column == "response" and likely:
            notes += _notes_on_response(likely)
    if not columns["response"] or not (columns["id"] or columns["question"]):
        raise DataError(
            f"{where}: expected the columns id (or {', '.join(COLUMN_NAMES['id'][1:4])}, or the question's text) and "
            f"response (or {', '.join(COLUMN_NAMES['response'][1:4])}), got {', '.join(names):.200}. "
            "Rename them, or use --columns id=...,response=..."
        )
    if not columns["id"]:
        notes.append(
            f"has no ids, so its rows are found by the text in {columns['question']}"
        )
    return Columns(**columns), notes


def _notes_on_response(likely: Sequence[str]) -> list[str]:
    if _simple(likely[0]) == "answer":
        return [f"has its responses in {likely[0]}, as no other column is called so"]
    others = [name for name in likely[1:] if _simple(name) != "answer"]
    if others:
        return [f"has its responses in {likely[0]}, and not in {', '.join(others):.80}"]
    return []


def _chosen(names: Sequence[str], name: str, where: str) -> str:
    for column_name in names:
        if column_name.strip() == name:
            return column_name
    raise DataError(
        f"{where}: expected a column {name!r:.80}, as --columns says, got {', '.join(names):.200}."
    )


def _simple(name: str) -> str:
    """Return a name in small letters, its words joined by underscores."""
    return re.sub(r"[\s_.-]+", "_", name.strip().lower())
