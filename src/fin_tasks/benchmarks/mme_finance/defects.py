"""What is odd about MME-Finance's rows, and what is done about it."""

from collections.abc import Iterator, Mapping

from fin_tasks.benchmarks.mme_finance.row import CATEGORIES
from fin_tasks.benchmarks.mme_finance.table import OPTIONAL
from fin_tasks.data.tables import Record

__all__ = ["DEFECTS", "LEFT_OUT", "says_nothing", "text_defects"]

DEFECTS: Mapping[str, str] = {
    "background-says-nothing": "a background like `nan`, `None` or `N/A`; asked without one",
    "bom": "byte order mark at the start; ignored",
    "category-spelling": "a category in other words than the published ones; understood",
    "cell-count": "more or fewer cells than the header; row left out",
    "duplicate-index": "the index of an earlier row, so that results could not tell them apart; row left out",
    "empty-answer": "no reference answer to judge by; row left out",
    "empty-image-style": "no image style; asked, and counted under none",
    "empty-image-type": "no image type; asked, and counted under none",
    "empty-index": "no index; row left out",
    "empty-question": "no question; row left out",
    "not-a-picture": "a file that is no JPEG, PNG, WebP, GIF, BMP or TIFF; row left out",
    "picture-broken": "a picture that breaks off or cannot be decoded; row left out",
    "picture-converted": "a BMP or TIFF, which chat models do not take; asked with a copy as PNG",
    "picture-missing": "no picture of that name, or several that could be meant; row left out",
    "picture-too-large": "a picture of more than 64 MiB or 89 million pixels; row left out",
    "picture-turned": "a picture stored turned, with a note (EXIF) how to turn it; asked with an upright copy",
    "unanswerable-without-answer": "no reference answer where none is needed; asked",
    "unknown-category": "a category nobody knows, so that no rubric fits; row left out",
}
"""Kind of defect to what it is and what is done about it."""

LEFT_OUT = frozenset(kind for kind, done in DEFECTS.items() if done.endswith("row left out"))
"""Kinds for which a row cannot be asked or judged."""


_NOTHING = frozenset({"<na>", "n/a", "nan", "none", "null"})


def says_nothing(background: str) -> bool:
    """Say whether a background is only a program's word for an empty cell.

    Of no other column: `N/A` may be an answer.

    Example:
        >>> [says_nothing(text) for text in ("nan", " N/A ", "None of the funds pays out.", "")]
        [True, True, False, False]
    """
    return background.strip().casefold() in _NOTHING


def text_defects(record: Record, category: str | None) -> Iterator[tuple[str, str]]:
    """Yield kind and detail of what is odd about a row, its picture aside."""
    cells = record.cells
    lacking = list(cells)[record.surplus :] if record.surplus < 0 else []
    if record.surplus > 0 or not set(lacking) <= set(OPTIONAL):
        yield "cell-count", f"{len(cells) + record.surplus} of {len(cells)} cells"
    if not cells["index"].strip():
        yield "empty-index", f"line {record.line}"
    if not cells["question"].strip():
        yield "empty-question", f"line {record.line}"
    if category is None:
        yield "unknown-category", cells["task_category"][:80]
    elif category != cells["task_category"]:
        yield "category-spelling", cells["task_category"][:80]
    if not cells["answer"].strip():
        unanswerable = category is not None and CATEGORIES[category].kind == "unanswerable"
        yield "unanswerable-without-answer" if unanswerable else "empty-answer", f"line {record.line}"
    for name in ("image_type", "image_style"):
        if not cells[name].strip():
            yield f"empty-{name.replace('_', '-')}", f"line {record.line}"
    if says_nothing(cells.get("background", "")):
        yield "background-says-nothing", cells["background"].strip()
