"""Published figures: the paper's tables and later rows of the authors' README, with their date and their doubts."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from fin_tasks.benchmarks.mme_finance.score import IMAGE_STYLES, IMAGE_TYPES
from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["IMPLIED_ROWS", "PUBLISHED", "Figure", "published"]

PUBLISHED = Path(__file__).with_name("published.csv")

IMPLIED_ROWS: Mapping[str, Mapping[str, int]] = {
    "en": dict(zip((*IMAGE_TYPES, *IMAGE_STYLES), (143, 176, 291, 262, 278, 21, 554, 474, 66, 77), strict=True)),
    "zh": dict(zip((*IMAGE_TYPES, *IMAGE_STYLES), (140, 181, 202, 248, 270, 62, 422, 448, 161, 72), strict=True)),
}
"""Rows by image type and style, which the paper draws without numbers: only these make its scores whole points."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One printed figure; `unreliable` if it contradicts others, as `note` says."""

    source: str
    date: str
    table: str
    model: str
    model_kind: str  # open or proprietary
    language: str
    not_applicable: str  # a model may decline in its `own_category` or `everywhere`
    judge: str  # empty if not stated
    by: str  # overall, category, image_type, image_style or judge
    name: str
    metric: str  # score (0 to 100), spearman or mean_absolute_difference (points of 5)
    value: float
    unreliable: bool
    note: str


def published(**wanted: str) -> tuple[Figure, ...]:
    """Return the figures whose fields have the wanted values, in the order of the tables.

    Example:
        >>> [figure.value for figure in published(table="2", model="GPT-4o", by="overall")]
        [63.18]
    """
    table = _table()
    for name, value in wanted.items():
        known = sorted(set(_table().get(name, ())))
        if value not in known:
            raise ConfigError(f"published figures, {name}: expected one of {', '.join(known) or '-'}, got {value!r}.")
        table = table[table[name] == value]
    return tuple(
        Figure(**{**row, "value": float(row["value"]), "unreliable": row["unreliable"] == "yes"})
        for row in table.to_dict("records")
    )


@lru_cache(maxsize=1)
def _table() -> "pd.DataFrame":
    import pandas as pd

    return pd.read_csv(PUBLISHED, dtype=str, keep_default_na=False)
