"""Mathematical types of calculations, of which a model names at most two for each question."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from fin_tasks.benchmarks.short_answers_paper import MARKER
from fin_tasks.benchmarks.xfinbench.rows import items_of
from fin_tasks.data.tables import read_csv
from fin_tasks.errors import DataError

MATH_TYPES: Mapping[str, str] = {
    "arithmetic": "arithmetic",
    "statistical": "statistic",
    "algebraic": "algebra",
    "numeric_commonsense": "numeric|commonsense",
    "logical": "logic",
    "geometry": "geometr",
    "scientific": "scien",
}
"""The seven types, each with how its name begins in a reply."""
PUBLISHED: Mapping[str, float] = {
    "arithmetic": 0.808,
    "statistical": 0.779,
    "algebraic": 0.053,
    "numeric_commonsense": 0.108,
    "logical": 0.236,
}
"""The five types of the paper's tables, each with the share of calculations that need it."""

_MOST_TYPES = 2
_ITEM_NUMBER = re.compile(r"^\s*\d+[.)]\s*", re.MULTILINE)
_EXPLANATION = re.compile(r":[^\n]*|\([^)]*\)")
_END_OF_LIST = re.compile(r"\.(?:\W|$)|\n\s*\n")
_BETWEEN_TYPES = re.compile(r"[,;/&\n]|\band\b")
_WORD = re.compile(r"[a-z]")


def read_types(reply: str) -> tuple[list[str], str]:
    """Return the types that a reply names behind the last marker; if there are none, also the reason."""
    _, marker, answer = reply.rpartition(MARKER)
    if not marker:
        return [], "no marker"
    listed = _ITEM_NUMBER.sub("", answer.strip(" :*\n"))
    first_list = _END_OF_LIST.split(listed)[0]
    plain_list = _EXPLANATION.sub("", first_list).lower()
    types: list[str] = []
    for item in _BETWEEN_TYPES.split(plain_list):
        if not _WORD.search(item):
            continue
        types_in_item = _types_in(item)
        if not types_in_item:
            return [], f"unknown type {item.strip()!r}"
        types += types_in_item
    types = list(dict.fromkeys(types))
    if 1 <= len(types) <= _MOST_TYPES:
        return types, ""
    return [], f"{len(types) or 'no'} types"


def _types_in(item: str) -> list[str]:
    return [
        name for name, begin in MATH_TYPES.items() if re.search(rf"\b(?:{begin})", item)
    ]


def read_labels(path: Path, ids: Collection[str]) -> dict[str, list[str]]:
    """Read the types of some of these questions from a CSV file with the columns `id` and `math_types`."""
    types_by_id: dict[str, list[str]] = {}
    for record in read_csv(path, ("id", "math_types")):
        types = items_of(record.cells["math_types"], ";")
        unknown = sorted(set(types) - MATH_TYPES.keys())
        if unknown:
            raise DataError(
                f"{path}, line {record.line}: expected types of {', '.join(MATH_TYPES)}, "
                f"separated by `;`, got {unknown[0]!r}."
            )
        question_id = record.cells["id"].strip()
        types_by_id[question_id] = types
    if not any(types_by_id.get(question_id) for question_id in ids):
        raise DataError(
            f"{path}: expected types of the questions that are asked, got none. Is it for another split?"
        )
    return types_by_id
