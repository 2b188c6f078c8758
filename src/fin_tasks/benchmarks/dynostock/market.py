"""A market: daily prices and quarterly earnings reports of many tickers, read from files.

Prices are CSV (packed with gzip or not) or Parquet: long tables (without Ticker the file is named after it), what
yfinance saves of several tickers (two header rows), or a day and a column of closes per ticker. Reports are Alpha
Vantage's `EARNINGS` answers or tables with the same columns.
"""

import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fin_tasks.data.fetch import sha256_of
from fin_tasks.data.tables import Defect
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.resources import stock_prices_file

__all__ = ["ADJUSTMENTS", "PRICE_COLUMNS", "REPORT_COLUMNS", "TICKER", "Market", "read_market", "sample_market"]

PRICE_COLUMNS = ("ticker", "date", "open", "high", "low", "close", "volume", "splits_after")
_EPS_COLUMNS = ("eps", "estimate", "surprise", "surprise_percentage")
REPORT_COLUMNS = ("ticker", "fiscal_end", "reported", *_EPS_COLUMNS, "report_time")
ADJUSTMENTS = ("none", "splits")
TICKER = re.compile(r"[A-Z0-9^][A-Z0-9.^=_-]{0,19}")

_OTHER_NAMES = {"symbol": "ticker", "Symbol": "ticker", "Ticker": "ticker", "adjclose": "adj_close"}
_ALPHA_VANTAGE = {
    **{"fiscalDateEnding": "fiscal_end", "reportedDate": "reported", "reportedEPS": "eps", "estimatedEPS": "estimate"},
    **{"surprise": "surprise", "surprisePercentage": "surprise_percentage", "reportTime": "report_time"},
}
_UNKNOWN = ("", "None", "none", "-", "nan", "NaN", "NA", "N/A", "null", "NULL")
_ENDINGS = {"prices": (".csv", ".csv.gz", ".parquet"), "earnings": (".csv", ".csv.gz", ".parquet", ".json")}
_WHOLE = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 100)
_SPLITS = np.array([*_WHOLE, 3 / 2, 5 / 2, *(1 / n for n in _WHOLE), 2 / 3])  # new shares for each old one
_SMALLEST_STEP, _NEAR, _DAYS_MOVE = 1.15, 1.01, 1.4
# before pandas 3.1 the default parser may be wrong in the last bit
_EXACT: Any = {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
_UNREADABLE = (OSError, EOFError, ValueError, zlib.error)
_Facts = Mapping[str, Any]
_Defects = tuple[Defect, ...]


@dataclass(frozen=True, eq=False)
class Market:
    """Prices and reports of the columns above, sorted by ticker and day; make one with `Market.of` or `read_market`.

    Prices are dollars per share, all tickers on the same basis; NaN, NaT and None stand for unknown. There is no open,
    high, low and volume if no ticker has them. `splits_after` is the product of the ratios of the known splits after
    the day, by which the prices of the day were divided. `facts` name files, basis and splits as JSON values, and
    `defects` what was odd.
    """

    prices: pd.DataFrame
    reports: pd.DataFrame
    facts: _Facts = field(default_factory=dict)
    defects: _Defects = ()

    @classmethod
    def of(
        cls, prices: pd.DataFrame, reports: pd.DataFrame, *, facts: _Facts | None = None, defects: _Defects = ()
    ) -> "Market":
        """Sort both tables and set their types; `splits_after` and `report_time` may be missing."""
        columns = PRICE_COLUMNS if "low" in prices else ("ticker", "date", "close", "splits_after")
        prices = _ordered(prices, columns, ("ticker", "date")).fillna({"splits_after": 1.0})
        reports = _ordered(reports, REPORT_COLUMNS, ("ticker", "reported", "fiscal_end"))
        if (twice := prices.duplicated(["ticker", "date"])).any():
            row = prices[twice].iloc[0]
            raise DataError(f"{row['ticker']}: expected one price row per day, got two on {row['date']:%Y-%m-%d}.")
        return cls(prices, reports, dict(facts or {}), defects)

    @property
    def basis(self) -> str:
        """How the prices are adjusted: `split-adjusted`, `as in the files`, or empty if not known."""
        return str(self.facts.get("basis", ""))

    @property
    def has_candles(self) -> bool:
        """Whether there are open, high, low and volume beside the close."""
        return "low" in self.prices.columns

    @cached_property
    def tickers(self) -> tuple[str, ...]:
        """Tickers that have prices and reports, sorted."""
        return tuple(sorted({*self.prices["ticker"].unique()} & {*self.reports["ticker"].unique()}))

    def history(self, ticker: str, start: date, end: date) -> pd.DataFrame:
        """Return a ticker's prices from `start` to `end`, both included, as they were seen on the last day.

        Later splits are undone, since an early price below a dollar tells that splits followed. The columns are those
        between `date` and `splits_after`; the index is the date.
        """
        rows = _between(self.prices, ticker, "date", start, end)
        shown = rows.drop(columns=["ticker", "splits_after"]).set_index("date")
        later = float(rows["splits_after"].iloc[-1]) if len(rows) else 1.0
        if later == 1:
            return shown
        volume = {"volume": shown["volume"] / later} if "volume" in shown else {}
        # rounding takes away what the division and the multiplication left in the last bits
        return (shown * later).assign(**volume).round(6)

    def reports_between(self, ticker: str, start: date, end: date) -> pd.DataFrame:
        """Return a ticker's reports of the days from `start` to `end`, both included, oldest first."""
        return _between(self.reports, ticker, "reported", start, end).reset_index(drop=True)


def read_market(prices: Path, earnings: Path, *, tickers: Iterable[str] | None = None, adjust: str = "none") -> Market:
    """Read a market; a path is a file, a folder of files of different tickers, or a folder that `fetch_market` filled.

    Each of `tickers` must have prices and reports. `adjust` is `none`, or `splits` if closes ignore splits: those that
    Adj Close / Close shows are taken out. A dividend below a third of the price is none: only ratios from 3:2 on count.
    """
    if adjust not in ADJUSTMENTS:
        raise ConfigError(f"adjust: expected one of {', '.join(ADJUSTMENTS)}, got {adjust!r}.")
    is_fetched = (prices / "prices").is_dir()
    if is_fetched and adjust == "splits":
        raise ConfigError(f"adjust: expected none, got 'splits'. Prices in {prices} are split-adjusted already.")
    wanted = None if tickers is None else {ticker.upper() for ticker in tickers}
    price_table, price_facts = _read_all(prices, "prices", _prices_of, wanted)
    report_table, report_facts = _read_all(earnings, "earnings", _reports_of, wanted)
    price_table, splits, odd_prices = _adjusted(price_table, adjust)
    report_table, odd_reports = _usable_reports(report_table)
    defects = (*odd_prices, *odd_reports)
    facts = {
        "basis": "split-adjusted" if is_fetched or adjust == "splits" else "as in the files",
        "prices": {**price_facts, "adjust": adjust, "splits": splits},
        "earnings": report_facts,
        "defects": dict(Counter(defect.kind for defect in defects)),
    }
    return Market.of(price_table, report_table, facts=facts, defects=defects)


@lru_cache(maxsize=1)
def sample_market() -> Market:
    """Return AAPL, GOOG, IBM and MSFT from 2000-03-01 to 2013-03-01, adjusted for splits; GOOG has no reports.

    The prices are those of the package `bokeh-sampledata`; the earnings per share are facts kept beside this module.
    """
    return read_market(stock_prices_file(), Path(__file__).parent / "sample" / "earnings.csv", adjust="splits")


def _read_all(
    place: Path, part: str, read: Callable[[Path], pd.DataFrame], wanted: set[str] | None
) -> tuple[pd.DataFrame, dict[str, Any]]:
    is_fetched = (place / part).is_dir()
    folder, endings = place / part if is_fetched else place, _ENDINGS[part]
    files = [place] if place.is_file() else sorted(path for path in folder.glob("*") if path.name.endswith(endings))
    if is_fetched and wanted:
        files = [path for path in files if _ticker_of(path) in wanted]
    source: dict[str, Path] = {}
    tables: list[pd.DataFrame] = []
    for path in files:
        table = read(path)
        names = {name: str(name).strip().upper() for name in table["ticker"].unique()}
        for ticker in names.values():
            if not TICKER.fullmatch(ticker):
                raise DataError(f"{path}: expected tickers such as AAPL, got {ticker!r}.")
            if source.setdefault(ticker, path) != path:
                raise DataError(f"{ticker}: expected one file of {part}, got {source[ticker]} and {path}. Remove one.")
        table["ticker"] = table["ticker"].map(names).astype(object)
        tables.append(table if wanted is None else table[table["ticker"].isin(wanted)])
    if missing := sorted((wanted or set()) - source.keys()):
        raise DataError(f"{part} of {', '.join(missing)}: expected them in {folder}, found none. Fetch them first.")
    if not any(map(len, tables)):
        raise DataError(f"{part}: expected files ({', '.join(endings)}) at {folder}, found none with any rows.")
    facts: dict[str, Any] = {"files": {path.name: sha256_of(path) for path in files}}
    if is_fetched and (manifest := place / "manifest.json").is_file():
        facts["source"] = json.loads(manifest.read_text(encoding="utf-8")).get(part)
    return pd.concat(tables, ignore_index=True), facts


def _ticker_of(path: Path) -> str:
    return re.sub(r"\.(csv|csv\.gz|parquet|json)$", "", path.name).removeprefix("data-").upper()


def _prices_of(path: Path) -> pd.DataFrame:
    """Return the file's prices as a long table with those of the columns that it has."""
    frame = _read_table(path)
    if frame.columns.nlevels > 1:
        level = 0 if "close" in _labels(frame.columns.get_level_values(0)) else 1
        frame = frame.stack(level=1 - level, future_stack=True).rename_axis(["date", "ticker"]).reset_index()
    frame.columns = pd.Index(_labels(frame.columns))
    unnamed = {} if "date" in frame else dict.fromkeys(("datetime", "", "index", "unnamed:_0"), "date")
    frame = frame.rename(columns=_OTHER_NAMES | unnamed)
    if "date" not in frame or ("close" not in frame and {"ticker", "adj_close"} & {*frame}):
        raise DataError(f"{path}: expected prices with the columns Date and Close, got {', '.join(frame) or 'none'}.")
    if "close" not in frame:
        frame = frame.melt("date", var_name="ticker", value_name="close")
    elif "ticker" not in frame:
        frame["ticker"] = _ticker_of(path)
    table = pd.DataFrame({"ticker": frame["ticker"], "date": _days(frame["date"], path)})
    if table["date"].isna().any():
        raise DataError(f"{path}: expected a day in each row, got none in row {table['date'].isna().idxmax() + 1}.")
    for name in ("open", "high", "low", "close", "volume", "adj_close", "splits_after"):
        if name in frame:
            table[name] = _numbers(frame[name], path)
    return table.drop_duplicates() if table.duplicated(["ticker", "date"]).any() else table


def _read_table(path: Path) -> pd.DataFrame:
    """Read a table of any layout; the column labels have two levels if the file has two header rows."""
    try:
        if path.name.endswith(".parquet"):
            frame = pd.read_parquet(path)
            return frame if isinstance(frame.index, pd.RangeIndex) or frame.columns.nlevels > 1 else frame.reset_index()
        head = pd.read_csv(path, header=None, nrows=2, dtype=str, keep_default_na=False, encoding="utf-8-sig")
        second = head.iloc[-1]
        if "close" in _labels(head.to_numpy().ravel()) and not second.str.match(r"\d{4}-|-?[\d.]+(e[+-]?\d+)?$").any():
            return pd.read_csv(path, header=[0, 1], index_col=0, encoding="utf-8-sig", **_EXACT)
        unknown = [word for word in _UNKNOWN if word != "NA"]  # which is a ticker too
        options = {"index_col": False, "keep_default_na": False, "na_values": unknown, **_EXACT}
        return pd.read_csv(path, encoding="utf-8-sig", **options)
    except _UNREADABLE as error:
        raise DataError(f"{path}: expected a table, got a file that cannot be read ({error}).") from error


def _labels(labels: Any) -> list[str]:
    return [str(label).strip().lower().replace(" ", "_") for label in labels]


def _days(column: pd.Series, path: Path) -> pd.Series:
    """Return days without time and zone: a time with a zone keeps the day it shows, which is the exchange's."""
    try:
        if not pd.api.types.is_datetime64_any_dtype(column.dtype):
            text = column.astype(object).mask(column.isna() | column.isin(_UNKNOWN), None)
            column = pd.to_datetime(text.str.strip().str.slice(0, 10), format="%Y-%m-%d")
        return column.dt.tz_localize(None).dt.normalize().astype("datetime64[ns]")
    except (ValueError, AttributeError) as error:
        raise DataError(f"{path}: expected days such as 2024-01-31 in {column.name} ({error}).") from error


def _numbers(column: pd.Series, path: Path) -> pd.Series:
    numbers = pd.to_numeric(column, errors="coerce").astype("float64")
    odd = column[~np.isfinite(numbers) & column.notna()]
    if len(odd := odd[~odd.isin(_UNKNOWN)]):
        raise DataError(f"{path}: expected numbers in {column.name}, got {str(odd.iloc[0])[:60]!r}.")
    return numbers


def _reports_of(path: Path) -> pd.DataFrame:
    """Return the file's reports with the columns of `REPORT_COLUMNS`."""
    if path.name.endswith(".json"):
        try:
            answer = json.loads(path.read_text(encoding="utf-8-sig"))
            frame = pd.DataFrame(list(map(dict, answer["quarterlyEarnings"])), columns=list(_ALPHA_VANTAGE))
        except (*_UNREADABLE, TypeError, KeyError) as error:  # not the text, which may quote the user's key
            what = f"{type(error).__name__}: {error}"
            raise DataError(f"{path}: expected quarterlyEarnings as JSON, got {what}. Fetch it again.") from error
        frame["ticker"] = answer.get("symbol") or _ticker_of(path)
    else:
        frame = _read_table(path)
    frame = frame.rename(columns=_ALPHA_VANTAGE | _OTHER_NAMES)
    defaults = {"ticker": _ticker_of(path), "fiscal_end": None, "report_time": None}
    frame = frame.assign(**{name: value for name, value in defaults.items() if name not in frame})
    if missing := [name for name in REPORT_COLUMNS if name not in frame]:
        raise DataError(f"{path}: expected {', '.join(REPORT_COLUMNS)} or Alpha Vantage's names, no {missing[0]}.")
    read = {"fiscal_end": _days, "reported": _days, **dict.fromkeys(_EPS_COLUMNS, _numbers)}
    time = frame["report_time"].astype(object)
    frame["report_time"] = time.mask(time.isna() | time.isin(_UNKNOWN), None)
    return frame[list(REPORT_COLUMNS)].assign(**{name: typed(frame[name], path) for name, typed in read.items()})


def _usable_reports(table: pd.DataFrame) -> tuple[pd.DataFrame, list[Defect]]:
    """Leave out reports without a day and, of a quarter that is reported again, all but the first."""
    table = _ordered(table, REPORT_COLUMNS, ("ticker", "reported", "fiscal_end"))
    undated = table["reported"].isna()
    again = table.duplicated(["ticker", "fiscal_end"]) & table["fiscal_end"].notna() & ~undated
    defects = _defects("report-without-day", table[undated], "fiscal_end", "left out")
    defects += _defects("duplicate-report", table[again], "reported", "this quarter was reported before; left out")
    return table[~undated & ~again], defects


def _adjusted(prices: pd.DataFrame, adjust: str) -> tuple[pd.DataFrame, dict[str, dict[str, float]], list[Defect]]:
    """Find the splits that Adj Close shows and Close does not, and take them out if `adjust` is `splits`.

    Adj Close / Close steps by the split's ratio, but also by 1 / (1 - dividend / price): 1.25, as of 5 shares for 4,
    after a dividend of 20 %. Hence only ratios that no usual dividend reaches count.
    """
    prices = _ordered(prices, [name for name in (*PRICE_COLUMNS, "adj_close") if name in prices], ("ticker", "date"))
    figures = [name for name in ("open", "high", "low", "close", "adj_close") if name in prices]
    bad = prices[figures] <= 0
    if {"open", "high", "low"} <= {*figures}:
        bad.loc[prices["high"] < prices["low"], ["open", "high", "low"]] = True
    defects = _defects("impossible-price", prices[bad.any(axis=1)], "date", "0 or less, or high below low; unknown")
    prices[figures] = prices[figures].mask(bad)
    if "adj_close" not in prices:
        prices["adj_close"] = np.nan
    has_both = prices["adj_close"].notna() & prices["close"].notna()
    if adjust == "splits" and (missing := {*prices["ticker"].unique()} - {*prices["ticker"][has_both].unique()}):
        raise DataError(f"adjust splits: expected Adj Close of all tickers, found none of {min(missing)}.")
    known = prices[has_both]
    step = np.log(known["adj_close"] / known["close"]).groupby(known["ticker"]).diff()
    fall = -np.log(known["close"]).groupby(known["ticker"]).diff()
    known, step, fall = (each[step.abs() >= np.log(_SMALLEST_STEP)] for each in (known, step, fall))
    distance = abs(step.to_numpy()[:, None] - np.log(_SPLITS))
    ratio = pd.Series(_SPLITS[distance.argmin(axis=1)], index=known.index)
    is_split = (distance.min(axis=1) < np.log(_NEAR)) & ((fall - np.log(ratio)).abs() < np.log(_DAYS_MOVE))
    defects += _defects("large-dividend", known[~is_split], "date", "Adj Close / Close steps; taken as a dividend")
    if adjust == "none":
        defects += _defects("split-in-close", known[is_split], "date", "Close ignores a split; use --adjust splits")
        return prices.drop(columns="adj_close"), {}, defects
    ratios = ratio[is_split].reindex(prices.index, fill_value=1.0)
    after = ratios[::-1].groupby(prices["ticker"][::-1]).cumprod()[::-1] / ratios
    scaled = {name: prices[name] / after for name in ("open", "high", "low", "close") if name in prices}
    if "volume" in prices:
        scaled["volume"] = prices["volume"] * after
    splits: dict[str, dict[str, float]] = {}
    for row, value in ratio[is_split].items():
        splits.setdefault(prices.at[row, "ticker"], {})[f"{prices.at[row, 'date']:%Y-%m-%d}"] = float(value)
    return prices.assign(**scaled, splits_after=after).drop(columns="adj_close"), splits, defects


def _defects(kind: str, rows: pd.DataFrame, day: str, detail: str) -> list[Defect]:
    groups = rows.groupby("ticker")[day]
    return [Defect(kind, str(name), f"{len(days)} from {str(days.min())[:10]}: {detail}") for name, days in groups]


def _ordered(table: pd.DataFrame, columns: Sequence[str], by: Sequence[str]) -> pd.DataFrame:
    types = {**dict.fromkeys(columns, "float64"), "ticker": object, "report_time": object}
    types |= dict.fromkeys(("date", "fiscal_end", "reported"), "datetime64[ns]")
    table = table.reindex(columns=list(columns)).astype({name: types[name] for name in columns})
    # numbers sort much faster than names
    keys = [pd.factorize(table[name], sort=True)[0] if name == "ticker" else table[name] for name in reversed(by)]
    return table.take(np.lexsort(keys)).reset_index(drop=True)


def _between(table: pd.DataFrame, ticker: str, column: str, start: date, end: date) -> pd.DataFrame:
    names = table["ticker"].to_numpy()
    first, last = (int(names.searchsorted(ticker, side)) for side in ("left", "right"))
    days = table[column].to_numpy()[first:last]
    a, b = np.searchsorted(days, [np.datetime64(start, "ns"), np.datetime64(end, "ns") + np.timedelta64(1, "D")])
    return table.iloc[first + int(a) : first + int(b)]
