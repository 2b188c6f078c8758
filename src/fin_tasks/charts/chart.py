"""What a chart shows: prices and earnings reports of one ticker and period."""

import hashlib
import re
from dataclasses import dataclass
from datetime import date
from typing import Literal, NamedTuple

import pandas as pd

from fin_tasks.errors import ConfigError, DataError

RENDERER = 3
"""Version of the pictures; raise it when they change, so that charts on the disk are drawn again."""

Style = Literal["house", "paper"]
PIXELS = 2048
"""Width of a house chart; models shrink larger pictures."""
CANDLE = ["open", "high", "low", "close"]


class Mark(NamedTuple):
    """A day with a triangle: a report (`meet` or `miss`, with its surprise) or a fiscal end."""

    day: pd.Timestamp
    kind: Literal["meet", "miss", "fiscal"]
    surprise: float | None = None


@dataclass(kw_only=True, eq=False)
class Chart:
    """The content of a chart; prices and reports before `start` or after `end` are cut off.

    Attributes:
        prices: Indexed by date: open, high, low, close, volume; days without a candle are dropped.
        reports: The columns `reported` and `fiscal_end` (dates) and `surprise` (dollars per share).
        style: `paper` draws as the authors of DynoStock did.
        pixels: Width of a house chart, which is twice its height.
    """

    ticker: str
    start: date
    end: date
    prices: pd.DataFrame
    reports: pd.DataFrame
    style: Style = "house"
    pixels: int = PIXELS

    def __post_init__(self) -> None:
        if self.style not in ("house", "paper") or not 256 <= self.pixels <= 8192:
            expected = "house or paper, and 256 to 8192 pixels"
            raise ConfigError(
                f"chart: expected {expected}, got {self.style!r}, {self.pixels}."
            )
        first = pd.Timestamp(self.start)
        last = pd.Timestamp(self.end)
        prices = self.prices.loc[first:last, [*CANDLE, "volume"]].dropna(subset=CANDLE)
        self.prices = prices.fillna({"volume": 0.0}).astype(float)
        self.reports = self.reports[self.reports["reported"].between(first, last)]
        if self.prices.empty:
            period = f"from {self.start} to {self.end}"
            raise DataError(
                f"chart of {self.ticker}: expected candles {period}, found none."
            )

    @property
    def marks(self) -> list[Mark]:
        """Reports with a known surprise, and fiscal ends from `start` to `end`, oldest first."""
        marks = []
        known = self.reports.dropna(subset="surprise")
        for day, surprise in zip(
            known["reported"], known["surprise"].astype(float), strict=True
        ):
            marks.append(Mark(day, "meet" if surprise >= 0 else "miss", surprise))
        for day in (
            pd.to_datetime(self.reports["fiscal_end"]).dropna().drop_duplicates()
        ):
            if self.start <= day.date() <= self.end:
                marks.append(Mark(day, "fiscal"))
        return sorted(marks, key=lambda mark: mark.day)

    @property
    def stem(self) -> str:
        """Ticker and days, as the start of a file name that every file system allows."""
        ticker = re.sub(r"[^A-Za-z0-9_-]+", "-", self.ticker).strip("-_")
        return f"{ticker[:40] or 'chart'}_{self.start}_{self.end}"

    @property
    def file_name(self) -> str:
        """The stem and a hash of everything that the picture depends on."""
        prices = self.prices.to_csv()
        facts = [
            RENDERER,
            self.ticker,
            self.stem,
            self.style,
            self.pixels,
            self.marks,
            prices,
        ]
        digest = hashlib.sha256(repr(facts).encode())
        return f"{self.stem}_{digest.hexdigest()[:12]}.png"
