"""Daily prices for fresh charts: the packaged sample, or the user's own file."""

from pathlib import Path

import pandas as pd

from fin_tasks.errors import DataError
from fin_tasks.resources import stock_prices_file

Prices = list[tuple[str, pd.DataFrame]]
"""Tickers and their days, with open, high, low, close and volume."""

WARM_UP = 120
"""Days that averages need before the first day shown."""
LONGEST = 60
"""Days that a chart shows at most."""
_COLUMNS = ["open", "high", "low", "close", "volume"]
_LARGEST_STEP = (
    1.4  # larger steps from day to day count as splits, which would look like a crash
)


def read_prices(file: Path | None) -> Prices:
    """Read daily prices from a CSV file, by default the packaged sample.

    The columns are date, open, high, low, close and volume, and ticker unless the file is named
    after it. A ticker is cut at jumps, which may be splits; days below a dollar and pieces too
    short for a chart are left out.
    """
    path = file or stock_prices_file()
    expected = f"{path}: expected a CSV file with {', '.join(_COLUMNS)} of {LONGEST + WARM_UP} days"
    try:
        days = pd.read_csv(path).rename(columns=str.lower)
        days.index = pd.to_datetime(days["date"].astype(str).str[:10])
        tickers = days.get("ticker", path.name.split(".")[0])
        days = days[_COLUMNS].astype(float).round(2).assign(ticker=tickers)
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{expected}, got: {error}.") from error
    is_priced = (days[_COLUMNS] >= 1).all(axis=1)
    pieces: Prices = []
    for ticker, rows in days[is_priced].sort_index().groupby("ticker"):
        steps = rows["close"] / rows["close"].shift()
        jumps = (steps > _LARGEST_STEP) | (steps < 1 / _LARGEST_STEP)
        for _, piece in rows[_COLUMNS].groupby(jumps.cumsum()):
            if len(piece) >= WARM_UP + LONGEST:
                pieces.append((str(ticker), piece))
    if not pieces:
        raise DataError(f"{expected}, found fewer.")
    return pieces
