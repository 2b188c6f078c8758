"""A market: daily prices and quarterly earnings reports of many tickers, read from files.

Prices may be CSV (packed with gzip or not) or Parquet: long tables (`Ticker, Date, Open, High, Low, Close, Volume, Adj
Close`; without Ticker the file is named after it), what yfinance saves of several tickers (two header rows), or a day
and one column of closes per ticker. Reports may be Alpha Vantage's `EARNINGS` answers or tables with their columns.
"""

import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Mapping
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
REPORT_COLUMNS = (
    *("ticker", "fiscal_end", "reported"),
    *("eps", "estimate", "surprise", "surprise_percentage", "report_time"),
)
ADJUSTMENTS = ("none", "splits")
TICKER = re.compile(r"[A-Z0-9^][A-Z0-9.^=_-]{0,19}")

_FIGURES = ("open", "high", "low", "close", "volume", "adj close", "splits after")
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


@dataclass(frozen=True, eq=False)
class Market:
    """Prices and reports, sorted by ticker and day; make one with `Market.of` or `read_market`.

    Attributes:
        prices: The columns of `PRICE_COLUMNS`, all tickers on the same basis; dollars per share and shares, NaN if
            unknown. There is no open, high, low and volume if no ticker has them. `splits_after` is the product of the
            ratios of the known splits after the day, by which prices of that day were divided.
        reports: The columns of `REPORT_COLUMNS`: dollars per share and percent, NaN, NaT or None if unknown.
        facts: The files, what was adjusted and the basis, as JSON values.
        defects: What was odd in the files.
    """

    prices: pd.DataFrame
    reports: pd.DataFrame
    facts: Mapping[str, Any] = field(default_factory=dict)
    defects: tuple[Defect, ...] = ()

    @classmethod
    def of(
        cls,
        prices: pd.DataFrame,
        reports: pd.DataFrame,
        *,
        facts: Mapping[str, Any] | None = None,
        defects: tuple[Defect, ...] = (),
    ) -> "Market":
        """Sort both tables and set their types; `splits_after` and `report_time` may be missing."""
        columns = PRICE_COLUMNS if "low" in prices else ("ticker", "date", "close", "splits_after")
        if "splits_after" not in prices:
            prices = prices.assign(splits_after=1.0)
        if "report_time" not in reports:
            reports = reports.assign(report_time=None)
        prices = _ordered(prices, columns, ("ticker", "date"), what="prices")
        reports = _ordered(reports, REPORT_COLUMNS, ("ticker", "reported", "fiscal_end"), what="earnings reports")
        if (twice := prices.duplicated(["ticker", "date"])).any():
            row = prices[twice].iloc[0]
            raise DataError(
                f"prices of {row['ticker']}: expected one row per day, found two for {row['date']:%Y-%m-%d}. "
                "Remove one of them."
            )
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
        return tuple(sorted(self._price_spans.keys() & self._report_spans.keys()))

    def history(self, ticker: str, start: date, end: date) -> pd.DataFrame:
        """Return a ticker's prices from `start` to `end`, both included, as they were seen on the last day.

        Later splits are undone, since an early price below a dollar tells that splits followed. The columns are those
        between `date` and `splits_after`; the index is the date.
        """
        rows = _between(self.prices, self._price_spans.get(ticker), "date", start, end)
        shown = rows.drop(columns=["ticker", "splits_after"]).set_index("date")
        later = float(rows["splits_after"].iloc[-1]) if len(rows) else 1.0
        if later == 1:
            return shown
        volume = {"volume": shown["volume"] / later} if "volume" in shown else {}
        # rounding takes away what the division and the multiplication left in the last bits
        return (shown * later).assign(**volume).round(6)

    def reports_between(self, ticker: str, start: date, end: date) -> pd.DataFrame:
        """Return a ticker's reports of the days from `start` to `end`, both included, oldest first."""
        return _between(self.reports, self._report_spans.get(ticker), "reported", start, end).reset_index(drop=True)

    @cached_property
    def _price_spans(self) -> dict[str, tuple[int, int]]:
        return _spans(self.prices["ticker"])

    @cached_property
    def _report_spans(self) -> dict[str, tuple[int, int]]:
        return _spans(self.reports["ticker"])


