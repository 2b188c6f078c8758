"""The prices that a window of one's own shows, or what is wrong with its ticker or its days."""

from datetime import date

import pandas as pd

from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.errors import DataError

__all__ = ["shown_prices"]

_LISTED = 20  # tickers that an error names


def shown_prices(market: Market, ticker: str, start: date, end: date) -> pd.DataFrame:
    """Return `Market.history`, with a close on some day at least.

    Raises:
        DataError: The ticker has no prices, or none on these days.
    """
    prices = market.history(ticker, start, end)
    if prices["close"].notna().any():
        return prices
    own = market.prices[market.prices["ticker"] == ticker]
    if own.empty:
        raise DataError(f"ticker: expected one with prices, got {ticker!r}. There are {_named(market)}.")
    days = own.loc[own["close"].notna(), "date"]
    if days.empty:
        raise DataError(f"{ticker}: expected prices, found {len(own)} days without a single close. Fetch them again.")
    first, last = days.min().date(), days.max().date()
    where = "none of these days has a price" if first <= end and start <= last else "found none"
    raise DataError(
        f"{ticker}: expected prices from {start} to {end}, {where}. "
        f"There are prices from {first} to {last}. Choose other days or fetch them."
    )


def _named(market: Market) -> str:
    names = sorted(market.prices["ticker"].unique())
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return (", ".join(names[:_LISTED]) or "none at all") + more
