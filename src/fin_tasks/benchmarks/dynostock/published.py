"""The figures the paper on behavioral biases prints, and those its authors put beside their recordings.

`published.csv` beside this module holds one figure per row: Table 1 as printed, mean and population standard deviation
over five window sizes, and the counts of three models' recordings of recency, as percentages. What does not agree among
them has a note.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PUBLISHED", "Figure", "published"]

PUBLISHED = Path(__file__).with_name("published.csv")


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure.

    Attributes:
        source: `paper`, or `repository` for what stands beside the authors' recordings.
        table: Number of the table; empty outside the paper.
        model: Name as in the paper.
        bias: `recency` or `authority`.
        window: Reports in a window; empty for what is over all sizes.
        metric: `acc`, `bias_index`, or either with `_std` for its population standard deviation over sizes.
        value: Percentage, or percentage points for a deviation.
        note: What a reader must know about it; mostly empty.
    """

    source: str
    table: str
    model: str
    bias: str
    window: str
    metric: str
    value: float
    note: str


def published(**wanted: str) -> tuple[Figure, ...]:
    """Return the published figures, in the order of the table.

    Args:
        **wanted: Field of `Figure`, other than `value` and `note`, to the value it must have.

    Raises:
        ConfigError: A field does not exist, or no figure at all has that value.

    Example:
        >>> [figure.value for figure in published(model="GPT-4o", bias="recency", window="")]
        [58.4, 5.2, 1.9, 1.6]
    """
    table = _table()
    for name, value in wanted.items():
        known = [] if name in ("value", "note") else list(dict.fromkeys(_table().get(name, ())))
        if value not in known:
            raise ConfigError(
                f"published figures, {name}: expected one of {', '.join(known) or 'no values'}, got {value!r}."
            )
        table = table[table[name] == value]
    rows = table.assign(value=table["value"].astype(float)).to_dict("records")
    return tuple(Figure(**{str(name): cell for name, cell in row.items()}) for row in rows)


@lru_cache(maxsize=1)
def _table() -> "pd.DataFrame":
    import pandas as pd

    return pd.read_csv(PUBLISHED, dtype=str, keep_default_na=False)
