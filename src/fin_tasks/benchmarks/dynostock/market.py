"""A market: daily prices and quarterly earnings reports of many tickers, read from files as docs/market.md says."""

import hashlib
import json
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fin_tasks.data.fetch import sha256_of
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.resources import stock_prices_file

CANDLE = ["open", "high", "low", "close"]
FIGURES = ["eps", "estimate", "surprise"]  # columns of reports in dollars per share
PRICE_COLUMNS = ["ticker", "date", *CANDLE, "volume", "splits_after"]
REPORT_COLUMNS = ["ticker", "fiscal_end", "reported", *FIGURES, "surprise_percentage", "report_time", "later_splits"]
TICKER = re.compile(r"[A-Z0-9^][A-Z0-9.^=_-]{0,19}")
ALPHA_VANTAGE = {
    "fiscalDateEnding": "fiscal_end",
    "reportedDate": "reported",
    "reportedEPS": "eps",
    "estimatedEPS": "estimate",
    "surprise": "surprise",
    "surprisePercentage": "surprise_percentage",
    "reportTime": "report_time",
}

_TEXTS, _DAYS = ["ticker", "report_time"], ["date", "fiscal_end", "reported"]
_UNKNOWN = ("", "None", "none", "-", "nan", "NaN", "N/A", "null", "NULL")  # not NA, which is a ticker too
_ENDINGS = {"prices": (".csv", ".csv.gz", ".parquet"), "earnings": (".csv", ".csv.gz", ".parquet", ".json")}
_UNREADABLE = (OSError, EOFError, ValueError, TypeError, KeyError, zlib.error)
_WHOLE = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 100)
_SPLITS = np.array([*_WHOLE, 3 / 2, 5 / 2, *(1 / n for n in _WHOLE), 2 / 3])  # new shares for each old one
_SMALLEST_STEP, _NEAR, _DAYS_MOVE = 1.15, 1.01, 1.4


@dataclass(frozen=True, eq=False)
class Market:
    """Prices (dollars per share) and reports, sorted by ticker and day; make one with `Market.of` or `read_market`.

    Prices of a day were divided by `splits_after`, the product of the ratios of the known splits after it. Figures of
    reports were divided by `later_splits` too.
    """

    prices: pd.DataFrame
    reports: pd.DataFrame
    facts: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, prices: pd.DataFrame, reports: pd.DataFrame, *, facts: Mapping[str, Any] | None = None) -> "Market":
        """Sort both tables and set their types; columns that are missing are unknown, and splits are then 1."""
        prices = _ordered(prices, PRICE_COLUMNS, ["ticker", "date"]).fillna({"splits_after": 1.0})
        reports = _ordered(reports, REPORT_COLUMNS, ["ticker", "reported", "fiscal_end"]).fillna({"later_splits": 1.0})
        if (twice := prices.duplicated(["ticker", "date"])).any():
            row = prices[twice].iloc[0]
            raise DataError(f"{row['ticker']}: expected one price row per day, got two on {row['date']:%Y-%m-%d}.")
        return cls(prices, reports, dict(facts or {}))

    @cached_property
    def tickers(self) -> tuple[str, ...]:
        """Tickers that have prices and reports, sorted."""
        return tuple(sorted({*self.prices["ticker"].unique()} & {*self.reports["ticker"].unique()}))

    def history(self, ticker: str, start: date, end: date) -> pd.DataFrame:
        """Return a ticker's prices from `start` to `end`, both included, by date, as they were seen on the last day.

        Later splits are undone, since an early price below a dollar tells that splits followed.
        """
        rows = _between(self.prices, ticker, "date", start, end)
        shown = rows.drop(columns=["ticker", "splits_after"]).set_index("date")
        later = float(rows["splits_after"].iloc[-1]) if len(rows) else 1.0
        if later == 1:
            return shown
        # division and multiplication left something in the last bits
        return (shown * later).assign(volume=shown["volume"] / later).round(6)

    def reports_between(self, ticker: str, start: date, end: date, *, as_seen: bool = True) -> pd.DataFrame:
        """Return a ticker's reports from `start` to `end`, both included, oldest first.

        Figures per share are as they were seen on the last day, like prices; if `as_seen` is False, as in the files.
        """
        rows = _between(self.reports, ticker, "reported", start, end).reset_index(drop=True)
        priced = _between(self.prices, ticker, "date", start, end)["splits_after"]
        later = rows["later_splits"] * (priced.iloc[-1] if len(priced) else 1.0)
        if not as_seen or (later == 1).all():
            return rows
        return rows.assign(later_splits=1.0, **{name: (rows[name] * later).round(6) for name in FIGURES})