def read_market(
    prices: Path, earnings: Path, *, tickers: Collection[str] | None = None, adjust: str = "none"
) -> Market:
    """Read a market.

    Args:
        prices: A file, a folder of files with different tickers, or the folder that `fin-tasks fetch dynostock` fills.
        earnings: The same for reports.
        tickers: Read only these; each must have prices and reports.
        adjust: `none`, or `splits` for closes that ignore splits: those that Adj Close / Close shows are taken out.
            A dividend never counts as a split, so a split needs a usual ratio of at least 3:2.

    Raises:
        DataError: A path holds no files, a file cannot be used, or two files have the same ticker.
        ConfigError: `adjust` is another word.
    """
    if adjust not in ADJUSTMENTS:
        raise ConfigError(f"adjust: expected one of {', '.join(ADJUSTMENTS)}, got {adjust!r}.")
    fetched = prices / "manifest.json" if (prices / "prices").is_dir() else None
    if fetched and adjust == "splits":
        raise ConfigError(f"adjust: expected none, got 'splits'. Prices in {prices} are split-adjusted already.")
    wanted = None if tickers is None else {ticker.upper() for ticker in tickers}
    price_table, price_facts = _read_all(prices, "prices", _prices_of, wanted)
    report_table, report_facts = _read_all(earnings, "earnings", _reports_of, wanted)
    price_table, defects = _checked(price_table.sort_values(["ticker", "date"], kind="stable", ignore_index=True))
    price_table, splits, steps = _adjusted(price_table, adjust)
    report_table, unusable = _usable_reports(report_table)
    defects += steps + unusable
    facts = {
        "basis": "split-adjusted" if fetched or adjust == "splits" else "as in the files",
        "prices": {**price_facts, **_coverage(price_table, "date"), "adjust": adjust, "splits": splits},
        "earnings": {**report_facts, **_coverage(report_table, "reported")},
        "defects": dict(sorted(Counter(defect.kind for defect in defects).items())),
    }
    return Market.of(price_table, report_table, facts=facts, defects=tuple(defects))


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
        for ticker in table["ticker"].unique():
            if not TICKER.fullmatch(ticker):
                raise DataError(f"{path}: expected tickers such as AAPL, got {ticker!r}.")
            if ticker in source:
                raise DataError(
                    f"{part} of {ticker}: expected one file, got {source[ticker]} and {path}. Remove one of them."
                )
            source[ticker] = path
        tables.append(table if wanted is None else table[table["ticker"].isin(wanted)])
    if missing := sorted((wanted or set()) - source.keys()):
        raise DataError(f"{part} of {', '.join(missing)}: expected them in {folder}, found none. Fetch them first.")
    if not any(map(len, tables)):
        raise DataError(f"{part}: expected files ({', '.join(endings)}) at {folder}, found none with any rows.")
    facts: dict[str, Any] = {"files": {path.name: sha256_of(path) for path in files}}
    if is_fetched and (manifest := place / "manifest.json").is_file():
        known = json.loads(manifest.read_text(encoding="utf-8"))
        facts["source"] = {name: known.get(name) for name in (part, "start", "end")}
    return pd.concat(tables, ignore_index=True), facts


def _ticker_of(path: Path) -> str:
    return re.sub(r"\.(csv|csv\.gz|parquet|json)$", "", path.name).removeprefix("data-").upper()


