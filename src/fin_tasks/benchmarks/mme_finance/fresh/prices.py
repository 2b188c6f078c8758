"""Daily prices for fresh charts: the packaged sample, or the user's own files."""

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


def read_prices(source: Path | None) -> Prices:
    """Read daily prices from CSV or Parquet, a file or a folder of files; by default the packaged sample.

    A table has the columns date, open, high, low, close and volume, and ticker unless the file is
    named after it. A ticker is cut at jumps, which may be splits; days below a dollar and pieces
    too short for a chart are left out.
    """
    root = source or stock_prices_file()
    paths = [root] if root.is_file() else sorted(root.rglob("*"))
    pieces: Prices = []
    for path in paths:
        try:
            if path.suffix == ".parquet":
                pieces += _pieces_of(path, pd.read_parquet(path).reset_index())
            elif path.name.endswith((".csv", ".csv.gz")):
                pieces += _pieces_of(path, pd.read_csv(path))
        except (OSError, ValueError) as error:
            raise DataError(
                f"{path}: expected a table of daily prices, got: {error}."
            ) from error
    if not pieces:
        columns = ", ".join(_COLUMNS)
        needed = f"the columns date, {columns} and {WARM_UP + LONGEST} days of a ticker"
        raise DataError(
            f"{root}: expected CSV or Parquet files with {needed}, found none."
        )
    return pieces


def _pieces_of(path: Path, table: pd.DataFrame) -> Prices:
    """Return the pieces of a file; none if it has other columns, such as those of earnings."""
    table.columns = table.columns.str.lower()
    pieces: Prices = []
    if not {"date", *_COLUMNS} <= {*table.columns}:
        return pieces
    table.index = pd.to_datetime(table["date"].astype(str).str.slice(0, 10))
    tickers = table.get("ticker", path.name.split(".")[0].removeprefix("data-"))
    days = table[_COLUMNS].astype(float).round(2).assign(ticker=tickers)
    is_priced = (days[_COLUMNS] >= 1).all(axis=1)
    for ticker, rows in days[is_priced].sort_index().groupby("ticker"):
        steps = rows["close"] / rows["close"].shift()
        jumps = (steps > _LARGEST_STEP) | (steps < 1 / _LARGEST_STEP)
        for _, piece in rows[_COLUMNS].groupby(jumps.cumsum()):
            if len(piece) >= WARM_UP + LONGEST:
                pieces.append((str(ticker), piece))
    return pieces
