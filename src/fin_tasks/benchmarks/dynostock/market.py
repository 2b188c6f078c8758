"""A market: daily prices and quarterly earnings reports of many tickers, read from files as docs/market.md says."""

import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fin_tasks.data.files import sha256_of
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.resources import stock_prices_file

CANDLE = ["open", "high", "low", "close"]
FIGURES = ["eps", "estimate", "surprise"]  # columns of reports in dollars per share
PRICE_COLUMNS = ["ticker", "date", *CANDLE, "volume", "splits_after"]
REPORT_COLUMNS = [
    "ticker",
    "fiscal_end",
    "reported",
    *FIGURES,
    "surprise_percentage",
    "report_time",
    "later_splits",
]
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
_COLUMNS = {"prices": [*PRICE_COLUMNS, "adj_close"], "earnings": REPORT_COLUMNS}
_NEEDED = {"prices": ["date", "close"], "earnings": ["reported", "surprise"]}
_ORDER = {"prices": ["ticker", "date"], "earnings": ["ticker", "reported", "fiscal_end"]}
_UNKNOWN = ("", "None", "-")  # not NA, which is a ticker
_WHOLE = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 100)
_SPLITS = np.array(
    [*_WHOLE, 3 / 2, 5 / 2, *(1 / n for n in _WHOLE), 2 / 3]
)  # new shares for each old one
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
    def of(
        cls, prices: pd.DataFrame, reports: pd.DataFrame, *, facts: Mapping[str, Any] | None = None
    ) -> "Market":
        """Sort both tables and set their types; columns that are missing are unknown, and splits are then 1."""
        prices = _ordered(_typed(prices, PRICE_COLUMNS), "prices").fillna({"splits_after": 1.0})
        reports = _ordered(_typed(reports, REPORT_COLUMNS), "earnings").fillna(
            {"later_splits": 1.0}
        )
        if (twice := prices.duplicated(["ticker", "date"])).any():
            row = prices[twice].iloc[0]
            raise DataError(
                f"{row['ticker']}: expected one price row per day, got two on {row['date']:%Y-%m-%d}."
            )
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

    def reports_between(
        self, ticker: str, start: date, end: date, *, as_seen: bool = True
    ) -> pd.DataFrame:
        """Return a ticker's reports from `start` to `end`, both included, oldest first.

        Figures per share are as they were seen on the last day, like prices; if `as_seen` is False, as in the files.
        """
        rows = _between(self.reports, ticker, "reported", start, end).reset_index(drop=True)
        priced = _between(self.prices, ticker, "date", start, end)["splits_after"]
        later = rows["later_splits"] * (priced.iloc[-1] if len(priced) else 1.0)
        if not as_seen or (later == 1).all():
            return rows
        return rows.assign(
            later_splits=1.0, **{name: (rows[name] * later).round(6) for name in FIGURES}
        )


