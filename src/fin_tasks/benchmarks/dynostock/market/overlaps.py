"""Prices of a ticker from several files: put together where the files agree, from the longest one where they do not."""

from collections.abc import Hashable

import numpy as np
import pandas as pd

from fin_tasks.benchmarks.dynostock.market.price_files import FIGURES
from fin_tasks.data.tables import Defect

__all__ = ["one_file_per_day"]

_SAME = 1e-6
"""Largest relative difference of one price written twice: what single precision leaves of it."""


def one_file_per_day(table: pd.DataFrame) -> tuple[pd.DataFrame, list[Defect]]:
    """Decide which file a ticker's day is taken from where several have it.

    Files of a ticker that have days in common agree where all figures known to both are the same and both have candles
    or both have not: a ticker whose candles come and go would lose the windows between. Agreeing files are put
    together. Where they do not agree, the one with the most closes of the ticker stays (of equally many the one with
    candles, then the first by name), and the other one is left out for this ticker. Files without common days are put
    together whatever is in them; a row without a close is no day a file has.

    Args:
        table: Typed prices with the name of the `file` of each row; a file has one row per ticker and day.

    Returns:
        The rows that stay, sorted by ticker and day, one per ticker and day; and a defect per ticker and file that was
        left out (`other-file`) or whose days another file repeats (`repeated-in-file`).
    """
    table = table.sort_values(["ticker", "date"], kind="stable", ignore_index=True)
    again = table.duplicated(["ticker", "date"], keep=False)
    if not again.any():
        return table, []
    known = table["close"].notna()
    shared = table[again & known].duplicated(["ticker", "date"], keep=False)
    disputed = table["ticker"].isin(table["ticker"][shared.index[shared]].unique())
    parts, defects = [table[~disputed]], []
    for ticker, rows in table[disputed].groupby("ticker", sort=True):
        part, odd = _put_together(ticker, rows)
        parts.append(part)
        defects += odd
    # a row with a close goes before one without
    rows = pd.concat(parts).assign(known=lambda all_rows: all_rows["close"].notna())
    rows = rows.sort_values(["ticker", "date", "known"], kind="stable")
    rows = rows.drop_duplicates(["ticker", "date"], keep="last", ignore_index=True)
    return rows.drop(columns="known"), defects


def _put_together(ticker: Hashable, rows: pd.DataFrame) -> tuple[pd.DataFrame, list[Defect]]:
    """Take the files of one ticker in, the longest first."""
    files = {str(name): part.set_index("date") for name, part in rows.groupby("file", sort=True)}
    order = sorted(files, key=lambda name: (-int(files[name]["close"].count()), not _has_candles(files[name]), name))
    whole, defects = files[order[0]], []
    for name in order[1:]:
        known, part = whole[whole["close"].notna()], files[name]
        days = known.index.intersection(part.index[part["close"].notna()])
        if len(days):
            ours, theirs = known.loc[days], part.loc[days]
            others = ", ".join(sorted(ours["file"].unique()))
            if difference := _difference(ours, theirs, others):
                found = f"{len(days)} of its {part['close'].count()} days are in {others} too, and {difference}"
                defects.append(Defect("other-file", f"{ticker} {name}", f"{found}; left out, the longer file stays"))
                continue
            found = f"{len(days)} day(s) are in {others} too, with the same figures; kept once"
            defects.append(Defect("repeated-in-file", f"{ticker} {name}", found))
        whole = pd.concat([whole, part.drop(index=days)])
    return whole.rename_axis(index="date").reset_index(), defects


def _difference(ours: pd.DataFrame, theirs: pd.DataFrame, others: str) -> str:
    """Say where two tables of the same days differ, with their first different figure; empty where they do not."""
    if _has_candles(ours) != _has_candles(theirs):
        return f"only {others if _has_candles(ours) else 'it'} has candles"
    figures = [name for name in FIGURES if name in ours]
    a, b = ours[figures].to_numpy("float64"), theirs[figures].to_numpy("float64")
    differ = ~np.isclose(a, b, rtol=_SAME, atol=0) & np.isfinite(a) & np.isfinite(b)
    if not differ.any():
        return ""
    row, column = np.argwhere(differ)[0]
    return (
        f"differ on {differ.any(axis=1).sum()}: {figures[column]} of {ours.index[row]:%Y-%m-%d} is "
        f"{b[row, column]:g} here, {a[row, column]:g} there"
    )


def _has_candles(rows: pd.DataFrame) -> bool:
    return "low" in rows and "high" in rows and bool(rows[["low", "high"]].notna().all(axis=1).any())