def _prices_of(path: Path) -> pd.DataFrame:
    """Return the file's prices as a long table with the columns of `_FIGURES` that it has."""
    frame = _read_table(path, ("date", "datetime", "timestamp", "ticker", "symbol"))
    if isinstance(frame.columns, pd.MultiIndex):
        level = next((n for n in (0, 1) if "close" in _labels(frame.columns.get_level_values(n))), None)
        if level is None:
            raise DataError(
                f"{path}: expected Close in one of two header rows (yfinance: auto_adjust=False), got none."
            )
        frame.index.name, frame.columns.names = "date", [None, None]
        frame = frame.stack(level=1 - level, future_stack=True).rename_axis(["date", "ticker"]).reset_index()
    frame.columns = pd.Index(_labels(frame.columns))
    frame = frame.rename(columns={"symbol": "ticker", "datetime": "date", "timestamp": "date", "adjclose": "adj close"})
    if "date" not in frame and len(frame.columns) and frame.columns[0] in ("", "index", "price", "unnamed: 0"):
        frame = frame.rename(columns={frame.columns[0]: "date"})
    if "date" not in frame or ("close" not in frame and {"ticker", "adj close"} & {*frame}):
        raise DataError(f"{path}: expected prices with the columns Date and Close, got {', '.join(frame) or 'none'}.")
    if "close" not in frame:
        frame = frame.melt("date", var_name="ticker", value_name="close")
    elif "ticker" not in frame:
        frame = frame.assign(ticker=_ticker_of(path))
    table = pd.DataFrame({"ticker": _tickers(frame["ticker"]), "date": _days(frame["date"], path)})
    if table["date"].isna().any():
        raise DataError(f"{path}: expected a day in each row, got none in row {table['date'].isna().idxmax() + 1}.")
    for name in (name for name in _FIGURES if name in frame):
        table[name] = _numbers(frame[name], path)
    table = table.drop_duplicates()
    if (twice := table.duplicated(["ticker", "date"])).any():
        row = table[twice].iloc[0]
        raise DataError(f"{path}: expected one row per day, got two of {row['ticker']} on {row['date']:%Y-%m-%d}.")
    return table.rename(columns={"adj close": "adj_close", "splits after": "splits_after"})


def _read_table(path: Path, words: Collection[str]) -> pd.DataFrame:
    """Read a table; in CSV `words` names the columns of text, None for all columns."""
    try:
        if path.name.endswith(".parquet"):
            frame = pd.read_parquet(path)
            return frame if isinstance(frame.index, pd.RangeIndex) or frame.columns.nlevels > 1 else frame.reset_index()
        head = pd.read_csv(path, header=None, nrows=2, dtype=str, keep_default_na=False, encoding="utf-8-sig")
        first, second = _labels(head.iloc[0]), _labels(head.iloc[-1])
        if "close" in first + second and not any(re.match(r"-?[\d.]+(e[+-]?\d+)?$|\d{4}-", cell) for cell in second):
            return pd.read_csv(path, header=[0, 1], index_col=0, encoding="utf-8-sig", **_EXACT)
        text = [i for i, name in enumerate(first) if not words or name in words or i == 0]
        unknown = {i: list(_UNKNOWN) for i in range(len(first)) if i not in text}
        names: Any = {"header": 0, "names": range(len(first)), "index_col": False, "encoding": "utf-8-sig"}
        types: Any = dict.fromkeys(text, str)
        frame = pd.read_csv(path, dtype=types, keep_default_na=False, na_values=unknown, **names, **_EXACT)
        return frame.set_axis(head.iloc[0].tolist(), axis=1)
    except _UNREADABLE as error:
        raise DataError(f"{path}: expected a table, got a file that cannot be read ({error}).") from error


def _labels(labels: Any) -> list[str]:
    return [str(label).strip().lower().replace("_", " ") for label in labels]


def _tickers(column: pd.Series) -> pd.Series:
    codes, names = pd.factorize(column.astype(object), use_na_sentinel=False)
    upper = np.array([str(name).strip().upper() for name in names], dtype=object)
    return pd.Series(upper[codes], index=column.index, dtype=object)


def _days(column: pd.Series, path: Path) -> pd.Series:
    """Return days without time and zone: a time with a zone keeps the day it shows, which is the exchange's."""
    if not pd.api.types.is_datetime64_any_dtype(column.dtype):
        text = column.astype(str).str.strip().str.slice(0, 10)
        column = pd.to_datetime(text.mask(column.isna() | text.isin(_UNKNOWN)), format="%Y-%m-%d", errors="coerce")
        if (odd := column.isna() & ~text.isin(_UNKNOWN) & text.notna()).any():
            raise DataError(f"{path}: expected days such as 2024-01-31, got {text[odd].iloc[0]!r}.")
    try:
        return column.dt.tz_localize(None).dt.normalize().astype("datetime64[ns]")
    except ValueError as error:
        raise DataError(f"{path}: expected days between 1700 and 2200 ({error}).") from error


