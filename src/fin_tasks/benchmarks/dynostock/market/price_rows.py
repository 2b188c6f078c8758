"""Daily prices as read, made into numbers and days; what is odd becomes a named defect, and no row goes in silence."""

import re
from typing import Any

import numpy as np
import pandas as pd

from fin_tasks.benchmarks.dynostock.market.price_files import FIGURES
from fin_tasks.data.tables import Defect
from fin_tasks.errors import DataError

__all__ = [
    "TICKER",
    "checked",
    "days_of",
    "figures_of",
    "one_row_per_day",
    "tickers_of",
    "tickers_with_candles",
    "typed",
]

TICKER = re.compile(r"[A-Z0-9^][A-Z0-9.^=_-]{0,19}")
_FIRST_DAY, _LAST_DAY = np.datetime64("1900-01-01", "ns"), np.datetime64("2100-01-01", "ns")
_CANDLES = ("open", "high", "low")
_SHOWN = 60


def days_of(column: pd.Series) -> pd.Series:
    """Read days: ISO text (`2024-01-31`, `20240131`, with or without a time and a zone) or datetimes.

    A time with a zone keeps the day it shows: that is the exchange's own day, whatever the day in UTC.

    Returns:
        `datetime64[ns]` at midnight; NaT for what is no day, or not between 1900 and 2100.

    Example:
        >>> days_of(pd.Series(["2024-01-31 23:30:00-05:00", "31/01/2024"])).dt.strftime("%Y-%m-%d").tolist()
        ['2024-01-31', nan]
    """
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        column = column.dt.tz_localize(None)
    if pd.api.types.is_datetime64_dtype(column.dtype):
        days = column.dt.normalize()
    else:
        # tables repeat their days once per ticker
        codes, cells = pd.factorize(column.astype(object))
        text = pd.Series([_day_text(cell) for cell in cells], dtype=object)
        once = pd.to_datetime(text, format="%Y-%m-%d", errors="coerce")
        days = pd.Series(once.reindex(codes).to_numpy(), index=column.index)
    # in the source's unit: a day outside the range need not fit into nanoseconds
    inside = (days >= pd.Timestamp(_FIRST_DAY)) & (days < pd.Timestamp(_LAST_DAY))
    return days.where(inside).astype("datetime64[ns]")


def _day_text(cell: Any) -> str:
    text = cell.isoformat() if hasattr(cell, "isoformat") else str(cell).strip()
    return f"{text[:4]}-{text[4:6]}-{text[6:]}" if len(text) == 8 and text.isdecimal() else _rest_is_a_time(text)


def _rest_is_a_time(text: str) -> str:
    return text[:10] if len(text) == 10 or text[10:11] in ("T", " ") else text


