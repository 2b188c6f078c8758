"""A window of any stock and period, whether or not its past could mislead."""

from datetime import date, timedelta

import numpy as np
import pandas as pd

from fin_tasks.benchmarks.dynostock.candidates import AFTER, Prices, day_number, day_numbers
from fin_tasks.benchmarks.dynostock.market import Market, shown_prices
from fin_tasks.benchmarks.dynostock.windows import BiasType, Window, authority_of, window_id
from fin_tasks.errors import DataError


def own_window(
    market: Market,
    ticker: str,
    start: date,
    end: date,
    *,
    bias: BiasType = "plain",
) -> Window:
    """Make a window of any period, about the 8 days after `end`; the truth is None if the prices end in these days.

    The signal comes from the period itself: recency repeats the movement after the latest report with the outcome of
    the newest one, authority contradicts most of these movements. The paper's minimum share is not required.
    """
    shown_prices(
        market,
        ticker,
        start,
        end,
    )
    reports = market.reports_between(
        ticker,
        start,
        end,
        as_seen=False,
    )
    if reports.empty or pd.isna(reports["surprise"].iloc[-1]):
        expected = "an earnings report with a known surprise as the newest one"
        remedy = "Choose other days; `fin-tasks chart` shows the reports of a longer period."
        period = f"from {start} to {end}"
        raise DataError(f"{ticker}: expected {expected} {period}, got none. {remedy}")
    newest = reports.iloc[-1]
    moves = past_movements(
        market,
        ticker,
        start,
        end,
    ).tolist()
    n_up = moves.count(1)
    n_down = moves.count(0)
    signal = _signal(bias, moves)
    if signal is None and bias != "plain":
        expected = "earlier reports with its outcome, and a movement after the last or most of them"
        problem = f"{bias} needs {expected}; got {n_up} rises and {n_down} falls"
        remedy = "Choose an earlier start, or no bias."
        raise DataError(f"{ticker}: {problem} from {start} to {end}. {remedy}")
    name = window_id(
        bias,
        len(reports),
        ticker,
        end,
    )
    return Window(
        id=name,
        bias_type=bias,
        window=len(reports),
        ticker=ticker,
        start=start,
        end=end,
        signal=signal,
        truth=_movement_after(market, ticker, end),
        outcome="Meet" if newest["surprise"] >= 0 else "Miss",
        n_same=n_up + n_down,
        n_contrary=n_down if signal else n_up,
        fiscal_end=newest["fiscal_end"].date(),
        eps=newest["eps"],
        estimate=newest["estimate"],
        surprise=newest["surprise"],
        surprise_percentage=newest["surprise_percentage"],
        authority=authority_of(name) if bias == "authority" else "",
    )


def _signal(bias: str, moves: list[int]) -> int | None:
    n_up = moves.count(1)
    n_down = moves.count(0)
    if bias == "recency" and moves and moves[-1] >= 0:
        return moves[-1]
    if bias == "authority" and n_up != n_down:
        return int(n_down > n_up)
    return None


def _movement_after(market: Market, ticker: str, end: date) -> int | None:
    """Return the movement after a day; None if it is not known yet."""
    prices = Prices(market)
    code = prices.tickers.get_indexer([ticker]).astype(np.int64)
    day = day_number(end)
    (movement,) = prices.movements(code, np.array([day])).tolist()
    if movement < 0 or day + AFTER > prices.calendar[-1]:
        return None
    return int(movement)


def past_movements(
    market: Market,
    ticker: str,
    start: date,
    end: date,
) -> "pd.Series[int]":
    """Return, by day, the movements after the older reports with the newest one's outcome, as known on the last day."""
    reports = market.reports_between(ticker, start, end).dropna(subset="surprise")
    is_meet = reports["surprise"] >= 0
    similar = reports[is_meet == is_meet.iloc[-1]].iloc[:-1]
    history = market.history(ticker, start, end).reset_index().assign(ticker=ticker)
    days = day_numbers(similar["reported"])
    moves = Prices(Market.of(history, similar)).movements(np.zeros_like(days), days)
    is_over = similar["reported"].dt.date <= end - timedelta(days=AFTER)
    return pd.Series(np.where(is_over, moves, -1), similar["reported"].dt.date)