def _numbers(column: pd.Series, path: Path) -> pd.Series:
    column = column.mask(column.isin(_UNKNOWN)) if column.dtype == object or str(column.dtype) == "str" else column
    numbers = pd.to_numeric(column, errors="coerce").astype("float64")
    if (odd := ~np.isfinite(numbers) & column.notna()).any():
        raise DataError(f"{path}: expected numbers in {column.name!r}, got {str(column[odd].iloc[0])[:60]!r}.")
    return numbers


def _reports_of(path: Path) -> pd.DataFrame:
    """Return the file's reports with the columns of `REPORT_COLUMNS`."""
    if path.name.endswith(".json"):
        try:
            answer = json.loads(path.read_text(encoding="utf-8-sig"))
        except _UNREADABLE as error:
            raise DataError(f"{path}: expected JSON, got a file that cannot be read ({error}).") from error
        rows = answer.get("quarterlyEarnings") if isinstance(answer, dict) else None
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            # a refusal may quote the user's key
            found = ", ".join(answer) if isinstance(answer, dict) else type(answer).__name__
            raise DataError(f"{path}: expected quarterlyEarnings of Alpha Vantage, got {found!r}. Fetch it again.")
        frame = pd.DataFrame(rows, columns=list(_ALPHA_VANTAGE))
        frame["symbol"] = answer.get("symbol") or _ticker_of(path)
    else:
        frame = _read_table(path, ())
    frame.columns = pd.Index([str(name).strip().lower() for name in frame.columns])
    frame = frame.rename(columns={name.lower(): ours for name, ours in _ALPHA_VANTAGE.items()} | {"symbol": "ticker"})
    frame = frame.assign(**{name: None for name in ("report_time", "fiscal_end") if name not in frame})
    if "ticker" not in frame:
        frame["ticker"] = _ticker_of(path)
    if missing := [name for name in REPORT_COLUMNS if name not in frame]:
        raise DataError(
            f"{path}: expected reports with {', '.join(REPORT_COLUMNS)} or Alpha Vantage's names, "
            f"found no {', '.join(missing)}."
        )
    table = pd.DataFrame({"ticker": _tickers(frame["ticker"])})
    for name in ("fiscal_end", "reported"):
        table[name] = _days(frame[name], path)
    for name in ("eps", "estimate", "surprise", "surprise_percentage"):
        table[name] = _numbers(frame[name], path)
    time = frame["report_time"].astype(object)
    table["report_time"] = time.mask(time.isna() | time.isin(_UNKNOWN), None)
    return table


def _usable_reports(table: pd.DataFrame) -> tuple[pd.DataFrame, list[Defect]]:
    """Leave out reports without a day and, of a quarter that is reported again, all but the first."""
    table = table.sort_values(["ticker", "reported", "fiscal_end"], kind="stable", ignore_index=True)
    undated = table["reported"].isna()
    again = table.duplicated(["ticker", "fiscal_end"]) & table["fiscal_end"].notna() & ~undated
    defects = _defects("report-without-day", table[undated], "fiscal_end", "left out")
    defects += _defects("duplicate-report", table[again], "reported", "this quarter was reported before; left out")
    return table[~undated & ~again], defects


def _checked(prices: pd.DataFrame) -> tuple[pd.DataFrame, list[Defect]]:
    """Turn prices that cannot be into unknown ones."""
    figures = [name for name in ("open", "high", "low", "close", "adj_close") if name in prices]
    bad = prices[figures] <= 0
    if {"high", "low"} <= {*figures}:
        candle = [name for name in ("open", "high", "low") if name in figures]
        bad.loc[prices["high"] < prices["low"], candle] = True
    odd = bad.any(axis=1)
    detail = "a price of 0 or less, or a high below the low; taken as unknown"
    prices[figures] = prices[figures].mask(bad)
    return prices, _defects("impossible-price", prices[odd], "date", detail)


