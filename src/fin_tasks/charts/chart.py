"""What a chart shows: prices and earnings reports of one ticker and period."""

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Literal, NamedTuple

import pandas as pd

from fin_tasks.errors import ConfigError, DataError

Style = Literal["house", "paper"]
RENDERERS: Mapping[Style, int] = {"house": 3, "paper": 4}
"""Version of the pictures; raise it when they change, so that charts on the disk are drawn again."""
PIXELS = 2048
"""Width of a house chart; models shrink larger pictures."""
CANDLE_AGGREGATION = {"open": "first", "high": "max", "low": "min", "close": "last"}
"""How the candle of a week or month is made of those of its days, by column."""
CANDLE_COLUMNS = list(CANDLE_AGGREGATION)
_USUAL_CURRENCY = "USD"
"""Charts in this currency keep the names that they have had before there were others."""

Kind = Literal["meet", "miss", "fiscal"]


class Mark(NamedTuple):
    """A day that gets a triangle: a report (`meet` or `miss`, with its surprise) or a fiscal end."""

    day: pd.Timestamp
    kind: Kind
    surprise: float | None = None


@dataclass(kw_only=True, eq=False)
class Chart:
    """The content of a chart; prices and reports before `start` or after `end` are cut off.

    Attributes:
        prices: Indexed by date: open, high, low, close, volume; days without a candle are dropped.
        reports: The columns `reported` and `fiscal_end` (dates) and `surprise` (dollars per share).
        style: `paper` draws as the authors of DynoStock did.
        pixels: Width of a house chart, which is twice its height.
        currency: That of the prices; empty if it is not known.
    """

    ticker: str
    start: date
    end: date
    prices: pd.DataFrame
    reports: pd.DataFrame
    style: Style = "house"
    pixels: int = PIXELS
    currency: str = _USUAL_CURRENCY

    def __post_init__(self) -> None:
        if not 256 <= self.pixels <= 8192:
            raise ConfigError(f"chart: expected 256 to 8192 pixels, got {self.pixels}.")
        first = pd.Timestamp(self.start)
        last = pd.Timestamp(self.end)
        prices = self.prices.loc[first:last, [*CANDLE_COLUMNS, "volume"]].dropna(
            subset=CANDLE_COLUMNS
        )
        volume = prices["volume"].fillna(0.0)
        volume = volume if volume.any() else math.nan
        self.prices = prices.assign(volume=volume).astype(float)
        self.reports = self.reports[self.reports["reported"].between(first, last)]
        if self.prices.empty:
            raise DataError(f"chart of {self.stem}: expected candles, found none.")

    @property
    def has_volumes(self) -> bool:
        """Whether any volume is known; without one there is no panel of volumes."""
        return bool(self.prices["volume"].notna().any())

    @property
    def marks(self) -> list[Mark]:
        """Reports with a known surprise, and fiscal ends from `start` to `end`, oldest first."""
        marks = []
        known = self.reports[self.reports["surprise"].notna()]
        for day, surprise in zip(known["reported"], known["surprise"], strict=True):
            kind: Kind = "meet" if surprise >= 0 else "miss"
            marks.append(Mark(day, kind, surprise))
        ends = pd.to_datetime(self.reports["fiscal_end"]).drop_duplicates()
        is_shown = ends.between(pd.Timestamp(self.start), pd.Timestamp(self.end))
        marks += [Mark(day, "fiscal") for day in ends[is_shown]]
        return sorted(marks, key=lambda mark: mark.day)

    @property
    def stem(self) -> str:
        """Ticker, first and last day: the start of a file name that every file system allows."""
        ticker = re.sub(r"[^A-Za-z0-9_-]+", "-", self.ticker).strip("-_")
        return f"{ticker}_{self.start}_{self.end}"

    @cached_property
    def file_name(self) -> str:
        """The stem and a hash of everything that the picture depends on."""
        facts = [
            RENDERERS[self.style],
            self.ticker,
            self.stem,
            self.style,
            self.pixels,
            self.marks,
            self.prices.to_csv(),
        ]
        if self.currency != _USUAL_CURRENCY:
            facts.append(self.currency)
        digest = hashlib.sha256(repr(facts).encode())
        return f"{self.stem}_{digest.hexdigest()[:12]}.png"
