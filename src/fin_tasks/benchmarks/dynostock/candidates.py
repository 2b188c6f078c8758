"""Prices and reports of all tickers as arrays, and the candidates: all consecutive reports that could be a window.

Days count from 1970-01-01; movements are 1 (up), 0 (down) and -1 (not known).
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

from .market import Market

AFTER = 8
"""A movement compares the mean close of so many days after a report with that of as many days up to it."""

Ints = npt.NDArray[np.int64]

_BEFORE = 30  # days shown before the oldest report
_TIE = 1e-13
"""Means that differ by a smaller share are equal: those of 0.1 and 0.3, and of 0.2 and 0.2, differ as floats."""


def day_numbers(days: pd.Series) -> Ints:
    """Return the days since 1970-01-01 of a column of dates."""
    return np.asarray(days.to_numpy().astype("datetime64[D]").astype(np.int64))


class Prices:
    """Closes by calendar day and ticker.

    Attributes:
        start: The day of the first line.
        tickers: The names of the columns.
        closes: A line for each calendar day, a column for each ticker; NaN without a close.
        n_missing: The number of trading days without a candle up to each day.
        calendar: The trading days.
    """

    def __init__(self, table: pd.DataFrame) -> None:
        codes, names = pd.factorize(table["ticker"], sort=True)
        days = day_numbers(table["date"])
        # The first and the last line stay empty: they stand for all days before and after the prices.
        self.start = days.min() - 1
        shape = (days.max() - self.start + 2, len(names))
        cells = (days - self.start, codes)
        self.tickers = pd.Index(names, dtype=object)
        self.closes = np.full(shape, np.nan)
        self.closes[cells] = table["close"]
        is_closed = np.isfinite(self.closes)
        is_trading_day = is_closed.any(axis=1, keepdims=True)
        has_candle = np.zeros(shape, dtype=bool)
        has_candle[cells] = table[["low", "high"]].notna().all(axis=1)
        # A file may hold nothing but closes.
        is_drawn = np.where(has_candle.any(axis=0), has_candle, is_closed)
        self.n_missing = (is_trading_day & ~is_drawn).cumsum(axis=0, dtype=np.int32)
        self.calendar = self.start + np.flatnonzero(is_trading_day)

    def movements(
        self,
        tickers: Ints,
        days: Ints,
    ) -> npt.NDArray[np.int8]:
        """Compare the mean close of [d+1, d+8] with that of [d-7, d], in calendar days; up if after >= before."""
        before = self._mean_closes(tickers, days - AFTER + 1)
        after = self._mean_closes(tickers, days + 1)
        is_up = after >= before * (1 - _TIE)
        return np.where(np.isfinite(before + after), is_up, -1).astype(np.int8)

    def _mean_closes(
        self,
        tickers: Ints,
        first_days: Ints,
    ) -> npt.NDArray[np.float64]:
        """Return the mean close of the 8 days from each first day on; NaN without a close."""
        rows = (first_days - self.start)[:, None] + np.arange(AFTER)
        closes = self.closes[rows.clip(0, len(self.closes) - 1), tickers[:, None]]
        is_known = np.isfinite(closes)
        n = is_known.sum(axis=1)
        total = np.where(is_known, closes, 0.0).sum(axis=1)
        return np.asarray(total / np.where(n, n, np.nan))


def report_table(market: Market) -> pd.DataFrame:
    """Return the reports between the first and the last trading day, with the movements after them."""
    prices = Prices(market.prices)
    first, last = pd.to_datetime(prices.calendar[[0, -1]], unit="D")
    reports = market.reports[["ticker", "reported", "surprise"]]
    is_priced = reports["ticker"].isin(prices.tickers)
    is_priced &= reports["reported"].between(first, last)
    reports = reports[is_priced].reset_index(drop=True)
    codes = prices.tickers.get_indexer(reports["ticker"])
    days = day_numbers(reports["reported"])
    first_rows = (days - _BEFORE - 1 - prices.start).clip(0)
    return reports.assign(
        day=days,
        movement=prices.movements(codes, days),
        n_missing_before=prices.n_missing[first_rows, codes],
        n_missing_until=prices.n_missing[days - prices.start, codes],
        is_meet=reports["surprise"] >= 0,
        is_pending=days + AFTER > prices.calendar[-1],
        has_twin=reports.duplicated(["ticker", "reported"], keep="last"),
    )


class Candidates:
    """All candidates of a size: every `size` consecutive reports of one ticker, newest first.

    Attributes:
        size: Number of reports.
        newest: The rows of the newest reports.
        start: First day of each candidate.
        is_similar: Whether each older report has the outcome of the newest one.
        past_moves: The movement after each older report.
        n_same: Number of similar reports.
        flaws: Which candidates cannot be windows, by reason.
    """

    def __init__(
        self,
        reports: pd.DataFrame,
        size: int,
    ) -> None:
        tickers = reports["ticker"].to_numpy()
        ends = np.arange(size - 1, len(reports))
        ends = ends[tickers[ends] == tickers[ends - size + 1]]
        rows = ends[:, None] - np.arange(size)
        day = reports["day"].to_numpy()[rows]
        is_meet = reports["is_meet"].to_numpy()[rows]
        is_unknown = reports["surprise"].isna().to_numpy()[rows]
        movements = reports["movement"].to_numpy()[rows]
        n_missing_before = reports["n_missing_before"].to_numpy()[rows[:, -1]]
        self.size = size
        self.newest = reports.iloc[ends].reset_index(drop=True)
        self.start = day[:, -1] - _BEFORE
        self.is_similar = is_meet[:, 1:] == is_meet[:, :1]
        self.past_moves = movements[:, 1:]
        self.n_same = self.is_similar.sum(axis=1)
        # The movement after the report before would show prices after the window's end.
        is_close = day[:, 0] - day[:, 1] < AFTER
        self.flaws = {
            "unknown-surprise": is_unknown.any(axis=1),
            "missing-prices": self.newest["n_missing_until"] > n_missing_before,
            "reports-too-close": is_close | self.newest["has_twin"],
        }