def read_market(prices: Path, earnings: Path, *, tickers: Iterable[str] | None = None, adjust: str = "none") -> Market:
    """Read files, folders of files, or what `fetch_market` stored; `adjust` is `splits` if closes ignore splits."""
    is_fetched = (prices / "prices").is_dir()
    if adjust != "none" and (is_fetched or adjust != "splits"):
        raise ConfigError(f"adjust: expected none, or splits if not split-adjusted already, got {adjust!r}.")
    wanted = None if tickers is None else {ticker.upper() for ticker in tickers}
    price_table, price_facts = _read_all(prices, "prices", _prices_of, wanted)
    report_table, report_facts = _read_all(earnings, "earnings", _reports_of, wanted)
    defects: dict[str, list[str]] = {}
    price_table, splits = _adjusted(_possible(price_table, defects), adjust, defects)
    facts = {
        "basis": "split-adjusted" if is_fetched or adjust == "splits" else "as in the files",
        "prices": {**price_facts, "adjust": adjust, "splits": splits},
        "earnings": report_facts,
        "defects": defects,
    }
    market = Market.of(price_table, _usable_reports(report_table, defects), facts=facts)
    # The source divides a ticker's figures by the splits up to its newest report; prices may know of more.
    for name, day in market.reports.groupby("ticker")["reported"].max().items():
        after = _between(market.prices, name, "date", day, date(2200, 1, 1))["splits_after"]
        if len(after) and after.iloc[0] != 1:
            market.reports.loc[market.reports["ticker"] == name, "later_splits"] /= after.iloc[0]
    return market


@lru_cache(maxsize=1)
def sample_market(*tickers: str) -> Market:
    """Return AAPL, FB, GOOG, IBM and MSFT, 2000 to 2013, adjusted for splits; FB and GOOG have no reports."""
    earnings = Path(__file__).parent / "sample" / "earnings.csv"
    return read_market(stock_prices_file(), earnings, tickers=tickers or None, adjust="splits")


def _read_all(
    place: Path, part: str, read: Callable[[Path], pd.DataFrame], wanted: set[str] | None
) -> tuple[pd.DataFrame, dict[str, Any]]:
    is_fetched = (place / part).is_dir()
    folder, endings = place / part if is_fetched else place, _ENDINGS[part]
    files = [place] if place.is_file() else sorted(path for path in folder.glob("*") if path.name.endswith(endings))
    if is_fetched and wanted:
        files = [path for path in files if _ticker_of(path) in wanted]
    tables: list[pd.DataFrame] = []
    for path in files:
        try:
            table = read(path)
        except _UNREADABLE as error:  # not the text, which may quote the user's key
            what = f"{type(error).__name__}: {str(error)[:200]}"
            raise DataError(f"{path}: expected {part}, got a file that cannot be read ({what}).") from error
        table["ticker"] = table["ticker"].astype(str).str.strip().str.upper().astype(object)
        tables.append(table if wanted is None else table[table["ticker"].isin(wanted)])
    tables = [table for table in tables if len(table)]
    if not tables:
        raise DataError(f"{part}: expected files ({', '.join(endings)}) at {folder}, found none with any rows.")
    table = pd.concat(tables, ignore_index=True)
    if missing := sorted((wanted or set()) - {*table["ticker"]}):
        raise DataError(f"{part} of {', '.join(missing)}: expected them in {folder}, found none. Fetch them first.")
    listed = "".join(f"{path.name} {sha256_of(path)}\n" for path in files)
    facts: dict[str, Any] = {"files": len(files), "files_sha256": hashlib.sha256(listed.encode()).hexdigest()}
    if is_fetched and (manifest := place / "manifest.json").is_file():
        facts["source"] = json.loads(manifest.read_text(encoding="utf-8")).get(part)
    return table, facts


