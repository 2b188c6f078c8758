"""A table of MME-Finance and its pictures: rows that can be asked, and why others are left out."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fin_tasks.benchmarks.mme_finance import multi_turn
from fin_tasks.benchmarks.mme_finance.images import Pictures, is_usable, unpack
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
    pictures: Sequence[Path | None]
    """None where no file is found."""


class Table(NamedTuple):
    """The rows that can be asked, the indexes of the others by reason, and what is known of the files."""

    rows: list[Row]
    left_out: dict[str, list[str]]
    data: dict[str, Any]
    judge_free: bool
    """Whether every row has an exact truth."""


def read_table(
    files: Located,
    stem: str,
    part: str,
    cache: Path,
) -> Table:
    """Read the rows of a table, with pictures that stand upright."""
    path = files.files[f"{stem}.tsv"]
    archive = files.files.get(f"{stem}.zip")
    unpacked = unpack(archive, cache / "mme_finance" / "pictures") if archive else None
    pictures = Pictures(path, unpacked)
    columns = _COLUMNS + (_CATEGORY_COLUMNS if part == "open" else ())
    rows: list[Row] = []
    left_out: dict[str, list[str]] = {}
    indexes: set[str] = set()
    for record in read_csv(path, columns, delimiter="\t"):
        cells = {**dict.fromkeys(_OPTIONAL_COLUMNS, ""), **record.cells}
        index = cells["index"].strip()
        cells["index"] = index
        row = _row_of(cells, part, pictures)
        problem = _problem_of(row, part)
        if record.surplus > 0 or not index:
            problem = "broken-row"
        elif index in indexes:
            problem = "duplicate-index"
        indexes.add(index)
        if problem:
            left_out.setdefault(problem, []).append(index or f"line {record.line}")
        else:
            rows.append(row)
    n_exact = sum(bool(row.cells["truth"]) for row in rows)
    found = [path for row in rows for path in row.pictures if path]
    data = _data_facts(files, stem, found)
    data["is_own"] = (
        files.is_own or n_exact > 0
    )  # only fresh questions have an exact truth
    upright = upright_files(found, cache / "upright")
    return Table(
        [
            row._replace(pictures=[upright[path] for path in row.pictures if path])
            for row in rows
        ],
        left_out,
        data,
        judge_free=part == "open" and n_exact == len(rows) > 0,
    )


def _row_of(cells: Mapping[str, str], part: str, pictures: Pictures) -> Row:
    columns = [[cells[name]] for name in ("question", "answer", "image_path")]
    if part == "multi_turn":
        columns = [multi_turn.list_of(cell) for [cell] in columns]
    questions, answers, names = columns
    return Row(cells, questions, answers, [pictures.find(name) for name in names])


def _problem_of(row: Row, part: str) -> str:
    """Return the reason why a row cannot be asked, or an empty text."""
    category = row.cells["task_category"]
    n_marks = "".join(row.questions).count(multi_turn.MARK)
    problems = {
        "empty-question": not row.questions or _has_blank(row.questions),
        "unknown-category": part == "open" and category not in CATEGORIES,
        "empty-answer": category != ALLOW_NA and _has_blank(row.answers),
        "not-as-many-answers": len(row.answers) != len(row.questions),
        "picture-missing": not row.pictures or None in row.pictures,
        "picture-broken": not all(is_usable(path) for path in row.pictures if path),
        "not-as-many-pictures": n_marks > len(row.pictures),
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
