"""Prices and reports of all tickers as arrays, and every run of reports that could be a window.

Days count from 1970-01-01; movements are 1 (up), 0 (down) and -1 (not known).
"""

from datetime import date

import numpy as np
import numpy.typing as npt
import pandas as pd

from fin_tasks.benchmarks.dynostock.market import Market

AFTER = 8
"""Days after a report whose mean close is compared with as many days up to it."""

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_BEFORE = 30  # days shown before the oldest report
_STRIDE = 1 << 32  # more days than between any two dates of a ticker
_TIE = 1e-13
"""Means that differ by this share are equal, as of 0.1 and 0.3 with 0.2 and 0.2."""


def day_number(day: date) -> int:
    """Return the days since 1970-01-01."""
    return (day - date(1970, 1, 1)).days


def day_numbers(days: pd.Series) -> Ints:
    """Return the days since 1970-01-01 of a column of dates."""
    numbers = days.to_numpy().astype("datetime64[D]").astype(np.int64)
    return np.asarray(numbers)


class Prices:
    """Closes and candles by ticker (its place in `tickers`) and day, to look up many places at once."""

    def __init__(self, market: Market) -> None:
        table = market.prices
        codes, names = pd.factorize(table["ticker"], sort=True)
        days = day_numbers(table["date"])
        self.tickers = pd.Index(names, dtype=object)
        self.closes = table["close"].to_numpy()
        self.keys = codes * _STRIDE + days
        is_closed = np.isfinite(self.closes)
        self.calendar = np.unique(days[is_closed])
        is_candle = table[["low", "high"]].notna().all(axis=1).to_numpy()
        # A file may hold nothing but closes.
        has_candles = np.isin(codes, np.unique(codes[is_candle]))
        is_drawn = np.where(has_candles, is_candle, is_closed)
        self.drawn = self.keys[is_drawn & np.isin(days, self.calendar)]

    def movements(self, tickers: Ints, days: Ints) -> npt.NDArray[np.int8]:
        """Compare the mean close of [d+1, d+8] with that of [d-7, d], in calendar days; up if after >= before."""
        before = self._mean_closes(tickers, days - AFTER + 1)
        after = self._mean_closes(tickers, days + 1)
        is_unknown = np.isnan(before) | np.isnan(after)
        is_up = after >= before * (1 - _TIE)
        return np.where(is_unknown, -1, is_up).astype(np.int8)

    def gaps(self, tickers: Ints, days: Ints) -> Ints:
        """Count the trading days up to each day without a candle; right up to a constant for each ticker."""
        n_drawn = np.searchsorted(self.drawn, tickers * _STRIDE + days, side="right")
        n_days = np.searchsorted(self.calendar, days, side="right")
        return np.asarray(n_days - n_drawn)

    def _mean_closes(self, tickers: Ints, first_days: Ints) -> npt.NDArray[np.float64]:
        """Return the mean close of the 8 days from each first day on; NaN without a close."""
        first_keys = tickers * _STRIDE + first_days
        rows = np.searchsorted(self.keys, first_keys)[:, None] + np.arange(AFTER)
        is_inside = rows < len(self.keys)
        rows = np.minimum(rows, len(self.keys) - 1)
        closes = self.closes[rows]
        is_inside &= self.keys[rows] < (first_keys + AFTER)[:, None]
        is_inside &= np.isfinite(closes)
        n = is_inside.sum(axis=1)
        total = np.where(is_inside, closes, 0.0).sum(axis=1)
        return np.asarray(
            np.divide(
                total,
                n,
                out=np.full(len(n), np.nan),
                where=n > 0,
            )
        )


class Reports:
    """The reports between the first and the last trading day, and the movements after them."""

    def __init__(self, market: Market) -> None:
        prices = Prices(market)
        self.last_day = prices.calendar[-1]
        day = day_numbers(market.reports["reported"])
        has_prices = market.reports["ticker"].isin(prices.tickers).to_numpy()
        is_priced = has_prices & (day >= prices.calendar[0]) & (day <= self.last_day)
        self.table = market.reports[is_priced].reset_index(drop=True)
        self.day = day[is_priced]
        self.ticker = prices.tickers.get_indexer(self.table["ticker"]).astype(np.int64)
        self.is_known = self.table["surprise"].notna().to_numpy()
        self.is_meet = self.table["surprise"].to_numpy() >= 0
        self.movement = prices.movements(self.ticker, self.day)
        self.gaps_before = prices.gaps(self.ticker, self.day - _BEFORE - 1)
        self.gaps_until = prices.gaps(self.ticker, self.day)


class Runs:
    """Every run of `size` consecutive reports of one ticker, newest first: the candidates."""

    def __init__(self, reports: Reports, size: int) -> None:
        ends = np.arange(size - 1, len(reports.day))
        ends = ends[reports.ticker[ends] == reports.ticker[ends - size + 1]]
        rows = ends[:, None] - np.arange(size)
        oldest = rows[:, -1]
        is_meet = reports.is_meet[rows]
        self.size = size
        self.newest = ends
        self.start = reports.day[oldest] - _BEFORE
        self.truth = reports.movement[ends]
        self.is_similar = is_meet[:, 1:] == is_meet[:, :1]
        self.past_moves = reports.movement[rows[:, 1:]]
        self.n_same = self.is_similar.sum(axis=1)
        is_twin = (np.diff(reports.ticker) == 0) & (np.diff(reports.day) == 0)
        has_twin = np.append(is_twin, False)[ends]
        distance = reports.day[ends] - reports.day[rows[:, 1]]
        self.flaws = {
            "unknown-surprise": ~reports.is_known[rows].all(axis=1),
            "missing-prices": reports.gaps_until[ends] > reports.gaps_before[oldest],
            # The movement after the report before would tell of days after the window's end.
            "reports-too-close": (distance < AFTER) | has_twin,
        }
        self.is_pending = reports.day[ends] + AFTER > reports.last_day
