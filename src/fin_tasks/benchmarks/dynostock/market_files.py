"""Read a market from files, as docs/market.md says."""

import hashlib
import json
import re
import zlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fin_tasks.benchmarks.dynostock.market import (
    CANDLE,
    PRICE_TYPES,
    REPORT_TYPES,
    Market,
    typed,
)
from fin_tasks.data.files import sha256_of
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.resources import stock_prices_file

ALPHA_VANTAGE = {
    "fiscalDateEnding": "fiscal_end",
    "reportedDate": "reported",
    "reportedEPS": "eps",
    "estimatedEPS": "estimate",
    "surprise": "surprise",
    "surprisePercentage": "surprise_percentage",
    "reportTime": "report_time",
}

Facts = dict[str, Any]

_UNKNOWN = ("", "None", "-")  # not NA, which is a ticker
_ENDINGS = (".csv", ".csv.gz", ".parquet")
_TYPES = {
    "prices": {**PRICE_TYPES, "adj_close": "float64"},
    "earnings": REPORT_TYPES,
}
_NEEDED = {"prices": ("date", "close"), "earnings": ("reported", "surprise")}
"""The column of days, and another that a file must have."""
_WHOLE = np.array([*range(2, 11), 12, 15, 20, 25, 30, 40, 50, 100])
_SPLITS = np.concatenate([_WHOLE, [3 / 2, 5 / 2], 1 / _WHOLE, [2 / 3]])
"""New shares for each old one."""
_SMALLEST_STEP = 1.15
_LARGEST_MISS = 1.01  # of a split's ratio
_LARGEST_MOVE = 1.4  # of the price on the day of a split


def read_market(
    prices: Path,
    earnings: Path,
    *,
    tickers: Iterable[str] | None = None,
    adjust: str = "none",
) -> Market:
    """Read files, folders of files, or what `fetch_market` stored; `adjust` is `splits` if closes ignore splits."""
    is_fetched = (prices / "prices").is_dir()
    if adjust == "splits" and is_fetched:
        raise ConfigError(
            "adjust splits: expected closes that ignore splits; fetched prices are split-adjusted already."
        )
    names = None if tickers is None else {ticker.upper() for ticker in tickers}
    table, price_facts = _read_files(prices, "prices", names)
    reports, report_facts = _read_files(earnings, "earnings", names)
    columns = [*CANDLE, "adj_close"]
    has_day = reports["reported"].notna()
    is_repeated = reports["fiscal_end"].notna() & reports.duplicated(
        ["ticker", "fiscal_end"]
    )
    defects = {
        "impossible-price": table[(table[columns] <= 0).any(axis=1)],
        "report-without-day": reports[~has_day],
        "duplicate-report": reports[has_day & is_repeated],
    }
    table[columns] = table[columns].where(table[columns] > 0)
    ratios = _find_splits(table)
    splits: dict[str, dict[str, float]] = {}
    if adjust == "splits":
        splits = _take_out_splits(table, ratios)
    else:
        defects["split-in-close"] = table[ratios != 1]
    facts = {
        "basis": "split-adjusted"
        if is_fetched or adjust == "splits"
        else "as in the files",
        "prices": {**price_facts, "adjust": adjust, "splits": splits},
        "earnings": report_facts,
        "defects": {
            kind: sorted(set(rows["ticker"]))
            for kind, rows in defects.items()
            if len(rows)
        },
    }
    market = Market.of(table, reports[has_day & ~is_repeated], facts)
    # The source divides a ticker's figures by the splits up to its newest report; prices may know of more.
    for ticker, day in market.reports.groupby("ticker")["reported"].max().items():
        own = market.prices_of(str(ticker))
        later = own.loc[own["date"] >= day, "splits_after"]
        if len(later):
            is_own = market.reports["ticker"] == ticker
            market.reports.loc[is_own, "later_splits"] /= later.iloc[0]
    return market


def _take_out_splits(
    prices: pd.DataFrame, ratios: "pd.Series[float]"
) -> dict[str, dict[str, float]]:
    """Divide the prices before each split by its ratio; return the ratios by ticker and day."""
    n_adjusted = prices.groupby("ticker")["adj_close"].count()
    if n_adjusted.min() == 0:
        raise DataError(
            f"adjust splits: expected Adj Close of all tickers, found none of {n_adjusted.idxmin()}."
        )
    splits: dict[str, dict[str, float]] = {}
    for row in prices.assign(ratio=ratios)[ratios != 1].itertuples():
        splits.setdefault(row.ticker, {})[f"{row.date:%Y-%m-%d}"] = row.ratio
    until_end = ratios[::-1].groupby(prices["ticker"][::-1]).cumprod()[::-1]
    after = until_end / ratios
    prices[CANDLE] = prices[CANDLE].div(after, axis=0)
    prices["volume"] *= after
    prices["splits_after"] = after
    return splits


