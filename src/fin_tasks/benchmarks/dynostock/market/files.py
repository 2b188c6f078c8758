"""A market from files: daily prices and earnings reports in the layouts people have them."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from fin_tasks.benchmarks.dynostock.market.fetched import MANIFEST, read_manifest
from fin_tasks.benchmarks.dynostock.market.overlaps import one_file_per_day
from fin_tasks.benchmarks.dynostock.market.price_files import read_price_file
from fin_tasks.benchmarks.dynostock.market.price_rows import checked, one_row_per_day, tickers_with_candles, typed
from fin_tasks.benchmarks.dynostock.market.report_files import (
    checked_reports,
    one_per_quarter,
    read_report_file,
    with_fiscal_ends,
)
from fin_tasks.benchmarks.dynostock.market.splits import Adjusted, adjusted
from fin_tasks.benchmarks.dynostock.market.tables import Market
from fin_tasks.data.fetch import sha256_of
from fin_tasks.data.tables import Defect
from fin_tasks.errors import DataError

__all__ = ["load_market", "market_of"]

_PRICE_ENDINGS = (".csv", ".csv.gz", ".parquet")
_REPORT_ENDINGS = (".json", ".csv", ".csv.gz", ".parquet")

_Read = tuple[list[pd.DataFrame], dict[str, Any], list[Defect]]


def load_market(prices: Path, earnings: Path, *, adjust: str = "auto") -> Market:
    """Read a market.

    Args:
        prices: A file of daily prices, a folder of them, or a folder that `fin-tasks fetch dynostock` wrote.
            The layouts are those of `price_files`.
        earnings: A file of earnings reports, a folder of them, or the fetched folder: Alpha Vantage's answers
            (`data-AAPL.json`, `AAPL.json`), or CSV or Parquet with the columns of `REPORT_COLUMNS`.
        adjust: What to do with the closes, see `splits.adjusted`.

    Returns:
        The market. Its facts name every file with its SHA-256, the rows, the days covered, and what was adjusted.

    Raises:
        DataError: A path is not there or holds nothing that can be used. In a folder a file that cannot be used is a
            defect; only when none can, it is an error.
        ConfigError: `adjust` is no such word.
    """
    price_tables, price_facts, defects = _read_all(prices, "prices", _PRICE_ENDINGS, _prices_of)
    report_tables, report_facts, report_defects = _read_all(earnings, "earnings", _REPORT_ENDINGS, _reports_of)
    return market_of(
        price_tables,
        report_tables,
        adjust=adjust,
        facts={"prices": price_facts, "earnings": report_facts},
        defects=defects + report_defects,
    )


def market_of(
    prices: Iterable[pd.DataFrame],
    reports: Iterable[pd.DataFrame],
    *,
    adjust: str,
    facts: dict[str, Any],
    defects: list[Defect],
) -> Market:
    """Put tables together into a market: one row per ticker and day, checked, adjusted.

    Args:
        prices: Tables of `price_rows.typed`, one row per ticker and day, with the name of their `file`.
        reports: Tables of `report_files.checked_reports`.
        adjust: See `splits.adjusted`.
        facts: What is known so far, with the keys `prices` and `earnings`.
        defects: What is known so far.
    """
    whole = _adjusted(pd.concat(list(prices), ignore_index=True), adjust)
    every_report, twice = one_per_quarter(pd.concat(list(reports), ignore_index=True))
    every_report, estimated = with_fiscal_ends(every_report)
    found = [*defects, *whole.defects, *twice, *estimated]
    table, without = _candles_where_known(whole.prices)
    facts = {
        "prices": {
            **facts["prices"],
            **_coverage(table, "date"),
            "adjust": adjust,
            "adjusted": whole.splits,
            **without,
        },
        "earnings": {**facts["earnings"], **_coverage(every_report, "reported")},
        "defects": dict(sorted(Counter(defect.kind for defect in found).items())),
    }
    return Market.of(table, every_report, facts=facts, defects=tuple(found))


def _adjusted(table: pd.DataFrame, adjust: str) -> Adjusted:
    """Bring the prices of all files together, one row per ticker and day, checked and adjusted for splits.

    A ticker's files with adjusted closes and those without are adjusted apart: the latter have nothing to be scaled by.
    """
    defects: list[Defect] = []
    splits: dict[str, list[str]] = {}
    parts: list[pd.DataFrame] = []
    for rows in _with_and_without_adjusted_close(table):
        single, others = one_file_per_day(rows)
        clean, odd = checked(single)
        done = adjusted(clean, adjust)
        parts.append(done.prices)
        splits |= done.splits
        defects += [*others, *odd, *done.defects]
    if len(parts) == 1:
        return Adjusted(prices=parts[0], splits=splits, defects=defects)
    whole, others = one_file_per_day(pd.concat(parts, ignore_index=True))
    used = whole[["ticker", "file"]].drop_duplicates().merge(parts[0][["ticker", "file"]].drop_duplicates())
    left = set(used["ticker"])
    splits = {ticker: days for ticker, days in splits.items() if ticker in left}
    return Adjusted(prices=whole, splits=splits, defects=[*defects, *others])


def _with_and_without_adjusted_close(table: pd.DataFrame) -> list[pd.DataFrame]:
    """Split off the files without adjusted closes of tickers that other files have them of."""
    if "adj_close" not in table:
        return [table]
    known = table["adj_close"].notna()
    in_file = known.groupby([table["ticker"], table["file"]]).transform("any")
    apart = known.groupby(table["ticker"]).transform("any") & ~in_file
    return [table[~apart], table[apart]] if apart.any() else [table]


def _candles_where_known(prices: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Bring the columns into a market's form: none but the close where no ticker has a candle, else all of them.

    Returns:
        The table, and the fact which tickers have closes only, where others have candles.
    """
    tickers = tickers_with_candles(prices)
    if not tickers:
        return prices[["ticker", "date", "close"]], {}
    table = prices.assign(**{name: float("nan") for name in ("open", "high", "low", "volume") if name not in prices})
    without = sorted(set(table["ticker"].unique()) - tickers)
    return table, {"closes_only": without} if without else {}


