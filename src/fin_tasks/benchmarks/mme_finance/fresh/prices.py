"""Daily prices for fresh charts: the packaged sample, or the user's own files."""

from pathlib import Path

import pandas as pd

from fin_tasks.errors import DataError
from fin_tasks.resources import stock_prices_file

Prices = list[tuple[str, pd.DataFrame]]
"""Tickers and their days, with open, high, low, close and volume."""

COLUMNS = ["open", "high", "low", "close", "volume"]
WARM_UP = 120
"""Days that averages need before the first day shown."""
LONGEST = 60
"""Days that a chart shows at most."""
_LARGEST_STEP = 1.4  # larger steps from day to day count as splits, which would look like a crash
_ENDINGS = (".csv", ".csv.gz", ".parquet")


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
        if path.name.lower().endswith(_ENDINGS):
            pieces += _pieces_of(path)
    if not pieces:
        columns = ", ".join(COLUMNS)
        needed = f"the columns date, {columns} and {WARM_UP + LONGEST} days of a ticker"
        raise DataError(f"{root}: expected CSV or Parquet files with {needed}, found none.")
    return pieces


def _pieces_of(path: Path) -> Prices:
    try:
        days = _read_days(path)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: expected a table of daily prices, got: {error}.") from error
    pieces: Prices = []
    if days is None:
        return pieces
    for symbol, rows in days.groupby("ticker", sort=True):
        steps = rows["close"] / rows["close"].shift()
        jumps = (steps > _LARGEST_STEP) | (steps < 1 / _LARGEST_STEP)
        for _, piece in rows[COLUMNS].groupby(jumps.cumsum()):
            if len(piece) >= WARM_UP + LONGEST:
                pieces.append((str(symbol), piece))
    return pieces


def _read_days(path: Path) -> pd.DataFrame | None:
    """Return the days of a file by date; None if it has other columns, such as those of earnings."""
    is_parquet = path.suffix == ".parquet"
    table = pd.read_parquet(path).reset_index() if is_parquet else pd.read_csv(path)
    table.columns = [str(name).strip().lower() for name in table.columns]
    table = table.rename(columns={"symbol": "ticker"})
    if not {"date", *COLUMNS} <= {*table.columns}:
        return None
    days = table[COLUMNS].astype(float).round(2)
    day = table["date"].astype(str).str.slice(0, 10)
    days["date"] = pd.to_datetime(day)
    days["ticker"] = path.name.split(".")[0].removeprefix("data-").upper()
    if "ticker" in table:
        days["ticker"] = table["ticker"]
    is_priced = (days[COLUMNS] >= 1).all(axis=1)
    return days[is_priced].sort_values("date").set_index("date")