@lru_cache(maxsize=1)
def sample_market(*tickers: str) -> Market:
    """Return AAPL, FB, GOOG, IBM and MSFT, 2000 to 2013, adjusted for splits; FB and GOOG have no reports."""
    earnings = Path(__file__).parent / "sample" / "earnings.csv"
    return read_market(
        stock_prices_file(),
        earnings,
        tickers=tickers or None,
        adjust="splits",
    )


def _read_files(
    path: Path,
    part: str,
    tickers: set[str] | None,
) -> tuple[pd.DataFrame, Facts]:
    """Read the rows of the tickers from a file or folder, by ticker and day, and facts about the files."""
    is_fetched = (path / part).is_dir()
    folder = path / part if is_fetched else path
    endings = _ENDINGS if part == "prices" else (*_ENDINGS, ".json")
    files = [path]
    if not path.is_file():
        files = sorted(file for file in folder.glob("*") if file.name.endswith(endings))
    if is_fetched and tickers:
        files = [file for file in files if _ticker_of(file) in tickers]
    tables = [_read_table(file, part) for file in files]
    rows = pd.concat(tables) if tables else pd.DataFrame({"ticker": []})
    if tickers is not None:
        rows = rows[rows["ticker"].isin(tickers)]
    missing = sorted((tickers or set()) - set(rows["ticker"]))
    if rows.empty or missing:
        expected = f"rows of {', '.join(missing) or 'tickers'} in CSV, Parquet or reports in JSON"
        raise DataError(
            f"{part}: expected {expected} at {folder}, found none. Fetch them first."
        )
    hashes = "".join(f"{file.name} {sha256_of(file)}\n" for file in files)
    facts = {
        "files": len(files),
        "files_sha256": hashlib.sha256(hashes.encode()).hexdigest(),
    }
    manifest = path / "manifest.json"
    if is_fetched and manifest.is_file():
        facts["source"] = json.loads(manifest.read_text(encoding="utf-8")).get(part)
    return rows.sort_values(["ticker", _NEEDED[part][0]], ignore_index=True), facts


def _ticker_of(file: Path) -> str:
    return re.sub(r"^data-|\.(csv|csv\.gz|parquet|json)$", "", file.name).upper()


def _read_table(file: Path, part: str) -> pd.DataFrame:
    try:
        table = _read_any(file)
        table.columns = [
            str(name).strip().lower().replace(" ", "_") for name in table.columns
        ]
        if part == "prices" and not {"ticker", "close", "adj_close"} & set(
            table.columns
        ):
            # A column of closes for each ticker.
            table = table.melt("date", var_name="ticker", value_name="close")
        for name in _NEEDED[part]:
            if name not in table:
                raise ValueError(
                    f"expected {' and '.join(_NEEDED[part])}, got no column {name}"
                )
        if "ticker" not in table:
            table["ticker"] = _ticker_of(file)
        table["ticker"] = table["ticker"].astype(str).str.strip().str.upper()
        table = typed(table, _TYPES[part])
        if part == "prices" and table["date"].isna().any():
            raise ValueError("expected a day in each row, got a row without")
    except (OSError, EOFError, ValueError, TypeError, KeyError, zlib.error) as error:
        # Not the text of the file, which may quote a key.
        reason = f"{type(error).__name__}: {str(error)[:200]}"
        raise DataError(
            f"{file}: expected {part}, got a file that cannot be read ({reason})."
        ) from error
    return table


def _read_any(file: Path) -> pd.DataFrame:
    if file.suffix == ".json":
        rows = json.loads(file.read_text(encoding="utf-8"))["quarterlyEarnings"]
        table = pd.DataFrame(rows, columns=list(ALPHA_VANTAGE)).rename(
            columns=ALPHA_VANTAGE
        )
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
    # As yfinance writes it: a column for each price of each ticker.
    table = pd.read_csv(file, header=[0, 1], index_col=0).stack(
        "Ticker", future_stack=True
    )
    return table.rename_axis(["Date", "Ticker"]).reset_index()


def _find_splits(prices: pd.DataFrame) -> "pd.Series[float]":
    """Return the ratio of each split that Adj Close shows and Close does not, on its day, else 1.

    Adj Close / Close steps by the split's ratio, but also by 1 / (1 - dividend / price): 1.25, as of 5 shares for 4,
    after a dividend of 20 %. Hence only ratios that no usual dividend reaches count.
    """
    known = prices.dropna(subset=["adj_close", "close"])
    tickers = known["ticker"]
    close = np.log(known["close"])
    steps = (np.log(known["adj_close"]) - close).groupby(tickers).diff()
    steps = steps[steps.abs() >= np.log(_SMALLEST_STEP)]
    distances = abs(steps.to_numpy()[:, None] - np.log(_SPLITS))
    ratios = pd.Series(_SPLITS[distances.argmin(axis=1)], steps.index)
    is_near = (steps - np.log(ratios)).abs() < np.log(_LARGEST_MISS)
    moves = close.groupby(tickers).diff()[steps.index] + np.log(ratios)
    has_moved = moves.abs() < np.log(_LARGEST_MOVE)
    return ratios[is_near & has_moved].reindex(prices.index, fill_value=1.0)
