"""Saved predictions as items to judge: VLMEvalKit's tables, lm-eval's samples, and JSON lines."""

import json
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fin_tasks.data.tables import read_csv, read_json
from fin_tasks.errors import DataError
from fin_tasks.judging.item import Item
from fin_tasks.settings import Settings

_ROWS, _TAGS = 200_000, 2_500_000  # a cell has four tags
_BYTES = 1 << 28  # of what a workbook unpacks to
_FAR_ROW = re.compile(rb"<[^<>]*\br\s*=\s*[\"'][A-Z]*\d{7}")
_PACKAGE = Path(__file__).resolve().parents[1]


def read_rows(path: Path) -> list[dict[str, str]]:
    """Read predictions as text, each row with `index`, `prediction` and its other columns.

    A table's responses are taken from `NAME_responses.jsonl` beside it, which our VLMEvalKit adapter writes, because
    spreadsheets cut long cells and change cells that look like numbers or formulas.
    """
    try:
        rows = [{name: _text(value) for name, value in row.items()} for row in _rows(path)]
        beside = path.with_name(f"{path.stem}_responses.jsonl")
        kept = read_json(beside, ["index", "prediction"]) if beside.is_file() else []
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise DataError(
            f"{path}: expected a table of predictions that can be read, got: {error}."
        ) from error
    if not rows or len(rows) > _ROWS:
        raise DataError(f"{path}: expected 1 to {_ROWS:,} rows, got {len(rows):,}.")
    whole = {str(row["index"]): _text(row["prediction"]) for row in kept}
    seen = set[str]()
    for row in rows:
        for name, other in (("index", "id"), ("prediction", "response")):
            if name not in row and other not in row:
                raise DataError(
                    f"{path}: expected a column {name} or {other}, got {', '.join(row)}."
                )
            row[name] = row[name] if name in row else row.pop(other)
        if row["index"] in seen:
            raise DataError(f"{path}: expected each index once, got {row['index']!r} again.")
        seen.add(row["index"])
        row["prediction"] = whole.get(row["index"], row["prediction"])
    return rows


def read_items(
    path: Path, *, settings: Settings, image_root: Path | None = None, pictures: bool = True
) -> tuple[list[Item], list[dict[str, str]]]:
    """Return a file's items and rows in its order."""
    rows = read_rows(path)
    folders = [image_root or path.parent, settings.cache_dir, settings.data_dir, _PACKAGE]
    trusted = [folder.resolve() for folder in folders if folder is not None]
    items = []
    for row in rows:
        if missing := [name for name in ("question", "answer") if not row.get(name, "").strip()]:
            raise DataError(
                f"{path}, index {row['index']}: expected a text in {missing[0]}, got none."
            )
        items.append(
            Item(
                question=row["question"],
                answer=row["answer"],
                response=row["prediction"],
                category=row.get("task_category") or row.get("category") or "",
                picture=_picture(row["image_path"], trusted, path)
                if pictures and row.get("image_path")
                else None,
                background=row.get("background", ""),
            )
        )
    return items, rows


def _picture(name: str, trusted: Sequence[Path], file: Path) -> Path:
    place = (trusted[0] / name).resolve()  # an absolute name stands for itself
    if not any(place.is_relative_to(folder) for folder in trusted):
        raise DataError(
            f"{file}: expected pictures below {trusted[0]}, got {name!r}. Name the folder with --image-root."
        )
    if not place.is_file():
        raise DataError(
            f"{file}: expected the picture {place}, found none. Use --image-root or --no-image."
        )
    return place


def _rows(path: Path) -> list[dict[str, Any]]:
    if path.suffix in (".json", ".jsonl"):
        rows = read_json(path)
        for row in rows:
            if isinstance(row.get("output"), list):  # of lm-eval
                row["prediction"] = _first_response(row.pop("output"))
        return rows
    if path.suffix in (".tsv", ".csv"):
        records = read_csv(path, [], delimiter="\t" if path.suffix == ".tsv" else ",")
        if any(record.surplus > 0 for record in records):
            raise ValueError("a row with more cells than the header")
        return [record.cells for record in records]
    if path.suffix != ".xlsx":
        raise ValueError(
            f"the suffix {path.suffix!r}; .xlsx, .tsv, .csv, .json and .jsonl are read"
        )
    import pandas as pd

    _check_workbook(path)
    table = pd.read_excel(path, engine="openpyxl", dtype=str, keep_default_na=False)
    return [
        {str(name): cell for name, cell in row.items()}
        for row in table.fillna("").to_dict("records")
    ]


def _first_response(lists: Any) -> Any:
    """Return the first response in lm-eval's lists of lists; None if they are empty."""
    response = lists
    while isinstance(response, list):
        response = response[0] if response else None
    return response


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _check_workbook(path: Path) -> None:
    """Refuse a workbook that a library would need much time or memory to read."""
    with zipfile.ZipFile(path) as archive:
        if sum(part.file_size for part in archive.infolist()) > _BYTES:
            raise ValueError(f"a workbook of more than {_BYTES:,} bytes unpacked")
        for part in archive.infolist():
            xml = archive.read(part) if part.filename.lower().endswith(".xml") else b""
            if (
                b"\0" in xml
                or b"<!ENTITY" in xml
                or xml.count(b"<") > _TAGS
                or _FAR_ROW.search(xml)
            ):
                raise ValueError(
                    f"a row number above 999,999, more than {_TAGS:,} tags, entities, or no UTF-8"
                )
