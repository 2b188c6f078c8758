"""A market from files of prices and earnings reports, as docs/market.md says."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from fin_tasks.charts.chart import CANDLE_COLUMNS
from fin_tasks.data.locate import sha256_of
from fin_tasks.errors import DataError

from ..market import DOLLARS, Market
from .splits import adjust_for_splits
from .table import read_file, ticker_of

_ENDINGS = (".csv", ".csv.gz", ".txt", ".parquet", ".json")
_DAYS = {"prices": "date", "earnings": "reported"}


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
    table, splits = adjust_for_splits(table)
    # A table with a column for each stock has a row without prices on each holiday.
    table = table.dropna(subset=CANDLE_COLUMNS, how="all")
    is_repeated = reports["fiscal_end"].notna() & reports.duplicated(
        ["ticker", "fiscal_end"]
    )
    reports = reports[reports["reported"].notna() & ~is_repeated]
    facts: dict[str, Any] = {
        "basis": "split-adjusted" if "source" in price_facts else "as in the files",
        "prices": price_facts,
        "earnings": report_facts,
    }
    if splits:
        facts["adjusted_for_splits"] = [" ".join(split) for split in splits]
    currency = _currency_of(table, reports)
    if currency != DOLLARS:
        facts["currency"] = currency
    market = Market.of(table, reports, facts)
    if not market.tickers:
        raise DataError(
            "market data: expected prices and reports of the same stocks, got prices of "
            f"{_first_names(table)} and reports of {_first_names(reports)}. "
            "A file without a column Ticker is named after its stock."
        )
    # The source divides a ticker's figures by the splits up to its newest report; the prices may know later splits.
    newest = market.reports.groupby("ticker")["reported"].max()
    is_late = market.prices["date"] >= market.prices["ticker"].map(newest)
    known_splits = market.prices[is_late].groupby("ticker")["splits_after"].first()
    market.reports["later_splits"] /= (
        market.reports["ticker"].map(known_splits).fillna(1.0)
    )
    return market


def _currency_of(prices: pd.DataFrame, reports: pd.DataFrame) -> str | dict[str, str]:
    """Return the currency of all stocks, or that of each; empty if neither prices nor reports state it."""
    by_ticker = dict.fromkeys(sorted({*prices["ticker"]} & {*reports["ticker"]}), "")
    for table in (reports, prices):
        stated = table[["ticker", "currency"]].dropna().drop_duplicates()
        repeated = stated.loc[stated["ticker"].duplicated(), "ticker"]
        if len(repeated):
            ticker = repeated.iloc[0]
            codes = ", ".join(stated.loc[stated["ticker"] == ticker, "currency"])
            raise DataError(f"{ticker}: expected one currency, got {codes}.")
        for ticker, code in stated.itertuples(index=False):
            if ticker in by_ticker:
                by_ticker[ticker] = code
    currencies = set(by_ticker.values())
    return currencies.pop() if len(currencies) == 1 else by_ticker


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
        files = [file for file in files if ticker_of(file) in tickers]
    tables = [read_file(file, part) for file in files]
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
    return rows.sort_values(["ticker", _DAYS[part]], ignore_index=True), facts


def _first_names(rows: pd.DataFrame) -> str:
    names = sorted(set(rows["ticker"]))
    return ", ".join(names[:3]) or "none"