def figures_of(column: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Read numbers: finite floats, NaN for all else; and which cells said something that is no such number."""
    numbers = pd.to_numeric(column, errors="coerce").astype("float64")
    odd = ~np.isfinite(numbers) & column.notna()
    return numbers.where(np.isfinite(numbers)), odd


def tickers_of(column: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Read tickers, in capitals; and which of them are of the form of one."""
    codes, cells = pd.factorize(column.astype(object))
    # the last one is for unknown cells, whose code is -1
    texts = [str(cell).strip().upper() for cell in cells] + [""]
    usable = [bool(TICKER.fullmatch(text)) for text in texts]
    return (
        pd.Series(np.array(texts, dtype=object)[codes], index=column.index, dtype=object),
        pd.Series(np.array(usable)[codes], index=column.index),
    )


def typed(raw: pd.DataFrame, name: str) -> tuple[pd.DataFrame, list[Defect]]:
    """Give a table of `read_price_file` its types, rows in their order; rows without a ticker or day are left out.

    Args:
        raw: The table.
        name: The file's name, for messages.

    Raises:
        DataError: No row has a ticker, a day and a close that can be read: this is no table of prices.
    """
    tickers, usable = tickers_of(raw["ticker"])
    days = days_of(raw["date"])
    table = pd.DataFrame({"ticker": tickers, "date": days})
    defects: list[Defect] = []
    for text, count in tickers[~usable].value_counts(sort=False).items():
        defects.append(Defect("bad-ticker", name, f"{count} row(s) left out: expected a ticker, got {_cell(text)}"))
    for row in np.flatnonzero(days.isna() & usable):
        found = f"row {row + 1} left out: expected a day as 2024-01-31, got {_cell(raw['date'].iloc[row])}"
        defects.append(Defect("bad-date", f"{name} {tickers.iloc[row]}", found))
    for figure in [column for column in FIGURES if column in raw]:
        numbers, odd = figures_of(raw[figure])
        table[figure] = numbers
        for row in np.flatnonzero(odd & usable & days.notna()):
            found = f"{figure}: expected a number, got {_cell(raw[figure].iloc[row])}"
            defects.append(Defect("not-a-number", _row_id(table, int(row)), found))
    table = table[usable & days.notna()].reset_index(drop=True)
    if not table["close"].notna().any():
        detail = f" ({defects[0].detail})" if defects else ""
        raise DataError(
            f"{name}: expected daily prices with tickers, days and closes, got none in {len(raw)} rows{detail}."
        )
    return table, defects


def one_row_per_day(table: pd.DataFrame) -> tuple[pd.DataFrame, list[Defect]]:
    """Sort by ticker and day and keep the last row of each, naming those that came more than once."""
    table = table.sort_values(["ticker", "date"], kind="stable", ignore_index=True)
    again = table.duplicated(["ticker", "date"], keep="last")
    if not again.any():
        return table, []
    several = table[table.duplicated(["ticker", "date"], keep=False)]
    differ = several.drop_duplicates().duplicated(["ticker", "date"], keep=False)
    conflicts = set(several.drop_duplicates()[differ][["ticker", "date"]].itertuples(index=False, name=None))
    days = several[["ticker", "date"]].value_counts(sort=False)
    defects = [
        Defect("conflicting-day", f"{ticker} {day:%Y-%m-%d}", f"{count} rows that differ; the last one is kept")
        if (ticker, day) in conflicts
        else Defect("duplicate-day", f"{ticker} {day:%Y-%m-%d}", f"{count} identical rows; one is kept")
        for (ticker, day), count in days.items()
    ]
    return table[~again].reset_index(drop=True), defects


def checked(table: pd.DataFrame) -> tuple[pd.DataFrame, list[Defect]]:
    """Look for prices that cannot be: they become NaN, and the row stays.

    Args:
        table: Typed prices, sorted, one row per ticker and day.
    """
    table, defects = table.copy(), []
    for figure in [column for column in FIGURES if column in table]:
        bad = table[figure] < 0 if figure == "volume" else table[figure] <= 0
        for row in np.flatnonzero(bad):
            found = f"{figure}: expected more than 0, got {table[figure].iloc[row]:g}; treated as unknown"
            defects.append(Defect("impossible-figure", _row_id(table, int(row)), found))
        table[figure] = table[figure].where(~bad)
    if "low" in table and "high" in table:
        crossed = table["high"] < table["low"]
        for row in np.flatnonzero(crossed):
            found = f"high {table['high'].iloc[row]:g} below low {table['low'].iloc[row]:g}; candle treated as unknown"
            defects.append(Defect("high-below-low", _row_id(table, int(row)), found))
        for figure in [column for column in _CANDLES if column in table]:
            table[figure] = table[figure].where(~crossed)
    if "volume" in table:
        idle = (table["volume"] == 0) & table["close"].notna()
        defects += _runs("no-volume", table, idle, "volume 0: no trade, perhaps a holiday; kept")
    defects += _runs("no-price", table, table["close"].isna(), "no close; kept as unknown")
    if "low" in table and "high" in table:
        no_candle = table["close"].notna() & table[["high", "low"]].isna().any(axis=1)
        # a ticker of closes only lacks none
        no_candle &= table["ticker"].isin(tickers_with_candles(table))
        defects += _runs("no-candle", table, no_candle, "a close without high or low")
    defects += _runs("weekend", table, table["date"].dt.day_of_week >= 5, "prices of a Saturday or Sunday; kept")
    return table, defects


def tickers_with_candles(table: pd.DataFrame) -> set[str]:
    """Return the tickers that have a day with both low and high."""
    if "low" not in table or "high" not in table:
        return set()
    return set(table["ticker"][table[["low", "high"]].notna().all(axis=1)].unique())


def _runs(kind: str, table: pd.DataFrame, flagged: pd.Series, what: str) -> list[Defect]:
    """One defect per unbroken run of flagged rows of a ticker: a listing date would else be thousands of them."""
    rows = np.flatnonzero(flagged)
    if not len(rows):
        return []
    names = table["ticker"].to_numpy()[rows]
    breaks = np.flatnonzero((np.diff(rows) > 1) | (names[1:] != names[:-1])) + 1
    defects = []
    for run in np.split(rows, breaks):
        last = f" to {table['date'].iloc[run[-1]]:%Y-%m-%d} ({len(run)} days)" if len(run) > 1 else ""
        defects.append(Defect(kind, _row_id(table, int(run[0])) + last, what))
    return defects


def _row_id(table: pd.DataFrame, row: int) -> str:
    return f"{table['ticker'].iloc[row]} {table['date'].iloc[row]:%Y-%m-%d}"


def _cell(value: Any) -> str:
    text = repr(str(value))
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
