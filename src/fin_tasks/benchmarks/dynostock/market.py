"""A market: daily prices and quarterly earnings reports of many tickers, as they were known on any day."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache
from importlib.metadata import distribution
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from fin_tasks.charts.chart import CANDLE_COLUMNS
from fin_tasks.errors import ConfigError, DataError

FIGURES = ["eps", "estimate", "surprise"]
"""Columns of reports in money per share."""
DOLLARS = "USD"
TABLES: dict[str, dict[str, str]] = yaml.safe_load(
    Path(__file__).with_suffix(".yaml").read_bytes()
)

_SAMPLE = Path(__file__).parent / "sample"
_SAMPLE_PRICES = "bokeh_sampledata/_data/stocks.csv.gz"


@dataclass(frozen=True, eq=False)
class Excerpt:
    """What was known of a stock on the day `end`: prices by date, and reports, oldest first.

    Later splits are undone in prices and in figures per share, since an early price below a dollar would show that
    splits followed. `filed` holds the same reports with the figures of the files.
    """

    ticker: str
    start: date
    end: date
    prices: pd.DataFrame
    reports: pd.DataFrame
    filed: pd.DataFrame
    currency: str = DOLLARS
    """Empty if it is not known."""

    def in_currency(self, text: str) -> str:
        """Return one of our texts, which speak of dollars, in the currency of this stock."""
        if self.currency == DOLLARS:
            return text
        if not self.currency:
            text = text.replace(" in dollars", "")
        return text.replace(" dollars", f" {self.currency}".rstrip())


@dataclass(frozen=True, eq=False)
class Market:
    """Prices and reports, sorted by ticker and day; `Market.of` makes one.

    The prices of a day are divided by `splits_after`, the product of the ratios of the known splits after that day.
    The figures of reports are divided by `later_splits` too. Both are in the currency of `facts`, which is that of all
    stocks, or has one for each, or is empty if it is not known; without it they are in dollars.
    """

    prices: pd.DataFrame
    reports: pd.DataFrame
    facts: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        prices: pd.DataFrame,
        reports: pd.DataFrame,
        facts: Mapping[str, Any] = {},
    ) -> "Market":
        """Sort both tables and set their types. Missing columns become unknown values, those of splits become 1."""
        prices = with_types(prices, "prices").fillna({"splits_after": 1.0})
        prices = prices.sort_values(["ticker", "date"], ignore_index=True)
        reports = with_types(reports, "earnings").fillna({"later_splits": 1.0})
        reports = reports.sort_values(
            ["ticker", "reported", "fiscal_end"], ignore_index=True
        )
        repeated = prices.loc[prices.duplicated(["ticker", "date"]), "ticker"]
        if len(repeated):
            raise DataError(
                f"{repeated.iloc[0]}: expected one price row per day, got two."
            )
        return cls(prices, reports, facts)

    @cached_property
    def tickers(self) -> tuple[str, ...]:
        """Tickers that have prices and reports, sorted."""
        return tuple(sorted(set(self.prices["ticker"]) & set(self.reports["ticker"])))

    @cached_property
    def last_days(self) -> "Mapping[str, pd.Timestamp]":
        """The last day with a close of each ticker that has one."""
        days = self.prices.dropna(subset="close").groupby("ticker")["date"].max()
        return dict(days.items())

    @cached_property
    def _rows_by_ticker(self) -> Sequence[Mapping[str, slice]]:
        """The rows of each ticker in the prices, and in the reports. Both are sorted by ticker."""
        tables = []
        for table in (self.prices, self.reports):
            rows = {}
            first_row = 0
            for name, n_rows in table["ticker"].value_counts(sort=False).items():
                rows[str(name)] = slice(first_row, first_row + n_rows)
                first_row += n_rows
            tables.append(rows)
        return tables

    def excerpt(
        self,
        ticker: str,
        start: date,
        end: date,
    ) -> Excerpt:
        """Return a stock from `start` to `end`, both included; raise DataError if it has no prices on these days."""
        # The rows of a ticker are sorted by day, unknown days last. A mask of all rows would take much longer.
        days = np.datetime64(start, "D"), np.datetime64(end, "D") + 1
        columns = (self.prices["date"], self.reports["reported"])
        excerpt_rows = []
        for column, rows_by_ticker in zip(columns, self._rows_by_ticker, strict=True):
            ticker_rows = rows_by_ticker.get(ticker, slice(0, 0))
            first, stop = np.searchsorted(column.to_numpy()[ticker_rows], days)
            begin = ticker_rows.start
            excerpt_rows.append(slice(begin + int(first), begin + int(stop)))
        rows = self.prices.iloc[excerpt_rows[0]]
        if rows["close"].isna().all():
            known = "no prices"
            ticker_rows = self._rows_by_ticker[0].get(ticker, slice(0, 0))
            every_day = self.prices["date"].iloc[ticker_rows].dt.date
            if len(every_day):
                known = f"prices from {every_day.iloc[0]} to {every_day.iloc[-1]}"
            raise DataError(
                f"{ticker}: expected prices from {start} to {end}, found {known}."
            )
        factor = rows["splits_after"].iloc[-1]
        prices = rows.set_index("date")[[*CANDLE_COLUMNS, "volume"]]
        if factor != 1:
            # Division and multiplication change the last bits.
            volume = prices["volume"] / factor
            prices = (prices * factor).assign(volume=volume).round(6)
        filed = self.reports.iloc[excerpt_rows[1]].reset_index(drop=True)
        factors = filed["later_splits"] * factor
        reports = filed.copy()
        if (factors != 1).any():
            reports[FIGURES] = reports[FIGURES].mul(factors, axis=0).round(6)
        currency = self.facts.get("currency", DOLLARS)
        if not isinstance(currency, str):
            currency = currency.get(ticker, "")
        return Excerpt(ticker, start, end, prices, reports, filed, currency)


def strict_timing(market: Market) -> Market:
    """Move reports before the opening bell to the day before, so that the reaction falls into the days after them."""
    reports = market.reports
    times = reports["report_time"]
    if times.empty or times.isna().any():
        raise ConfigError(
            "--timing strict: expected report_time of all reports, as of Alpha Vantage, got some without."
        )
    is_early = times.str.lower().str.startswith("pre")
    days = reports["reported"] - pd.to_timedelta(is_early.astype(int), "D")
    return Market.of(market.prices, reports.assign(reported=days), market.facts)


def with_types(table: pd.DataFrame, part: str) -> pd.DataFrame:
    """Set the columns and types of a table. Days lose time and zone, and stay the dates that they show."""
    columns = {}
    for name, kind in TABLES[part].items():
        column = table.get(name, pd.Series(None, table.index, dtype=object))
        if kind.startswith("datetime"):
            if not pd.api.types.is_datetime64_any_dtype(column.dtype):
                column = pd.to_datetime(
                    column.astype("string").str[:10], format="%Y-%m-%d"
                )
            column = column.dt.tz_localize(None).dt.normalize()
        columns[name] = column.astype(kind)
    return pd.DataFrame(columns)


@lru_cache(maxsize=8)
def sample_market(*tickers: str) -> Market:
    """Return AAPL, FB, GOOG, IBM and MSFT, 2000 to 2013, adjusted for splits; FB and GOOG have no reports."""
    # The package is not imported, because its import reads all of its data.
    package = distribution("bokeh-sampledata")
    prices_file = Path(str(package.locate_file(_SAMPLE_PRICES)))
    if not prices_file.is_file():
        problem = "expected stocks.csv.gz as in bokeh-sampledata 2026.1, found none"
        remedy = "Run `pip install --force-reinstall 'bokeh-sampledata>=2026.1'`."
        raise DataError(f"sample prices: {problem}. {remedy}")
    packed_prices = prices_file.read_bytes()
    earnings = (_SAMPLE / "earnings.csv").read_bytes()
    prices = pd.read_csv(BytesIO(packed_prices), compression="gzip")
    prices = prices.rename(columns=str.lower)
    known = sorted(set(prices["ticker"]))
    if not set(tickers) <= set(known):
        raise DataError(
            f"sample: expected tickers among {', '.join(known)}, got {', '.join(tickers)}."
        )
    prices = prices.assign(volume=prices["volume"] * 1.0, splits_after=1.0)
    for split in pd.read_csv(_SAMPLE / "splits.csv").itertuples():
        is_before = (prices["ticker"] == split.ticker) & (prices["date"] < split.date)
        prices.loc[is_before, CANDLE_COLUMNS] /= split.ratio
        prices.loc[is_before, ["volume", "splits_after"]] *= split.ratio
    reports = pd.read_csv(BytesIO(earnings))
    if tickers:
        prices = prices[prices["ticker"].isin(tickers)]
        reports = reports[reports["ticker"].isin(tickers)]
    facts = {
        "basis": "split-adjusted",
        "prices": {"sha256": hashlib.sha256(packed_prices).hexdigest()},
        "earnings": {"sha256": hashlib.sha256(earnings).hexdigest()},
    }
    return Market.of(prices, reports, facts)
