"""What a chart shows, apart from how it is drawn."""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from typing import Literal, get_args

import numpy as np
import pandas as pd

from fin_tasks.errors import ConfigError, DataError

__all__ = ["CANDLE_COLUMNS", "RENDERER", "ChartSpec", "Mark", "MarkKind"]

RENDERER = 1
"""Version of our drawing code; part of every key, so count it up whenever a picture changes."""

CANDLE_COLUMNS = ("open", "high", "low", "close", "volume")

MarkKind = Literal["meet", "miss", "fiscal"]

_SMALLEST = (7.5, 4.0)  # inches in which title, legend, labels and both panels find room
_LARGEST = 2**16 - 1  # pixels of a side, a limit of Agg


@dataclass(frozen=True, order=True)
class Mark:
    """A day that carries a triangle and a label.

    Attributes:
        date: The day; it need not be a trading day.
        kind: `meet` and `miss` point down at the prices from above, `fiscal` points up from below.
        label: Text beside the triangle; lines are split at a newline.
    """

    date: date
    kind: MarkKind
    label: str


@dataclass(frozen=True, kw_only=True, eq=False)
class ChartSpec:
    """Everything a picture depends on. Two specs with the same `key` give the same bytes.

    Attributes:
        title: Title; should name the ticker.
        stem: Readable start of the file's name; no part of the picture.
        prices: One row per trading day, indexed by date, oldest first: `open`, `high`, `low`, `close`, `volume`, or
            `close` alone. Rows with an unknown figure are left out of the picture.
        marks: Days to mark, in any order.
        width: Width in inches.
        height: Height in inches.
        dpi: Pixels per inch.

    Raises:
        DataError: The prices are not such a table, or none of them is known.
        ConfigError: The picture would be too small for its parts or too large to draw.
    """

    title: str
    stem: str
    prices: pd.DataFrame
    marks: tuple[Mark, ...] = ()
    width: float = 10.0
    height: float = 6.0
    dpi: int = 300

    def __post_init__(self) -> None:
        _check_prices(self.title, self.prices)
        for mark in self.marks:
            if mark.kind not in get_args(MarkKind):
                raise DataError(
                    f"chart {self.title!r}: expected marks of the kinds {', '.join(get_args(MarkKind))}, "
                    f"got {mark.kind!r}."
                )
        if not (self.width >= _SMALLEST[0] and self.height >= _SMALLEST[1] and self.dpi >= 1):
            raise ConfigError(
                f"chart {self.title!r}: expected at least {_SMALLEST[0]:g} by {_SMALLEST[1]:g} inches and 1 dpi, "
                f"got {self.width:g} by {self.height:g} inches at {self.dpi} dpi."
            )
        if max(self.pixels) > _LARGEST:
            raise ConfigError(
                f"chart {self.title!r}: expected at most {_LARGEST} pixels a side, "
                f"got {self.pixels[0]} by {self.pixels[1]}. Lower the dpi."
            )

    @property
    def has_candles(self) -> bool:
        """Whether there are open, high, low and volume beside the close."""
        return "low" in self.prices.columns

    @property
    def pixels(self) -> tuple[int, int]:
        """Width and height of the picture in pixels."""
        return round(self.width * self.dpi), round(self.height * self.dpi)

    @property
    def safe_stem(self) -> str:
        """The stem, as far as every file system allows it: tickers come from strangers' files.

        Example:
            >>> prices = pd.DataFrame({"close": [1.0]}, index=pd.to_datetime(["2009-03-24"]))
            >>> ChartSpec(title="BRK/B", stem="../BRK/B", prices=prices).safe_stem
            'BRK-B'
        """
        return re.sub(r"[^A-Za-z0-9_-]+", "-", self.stem).strip("-_")[:80] or "chart"

    @property
    def file_name(self) -> str:
        """Name of the picture's file: the stem and the start of the key."""
        return f"{self.safe_stem}_{self.key()[:12]}.png"

    def key(self) -> str:
        """Return the SHA-256, in hex, of all that the picture depends on, the drawing code's versions among it."""
        # a plain list of plain values has one JSON text; float64 as bytes, with one NaN of the many there are
        head = {
            "title": self.title,
            "size": [*self.pixels, self.dpi],
            "marks": sorted([mark.date.isoformat()[:10], mark.kind, mark.label] for mark in self.marks),
            "columns": list(self.prices.columns),
            "drawn_by": [RENDERER, *(version(name) for name in ("matplotlib", "mplfinance"))],
        }
        digest = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
        digest.update(self.prices.index.to_numpy().astype("datetime64[ns]").astype("<i8").tobytes())
        values = self.prices.to_numpy(dtype="<f8")
        digest.update(np.where(np.isnan(values), np.nan, values).tobytes())
        return digest.hexdigest()


def _check_prices(title: str, prices: pd.DataFrame) -> None:
    columns: Iterable[str] = map(str, prices.columns)
    if tuple(columns) not in (CANDLE_COLUMNS, ("close",)):
        raise DataError(
            f"chart {title!r}: expected the price columns {', '.join(CANDLE_COLUMNS)}, or close alone, "
            f"got {', '.join(map(str, prices.columns)) or 'none'}."
        )
    index = prices.index
    if not isinstance(index, pd.DatetimeIndex) or index.tz is not None:
        raise DataError(f"chart {title!r}: expected prices indexed by dates without a zone, got {index.dtype}.")
    if index.hasnans or not index.is_monotonic_increasing or not index.is_unique:
        raise DataError(f"chart {title!r}: expected one row per day, oldest first; sort the prices and drop doubles.")
    if not np.isfinite(prices.drop(columns="volume", errors="ignore").to_numpy(dtype=float)).all(axis=1).any():
        raise DataError(f"chart {title!r}: expected at least one day with known prices, got none of {len(prices)}.")
