"""Saved predictions as items to judge: VLMEvalKit's tables, lm-eval's samples, and JSON lines."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fin_tasks.data.spreadsheets import read_sheet
from fin_tasks.data.tables import read_json
from fin_tasks.errors import DataError
from fin_tasks.judging.item import Item
from fin_tasks.settings import Settings

_PACKAGE = Path(__file__).resolve().parents[1]
_OTHER_NAMES = {"index": "id", "prediction": "response"}

Row = dict[str, str]


def read_rows(path: Path) -> list[Row]:
    """Read predictions as text, each row with `index`, `prediction` and its other columns.

    A table's responses are taken from `NAME_responses.jsonl` beside it, which our VLMEvalKit adapter
    writes, because spreadsheets cut long cells and change those that look like numbers or formulas.
    """
    rows = _json_rows(path) if path.suffix in (".json", ".jsonl") else _table_rows(path)
    if not rows:
        raise DataError(f"{path}: expected predictions, got none.")
    whole_responses = _whole_responses(path)
    indexes = set()
    for row in rows:
        for name, other_name in _OTHER_NAMES.items():
            if name not in row and other_name not in row:
                columns = ", ".join(row)
                expected = f"expected a column {name} or {other_name}"
                raise DataError(f"{path}: {expected}, got {columns}.")
            if name not in row:
                row[name] = row.pop(other_name)
        index = row["index"]
        if index in indexes:
            raise DataError(f"{path}: expected each index once, got {index!r} again.")
        indexes.add(index)
        row["prediction"] = whole_responses.get(index, row["prediction"])
    return rows


def read_items(
    path: Path,
    *,
    settings: Settings,
    image_root: Path | None = None,
    pictures: bool = True,
) -> tuple[list[Item], list[Row]]:
    """Return a file's items and rows in its order."""
    rows = read_rows(path)
    folders = [image_root or path.parent, settings.cache_dir, settings.data_dir, _PACKAGE]
    trusted = [folder.resolve() for folder in folders if folder is not None]
    items = []
    for row in rows:
        for name in ("question", "answer"):
            if not row.get(name, "").strip():
                where = f"{path}, index {row['index']}"
                raise DataError(f"{where}: expected a text in {name}, got none.")
        picture = None
        if pictures and row.get("image_path"):
            picture = _picture(row["image_path"], trusted, path)
        item = Item(
            question=row["question"],
            answer=row["answer"],
            response=row["prediction"],
            category=row.get("task_category") or row.get("category") or "",
            picture=picture,
            background=row.get("background", ""),
        )
        items.append(item)
    return items, rows


def _picture(name: str, trusted: Sequence[Path], file: Path) -> Path:
    path = (trusted[0] / name).resolve()  # an absolute name stands for itself
    if not any(path.is_relative_to(folder) for folder in trusted):
        expected = f"expected pictures below {trusted[0]}"
        raise DataError(f"{file}: {expected}, got {name!r}. Name the folder with --image-root.")
    if not path.is_file():
        expected = f"expected the picture {path}"
        raise DataError(f"{file}: {expected}, found none. Use --image-root or --no-image.")
    return path


def _json_rows(path: Path) -> list[Row]:
    rows = []
    for fields in read_json(path):
        if isinstance(fields.get("output"), list):  # of lm-eval
            fields["prediction"] = _first_response(fields.pop("output"))
        rows.append({name: _text(value) for name, value in fields.items()})
    return rows


def _first_response(lists: Any) -> Any:
    """Return the first response in lm-eval's lists of lists; None if they are empty."""
    response = lists
    while isinstance(response, list):
        response = next(iter(response), None)
    return response


def _table_rows(path: Path) -> list[Row]:
    rows = []
    for record in read_sheet(path):
        if record.surplus > 0:
            raise DataError(f"{path}, row {record.line}: it has more cells than the header.")
        rows.append(record.cells)
    return rows


def _whole_responses(path: Path) -> dict[str, str]:
    file = path.with_name(f"{path.stem}_responses.jsonl")
    if not file.is_file():
        return {}
    rows = read_json(file, ["index", "prediction"])
    return {str(row["index"]): _text(row["prediction"]) for row in rows}


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
