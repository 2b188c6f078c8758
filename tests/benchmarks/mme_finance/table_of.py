"""Tables and pictures in the published form, with whatever is wrong that a test asks for."""

import csv
import io
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from PIL import Image

COLUMNS = (*("index", "question", "answer", "image_path", "task_category", "image_type", "image_style", "background"),)

GOOD: Mapping[str, str] = {
    "index": "1",
    "question": "What is the closing price?",
    "answer": "007.50",
    "image_path": "MMfin/1.jpg",
    "task_category": "OCR",
    "image_type": "candlestick chart",
    "image_style": "computer screenshot",
    "background": "",
}


def row(index: object, /, **changes: str) -> dict[str, str]:
    return {**GOOD, "index": str(index), "image_path": f"MMfin/{index}.jpg", **changes}


def table(rows: Iterable[Mapping[str, str]], columns: Iterable[str] = COLUMNS) -> bytes:
    """As pandas writes it with tabs and without its own index."""
    text = io.StringIO()
    writer = csv.DictWriter(text, tuple(columns), delimiter="\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def picture(shade: int = 0, form: str = "JPEG", size: tuple[int, int] = (40, 30), **options: Any) -> bytes:
    out = io.BytesIO()
    Image.effect_noise(size, shade % 200 + 10).convert("RGB").save(out, form, **options)
    return out.getvalue()


def archive(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for name, body in files.items():
            packed.writestr(name, body)
    return out.getvalue()


def put(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, body in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(body)
    return folder
