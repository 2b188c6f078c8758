"""Runs of consecutive reports: every candidate for a window, and what holds of it whatever the bias."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.benchmarks.dynostock.movements import AFTER, Prices, day_numbers

__all__ = ["Reports", "Runs"]

DAYS_BEFORE = 30
"""Days shown before a window's oldest report."""

_Days = npt.NDArray[np.int64]
_Bools = npt.NDArray[np.bool_]
_Moves = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Reports:
    """Reports that count: those of tickers with prices, inside the calendar. All arrays have shape (n,).

    Attributes:
        table: Their rows of `Market.reports`, by ticker and then oldest first.
        ticker: Place of the ticker in `Prices.tickers`.
        day: Day of the report, days from 1970-01-01.
        is_known: Whether the surprise is known.
        is_meet: Whether the surprise is 0 or above.
        movement: 1 up, 0 down, -1 unknown, see `Prices.movements`.
        gaps_before: `Prices.gaps` up to the day before a window that this report is the oldest of.
        gaps_until: `Prices.gaps` up to the day of the report.
        last_day: Last day of the calendar.
    """

    table: pd.DataFrame
    ticker: _Days
    day: _Days
    is_known: _Bools
    is_meet: _Bools
    movement: _Moves
    gaps_before: _Days
    gaps_until: _Days
    last_day: int

    @classmethod
    def of(cls, market: Market, prices: Prices) -> "Reports":
        """Take the reports that count from a market."""
        table = market.reports
        days = day_numbers(table["reported"])
        counts = (
            table["ticker"].isin(prices.tickers).to_numpy() & (days >= prices.first_day) & (days <= prices.last_day)
        )
        table, day = table[counts].reset_index(drop=True), days[counts]
        ticker = prices.tickers.get_indexer(table["ticker"]).astype(np.int64)
        return cls(
            table=table,
            ticker=ticker,
            day=day,
            is_known=table["surprise"].notna().to_numpy(),
            is_meet=table["surprise"].to_numpy() >= 0,
            movement=prices.movements(ticker, day),
            gaps_before=prices.gaps(ticker, day - DAYS_BEFORE - 1),
            gaps_until=prices.gaps(ticker, day),
            last_day=prices.last_day,
        )


@dataclass(frozen=True, eq=False)
class Runs:
    """Every run of `size` consecutive reports of one ticker, one per row, by ticker and then the newest report's day.

    Attributes:
        reports: What the runs are made of.
        size: Reports in a run, at least 2.
        rows: Places in `reports`, newest first, shape (n, size).
        start: First day shown, shape (n,) like all that follow unless stated.
        past: Which of the older reports have the newest one's outcome, newest first, shape (n, size - 1).
        past_moves: How prices moved after the older reports, shape (n, size - 1).
        truth: How prices moved after the newest report.
        has_unknown_surprise: Whether a surprise is unknown, so that some outcome is.
        lacks_prices: Whether a candle is missing on a day that would be shown.
        is_crowded: Whether the newest report has another one on its day or less than 8 days before it. The movement
            after that one would tell of days after the window's end, down to the truth itself.
        is_pending: Whether the prices end before the 8 days after the newest report do.
    """

    reports: Reports
    size: int
    rows: _Days
    start: _Days
    past: _Bools
    past_moves: _Moves
    truth: _Moves
    has_unknown_surprise: _Bools
    lacks_prices: _Bools
    is_crowded: _Bools
    is_pending: _Bools

    @classmethod
    def of(cls, reports: Reports, size: int) -> "Runs":
        """Line up the runs of one size."""
        newest = np.arange(size - 1, len(reports.day))
        newest = newest[reports.ticker[newest] == reports.ticker[newest - size + 1]]
        rows = newest[:, None] - np.arange(size)
        oldest, end = rows[:, -1], reports.day[newest]
        is_meet = reports.is_meet[rows]
        return cls(
            reports=reports,
            size=size,
            rows=rows,
            start=reports.day[oldest] - DAYS_BEFORE,
            past=is_meet[:, 1:] == is_meet[:, :1],
            past_moves=reports.movement[rows[:, 1:]],
            truth=reports.movement[newest],
            has_unknown_surprise=~reports.is_known[rows].all(axis=1),
            lacks_prices=reports.gaps_until[newest] > reports.gaps_before[oldest],
            is_crowded=(end - reports.day[rows[:, 1]] < AFTER) | _has_twin(reports)[newest],
            is_pending=end + AFTER > reports.last_day,
        )


def _has_twin(reports: Reports) -> _Bools:
    """Whether the next report is of the same ticker and day; shape (n,)."""
    same = (reports.ticker[1:] == reports.ticker[:-1]) & (reports.day[1:] == reports.day[:-1])
    return np.append(same, False)