def read_market(
    prices: Path, earnings: Path, *, tickers: Iterable[str] | None = None, adjust: str = "none"
) -> Market:
    """Read files, folders of files, or what `fetch_market` stored; `adjust` is `splits` if closes ignore splits."""
    is_fetched = (prices / "prices").is_dir()
    if adjust == "splits" and is_fetched:
        raise ConfigError(
            "adjust splits: expected closes that ignore splits; fetched prices are split-adjusted already."
        )
    wanted = None if tickers is None else {ticker.upper() for ticker in tickers}
    table, price_facts = _read_all(prices, "prices", wanted)
    reports, report_facts = _read_all(earnings, "earnings", wanted)
    is_impossible = table[[*CANDLE, "adj_close"]] <= 0
    table = table.mask(is_impossible.reindex(columns=table.columns, fill_value=False))
    dated = reports.dropna(subset="reported")
    again = dated.duplicated(["ticker", "fiscal_end"]) & dated["fiscal_end"].notna()
    defects = {
        "impossible-price": table[is_impossible.any(axis=1)],
        "report-without-day": reports[reports["reported"].isna()],
        "duplicate-report": dated[again],
    }
    ratios, splits = _find_splits(table), dict[str, dict[str, float]]()
    if adjust == "splits":
        if (known := table.groupby("ticker")["adj_close"].count()).min() == 0:
            raise DataError(
                f"adjust splits: expected Adj Close of all tickers, found none of {known.idxmin()}."
            )
        for row in table.assign(ratio=ratios)[ratios != 1].itertuples():
            splits.setdefault(row.ticker, {})[f"{row.date:%Y-%m-%d}"] = row.ratio
        after = ratios[::-1].groupby(table["ticker"][::-1]).cumprod()[::-1] / ratios
        table = table.assign(
            **table[CANDLE].div(after, axis=0), volume=table["volume"] * after, splits_after=after
        )
    else:
        defects["split-in-close"] = table[ratios != 1]
    facts = {
        "basis": "split-adjusted" if is_fetched or adjust == "splits" else "as in the files",
        "prices": {**price_facts, "adjust": adjust, "splits": splits},
        "earnings": report_facts,
        "defects": {
            kind: sorted(rows["ticker"].unique()) for kind, rows in defects.items() if len(rows)
        },
    }
    market = Market.of(table, dated[~again], facts=facts)
    # The source divides a ticker's figures by the splits up to its newest report; prices may know of more.
    for name, day in market.reports.groupby("ticker")["reported"].max().items():
        later = _between(market.prices, name, "date", day, date(2200, 1, 1))["splits_after"]
        if len(later) and later.iloc[0] != 1:
            market.reports.loc[market.reports["ticker"] == name, "later_splits"] /= later.iloc[0]
    return market


@lru_cache(maxsize=1)
def sample_market(*tickers: str) -> Market:
    """Return AAPL, FB, GOOG, IBM and MSFT, 2000 to 2013, adjusted for splits; FB and GOOG have no reports."""
    earnings = Path(__file__).parent / "sample" / "earnings.csv"
    return read_market(stock_prices_file(), earnings, tickers=tickers or None, adjust="splits")


