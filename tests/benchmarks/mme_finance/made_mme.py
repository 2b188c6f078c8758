"""A small folder in the layout of the published files: every category once, in both languages."""

import csv
import io
from pathlib import Path

from PIL import Image

from fin_tasks.benchmarks.mme_finance.score import CATEGORIES, IMAGE_STYLES, IMAGE_TYPES

COLUMNS = (
    *("index", "question", "answer", "image_path", "task_category", "image_type", "image_style", "background"),
    "truth",
)
TRUTH = '{"kind": "number", "value": 7.0}'


def rows(language: str) -> list[dict[str, str]]:
    """One row per category; the second has a background, the third an exact truth."""
    made = []
    for number, name in enumerate(CATEGORIES):
        made.append(
            {
                "index": str(number + 1),
                "question": f"What is {number}?" if language == "en" else f"{number}是多少?",
                "answer": str(number),
                "image_path": f"images/{number}.png",
                "task_category": name,
                "image_type": IMAGE_TYPES[number % len(IMAGE_TYPES)],
                "image_style": IMAGE_STYLES[number % len(IMAGE_STYLES)],
                "background": "The fund is called Elm." if number == 1 else "",
                "truth": TRUTH if number == 2 else "",
            }
        )
    return made


def write(folder: Path) -> Path:
    """Write tables and pictures, each picture in a colour of its own, and return the folder."""
    for language, stem in (("en", "MMfin"), ("zh", "MMfin_CN")):
        pictures = folder / stem / "images"
        pictures.mkdir(parents=True, exist_ok=True)
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows(language))
        (folder / f"{stem}.tsv").write_text(text.getvalue(), encoding="utf-8")
        for number in range(len(CATEGORIES)):
            Image.new("RGBA", (40, 30), (20 * number, 0, 99, 255)).save(pictures / f"{number}.png")
    return folder
