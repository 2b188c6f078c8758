"""A market: daily prices and quarterly earnings reports of many tickers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any

import pandas as pd

from fin_tasks.errors import ConfigError, DataError

CANDLE = ["open", "high", "low", "close"]
FIGURES = ["eps", "estimate", "surprise"]
"""Columns of reports in dollars per share."""
PRICE_TYPES: Mapping[str, str] = {
    "ticker": "object",
    "date": "datetime64[ns]",
    "open": "float64",
    "high": "float64",
    "low": "float64",
    "close": "float64",
    "volume": "float64",
    "splits_after": "float64",
}
REPORT_TYPES: Mapping[str, str] = {
    "ticker": "object",
    "fiscal_end": "datetime64[ns]",
    "reported": "datetime64[ns]",
    "eps": "float64",
    "estimate": "float64",
    "surprise": "float64",
    "surprise_percentage": "float64",
    "report_time": "object",
    "later_splits": "float64",
}
REPORT_COLUMNS = list(REPORT_TYPES)
TICKER = re.compile(r"[A-Z0-9^][A-Z0-9.^=_-]{0,19}")


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
        cls,
        prices: pd.DataFrame,
        reports: pd.DataFrame,
        *,
        facts: Mapping[str, Any] | None = None,
    ) -> "Market":
        """Sort both tables and set their types; columns that are missing are unknown, and splits are then 1."""
        prices = typed(prices, PRICE_TYPES).fillna({"splits_after": 1.0})
        prices = prices.sort_values(["ticker", "date"], ignore_index=True)
        reports = typed(reports, REPORT_TYPES).fillna({"later_splits": 1.0})
        reports = reports.sort_values(["ticker", "reported", "fiscal_end"], ignore_index=True)
        repeated = prices[prices.duplicated(["ticker", "date"])]
        if len(repeated):
            ticker = repeated["ticker"].iloc[0]
            day = repeated["date"].iloc[0].date()
            raise DataError(f"{ticker}: expected one price row per day, got two on {day}.")
        return cls(prices, reports, dict(facts or {}))

    @cached_property
    def tickers(self) -> tuple[str, ...]:
        """Tickers that have prices and reports, sorted."""
        return tuple(sorted(self._prices.keys() & self._reports.keys()))

    @cached_property
    def _prices(self) -> dict[str, pd.DataFrame]:
        return dict(list(self.prices.groupby("ticker")))

    @cached_property
    def _reports(self) -> dict[str, pd.DataFrame]:
        return dict(list(self.reports.groupby("ticker")))

    def prices_of(self, ticker: str) -> pd.DataFrame:
        """Return all prices of a ticker; no rows if there are none."""
        return self._prices.get(ticker, self.prices.iloc[:0])

    def history(
        self,
        ticker: str,
        start: date,
        end: date,
    ) -> pd.DataFrame:
        """Return a ticker's prices from `start` to `end`, both included, by date, as they were seen on the last day.

        Later splits are undone, since an early price below a dollar tells that splits followed.
        """
        rows = _between(
            self.prices_of(ticker),
            "date",
            start,
            end,
        )
        prices = rows.drop(columns=["ticker", "splits_after"]).set_index("date")
        factor = _last_factor(rows)
        if factor == 1:
            return prices
        volume = prices["volume"] / factor
        # Division and multiplication left something in the last bits.
        return (prices * factor).assign(volume=volume).round(6)

    def reports_between(
        self,
        ticker: str,
        start: date,
        end: date,
        *,
        as_seen: bool = True,
    ) -> pd.DataFrame:
        """Return a ticker's reports from `start` to `end`, both included, oldest first.

        Figures per share are as they were seen on the last day, like prices; if `as_seen` is False, as in the files.
        """
        reports = self._reports.get(ticker, self.reports.iloc[:0])
        reports = _between(
            reports,
            "reported",
            start,
            end,
        ).reset_index(drop=True)
        prices = _between(
            self.prices_of(ticker),
            "date",
            start,
            end,
        )
        factors = reports["later_splits"] * _last_factor(prices)
        if as_seen and (factors != 1).any():
            reports[FIGURES] = reports[FIGURES].mul(factors, axis=0).round(6)
            reports["later_splits"] = 1.0
        return reports


def _between(
    table: pd.DataFrame,
    column: str,
    start: date,
    end: date,
) -> pd.DataFrame:
    return table[table[column].between(pd.Timestamp(start), pd.Timestamp(end))]


def _last_factor(prices: pd.DataFrame) -> float:
    """Return by which number the prices of the last day were divided."""
    return float(prices["splits_after"].iloc[-1]) if len(prices) else 1.0


def typed(table: pd.DataFrame, types: Mapping[str, str]) -> pd.DataFrame:
    """Set columns and types; a day loses its time, and keeps what it shows in its own zone."""
    columns = {}
    for name, kind in types.items():
        column = table.get(name, pd.Series(None, table.index, dtype=object))
        if kind.startswith("datetime"):
            if not pd.api.types.is_datetime64_any_dtype(column.dtype):
                column = pd.to_datetime(column.astype("string").str[:10], format="%Y-%m-%d")
            column = column.dt.tz_localize(None).dt.normalize()
        columns[name] = column.astype(kind)
    return pd.DataFrame(columns)


def shown_prices(
    market: Market,
    ticker: str,
    start: date,
    end: date,
) -> pd.DataFrame:
    """Return `Market.history`; an error says which prices there are if there is no candle on these days."""
    prices = market.history(ticker, start, end)
    if prices.dropna(subset=CANDLE).empty:
        days = market.prices_of(ticker)["date"].dt.date
        known = f"prices from {days.min()} to {days.max()}" if len(days) else "no prices"
        expected = f"expected open, high, low and close from {start} to {end}"
        raise DataError(f"{ticker}: {expected}, found {known} of this ticker.")
    return prices


def strict_timing(market: Market) -> Market:
    """Move reports before the opening bell to the day before, so that the reaction falls into the days after."""
    times = market.reports["report_time"]
    if times.isna().any() or times.empty:
        expected = "report_time of all reports, as of Alpha Vantage"
        raise ConfigError(f"timing strict: expected {expected}, got some without.")
    is_early = times.str.lower().str.startswith("pre")
    days = market.reports["reported"] - pd.to_timedelta(is_early.astype(int), "D")
    return Market.of(market.prices, market.reports.assign(reported=days), facts=market.facts)
