"""A row of MME-Finance, and the names its rows are counted by."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

__all__ = ["CATEGORIES", "IMAGE_STYLES", "IMAGE_TYPES", "LANGUAGES", "Category", "Kind", "Language", "Row"]

Language = Literal["en", "zh"]
Kind = Literal["objective", "calculation", "estimation", "subjective", "unanswerable"]

LANGUAGES: tuple[Language, ...] = ("en", "zh")


@dataclass(frozen=True, kw_only=True)
class Category:
    """A task category (paper, section 3.1 and Table 1).

    Attributes:
        name: As in the files' column `task_category`.
        short: The paper's abbreviation.
        ability: `perception`, `reasoning`, `cognition` or `hallucination`.
        kind: How answers are graded.
        rows: Rows in the published files, by language.
    """

    name: str
    short: str
    ability: str
    kind: Kind
    rows: Mapping[Language, int]


def _category(name: str, short: str, ability: str, kind: Kind, en: int, zh: int) -> Category:
    return Category(name=name, short=short, ability=ability, kind=kind, rows={"en": en, "zh": zh})


CATEGORIES: Mapping[str, Category] = {
    category.name: category
    for category in (
        _category("Image Caption", "IC", "perception", "subjective", 164, 144),
        _category("OCR", "OCR", "perception", "objective", 178, 182),
        _category("Entity Recognition", "ER", "perception", "objective", 163, 148),
        _category("Spatial Awareness", "SA", "perception", "objective", 229, 166),
        _category("Accurate Numerical Calculation", "ANC", "reasoning", "calculation", 133, 126),
        _category("Numerical Calculation", "ENC", "reasoning", "estimation", 42, 32),
        _category("Risk Warning", "RW", "cognition", "subjective", 22, 37),
        _category("Investment Advice", "IA", "cognition", "subjective", 53, 91),
        _category("Explain Reason", "RE", "cognition", "subjective", 18, 13),
        _category("Financial Knowledge", "FQA", "cognition", "subjective", 147, 144),
        _category("Not Applicable", "NA", "hallucination", "unanswerable", 22, 20),
    )
}
"""The categories in the paper's order, by their name in the files."""

IMAGE_TYPES = (
    "candlestick chart",
    "technical indicator chart",
    "statistical chart",
    "table",
    "document",
    "mixed chart",
)
"""Our names; those of a file are kept as they are."""

IMAGE_STYLES = (
    "computer screenshot",
    "mobile photograph",
    "vertical screenshot on mobile",
    "horizontal screenshot on mobile",
)
"""As above."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A question about a picture.

    Attributes:
        index: As in the file.
        question: As in the file.
        answer: The reference answer.
        image_path: The picture.
        category: A key of `CATEGORIES`.
        image_type: As in the file.
        image_style: As in the file.
        background: What else the model is told; empty where nothing.
        truth: The exact truth as JSON (`exact.Truth`), in sets that were built here; empty elsewhere.
    """

    index: str
    question: str
    answer: str
    image_path: Path
    category: str
    image_type: str = ""
    image_style: str = ""
    background: str = ""
    truth: str = ""