def _coverage(table: pd.DataFrame, day: str) -> dict[str, Any]:
    first, last = table[day].min(), table[day].max()
    tickers = int(table["ticker"].nunique())
    return {"rows": len(table), "tickers": tickers, "first": f"{first:%Y-%m-%d}", "last": f"{last:%Y-%m-%d}"}


def _prices_of(path: Path) -> tuple[pd.DataFrame, list[Defect]]:
    table, defects = typed(read_price_file(path), path.name)
    single, repeated = one_row_per_day(table)
    return single.assign(file=path.name), defects + repeated


def _reports_of(path: Path) -> tuple[pd.DataFrame, list[Defect]]:
    reports, defects = checked_reports(read_report_file(path), path.name)
    if reports.empty:
        raise DataError(f"{path}: expected earnings reports, got none that can be used.")
    return reports, defects


def _read_all(
    place: Path, what: str, endings: tuple[str, ...], read: Callable[[Path], tuple[pd.DataFrame, list[Defect]]]
) -> _Read:
    """Read a file, or the files of a folder, in the order of their names."""
    if place.is_file():
        table, odd = read(place)
        return [table], {"files": {place.name: sha256_of(place)}}, odd
    if not place.is_dir():
        raise DataError(f"{what}: expected a file or a folder at {place}, found nothing. Check the path.")
    manifest = read_manifest(place)
    folder = place / what if manifest else place
    files = sorted(file for file in folder.glob("*") if file.name.endswith(endings) and file.name != MANIFEST)
    tables: list[pd.DataFrame] = []
    used: dict[str, str] = {}
    failures: list[DataError] = []
    defects: list[Defect] = []
    for file in files:
        try:
            table, odd = read(file)
        except DataError as error:
            failures.append(error)
            # Defects go into manifests, which say nothing of where a machine keeps its files.
            defects.append(Defect("unusable-file", file.name, str(error).replace(str(file), file.name)))
            continue
        tables.append(table)
        used[file.name] = sha256_of(file)
        defects += odd
    if not tables:
        reason = f" The first one: {failures[0]}" if failures else ""
        raise DataError(
            f"{what}: expected files ({', '.join(endings)}) in {folder}, found {len(files)}, none usable.{reason}"
        )
    facts = {"files": used, "sha256": _listing_hash(used)}
    if manifest:
        facts["manifest"] = {name: value for name, value in manifest.items() if name != "tickers"}
        defects += _compared(manifest, what, used)
    return tables, facts, defects


def _compared(manifest: dict[str, Any], what: str, used: dict[str, str]) -> list[Defect]:
    """What a fetched folder lacks, and what was changed in it since."""
    defects = []
    for ticker, parts in sorted(manifest.get("tickers", {}).items()):
        entry, name = parts.get(what, {}), f"{ticker}.parquet"
        if entry.get("reason"):
            defects.append(Defect("not-fetched", f"{ticker} {what}", str(entry["reason"])))
        if name in used and entry.get("sha256") != used[name]:
            detail = f"expected sha256 {entry.get('sha256')} as fetched, found {used[name]}"
            defects.append(Defect("changed-since-fetch", f"{what}/{name}", detail))
    return defects


def _listing_hash(files: dict[str, str]) -> str:
    """One hash for a folder: of the lines `sha256sum` would print for its files."""
    lines = "".join(f"{sha256}  {name}\n" for name, sha256 in files.items())
    return hashlib.sha256(lines.encode()).hexdigest()
