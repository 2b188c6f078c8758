"""A window of any stock and period, and the movements after its reports."""

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import numpy.typing as npt
import pandas as pd

from fin_tasks.errors import DataError

from .market import Excerpt, Market
from .windows import (
    AFTER,
    BEFORE,
    LONGEST_CLOSURE,
    NEARBY,
    WINDOW_ID,
    BiasType,
    Window,
    authority_of,
    movements_of,
)


def own_window(
    market: Market,
    ticker: str,
    start: date,
    end: date,
    *,
    bias: BiasType = "plain",
) -> Window:
    """Make a window of any period, which asks about the 8 days after `end`.

    The truth is None if the prices end within these days. The signal comes from the reports with the outcome of the
    newest one: recency repeats the movement after the latest of them, authority contradicts most of their movements.
    The paper's minimum share is not required.
    """
    excerpt = market.excerpt(ticker, start, end)
    last_close = market.last_days[ticker]
    if pd.Timestamp(end) > last_close + timedelta(days=LONGEST_CLOSURE):
        raise DataError(
            f"{ticker}: expected prices until {end}, found prices until {last_close:%Y-%m-%d}."
        )
    surprises = excerpt.reports["surprise"]
    if surprises.empty or pd.isna(surprises.iloc[-1]):
        raise DataError(
            f"{ticker}: expected an earnings report with a known surprise as the newest one from {start} to {end}, "
            "got none. Choose other days."
        )
    moves = past_movements(excerpt).tolist()
    n_up = moves.count(1)
    n_down = moves.count(0)
    signal = None
    if bias == "recency" and moves and moves[-1] >= 0:
        signal = moves[-1]
    if bias == "authority" and n_up != n_down:
        signal = int(n_down > n_up)
    if signal is None and bias != "plain":
        raise DataError(
            f"{ticker}: {bias} needs earlier reports with its outcome, and a movement after the last or most of them; "
            f"got {n_up} rises and {n_down} falls from {start} to {end}. Choose an earlier start, or no bias."
        )
    name = WINDOW_ID.format(bias=bias, size=len(surprises), ticker=ticker, end=end)
    last_day = pd.Timestamp(end)
    # Few rows are of these days, so the ticker is found fast.
    nearby_days = last_day + pd.to_timedelta(NEARBY, "D")
    nearby = market.prices[market.prices["date"].between(*nearby_days[[0, -1]])]
    closes = nearby[nearby["ticker"] == ticker].set_index("date")["close"]
    (truth,) = movements_after(closes, pd.Series([last_day]))
    is_known = truth >= 0 and market.last_days[ticker] >= last_day + timedelta(
        days=AFTER
    )
    return Window(
        id=name,
        bias_type=bias,
        window=len(surprises),
        ticker=ticker,
        start=start,
        end=end,
        signal=signal,
        truth=int(truth) if is_known else None,
        outcome="Meet" if surprises.iloc[-1] >= 0 else "Miss",
        n_same=n_up + n_down,
        n_contrary=n_down if signal else n_up,
        authority=authority_of(name),
    )


def past_movements(excerpt: Excerpt) -> "pd.Series[int]":
    """Return, by day, the movements after the older reports with the outcome of the newest one.

    Those that were not known on the last day are -1.
    """
    reports = excerpt.reports.dropna(subset="surprise")
    is_meet = reports["surprise"] >= 0
    similar = reports.loc[is_meet == is_meet.iloc[-1], "reported"].iloc[:-1]
    days = similar.dt.date
    was_known = days <= excerpt.end - timedelta(days=AFTER)
    movements = movements_after(excerpt.prices["close"], similar)
    return pd.Series(np.where(was_known, movements, -1), days)


def base_rate(excerpt: Excerpt) -> tuple[int, int]:
    """Return after how many of the older reports the price rose, and for how many the movement was known."""
    days = excerpt.reports["reported"].iloc[:-1]
    was_known = days.dt.date <= excerpt.end - timedelta(days=AFTER)
    moves = movements_after(excerpt.prices["close"], days[was_known])
    return int((moves == 1).sum()), int((moves >= 0).sum())


def longer_window(market: Market, window: Window, factor: float) -> Window:
    """Return a window that ends on the same day and shows up to `factor` times as many reports.

    The statistics are those of the longer past.
    """
    is_shown = market.reports["ticker"] == window.ticker
    is_shown &= market.reports["reported"] <= pd.Timestamp(window.end)
    days = market.reports.loc[is_shown, "reported"]
    every_day = market.prices.loc[market.prices["ticker"] == window.ticker, "date"]
    days = days[days >= every_day.iloc[0] + timedelta(days=BEFORE)]
    oldest = days.tail(round(factor * window.window)).min()
    start = (oldest - timedelta(days=BEFORE)).date()
    if pd.isna(oldest) or start >= window.start:
        return window
    longer = own_window(market, window.ticker, start, window.end)
    n_up = longer.n_contrary
    return replace(
        window,
        start=start,
        window=longer.window,
        n_same=longer.n_same,
        n_contrary=longer.n_same - n_up if window.signal else n_up,
    )


def movements_after(
    closes: "pd.Series[float]", days: "pd.Series[pd.Timestamp]"
) -> npt.NDArray[np.int8]:
    """Return the movements of one ticker, whose closes are given by date, after some days."""
    nearby = days.to_numpy()[:, None] + pd.to_timedelta(NEARBY, "D").to_numpy()
    return movements_of(closes.reindex(nearby.ravel()).to_numpy())