def _read_all(
    place: Path, part: str, wanted: set[str] | None
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Read the rows of the wanted tickers from a file or folder; also return facts about the files."""
    is_fetched = (place / part).is_dir()
    folder = place / part if is_fetched else place
    endings = (".csv", ".csv.gz", ".parquet", *([".json"] if part == "earnings" else []))
    files = (
        [place]
        if place.is_file()
        else sorted(path for path in folder.glob("*") if path.name.endswith(endings))
    )
    if is_fetched and wanted:
        files = [path for path in files if _ticker_of(path) in wanted]
    tables: list[pd.DataFrame] = []
    for path in files:
        try:
            table = _read_file(path, part)
        except (OSError, EOFError, ValueError, TypeError, KeyError, zlib.error) as error:
            what = f"{type(error).__name__}: {str(error)[:200]}"  # not the text of the file, which may quote a key
            raise DataError(
                f"{path}: expected {part}, got a file that cannot be read ({what})."
            ) from error
        tables.append(table if wanted is None else table[table["ticker"].isin(wanted)])
    if not any(map(len, tables)):
        raise DataError(
            f"{part}: expected files ({', '.join(endings)}) at {folder}, found none with any rows."
        )
    table = pd.concat([table for table in tables if len(table)])
    if missing := sorted((wanted or set()) - {*table["ticker"]}):
        raise DataError(
            f"{part} of {', '.join(missing)}: expected them in {folder}, found none. Fetch them first."
        )
    listed = "".join(f"{path.name} {sha256_of(path)}\n" for path in files)
    facts: dict[str, Any] = {
        "files": len(files),
        "files_sha256": hashlib.sha256(listed.encode()).hexdigest(),
    }
    if is_fetched and (manifest := place / "manifest.json").is_file():
        facts["source"] = json.loads(manifest.read_text(encoding="utf-8")).get(part)
    return _ordered(table, part), facts


def _ticker_of(path: Path) -> str:
    return re.sub(r"\.(csv|csv\.gz|parquet|json)$", "", path.name).removeprefix("data-").upper()


def _read_file(path: Path, part: str) -> pd.DataFrame:
    if path.suffix == ".json":
        rows = json.loads(path.read_text(encoding="utf-8"))["quarterlyEarnings"]
        frame = pd.DataFrame(rows, columns=list(ALPHA_VANTAGE)).rename(columns=ALPHA_VANTAGE)
        frame = frame.mask(frame.isin(_UNKNOWN))
    elif path.suffix == ".parquet":
        frame = pd.read_parquet(path)
    else:
        frame = pd.read_csv(path, keep_default_na=False, na_values=_UNKNOWN)
    frame = frame.rename(columns=lambda name: str(name).strip().lower().replace(" ", "_"))
    if part == "prices" and not {"ticker", "close", "adj_close"} & {
        *frame
    }:  # a column of closes for each ticker
        frame = frame.melt("date", var_name="ticker", value_name="close")
    if missing := [name for name in _NEEDED[part] if name not in frame]:
        raise ValueError(f"expected {' and '.join(_NEEDED[part])}, got no column {missing[0]}")
    names = frame["ticker"] if "ticker" in frame else pd.Series(_ticker_of(path), frame.index)
    table = _typed(frame.assign(ticker=names.astype(str).str.strip().str.upper()), _COLUMNS[part])
    if part == "prices" and table["date"].isna().any():
        raise ValueError("expected a day in each row, got a row without")
    return table


def _typed(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    table = table.reindex(columns=list(columns))
    types: dict[str, Any] = {
        name: object if name in _TEXTS else "float64" for name in columns if name not in _DAYS
    }
    return table.astype(types).assign(
        **{name: _days(table[name]) for name in columns if name in _DAYS}
    )


def _days(column: pd.Series) -> pd.Series:
    """Return days without time and zone: a time with a zone keeps the day it shows, which is the exchange's."""
    if not pd.api.types.is_datetime64_any_dtype(column.dtype):
        column = pd.to_datetime(column.astype("string").str.slice(0, 10), format="%Y-%m-%d")
    return column.dt.tz_localize(None).dt.normalize().astype("datetime64[ns]")


def _ordered(table: pd.DataFrame, part: str) -> pd.DataFrame:
    # numbers sort much faster than names
    keys = [
        pd.factorize(table[name], sort=True)[0] if name == "ticker" else table[name]
        for name in _ORDER[part]
    ]
    return table.take(np.lexsort(keys[::-1])).reset_index(drop=True)


def _find_splits(prices: pd.DataFrame) -> "pd.Series[float]":
    """Return the ratio of each split that Adj Close shows and Close does not, on its day, else 1.

    Adj Close / Close steps by the split's ratio, but also by 1 / (1 - dividend / price): 1.25, as of 5 shares for 4,
    after a dividend of 20 %. Hence only ratios that no usual dividend reaches count.
    """
    known = prices.dropna(subset=["adj_close", "close"])
    step = np.log(known["adj_close"] / known["close"]).groupby(known["ticker"]).diff()
    fall = -np.log(known["close"]).groupby(known["ticker"]).diff()
    step = step[step.abs() >= np.log(_SMALLEST_STEP)]
    nearest = abs(step.to_numpy()[:, None] - np.log(_SPLITS)).argmin(axis=1)
    ratio = pd.Series(_SPLITS[nearest], step.index)
    is_near = (step - np.log(ratio)).abs() < np.log(_NEAR)
    has_moved = (fall[step.index] - np.log(ratio)).abs() < np.log(_DAYS_MOVE)
    return ratio[is_near & has_moved].reindex(prices.index, fill_value=1.0)


def _between(table: pd.DataFrame, ticker: str, column: str, start: date, end: date) -> pd.DataFrame:
    names = table["ticker"].to_numpy()
    first, last = (int(names.searchsorted(ticker, side)) for side in ("left", "right"))
    days = table[column].to_numpy()[first:last]
    a, b = np.searchsorted(
        days, [np.datetime64(start, "ns"), np.datetime64(end, "ns") + np.timedelta64(1, "D")]
    )
    return table.iloc[first + int(a) : first + int(b)]
