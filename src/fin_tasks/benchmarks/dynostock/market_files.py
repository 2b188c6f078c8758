"""Read a market from files, as docs/market.md says."""

import hashlib
import json
import re
import zlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from fin_tasks.charts.chart import CANDLE_COLUMNS
from fin_tasks.data.files import sha256_of
from fin_tasks.errors import DataError
from fin_tasks.resources import stock_prices_file

from .market import TABLES, Market, with_types

_UNKNOWN = ("", "None", "-")  # not NA, because a ticker has this name
_ENDINGS = (".csv", ".csv.gz", ".parquet", ".json")
_NEEDED = {"prices": ("date", "close"), "earnings": ("reported", "surprise")}
"""The column of days, and another that a file must have."""
_SAMPLE = Path(__file__).parent / "sample"


def read_market(
    prices: Path,
    earnings: Path,
    *,
    tickers: Iterable[str] = (),
) -> Market:
    """Read files, folders of files, or a folder of `fetch_market`; all rows if no tickers are named."""
    names = {ticker.upper() for ticker in tickers}
    table, price_facts = _read_files(prices, "prices", names)
    reports, report_facts = _read_files(earnings, "earnings", names)
    table[CANDLE_COLUMNS] = table[CANDLE_COLUMNS].where(table[CANDLE_COLUMNS] > 0)
    is_repeated = reports["fiscal_end"].notna() & reports.duplicated(
        ["ticker", "fiscal_end"]
    )
    reports = reports[reports["reported"].notna() & ~is_repeated]
    facts = {
        "basis": "split-adjusted" if "source" in price_facts else "as in the files",
        "prices": price_facts,
        "earnings": report_facts,
    }
    market = Market.of(table, reports, facts)
    # The source divides a ticker's figures by the splits up to its newest report; the prices may know later splits.
    for ticker, day in market.reports.groupby("ticker")["reported"].max().items():
        own_prices = market.prices_of(str(ticker))
        splits = own_prices.loc[own_prices["date"] >= day, "splits_after"]
        if len(splits):
            is_own = market.reports["ticker"] == ticker
            market.reports.loc[is_own, "later_splits"] /= splits.iloc[0]
    return market


@lru_cache(maxsize=1)
def sample_market(*tickers: str) -> Market:
    """Return AAPL, FB, GOOG, IBM and MSFT, 2000 to 2013, adjusted for splits; FB and GOOG have no reports."""
    market = read_market(stock_prices_file(), _SAMPLE / "earnings.csv", tickers=tickers)
    prices = market.prices.copy()
    for split in pd.read_csv(_SAMPLE / "splits.csv").itertuples():
        is_before = (prices["ticker"] == split.ticker) & (prices["date"] < split.date)
        prices.loc[is_before, CANDLE_COLUMNS] /= split.ratio
        prices.loc[is_before, ["volume", "splits_after"]] *= split.ratio
    facts = {**market.facts, "basis": "split-adjusted"}
    return Market.of(prices, market.reports, facts)


def _read_files(
    path: Path,
    part: str,
    tickers: set[str],
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the rows of the tickers in a file or folder, by ticker and day, and facts about the files."""
    is_fetched = (path / part).is_dir()
    folder = path / part if is_fetched else path
    files = [path]
    if not path.is_file():
        files = sorted(
            file for file in folder.glob("*") if file.name.endswith(_ENDINGS)
        )
    if is_fetched and tickers:
        files = [file for file in files if _ticker_of(file) in tickers]
    tables = [_read_table(file, part) for file in files]
    rows = pd.concat(tables) if tables else pd.DataFrame({"ticker": []})
    if tickers:
        rows = rows[rows["ticker"].isin(tickers)]
    missing = sorted(tickers - set(rows["ticker"]))
    if rows.empty or missing:
        expected = f"rows of {', '.join(missing) or 'tickers'}"
        raise DataError(
            f"{part}: expected {expected} at {folder}, found none. Fetch them."
        )
    hashes = "".join(f"{file.name} {sha256_of(file)}\n" for file in files)
    facts = {
        "files": len(files),
        "files_sha256": hashlib.sha256(hashes.encode()).hexdigest(),
    }
    if is_fetched:
        facts["source"] = json.loads((path / "manifest.json").read_bytes())[part]
    return rows.sort_values(["ticker", _NEEDED[part][0]], ignore_index=True), facts


def _ticker_of(file: Path) -> str:
    return re.sub(r"^data-|\.(csv|csv\.gz|parquet|json)$", "", file.name).upper()


def _read_table(file: Path, part: str) -> pd.DataFrame:
    try:
        table = _read_any(file)
        table.columns = [
            str(name).strip().lower().replace(" ", "_") for name in table.columns
        ]
        if part == "prices" and not {"ticker", "close"} & set(table.columns):
            # The file has a column of closes for each ticker.
            table = table.melt("date", var_name="ticker", value_name="close")
        for name in _NEEDED[part]:
            if name not in table:
                raise ValueError(
                    f"expected {' and '.join(_NEEDED[part])}, got no column {name}"
                )
        if "ticker" not in table:
            table["ticker"] = _ticker_of(file)
        table["ticker"] = table["ticker"].astype(str).str.strip().str.upper()
        table = with_types(table, part)
        if part == "prices" and table["date"].isna().any():
            raise ValueError("expected a day in each row, got a row without")
    except (OSError, EOFError, ValueError, TypeError, KeyError, zlib.error) as error:
        # The rest of the message may quote the file, which may hold a key.
        reason = f"{type(error).__name__}: {str(error)[:200]}"
        raise DataError(f"{file}: expected {part}, got {reason}.") from error
    return table


def _read_any(file: Path) -> pd.DataFrame:
    if file.suffix == ".json":
        rows = json.loads(file.read_bytes())["quarterlyEarnings"]
        names = {**TABLES["alpha_vantage"], "reportTime": "report_time"}
        table = pd.DataFrame(rows, columns=list(names)).rename(columns=names)
        return table.mask(table.isin(_UNKNOWN))
    if file.suffix == ".parquet":
        return pd.read_parquet(file)
    head = pd.read_csv(
        file,
        header=None,
        nrows=2,
        dtype=str,
    )
    if set(head[0]) != {"Price", "Ticker"}:
        return pd.read_csv(file, keep_default_na=False, na_values=_UNKNOWN)
    # yfinance writes a column for each price of each ticker.
    table = pd.read_csv(file, header=[0, 1], index_col=0).stack(
        "Ticker", future_stack=True
    )
    return table.rename_axis(["Date", "Ticker"]).reset_index()
