"""Prices of many tickers looked up at once, their reports, and every run of consecutive reports.

Arrays of days count from 1970-01-01; movements are 1 (up), 0 (down) and -1 (not known).
"""

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pandas as pd

from fin_tasks.benchmarks.dynostock.market import Market

__all__ = ["AFTER", "Prices", "Reports", "Runs", "day_numbers"]

AFTER = 8
"""Days after a report whose mean close is compared with as many days up to it."""
_BEFORE = 30  # days shown before the oldest report
_STRIDE = 1 << 32  # more days than between any two dates of a ticker

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]


class Prices:
    """Closes and candles by ticker and day, to look up many places at once; a ticker is its place in `tickers`."""

    def __init__(self, market: Market) -> None:
        table = market.prices
        codes, names = pd.factorize(table["ticker"], sort=True)
        days, self.closes = day_numbers(table["date"]), table["close"].to_numpy()
        self.tickers, self.keys = pd.Index(names, dtype=object), codes * _STRIDE + days
        drawn = closed = np.isfinite(self.closes)
        self.calendar = np.flatnonzero(np.bincount(days[closed] - (low := days.min()))) + low if len(days) else days
        if market.has_candles:
            candle = np.isfinite(table["low"].to_numpy()) & np.isfinite(table["high"].to_numpy())
            ever = np.bincount(codes[candle], minlength=len(names)) > 0
            drawn = np.where(ever[codes], candle, closed)
        self.drawn = self.keys[drawn & np.isin(days, self.calendar, kind="table")] if len(days) else self.keys

    def movements(self, tickers: _Ints, days: _Ints) -> npt.NDArray[np.int8]:
        """Compare the mean close of [d+1, d+8] with that of [d-7, d], in calendar days; up if after >= before.

        Means that float arithmetic cannot tell apart are compared as exact fractions of the prices as written.
        """
        before, after = (self._closes(tickers, first) for first in (days - (AFTER - 1), days + 1))
        mean_before, mean_after = _row_means(before), _row_means(after)
        up = mean_after >= mean_before
        near = abs(mean_after - mean_before) <= 1e-9 * (abs(mean_after) + abs(mean_before))
        for row in np.flatnonzero(near):
            up[row] = _exact_mean(after[row]) >= _exact_mean(before[row])
        known = ~(np.isnan(mean_before) | np.isnan(mean_after))
        return np.where(known, up, -1).astype(np.int8)

    def gaps(self, tickers: _Ints, days: _Ints) -> _Ints:
        """Count the trading days up to each day without a candle; right up to a constant for each ticker."""
        there = np.searchsorted(self.drawn, tickers * _STRIDE + days, side="right")
        return np.asarray(np.searchsorted(self.calendar, days, side="right") - there, dtype=np.int64)

    def _closes(self, tickers: _Ints, first: _Ints) -> _Floats:
        rows = np.searchsorted(self.keys, tickers * _STRIDE + first)[:, None] + np.arange(AFTER)
        inside = rows < len(self.keys)
        rows[~inside] = 0
        inside &= self.keys[rows] < (tickers * _STRIDE + first + AFTER)[:, None]
        closes = np.where(inside, self.closes[rows], np.nan)
        return np.where(np.isfinite(closes), closes, np.nan)


class Reports:
    """Reports of tickers with prices between the first and last trading day, by ticker and day."""

    def __init__(self, market: Market) -> None:
        prices, table = Prices(market), market.reports
        days = day_numbers(table["reported"])
        first, last = (prices.calendar[0], prices.calendar[-1]) if len(prices.calendar) else (1, 0)
        counts = table["ticker"].isin(prices.tickers).to_numpy() & (days >= first) & (days <= last)
        self.table, self.day, self.last_day = table[counts].reset_index(drop=True), days[counts], last
        self.names = self.table["ticker"].tolist()
        self.ticker = prices.tickers.get_indexer(self.table["ticker"]).astype(np.int64)
        self.is_known = self.table["surprise"].notna().to_numpy()
        self.is_meet = self.table["surprise"].to_numpy() >= 0
        self.movement = prices.movements(self.ticker, self.day)
        self.gaps_before = prices.gaps(self.ticker, self.day - _BEFORE - 1)
        self.gaps_until = prices.gaps(self.ticker, self.day)


class Runs:
    """Every run of `size` consecutive reports of one ticker, newest first: the candidates."""

    def __init__(self, reports: Reports, size: int) -> None:
        newest = np.arange(size - 1, len(reports.day))
        newest = newest[reports.ticker[newest] == reports.ticker[newest - size + 1]]
        self.size, self.rows = size, newest[:, None] - np.arange(size)
        oldest, end, is_meet = self.rows[:, -1], reports.day[newest], reports.is_meet[self.rows]
        self.start = reports.day[oldest] - _BEFORE
        self.past, self.past_moves = is_meet[:, 1:] == is_meet[:, :1], reports.movement[self.rows[:, 1:]]
        self.truth = reports.movement[newest]
        unknown = ~reports.is_known[self.rows].all(axis=1)
        lacks_prices = reports.gaps_until[newest] > reports.gaps_before[oldest]
        # the movement after a report this close would tell of days after the window's end
        twin = np.append((np.diff(reports.ticker) == 0) & (np.diff(reports.day) == 0), False)
        is_crowded = (end - reports.day[self.rows[:, 1]] < AFTER) | twin[newest]
        self.flaws = (unknown, lacks_prices, is_crowded)  # the first three of `windows.REASONS`
        self.is_pending = end + AFTER > reports.last_day


def day_numbers(dates: pd.Series) -> _Ints:
    """Count days from 1970-01-01."""
    days: _Ints = dates.to_numpy().astype("datetime64[D]").astype(np.int64)
    return days


def _row_means(values: _Floats) -> _Floats:
    known = ~np.isnan(values)
    means = np.full(len(values), np.nan)
    np.divide(np.where(known, values, 0.0).sum(axis=1), counts := known.sum(axis=1), out=means, where=counts > 0)
    return means


def _exact_mean(values: _Floats) -> Fraction:
    """Mean of the known values, read as decimals: 0.1, 0.2 and 0.3 have the mean 0.2."""
    known = [Fraction(repr(value)) for value in values[~np.isnan(values)].tolist()]
    return sum(known, Fraction(0)) / len(known)