def _ticker_of(path: Path) -> str:
    return re.sub(r"\.(csv|csv\.gz|parquet|json)$", "", path.name).removeprefix("data-").upper()


def _prices_of(path: Path) -> pd.DataFrame:
    """Return the file's prices as a long table with those of the columns that it has."""
    frame = _read_table(path)
    if "date" not in frame or ("close" not in frame and {"ticker", "adj_close"} & {*frame}):
        raise ValueError(f"expected prices with the columns Date and Close, got {', '.join(frame) or 'none'}")
    if "close" not in frame:
        frame = frame.melt("date", var_name="ticker", value_name="close")
    elif "ticker" not in frame:
        frame["ticker"] = _ticker_of(path)
    days = _days(frame["date"])
    if days.isna().any():
        raise ValueError("expected a day in each row, got a row without")
    names = [name for name in (*CANDLE, "volume", "adj_close", "splits_after") if name in frame]
    return frame[["ticker"]].assign(date=days, **{name: _numbers(frame[name]) for name in names}).drop_duplicates()


def _read_table(path: Path) -> pd.DataFrame:
    if path.name.endswith(".parquet"):
        frame = pd.read_parquet(path)
        frame = frame if isinstance(frame.index, pd.RangeIndex) else frame.reset_index()
    else:
        frame = pd.read_csv(path, index_col=False, encoding="utf-8-sig", keep_default_na=False, na_values=_UNKNOWN)
    names = [str(label).strip().lower().replace(" ", "_") for label in frame]
    return frame.set_axis(["ticker" if name == "symbol" else name for name in names], axis=1)


def _days(column: pd.Series) -> pd.Series:
    """Return days without time and zone: a time with a zone keeps the day it shows, which is the exchange's."""
    if not pd.api.types.is_datetime64_any_dtype(column.dtype):
        text = column.astype("string").str.strip()
        column = pd.to_datetime(text.mask(text.isin(_UNKNOWN)).str.slice(0, 10), format="%Y-%m-%d")
    return column.dt.tz_localize(None).dt.normalize().astype("datetime64[ns]")


def _numbers(column: pd.Series) -> pd.Series:
    return pd.to_numeric(column.mask(column.isin(_UNKNOWN)).astype(object)).astype("float64")


def _reports_of(path: Path) -> pd.DataFrame:
    """Return the file's reports with the columns of `REPORT_COLUMNS`."""
    if path.name.endswith(".json"):
        answer = json.loads(path.read_text(encoding="utf-8-sig"))
        frame = pd.DataFrame(answer["quarterlyEarnings"], columns=list(ALPHA_VANTAGE)).rename(columns=ALPHA_VANTAGE)
        frame["ticker"] = answer.get("symbol") or _ticker_of(path)
    else:
        frame = _read_table(path)
    defaults = {"ticker": _ticker_of(path), "fiscal_end": None, "report_time": None, "later_splits": 1.0}
    frame = frame.assign(**{name: value for name, value in defaults.items() if name not in frame})
    if missing := [name for name in REPORT_COLUMNS if name not in frame]:
        raise ValueError(f"expected {', '.join(REPORT_COLUMNS)}, got no {missing[0]}")
    read = {name: (_days if name in _DAYS else _numbers)(frame[name]) for name in REPORT_COLUMNS if name not in _TEXTS}
    times = frame["report_time"].astype(object)
    return frame.assign(**read, report_time=times.mask(times.isna() | times.isin(_UNKNOWN), None))


def _usable_reports(table: pd.DataFrame, defects: dict[str, list[str]]) -> pd.DataFrame:
    """Leave out reports without a day and, of a quarter that is reported again, all but the first."""
    table = _ordered(table, REPORT_COLUMNS, ["ticker", "reported", "fiscal_end"])
    undated = table["reported"].isna()
    again = table.duplicated(["ticker", "fiscal_end"]) & table["fiscal_end"].notna() & ~undated
    _note(defects, "report-without-day", table[undated], "fiscal_end", "left out")
    _note(defects, "duplicate-report", table[again], "reported", "this quarter was reported before; left out")
    return table[~undated & ~again]


