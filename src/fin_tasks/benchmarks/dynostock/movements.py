"""Closes of all tickers as an array, and the movement of a price after a day.

Days count from 1970-01-01; movements are 1 (up), 0 (down) and -1 (not known).
"""

from datetime import timedelta

import numpy as np
import numpy.typing as npt
import pandas as pd

from .market import Excerpt, Market

AFTER = 8
"""A movement compares the mean close of so many days after a report with that of as many days up to it."""
BEFORE = 30
"""Number of days shown before the oldest report."""

Ints = npt.NDArray[np.int64]

_EPOCH = pd.Timestamp("1970-01-01")
_TIE = 1e-13
"""Means that differ by a smaller share are equal: those of 0.1 and 0.3, and of 0.2 and 0.2, differ as floats."""


class Closes:
    """Closes by calendar day and ticker.

    Attributes:
        start: The day of the first line.
        tickers: The names of the columns.
        closes: A line for each calendar day, a column for each ticker; NaN without a close.
        n_missing: The number of trading days without a candle up to each day.
        calendar: The trading days.
    """

    def __init__(self, prices: pd.DataFrame) -> None:
        codes, names = pd.factorize(prices["ticker"], sort=True)
        days = (prices["date"] - _EPOCH).dt.days.to_numpy()
        # The first and the last line stay empty: they stand for all days before and after the prices.
        self.start = days.min() - 1
        shape = (days.max() - self.start + 2, len(names))
        cells = (days - self.start, codes)
        self.tickers = pd.Index(names, dtype=object)
        self.closes = np.full(shape, np.nan)
        self.closes[cells] = prices["close"]
        is_closed = np.isfinite(self.closes)
        is_trading_day = is_closed.any(axis=1, keepdims=True)
        has_candle = np.zeros(shape, dtype=bool)
        has_candle[cells] = prices[["low", "high"]].notna().all(axis=1)
        # A file may hold nothing but closes.
        is_drawn = np.where(has_candle.any(axis=0), has_candle, is_closed)
        self.n_missing = (is_trading_day & ~is_drawn).cumsum(axis=0, dtype=np.int32)
        self.calendar = self.start + np.flatnonzero(is_trading_day)

    def movements(self, tickers: Ints, days: Ints) -> npt.NDArray[np.int8]:
        """Compare the mean close of [d+1, d+8] with that of [d-7, d], in calendar days; up if after >= before."""
        rows = (days - self.start)[:, None] + np.arange(1 - AFTER, 1 + AFTER)
        closes = self.closes[rows.clip(0, len(self.closes) - 1), tickers[:, None]]
        closes = closes.reshape(-1, 2, AFTER)
        is_known = np.isfinite(closes)
        n_known = is_known.sum(axis=2)
        totals = np.where(is_known, closes, 0.0).sum(axis=2)
        before, after = (totals / np.where(n_known, n_known, np.nan)).T
        is_up = after >= before * (1 - _TIE)
        return np.where(np.isfinite(before + after), is_up, -1).astype(np.int8)


def movements_of(
    prices: pd.DataFrame, days: "pd.Series[pd.Timestamp]"
) -> npt.NDArray[np.int8]:
    """Return the movements of one ticker after some days."""
    numbers = (days - _EPOCH).dt.days.to_numpy()
    return Closes(prices).movements(np.zeros_like(numbers), numbers)


def past_movements(excerpt: Excerpt) -> "pd.Series[int]":
    """Return, by day, the movements after the older reports with the outcome of the newest one.

    Those that were not known on the last day are -1.
    """
    reports = excerpt.reports.dropna(subset="surprise")
    is_meet = reports["surprise"] >= 0
    similar = reports.loc[is_meet == is_meet.iloc[-1], "reported"].iloc[:-1]
    prices = excerpt.prices.reset_index().assign(ticker=excerpt.ticker)
    days = similar.dt.date
    was_known = days <= excerpt.end - timedelta(days=AFTER)
    return pd.Series(np.where(was_known, movements_of(prices, similar), -1), days)


def report_table(market: Market) -> pd.DataFrame:
    """Return the reports between the first and the last trading day, with the movements after them."""
    closes = Closes(market.prices)
    first, last = pd.to_datetime(closes.calendar[[0, -1]], unit="D")
    reports = market.reports[["ticker", "reported", "surprise"]]
    is_priced = reports["ticker"].isin(closes.tickers)
    is_priced &= reports["reported"].between(first, last)
    reports = reports[is_priced].reset_index(drop=True)
    codes = closes.tickers.get_indexer(reports["ticker"])
    days = (reports["reported"] - _EPOCH).dt.days.to_numpy()
    first_rows = (days - BEFORE - 1 - closes.start).clip(0)
    return reports.assign(
        day=days,
        movement=closes.movements(codes, days),
        n_missing_before=closes.n_missing[first_rows, codes],
        n_missing_until=closes.n_missing[days - closes.start, codes],
        is_meet=reports["surprise"] >= 0,
        is_pending=days + AFTER > closes.calendar[-1],
        has_twin=reports.duplicated(["ticker", "reported"], keep="last"),
    )
