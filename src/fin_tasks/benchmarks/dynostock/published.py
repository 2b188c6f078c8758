"""The figures the paper on behavioral biases prints, and those its authors put beside their recordings.

`published.csv` beside this module holds one figure per row: Table 1 as printed, mean and population standard deviation
over five window sizes, and the counts of three models' recordings of recency, as percentages. What does not agree among
them has a note.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fin_tasks.data.printed_figures import FigureFile, FigureRow

__all__ = ["PUBLISHED", "Figure", "published", "read_figures"]

PUBLISHED = Path(__file__).with_name("published.csv")

_ALLOWED: Mapping[str, tuple[str, ...]] = {
    "source": ("paper", "repository"),
    "table": ("", "1"),
    "bias": ("recency", "authority"),
    "window": ("", "4", "8", "12", "16", "20"),
    "metric": ("acc", "acc_std", "bias_index", "bias_index_std"),
}


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
    return _FILE.ask(wanted)


def read_figures(path: Path) -> tuple[Figure, ...]:
    """Read and check a file of figures.

    Raises:
        DataError: It cannot be read, lacks a column, has a cell that is not allowed there, or one figure twice.
    """
    return _FILE.read(path)


def _figure(row: FigureRow) -> Figure:
    row.check(_ALLOWED)
    if not row.cells["model"]:
        raise row.error("model", "a name")
    return Figure(value=row.number(high=100), **{name: row.cells[name] for name in (*_FILE.names, "note")})


_FILE = FigureFile(path=PUBLISHED, kind=Figure, parse=_figure)
