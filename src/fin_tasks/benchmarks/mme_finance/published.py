"""The figures the MME-Finance paper prints: models' scores, and how well judges agree with people.

`published.csv` beside this module holds one figure per row, as printed, next to the table it stands in. What does not
add up among them is flagged there and listed in `docs/published_mme_finance.md`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from fin_tasks.benchmarks.mme_finance.row import IMAGE_STYLES, IMAGE_TYPES, Language
from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["IMPLIED_ROWS", "PUBLISHED", "UNRELIABLE_ELSEWHERE", "Figure", "published"]

PUBLISHED = Path(__file__).with_name("published.csv")

IMPLIED_ROWS: Mapping[Language, Mapping[str, int]] = {
    "en": dict(zip((*IMAGE_TYPES, *IMAGE_STYLES), (143, 176, 291, 262, 278, 21, 554, 474, 66, 77), strict=True)),
    "zh": dict(zip((*IMAGE_TYPES, *IMAGE_STYLES), (140, 181, 202, 248, 270, 62, 422, 448, 161, 72), strict=True)),
}
"""Rows by image type and by image style. The paper draws them without numbers; these are the only ones that make the
printed scores whole numbers of points, and they add up to all rows."""

UNRELIABLE_ELSEWHERE: Mapping[tuple[str, Language], str] = {
    ("Qwen2.5VL-3B", "en"): "nine of eleven categories are those of Qwen2.5VL-7B",
    ("Qwen2.5VL-7B", "en"): "nine of eleven categories are those of Qwen2.5VL-3B",
    ("InternVL2-2B", "zh"): "this row and that of InternVL3-2B are in doubt; the paper's own row adds up",
    ("InternVL3-2B", "zh"): "this row and that of InternVL2-2B are in doubt",
}
"""Rows of the README in the authors' repository that are not to be compared with; their figures are not in our file."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One printed figure.

    Attributes:
        source: Where it is printed.
        table: Number of the table there.
        model: Whose responses were graded.
        model_kind: `open` or `proprietary`.
        language: `en` or `zh`.
        not_applicable: Where models are told that a question may have no answer: in its `own_category` or `everywhere`.
        judge: The model that graded.
        by: What `name` is one of: `overall`, `category`, `image_type`, `image_style`; `judge` for the tables on judges.
        name: `all`, the short name of a category, an image type or style, or how the judge was asked.
        metric: `score` (0 to 100), `spearman` or `mean_absolute_difference` (in points of 5).
        value: As printed.
        unreliable: It contradicts other figures.
        note: Why.
    """

    source: str
    table: str
    model: str
    model_kind: str
    language: str
    not_applicable: str
    judge: str
    by: str
    name: str
    metric: str
    value: float
    unreliable: bool
    note: str


def published(**wanted: str) -> tuple[Figure, ...]:
    """Return the published figures, in the order of the paper.

    Args:
        **wanted: Field of `Figure`, up to `metric`, to the value it must have.

    Raises:
        ConfigError: A field does not exist, or no figure at all has that value.

    Example:
        >>> [figure.value for figure in published(table="2", model="GPT-4o", by="overall")]
        [63.18]
    """
    table = _table()
    for name, value in wanted.items():
        known = [] if name in ("value", "note") else list(dict.fromkeys(_table().get(name, ())))
        if value not in known:
            raise ConfigError(
                f"published figures, {name}: expected one of {', '.join(known) or 'no values'}, got {value!r}."
            )
        table = table[table[name] == value]
    return tuple(
        Figure(**{**row, "value": float(row["value"]), "unreliable": row["unreliable"] == "yes"})
        for row in table.to_dict("records")
    )


@lru_cache(maxsize=1)
def _table() -> "pd.DataFrame":
    import pandas as pd

    return pd.read_csv(PUBLISHED, dtype=str, keep_default_na=False)
