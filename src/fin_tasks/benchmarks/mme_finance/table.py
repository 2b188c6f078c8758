"""A table of MME-Finance and its pictures: rows that can be asked, and why others are left out."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from fin_tasks.benchmarks.mme_finance import multi_turn
from fin_tasks.benchmarks.mme_finance.images import Pictures, unpack
from fin_tasks.benchmarks.mme_finance.prompts import ALLOW_NA
from fin_tasks.benchmarks.mme_finance.score import CATEGORIES
from fin_tasks.data.files import sha256_of
from fin_tasks.data.locate import Located
from fin_tasks.data.pictures import upright_files
from fin_tasks.data.tables import read_csv

_COLUMNS = ("index", "question", "answer", "image_path")
_CATEGORY_COLUMNS = ("task_category", "image_type", "image_style")
_OPTIONAL_COLUMNS = (*_CATEGORY_COLUMNS, "background", "truth")
_REVISION_DIGITS = 16


class Row(NamedTuple):
    """A row of a table: its cells, questions, answers and pictures; a conversation has several of each."""

    cells: Mapping[str, str]
    questions: Sequence[str]
    answers: Sequence[str]
    pictures: Sequence[Path]
    """Empty if a file is missing."""


def read_table(
    files: Located, stem: str, part: str, cache: Path
) -> tuple[list[Row], dict[str, list[str]], dict[str, Any]]:
    """Read the rows of a table, with pictures that stand upright.

    Return the rows that can be asked, the indexes of the others by reason, and what is known of the
    files.
    """
    path = files.files[f"{stem}.tsv"]
    archive = files.files.get(f"{stem}.zip")
    unpacked = unpack(archive, cache / "mme_finance" / "pictures") if archive else None
    pictures = Pictures(path, unpacked)
    columns = _COLUMNS + (_CATEGORY_COLUMNS if part == "open" else ())
    rows: dict[str, Row] = {}
    left_out: dict[str, list[str]] = defaultdict(list)
    for record in read_csv(path, columns, delimiter="\t"):
        cells = {**dict.fromkeys(_OPTIONAL_COLUMNS, ""), **record.cells}
        index = cells["index"].strip()
        row = _row_of({**cells, "index": index}, part, pictures)
        problem = _problem_of(row, part)
        if record.surplus > 0 or not index:
            problem = "broken-row"
        elif index in rows:
            problem = "duplicate-index"
        if problem:
            left_out[problem].append(index or f"line {record.line}")
        else:
            rows[index] = row
    shown = list(chain.from_iterable(row.pictures for row in rows.values()))
    upright = upright_files(shown, cache / "upright")
    upright_rows = []
    for row in rows.values():
        upright_pictures = [upright[path] for path in row.pictures]
        upright_rows.append(row._replace(pictures=upright_pictures))
    return upright_rows, dict(left_out), _data_facts(files, stem, shown)


def _row_of(cells: Mapping[str, str], part: str, pictures: Pictures) -> Row:
    columns = [[cells[name]] for name in ("question", "answer", "image_path")]
    if part == "multi_turn":
        columns = [multi_turn.list_of(cell) for [cell] in columns]
    questions, answers, names = columns
    paths = list(filter(None, map(pictures.find, names)))
    return Row(cells, questions, answers, paths if len(paths) == len(names) else [])


def _problem_of(row: Row, part: str) -> str:
    """Return the reason why a row cannot be asked, or an empty text."""
    category = row.cells["task_category"]
    n_marks = "".join(row.questions).count(multi_turn.MARK)
    problems = {
        "empty-question": not row.questions or _has_blank(row.questions),
        "unknown-category": part == "open" and category not in CATEGORIES,
        "empty-answer": category != ALLOW_NA and _has_blank(row.answers),
        "not-as-many-answers": len(row.answers) != len(row.questions),
        "picture-missing": not row.pictures or n_marks > len(row.pictures),
    }
    return next((name for name, is_present in problems.items() if is_present), "")


def _has_blank(texts: Sequence[str]) -> bool:
    return not all(text.strip() for text in texts)


def _data_facts(files: Located, stem: str, pictures: Sequence[Path]) -> dict[str, Any]:
    """Return what results say of the files; pictures have the same hash in an archive and in a folder."""
    contents = "\n".join(sorted(map(sha256_of, set(pictures))))
    hashes = {
        f"{stem}.tsv": sha256_of(files.files[f"{stem}.tsv"]),
        f"{stem} pictures": hashlib.sha256(contents.encode()).hexdigest(),
    }
    listing = "".join(f"{sha256}  {name}\n" for name, sha256 in hashes.items())
    digest = hashlib.sha256(listing.encode()).hexdigest()
    return {
        "origin": files.origin,
        "commit": files.commit,
        "revision": digest[:_REVISION_DIGITS],
        "files": hashes,
    }
