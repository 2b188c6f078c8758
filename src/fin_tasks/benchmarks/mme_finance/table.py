"""A table of MME-Finance and its pictures: rows that can be asked, and why others are left out."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fin_tasks.data.locate import Located
from fin_tasks.data.tables import read_csv

from . import multi_turn
from .images import Pictures, is_usable, unpack
from .prompts import ALLOW_NA
from .score import CATEGORIES

_COLUMNS = ("index", "question", "answer", "image_path")
_CATEGORY_COLUMNS = ("task_category", "image_type", "image_style")
_OPTIONAL_COLUMNS = (*_CATEGORY_COLUMNS, "background", "truth")


class Row(NamedTuple):
    """A row of a table. A conversation has several questions and answers, and may have several pictures."""

    id: str
    cells: Mapping[str, str]
    questions: Sequence[str]
    answers: Sequence[str]
    pictures: Sequence[Path]
    """Empty if a file is missing."""


def read_table(
    files: Located,
    stem: str,
    part: str,
) -> tuple[list[Row], dict[str, list[str]]]:
    """Return the rows that can be asked, and the indexes of the others by reason."""
    path = files.files[f"{stem}.tsv"]
    archive = files.files.get(f"{stem}.zip")
    folders = [path.with_suffix(""), path.parent]
    if archive:
        folders = [
            unpack(archive, files.settings.cache_dir / "mme_finance" / "pictures")
        ]
    pictures = Pictures(folders)
    columns = list(_COLUMNS)
    if part == "open":
        columns += _CATEGORY_COLUMNS
    rows = {}
    left_out = defaultdict(list)
    for record in read_csv(path, columns, delimiter="\t"):
        cells = {**dict.fromkeys(_OPTIONAL_COLUMNS, ""), **record.cells}
        index = cells["index"].strip()
        cells["index"] = index
        row = _row_of(cells, part, pictures)
        problem = _problem_of(row, part)
        if record.surplus > 0 or not index:
            problem = "broken-row"
        elif index in rows:
            problem = "duplicate-index"
        if problem:
            left_out[problem].append(index or f"line {record.line}")
        else:
            rows[index] = row
    return list(rows.values()), left_out


def _row_of(
    cells: Mapping[str, str],
    part: str,
    pictures: Pictures,
) -> Row:
    texts = [cells[name] for name in ("question", "answer", "image_path")]
    lists = [[text] for text in texts]
    if part == "multi_turn":
        lists = [multi_turn.list_of(text) for text in texts]
    questions, answers, names = lists
    paths = list(filter(None, map(pictures.find, names)))
    if len(paths) < len(names):
        paths = []
    return Row(cells["index"], cells, questions, answers, paths)


def _problem_of(row: Row, part: str) -> str:
    """Return why a row cannot be asked; empty if it can."""
    category = row.cells["task_category"]
    n_marks = "".join(row.questions).count(multi_turn.MARK)
    problems = {
        "empty-question": not row.questions or _has_blank(row.questions),
        "unknown-category": part == "open" and category not in CATEGORIES,
        "empty-answer": category != ALLOW_NA and _has_blank(row.answers),
        "not-as-many-answers": len(row.answers) != len(row.questions),
        "picture-missing": not row.pictures or n_marks > len(row.pictures),
        "picture-broken": not all(map(is_usable, row.pictures)),
    }
    return next((name for name, is_present in problems.items() if is_present), "")


def _has_blank(texts: Sequence[str]) -> bool:
    return not all(text.strip() for text in texts)
