"""A market: daily prices and quarterly earnings reports of many tickers."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from fin_tasks.charts.chart import CANDLE_COLUMNS
from fin_tasks.errors import ConfigError, DataError

FIGURES = ["eps", "estimate", "surprise"]
"""Columns of reports in dollars per share."""
TABLES: dict[str, dict[str, str]] = yaml.safe_load(
    Path(__file__).with_suffix(".yaml").read_bytes()
)


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


@dataclass(frozen=True, eq=False)
class Market:
    """Prices (dollars per share) and reports, sorted by ticker and day; make one with `Market.of` or `read_market`.

    The prices of a day are divided by `splits_after`, the product of the ratios of the known splits after that day.
    The figures of reports are divided by `later_splits` too.
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
        return tuple(sorted(self._prices.keys() & self._reports.keys()))

    @cached_property
    def last_day(self) -> pd.Timestamp:
        """The last day on which any ticker has a close."""
        return self.prices.dropna(subset="close")["date"].max()

    @cached_property
    def _prices(self) -> dict[str, pd.DataFrame]:
        return dict(list(self.prices.groupby("ticker")))

    @cached_property
    def _reports(self) -> dict[str, pd.DataFrame]:
        return dict(list(self.reports.groupby("ticker")))

    def prices_of(self, ticker: str) -> pd.DataFrame:
        """Return all prices of a ticker; no rows if there are none."""
        return self._prices.get(ticker, self.prices.iloc[:0])

    def excerpt(
        self,
        ticker: str,
        start: date,
        end: date,
    ) -> Excerpt:
        """Return a stock from `start` to `end`, both included; raise DataError if it has no prices on these days."""
        days = pd.Timestamp(start), pd.Timestamp(end)
        every_day = self.prices_of(ticker)
        rows = every_day[every_day["date"].between(*days)]
        if rows["close"].isna().all():
            known = "no prices"
            if len(every_day):
                first, last = every_day["date"].dt.date.iloc[[0, -1]]
                known = f"prices from {first} to {last}"
            raise DataError(
                f"{ticker}: expected prices from {start} to {end}, found {known}."
            )
        factor = rows["splits_after"].iloc[-1]
        prices = rows.set_index("date")[[*CANDLE_COLUMNS, "volume"]]
        if factor != 1:
            # Division and multiplication change the last bits.
            volume = prices["volume"] / factor
            prices = (prices * factor).assign(volume=volume).round(6)
        filed = self._reports.get(ticker, self.reports.iloc[:0])
        filed = filed[filed["reported"].between(*days)].reset_index(drop=True)
        factors = filed["later_splits"] * factor
        reports = filed.copy()
        if (factors != 1).any():
            reports[FIGURES] = reports[FIGURES].mul(factors, axis=0).round(6)
        return Excerpt(ticker, start, end, prices, reports, filed)


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