def _possible(prices: pd.DataFrame, defects: dict[str, list[str]]) -> pd.DataFrame:
    """Take prices of 0 or less for unknown."""
    prices = _ordered(prices, [*PRICE_COLUMNS, "adj_close"], ["ticker", "date"])
    figures = prices[[*CANDLE, "adj_close"]]
    _note(defects, "impossible-price", prices[(figures <= 0).any(axis=1)], "date", "0 or less; unknown")
    return prices.assign(**figures.mask(figures <= 0))


def _adjusted(
    prices: pd.DataFrame, adjust: str, defects: dict[str, list[str]]
) -> tuple[pd.DataFrame, dict[str, dict[str, float]]]:
    """Find the splits that Adj Close shows and Close does not, and take them out if `adjust` is `splits`.

    Adj Close / Close steps by the split's ratio, but also by 1 / (1 - dividend / price): 1.25, as of 5 shares for 4,
    after a dividend of 20 %. Hence only ratios that no usual dividend reaches count.
    """
    known = prices.dropna(subset=["adj_close", "close"])
    if adjust == "splits" and (missing := {*prices["ticker"].unique()} - {*known["ticker"].unique()}):
        raise DataError(f"adjust splits: expected Adj Close of all tickers, found none of {min(missing)}.")
    step = np.log(known["adj_close"] / known["close"]).groupby(known["ticker"]).diff()
    fall = -np.log(known["close"]).groupby(known["ticker"]).diff()
    is_large = step.abs() >= np.log(_SMALLEST_STEP)
    known, step, fall = known[is_large], step[is_large], fall[is_large]
    distance = abs(step.to_numpy()[:, None] - np.log(_SPLITS))
    ratio = pd.Series(_SPLITS[distance.argmin(axis=1)], index=known.index)
    is_split = (distance.min(axis=1) < np.log(_NEAR)) & ((fall - np.log(ratio)).abs() < np.log(_DAYS_MOVE))
    _note(defects, "large-dividend", known[~is_split], "date", "Adj Close / Close steps; taken as a dividend")
    if adjust == "none":
        _note(defects, "split-in-close", known[is_split], "date", "Close ignores a split; use --adjust splits")
        return prices, {}
    ratios = ratio[is_split].reindex(prices.index, fill_value=1.0)
    after = ratios[::-1].groupby(prices["ticker"][::-1]).cumprod()[::-1] / ratios
    scaled = prices[CANDLE].div(after, axis=0).assign(volume=prices["volume"] * after, splits_after=after)
    splits: dict[str, dict[str, float]] = {}
    for row in known[is_split].assign(ratio=ratio[is_split]).itertuples():
        splits.setdefault(row.ticker, {})[f"{row.date:%Y-%m-%d}"] = row.ratio
    return prices.assign(**scaled), splits


def _note(defects: dict[str, list[str]], kind: str, rows: pd.DataFrame, day: str, detail: str) -> None:
    for name, days in rows.groupby("ticker")[day]:
        defects.setdefault(kind, []).append(f"{name}: {len(days)} from {str(days.min())[:10]}: {detail}")


def _ordered(table: pd.DataFrame, columns: Sequence[str], by: Sequence[str]) -> pd.DataFrame:
    types: dict[str, Any] = dict.fromkeys(columns, "float64")
    types |= {name: object for name in _TEXTS if name in types}
    types |= {name: "datetime64[ns]" for name in _DAYS if name in types}
    table = table.reindex(columns=list(columns)).astype(types)
    # numbers sort much faster than names
    keys = [pd.factorize(table[name], sort=True)[0] if name == "ticker" else table[name] for name in reversed(by)]
    return table.take(np.lexsort(keys)).reset_index(drop=True)


def _between(table: pd.DataFrame, ticker: str, column: str, start: date, end: date) -> pd.DataFrame:
    names = table["ticker"].to_numpy()
    first, last = (int(names.searchsorted(ticker, side)) for side in ("left", "right"))
    days = table[column].to_numpy()[first:last]
    a, b = np.searchsorted(days, [np.datetime64(start, "ns"), np.datetime64(end, "ns") + np.timedelta64(1, "D")])
    return table.iloc[first + int(a) : first + int(b)]
