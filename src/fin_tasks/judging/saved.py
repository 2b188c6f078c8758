"""Saved predictions as items to judge: VLMEvalKit's tables, lm-eval's samples, and JSON lines."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fin_tasks.data.spreadsheets import read_sheet
from fin_tasks.data.tables import read_json
from fin_tasks.errors import DataError
from fin_tasks.settings import Settings

from .item import Item

_PACKAGE = Path(__file__).resolve().parents[1]
_OTHER_NAMES = {"index": "id", "prediction": "response"}
"""Our columns, and what other files call them."""

Row = dict[str, str]


def read_rows(path: Path) -> list[Row]:
    """Read predictions as text, each row with `index`, `prediction` and its other columns.

    A table's responses are taken from `NAME_responses.jsonl` beside it, which our VLMEvalKit adapter
    writes, because spreadsheets cut long cells and change those that look like numbers or formulas.
    """
    read = _json_rows if path.suffix in (".json", ".jsonl") else _sheet_rows
    rows = read(path)
    if not rows:
        raise DataError(f"{path}: expected predictions, got none.")
    whole_file = path.with_name(f"{path.stem}_responses.jsonl")
    whole_rows = _json_rows(whole_file) if whole_file.is_file() else []
    # The first row is a header, which says what was asked.
    whole_responses = {
        row["index"]: row["prediction"] for row in whole_rows if "index" in row
    }
    for row in rows:
        for name, other_name in _OTHER_NAMES.items():
            if name not in row and other_name in row:
                row[name] = row.pop(other_name)
        if not row.keys() >= _OTHER_NAMES.keys():
            raise DataError(
                f"{path}: expected the columns index (or id) and prediction (or response), "
                f"got {', '.join(row)}."
            )
        row["prediction"] = whole_responses.get(row["index"], row["prediction"])
    if len({row["index"] for row in rows}) < len(rows):
        raise DataError(f"{path}: expected each index once, got one of them again.")
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
    root = image_root or path.parent
    folders = filter(None, (root, settings.cache_dir, settings.data_dir, _PACKAGE))
    trusted_folders = [folder.resolve() for folder in folders]
    items = []
    for row in rows:
        for name in ("question", "answer"):
            if not row.get(name, "").strip():
                raise DataError(
                    f"{path}, index {row['index']}: expected a text in {name}, got none."
                )
        picture = None
        if pictures and row.get("image_path"):
            picture = _picture(row["image_path"], trusted_folders, path)
        items.append(
            Item(
                question=row["question"],
                answer=row["answer"],
                response=row["prediction"],
                category=row.get("task_category") or row.get("category") or "",
                picture=picture,
                background=row.get("background", ""),
            )
        )
    return items, rows


def _picture(name: str, folders: Sequence[Path], file: Path) -> Path:
    """Return the path of a picture, which is seen from the first folder; it must lie below one of the folders."""
    # An absolute name stands for itself; no path holds a null character.
    path = (folders[0] / name.replace("\0", "?")).resolve()
    is_trusted = any(path.is_relative_to(folder) for folder in folders)
    if not is_trusted or not path.is_file():
        raise DataError(
            f"{file}: expected a picture below {folders[0]}, got {name!r}, which is elsewhere or "
            "missing. Name the folder with --image-root, or use --no-image."
        )
    return path


def _sheet_rows(path: Path) -> list[Row]:
    rows = []
    for record in read_sheet(path):
        if record.surplus > 0:
            raise DataError(
                f"{path}, row {record.line}: it has more cells than the header."
            )
        rows.append(record.cells)
    return rows


def _json_rows(path: Path) -> list[Row]:
    rows = []
    for fields in read_json(path):
        if isinstance(fields.get("output"), list):
            # A line of lm-eval's samples: the first response of lists of lists.
            response = fields.pop("output")
            while isinstance(response, list):
                response = next(iter(response), None)
            fields["prediction"] = response
        rows.append({name: _text(value) for name, value in fields.items()})
    return rows


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
