"""A window without its name and dates, to tell bias from memory: a model may know what a share did in 2008.

Prices, volumes and earnings stay as they are, since they are what is asked about. A model that has learnt the very
figures by heart could still recognise them.
"""

import hashlib
from dataclasses import replace
from datetime import date, timedelta

import pandas as pd

from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.benchmarks.dynostock.window import Window

__all__ = ["ANONYMOUS_TICKER", "anonymise", "shift_of"]

ANONYMOUS_TICKER = "ANON"
"""Stands for every ticker; no listed share has it."""

_FIRST_END = date(1970, 1, 1)
_WEEKS = 20 * 52


def shift_of(window: Window) -> timedelta:
    """Return how far a window's dates move: whole weeks, so that weekdays and gaps stay.

    The window ends in one of the twenty years from 1970, whichever week its id's SHA-256 picks: before any window that
    can be built from today's sources begins, and never the same distance for all.
    """
    pick = int.from_bytes(hashlib.sha256(window.id.encode()).digest()[:8], "big") % _WEEKS
    weeks = (_FIRST_END + timedelta(weeks=pick) - window.end).days // 7 + 1
    return timedelta(weeks=weeks)


def anonymise(market: Market, window: Window) -> tuple[Market, Window]:
    """Take name and dates away from a window.

    Args:
        market: Holds the window's ticker.
        window: The window.

    Returns:
        A market that holds nothing but this window's prices and reports, and the window in it, both under
        `ANONYMOUS_TICKER` and with all dates moved by `shift_of`. The window's id tells neither.
    """
    shift = shift_of(window)
    prices = market.history(window.ticker, window.start, window.end).reset_index()
    reports = market.reports_between(window.ticker, window.start, window.end)
    small = Market.of(
        _moved(prices, shift, "date"), _moved(reports, shift, "reported", "fiscal_end"), facts={"anonymised": True}
    )
    hidden = replace(
        window,
        id=f"anonymous-{hashlib.sha256(window.id.encode()).hexdigest()[:12]}",
        ticker=ANONYMOUS_TICKER,
        start=window.start + shift,
        end=window.end + shift,
        fiscal_end=window.fiscal_end + shift,
    )
    return small, hidden


def _moved(table: pd.DataFrame, shift: timedelta, *dates: str) -> pd.DataFrame:
    return table.assign(ticker=ANONYMOUS_TICKER, **{name: table[name] + shift for name in dates})
