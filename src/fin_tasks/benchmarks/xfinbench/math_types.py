"""Mathematical types of calculations, of which a model names at most two for each question."""

import re
from collections.abc import Iterable, Mapping
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
_NO_TYPE = re.compile(r"^\s*\d+[.)]|:[^\n]*|\([^)]*\)", re.MULTILINE)
"""The number of an item in a list, or an explanation."""
_END_OF_LIST = re.compile(r"\.(?:\W|$)|\n\s*\n")


def read_types(reply: str) -> tuple[list[str], str]:
    """Return the types that a reply names behind the last marker; if there are none, also the reason."""
    _, marker, answer = reply.rpartition(MARKER)
    if not marker:
        return [], "no marker"
    listed = _NO_TYPE.sub("", answer.strip(" :*\n")).lower()
    first_list = _END_OF_LIST.split(listed)[0]
    types = []
    for name, begin in MATH_TYPES.items():
        if re.search(rf"\b(?:{begin})", first_list):
            types.append(name)
    if 1 <= len(types) <= _MOST_TYPES:
        return types, ""
    return [], f"{len(types) or 'no'} types"


def read_labels(path: Path, ids: Iterable[str]) -> dict[str, list[str]]:
    """Read the types of these questions from a CSV file with the columns `id` and `math_types`."""
    types_by_id: dict[str, list[str]] = {question_id: [] for question_id in ids}
    for record in read_csv(path, ("id", "math_types")):
        question_id = record.cells["id"].strip()
        if question_id in types_by_id:
            types = items_of(record.cells["math_types"], ";")
            types_by_id[question_id] = [name for name in types if name in MATH_TYPES]
    if not any(types_by_id.values()):
        raise DataError(
            f"{path}: expected types of the questions that are asked, such as "
            f"arithmetic;logical, got none. Is it for another split?"
        )
    return types_by_id
