"""Which way prices moved around many days of many tickers at once."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from fin_tasks.benchmarks.dynostock.market import Market

__all__ = ["AFTER", "DOWN", "UNKNOWN", "UP", "Prices", "day_numbers", "row_keys"]

DOWN, UP, UNKNOWN = 0, 1, -1
AFTER = 8
"""Days after a report that its movement looks at; with the report's own day, as many before it."""
_STRIDE = 1 << 32  # more days than there are between any two dates of a ticker
_NEARLY_EQUAL = 1e-9  # far above the rounding of a mean of eight prices, far below a cent

_Days = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Prices:
    """Prices by ticker and day, for looking up many places in one go. Days are counted from 1970-01-01.

    Attributes:
        tickers: Names, sorted; elsewhere a ticker is its place in here.
        keys: Ticker and day of each row as one number, ascending, shape (rows,).
        closes: Close of each row, dollars per share, NaN where unknown, shape (rows,).
        calendar: The days on which any ticker's close is known, ascending: the days of trading.
        drawn: `keys` of the rows on days of the calendar that can be drawn as their ticker's others are: low and high
            known, or the close for a ticker of which both are never known.
    """

    tickers: pd.Index
    keys: _Days
    closes: _Floats
    calendar: _Days
    drawn: _Days

    @classmethod
    def of(cls, market: Market) -> "Prices":
        """Index the prices of a market, which are sorted by ticker and date."""
        codes, tickers = pd.factorize(market.prices["ticker"], sort=True)
        days = day_numbers(market.prices["date"])
        keys = row_keys(codes.astype(np.int64), days)
        closes = market.prices["close"].to_numpy()
        is_drawn = is_closed = np.isfinite(closes)
        calendar, is_in_calendar = _calendar(days, is_closed)
        if market.has_candles:
            has_candle = np.isfinite(market.prices["low"].to_numpy()) & np.isfinite(market.prices["high"].to_numpy())
            ever = np.bincount(codes[has_candle], minlength=len(tickers)) > 0
            is_drawn = np.where(ever[codes], has_candle, is_closed)
        return cls(
            tickers=pd.Index(tickers, dtype=object),
            keys=keys,
            closes=closes,
            calendar=calendar,
            drawn=keys[is_drawn & is_in_calendar],
        )

    @cached_property
    def first_day(self) -> int:
        """First day of the calendar; after `last_day` where there is none."""
        return int(self.calendar[0]) if len(self.calendar) else 1

    @cached_property
    def last_day(self) -> int:
        """Last day of the calendar; 0 where there is none."""
        return int(self.calendar[-1]) if len(self.calendar) else 0

    def movements(self, tickers: _Days, days: _Days) -> npt.NDArray[np.int8]:
        """Compare the mean close of the 8 days after each day with that of the 8 days up to and including it.

        With d a day, `after` is the mean over [d+1, d+8] and `before` the mean over [d-7, d], both in calendar days
        with both ends included, over the closes there are. A movement is up where after >= before. Means that float
        arithmetic cannot tell apart are compared as exact fractions of the prices as they are written.

        Args:
            tickers: Places in `tickers`, shape (n,).
            days: Days to look around, shape (n,).

        Returns:
            1 up, 0 down, -1 where either side has no close; shape (n,).
        """
        before = self._closes(tickers, days - (AFTER - 1))
        after = self._closes(tickers, days + 1)
        mean_before, mean_after = _row_means(before), _row_means(after)
        known = ~(np.isnan(mean_before) | np.isnan(mean_after))
        up = mean_after >= mean_before
        near = abs(mean_after - mean_before) <= _NEARLY_EQUAL * (abs(mean_after) + abs(mean_before))
        for row in np.flatnonzero(near):
            up[row] = _exact_mean(after[row]) >= _exact_mean(before[row])
        return np.where(known, up, UNKNOWN).astype(np.int8)

    def gaps(self, tickers: _Days, days: _Days) -> _Days:
        """Count the calendar days up to each day, included, that lack what a candle of the ticker needs.

        The counts of one ticker are right up to a constant: differences between two of its days are what they are for.

        Args:
            tickers: Places in `tickers`, shape (n,).
            days: Days, shape (n,).
        """
        there = np.searchsorted(self.drawn, row_keys(tickers, days), side="right")
        return np.asarray(np.searchsorted(self.calendar, days, side="right") - there, dtype=np.int64)

    def _closes(self, tickers: _Days, first: _Days) -> _Floats:
        """Closes of the `AFTER` days from each first one on, NaN where there is none; in no particular columns."""
        rows = np.searchsorted(self.keys, row_keys(tickers, first))[:, None] + np.arange(AFTER)
        inside = rows < len(self.keys)
        rows[~inside] = 0
        inside &= self.keys[rows] <= row_keys(tickers, first + AFTER - 1)[:, None]
        closes: _Floats = np.where(inside, self.closes[rows], np.nan)
        closes[~np.isfinite(closes)] = np.nan
        return closes


def day_numbers(dates: pd.Series) -> _Days:
    """Count days from 1970-01-01; shape (n,)."""
    numbers: _Days = dates.to_numpy().astype("datetime64[D]").astype(np.int64)
    return numbers


def _calendar(days: _Days, is_traded: npt.NDArray[np.bool_]) -> tuple[_Days, npt.NDArray[np.bool_]]:
    """Return the days of trading, ascending, and of each row whether its day is one.

    Days lie close together, so a table with a place for each beats sorting.
    """
    if not len(days):
        return days, is_traded
    first = days.min()
    table = np.zeros(days.max() - first + 1, dtype=np.bool_)
    table[days[is_traded] - first] = True
    return np.asarray(first + np.flatnonzero(table), dtype=np.int64), np.asarray(table[days - first])


def row_keys(tickers: _Days, days: _Days) -> _Days:
    """Join the place of a ticker among sorted names with a day; ascending where the rows are sorted by both."""
    return tickers * _STRIDE + days


def _row_means(values: _Floats) -> _Floats:
    """Mean of each row without its NaNs; NaN for a row of nothing else."""
    known = ~np.isnan(values)
    counts = known.sum(axis=1)
    totals = np.where(known, values, 0.0).sum(axis=1)
    means = np.full(len(values), np.nan)
    np.divide(totals, counts, out=means, where=counts > 0)
    return means


def _exact_mean(values: _Floats) -> Fraction:
    """Mean of the numbers that are no NaN, read as decimals: 0.1, 0.2 and 0.3 have the mean 0.2."""
    known = [Fraction(repr(value)) for value in values[~np.isnan(values)].tolist()]
    return sum(known, Fraction(0)) / len(known)
