"""The figures the paper on behavioral biases prints, and those its authors put beside their recordings.

`published.csv` beside this module holds one figure per row: Table 1 as printed, mean and population standard deviation
over five window sizes, and the counts of three models' recordings of recency, as percentages. What does not agree among
them has a note.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path

from fin_tasks.data.schema import Record, read_csv
from fin_tasks.errors import ConfigError, DataError

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


_COLUMNS = tuple(field.name for field in fields(Figure))
_KEY = _COLUMNS[:-2]


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
    figures = _all_figures()
    for name, value in wanted.items():
        if name not in _KEY:
            raise ConfigError(f"published figures: expected one of {', '.join(_KEY)} to ask by, got {name!r}.")
        known = dict.fromkeys(getattr(figure, name) for figure in figures)
        if value not in known:
            raise ConfigError(f"published figures, {name}: expected one of {', '.join(known)}, got {value!r}.")
    return tuple(f for f in figures if all(getattr(f, name) == value for name, value in wanted.items()))


def read_figures(path: Path) -> tuple[Figure, ...]:
    """Read and check a file of figures.

    Raises:
        DataError: It cannot be read, lacks a column, has a cell that is not allowed there, or one figure twice.
    """
    figures = tuple(_figure(path, record) for record in read_csv(path, columns=_COLUMNS).records)
    keys = [tuple(getattr(figure, name) for name in _KEY) for figure in figures]
    if twice := [key for key in dict.fromkeys(keys) if keys.count(key) > 1]:
        raise DataError(f"{path}: expected each figure once, got {', '.join(twice[0])} again. Remove one.")
    return figures


@lru_cache(maxsize=1)
def _all_figures() -> tuple[Figure, ...]:
    return read_figures(PUBLISHED)


def _figure(path: Path, record: Record) -> Figure:
    cells = record.cells
    for column, allowed in _ALLOWED.items():
        if cells[column] not in allowed:
            raise _cell_error(path, record, column, f"one of {', '.join(filter(None, allowed))}")
    if not cells["model"]:
        raise _cell_error(path, record, "model", "a name")
    try:
        value = float(cells["value"])
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:
        raise _cell_error(path, record, "value", "a percentage from 0 to 100")
    return Figure(value=value, **{column: cells[column] for column in _COLUMNS if column != "value"})


def _cell_error(path: Path, record: Record, column: str, expected: str) -> DataError:
    return DataError(
        f"{path}, line {record.line}, column {column}: expected {expected}, got {record.cells[column]!r}. "
        "Compare the line with the paper."
    )
