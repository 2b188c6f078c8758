"""Real daily prices, as traded, of the package `bokeh-sampledata`: five stocks, the longest from 2000 to 2013."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

from fin_tasks.benchmarks.mme_finance.row import Language
from fin_tasks.benchmarks.mme_finance.scene_making.wording import Words
from fin_tasks.benchmarks.mme_finance.scenes import Prices
from fin_tasks.resources import stock_prices_file

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SPLITS", "Window", "choose_window", "stretches"]

NAMES: Mapping[str, Words] = {
    "AAPL": Words("Apple Inc.", "苹果公司"),
    "FB": Words("Facebook Inc.", "脸书"),
    "GOOG": Words("Google Inc.", "谷歌"),
    "IBM": Words("International Business Machines", "国际商业机器"),
    "MSFT": Words("Microsoft Corp.", "微软公司"),
}

SPLITS: Mapping[str, tuple[str, ...]] = {"AAPL": ("2000-06-21", "2005-02-28"), "MSFT": ("2003-02-18",)}
"""First days after a split, within the file; no window crosses one, as its candles would show a fall that was none."""

_WARM_UP = 120
"""Days before a window: exponential averages have forgotten their start by then (26 days: 0.01 % of it is left)."""


@dataclass(frozen=True)
class Window:
    """Some days of a stock, with those before them that averages and indicators need.

    Attributes:
        symbol: Ticker.
        frame: `open`, `high`, `low`, `close`, `volume` by day, the days before included.
        length: How many days at the end are shown.
    """

    symbol: str
    frame: "pd.DataFrame"
    length: int

    def prices(self, language: Language) -> Prices:
        """Return the days shown."""
        shown = self.frame.iloc[-self.length :]
        figures = {name: tuple(float(value) for value in shown[name]) for name in ("open", "high", "low", "close")}
        return Prices(
            symbol=self.symbol,
            name=NAMES[self.symbol].of(language),
            days=tuple(date.fromisoformat(str(day)[:10]) for day in shown.index),
            volume=tuple(int(value) for value in shown["volume"]),
            **figures,
        )


def choose_window(random: Random, *, shortest: int, longest: int) -> Window:
    """Choose a stock, and `shortest` to `longest` of its days."""
    choices = stretches()
    stretch = random.choices(range(len(choices)), weights=[len(frame) for _, frame in choices])[0]
    symbol, frame = choices[stretch]
    length = random.randint(shortest, longest)
    end = random.randint(min(_WARM_UP + length, len(frame)), len(frame))
    return Window(symbol, frame.iloc[:end], length)


@lru_cache(maxsize=1)
def stretches() -> tuple[tuple[str, "pd.DataFrame"], ...]:
    """Return each stock's prices in cents between splits, where there are days enough for a window.

    Raises:
        ConfigError: `bokeh-sampledata` is not installed.
        DataError: Its file is another one than ours was made for.
    """
    import pandas as pd

    path = stock_prices_file()
    table = pd.read_csv(path, parse_dates=["Date"]).rename(columns=str.lower)
    found_stretches = []
    for symbol, rows in table.groupby("ticker", sort=True):
        # some have more places than a cent, which no quote page shows; rounding keeps low <= open, close <= high
        frame = rows.set_index("date")[["open", "high", "low", "close", "volume"]].round(2)
        edges = [pd.Timestamp.min, *map(pd.Timestamp, SPLITS.get(str(symbol), ())), pd.Timestamp.max]
        for start, end in pairwise(edges):
            stretch = frame[(frame.index >= start) & (frame.index < end)]
            if len(stretch) > _WARM_UP + 60:
                found_stretches.append((str(symbol), stretch))
    return tuple(found_stretches)
