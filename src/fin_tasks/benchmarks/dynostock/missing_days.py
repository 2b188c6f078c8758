"""Which days without a price cost the most windows: one stray day of one ticker costs all others theirs across it."""

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import numpy.typing as npt

from fin_tasks.benchmarks.dynostock.movements import Prices, row_keys

__all__ = ["MissingDay", "costliest_days"]

_Days = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class MissingDay:
    """A day of the calendar on which tickers lack a candle that windows of theirs would show.

    Attributes:
        day: The day.
        tickers: How many tickers lack it and have candidates across it.
        candidates: How many candidates that is.
    """

    day: date
    tickers: int
    candidates: int


def costliest_days(prices: Prices, ticker: _Days, start: _Days, end: _Days, *, n: int = 5) -> tuple[MissingDay, ...]:
    """Name the days that the most candidates lack.

    Args:
        prices: Which days there are, and which of them each ticker has.
        ticker: Place in `prices.tickers` of each candidate that lacks some day, shape (n,).
        start: First day it would show, days from 1970-01-01, shape (n,).
        end: Last day, included, shape (n,).
        n: How many days at most.

    Returns:
        The costliest days, by candidates, then by tickers, then the earliest first.
    """
    tickers, candidates = (np.zeros(len(prices.calendar), dtype=np.int64) for _ in range(2))
    for place in np.unique(ticker):
        own = ticker == place
        steps = np.zeros(len(prices.calendar) + 1, dtype=np.int64)
        np.add.at(steps, np.searchsorted(prices.calendar, start[own]), 1)
        np.add.at(steps, np.searchsorted(prices.calendar, end[own], side="right"), -1)
        cost = np.where(_lacks(prices, int(place)), steps.cumsum()[:-1], 0)
        tickers += cost > 0
        candidates += cost
    order = np.lexsort((-tickers, -candidates))[:n]
    return tuple(
        MissingDay(
            day=date(1970, 1, 1) + timedelta(days=int(prices.calendar[i])),
            tickers=int(tickers[i]),
            candidates=int(candidates[i]),
        )
        for i in order
        if candidates[i]
    )


def _lacks(prices: Prices, ticker: int) -> npt.NDArray[np.bool_]:
    """Whether a ticker lacks each day of the calendar."""
    keys = row_keys(np.int64(ticker), prices.calendar)
    places = np.searchsorted(prices.drawn, keys)
    inside = places < len(prices.drawn)
    places[~inside] = 0
    return ~(inside & (prices.drawn[places] == keys)) if len(prices.drawn) else np.ones(len(keys), dtype=np.bool_)
