"""Daily prices for fresh charts: the packaged sample."""

from functools import cache

import pandas as pd

from fin_tasks.resources import stock_prices_file

Prices = list[tuple[str, pd.DataFrame]]
"""Tickers and their days, with open, high, low, close and volume in millions."""

WARM_UP = 120
"""Days that averages need before the first day shown."""
LONGEST = 60
"""Days that a chart shows at most."""
_COLUMNS = ["open", "high", "low", "close", "volume"]
_LARGEST_STEP = (
    1.4  # larger steps from day to day count as splits, which would look like a crash
)


@cache
def read_prices() -> Prices:
    """Read the packaged daily prices.

    A ticker is cut at jumps, which may be splits; pieces too short for a chart are left out.
    """
    days = pd.read_csv(stock_prices_file()).rename(columns=str.lower).round(2)
    days["volume"] /= 1e6
    days.index = pd.to_datetime(days["date"])
    pieces: Prices = []
    for ticker, rows in days.groupby("ticker"):
        steps = rows["close"] / rows["close"].shift()
        jumps = (steps > _LARGEST_STEP) | (steps < 1 / _LARGEST_STEP)
        for _, piece in rows[_COLUMNS].groupby(jumps.cumsum()):
            if len(piece) >= WARM_UP + LONGEST:
                pieces.append((str(ticker), piece))
    return pieces