def _adjusted(prices: pd.DataFrame, adjust: str) -> tuple[pd.DataFrame, dict[str, dict[str, float]], list[Defect]]:
    """Find the splits that Adj Close shows and Close does not, and take them out if `adjust` is `splits`.

    Adj Close / Close steps by the split's ratio, but also by 1 / (1 - dividend / price): 1.25, as of 5 shares for 4,
    after a dividend of 20 %. Hence only ratios that no usual dividend reaches count.
    """
    if "adj_close" not in prices:
        if adjust == "splits":
            raise DataError("adjust splits: expected the column Adj Close, found none. Use adjust: none.")
        return prices, {}, []
    without = prices["adj_close"].notna().groupby(prices["ticker"]).any()
    if adjust == "splits" and not without.all():
        raise DataError(f"adjust splits: expected Adj Close of all tickers, found none of {without.idxmin()}.")
    known = prices[prices["adj_close"].notna() & prices["close"].notna()]
    step = np.exp(np.log(known["adj_close"] / known["close"]).groupby(known["ticker"]).diff())
    fall = np.exp(-np.log(known["close"]).groupby(known["ticker"]).diff())
    known, step, fall = (each[abs(np.log(step)) >= np.log(_SMALLEST_STEP)] for each in (known, step, fall))
    distance = abs(np.log(step.to_numpy()[:, None] / _SPLITS))
    ratio = pd.Series(_SPLITS[distance.argmin(axis=1)], index=known.index)
    is_split = (distance.min(axis=1) < np.log(_NEAR)) & (abs(np.log(fall / ratio)) < np.log(_DAYS_MOVE))
    defects = _defects("large-dividend", known[~is_split], "date", "Adj Close / Close steps; taken as a dividend")
    if adjust == "none":
        found = "Close ignores a split; use --adjust splits"
        return (
            prices.drop(columns="adj_close"),
            {},
            defects + _defects("split-in-close", known[is_split], "date", found),
        )
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
    """Return one defect per ticker, with the number of its rows and the first day."""
    return [
        Defect(kind, str(ticker), f"{len(days)} from {days.min():%Y-%m-%d}: {detail}")
        for ticker, days in rows.groupby("ticker")[day]
    ]


def _coverage(table: pd.DataFrame, day: str) -> dict[str, Any]:
    first, last = table[day].min(), table[day].max()
    tickers = int(table["ticker"].nunique())
    return {"rows": len(table), "tickers": tickers, "first": f"{first:%Y-%m-%d}", "last": f"{last:%Y-%m-%d}"}


def _ordered(table: pd.DataFrame, columns: tuple[str, ...], by: tuple[str, ...], *, what: str) -> pd.DataFrame:
    if missing := [name for name in columns if name not in table]:
        raise DataError(f"{what}: expected the columns {', '.join(columns)}; missing: {', '.join(missing)}.")
    types = {**dict.fromkeys(columns, "float64"), "ticker": object, "report_time": object}
    types |= dict.fromkeys(("date", "fiscal_end", "reported"), "datetime64[ns]")
    typed = table[list(columns)].astype({name: types[name] for name in columns})
    return typed.sort_values(list(by), kind="stable", ignore_index=True)


def _spans(tickers: pd.Series) -> dict[str, tuple[int, int]]:
    """Return the first row of each ticker in a sorted column, and the row after its last."""
    names = tickers.to_numpy()
    starts = np.flatnonzero(np.r_[True, names[1:] != names[:-1]]) if len(names) else np.array([], dtype=int)
    ends = np.append(starts[1:], len(names))
    return {str(names[a]): (int(a), int(b)) for a, b in zip(starts, ends, strict=False)}


def _between(table: pd.DataFrame, span: tuple[int, int] | None, column: str, start: date, end: date) -> pd.DataFrame:
    first, last = span or (0, 0)
    days = table[column].to_numpy()[first:last]
    a, b = np.searchsorted(days, [np.datetime64(start, "ns"), np.datetime64(end, "ns") + np.timedelta64(1, "D")])
    return table.iloc[first + int(a) : first + int(b)]
