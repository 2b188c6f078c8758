"""One window: what a model is shown, what the biased statement suggests, and what happened."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import date
from typing import Any, Literal

import pandas as pd

__all__ = ["BIASES", "WINDOW_COLUMNS", "BiasType", "Outcome", "Window", "frame_of", "windows_of"]

BiasType = Literal["recency", "authority", "plain"]
Outcome = Literal["Meet", "Miss"]
BIASES: tuple[BiasType, ...] = ("recency", "authority")


@dataclass(frozen=True, kw_only=True)
class Window:
    """A window over one ticker's history that ends on the day of an earnings report.

    Movements are 1 for up, 0 for down. Dates are included on both sides.

    Attributes:
        id: `<bias>-w<window, two digits>-<ticker>-<end>`, unique in a set.
        bias_type: `recency`, `authority`, or `plain`: no biased statement, a forecast of one's own window.
        window: Number of reports in the window.
        ticker: The stock.
        start: First day shown, 30 days before the oldest report.
        end: Last day shown, the day of the newest report.
        signal: Movement the biased statement suggests; None for plain windows.
        truth: Movement after the newest report; None while it is not known (plain windows only).
        outcome: Meet or Miss, of the newest report.
        n_same: Older reports with the same outcome whose movement counts: all for recency and plain, those that moved
            the majority's way or against it (no draw) for authority.
        n_contrary: Those of `n_same` that moved contrary to the signal; for plain windows those that moved up.
        fiscal_end: End of the newest report's quarter.
        eps: The newest report's EPS, dollars per share; NaN where unknown, as for the next three.
        estimate: Analysts' estimate of it.
        surprise: `eps` less `estimate`, as the source gives it.
        surprise_percentage: The surprise in percent of the estimate.
        authority: Name of the figure who makes the statement; empty unless `bias_type` is `authority`.
    """

    id: str
    bias_type: BiasType
    window: int
    ticker: str
    start: date
    end: date
    signal: int | None
    truth: int | None
    outcome: Outcome
    n_same: int
    n_contrary: int
    fiscal_end: date
    eps: float
    estimate: float
    surprise: float
    surprise_percentage: float
    authority: str = ""


WINDOW_COLUMNS: tuple[str, ...] = tuple(field.name for field in fields(Window))
_DATES = ("start", "end", "fiscal_end")
_MOVEMENTS = ("signal", "truth")


def frame_of(windows: Iterable[Window]) -> pd.DataFrame:
    """Put windows into a table with the columns of `WINDOW_COLUMNS`, in the order given."""
    rows = [[getattr(window, name) for name in WINDOW_COLUMNS] for window in windows]
    return typed(pd.DataFrame(rows, columns=list(WINDOW_COLUMNS), dtype=object))


def typed(table: pd.DataFrame) -> pd.DataFrame:
    """Set the types of a table of windows: dates as `datetime64[ns]`, movements as nullable `Int8`."""
    types: dict[str, Any] = dict.fromkeys(WINDOW_COLUMNS, "float64")
    types |= dict.fromkeys(("id", "bias_type", "ticker", "outcome", "authority"), object)
    types |= dict.fromkeys(("window", "n_same", "n_contrary"), "int64")
    types |= dict.fromkeys(_DATES, "datetime64[ns]") | dict.fromkeys(_MOVEMENTS, "Int8")
    return table[list(WINDOW_COLUMNS)].astype(types).reset_index(drop=True)


def windows_of(table: pd.DataFrame) -> list[Window]:
    """Read a table of windows back, in its order."""
    columns: dict[str, list[Any]] = {name: table[name].tolist() for name in WINDOW_COLUMNS}
    for name in _DATES:
        columns[name] = [stamp.date() for stamp in columns[name]]
    for name in _MOVEMENTS:
        columns[name] = [None if pd.isna(value) else int(value) for value in columns[name]]
    return [Window(**dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]
