"""Prices and earnings reports of many tickers, in the two tables everything else reads."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from fin_tasks.data.tables import Defect
from fin_tasks.errors import DataError

__all__ = ["PRICE_COLUMNS", "REPORT_COLUMNS", "Market"]

PRICE_COLUMNS = ("ticker", "date", "open", "high", "low", "close", "volume")
REPORT_COLUMNS = ("ticker", "fiscal_end", "reported", "eps", "estimate", "surprise", "surprise_percentage")

_Spans = dict[str, tuple[int, int]]


@dataclass(frozen=True, eq=False)
class Market:
    """Daily prices and quarterly earnings reports. Make one with `Market.of`, which brings the tables into order.

    Attributes:
        prices: One row per ticker and trading day, the columns of `PRICE_COLUMNS`, sorted by ticker and date. Dates are
            `datetime64[ns]` at midnight without a zone; numbers are float64 in dollars per share and shares, NaN where
            unknown. `open`, `high`, `low` and `volume` are all absent where there are closes only, and NaN for the
            tickers of closes only where others have candles. Close is adjusted for splits.
        reports: One row per report, the columns of `REPORT_COLUMNS`, sorted by ticker and day of report.
            EPS figures are dollars per share, `surprise_percentage` is percent; NaN where unknown.
        facts: Where the tables come from, for provenance: JSON-compatible.
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
        """Sort both tables, set their types and put their columns in order.

        Raises:
            DataError: A column is missing, or a ticker has two rows for one day of prices.
        """
        has_candles = "low" in prices.columns
        price_columns = PRICE_COLUMNS if has_candles else ("ticker", "date", "close")
        ordered_prices = _ordered(prices, price_columns, ("ticker", "date"), dates=("date",), what="prices")
        ordered_reports = _ordered(
            reports,
            REPORT_COLUMNS,
            ("ticker", "reported", "fiscal_end"),
            dates=("fiscal_end", "reported"),
            what="earnings reports",
        )
        twice = ordered_prices.duplicated(["ticker", "date"])
        if twice.any():
            row = ordered_prices[twice].iloc[0]
            raise DataError(
                f"prices of {row['ticker']}: expected one row per day, found two for {row['date']:%Y-%m-%d}. "
                "Remove one of them."
            )
        return cls(ordered_prices, ordered_reports, dict(facts or {}), defects)

    @property
    def has_candles(self) -> bool:
        """Whether there are open, high, low and volume beside the close."""
        return "low" in self.prices.columns

    @cached_property
    def tickers(self) -> tuple[str, ...]:
        """Tickers that have prices and reports, sorted."""
        return tuple(sorted(self._price_spans.keys() & self._report_spans.keys()))

    def history(self, ticker: str, start: date, end: date) -> pd.DataFrame:
        """Return a ticker's prices from `start` to `end`, both included: the columns after `date`, indexed by date."""
        rows = _between(self.prices, self._price_spans.get(ticker), "date", start, end)
        return rows.drop(columns="ticker").set_index("date")

    def reports_between(self, ticker: str, start: date, end: date) -> pd.DataFrame:
        """Return a ticker's reports of the days from `start` to `end`, both included, oldest first."""
        return _between(self.reports, self._report_spans.get(ticker), "reported", start, end).reset_index(drop=True)

    @cached_property
    def _price_spans(self) -> _Spans:
        return _spans(self.prices["ticker"])

    @cached_property
    def _report_spans(self) -> _Spans:
        return _spans(self.reports["ticker"])


def _ordered(
    table: pd.DataFrame, columns: tuple[str, ...], by: tuple[str, ...], *, dates: tuple[str, ...], what: str
) -> pd.DataFrame:
    if missing := [name for name in columns if name not in table.columns]:
        raise DataError(f"{what}: expected the columns {', '.join(columns)}; missing: {', '.join(missing)}.")
    types = {name: "datetime64[ns]" if name in dates else "float64" for name in columns if name != "ticker"}
    typed = table[list(columns)].astype({"ticker": object, **types})
    return typed.sort_values(list(by), kind="stable", ignore_index=True)


def _spans(tickers: pd.Series) -> _Spans:
    """First row and row after the last of each ticker in a sorted column."""
    names = tickers.to_numpy()
    if not len(names):
        return {}
    starts = np.concatenate([[0], np.flatnonzero(names[1:] != names[:-1]) + 1])
    ends = np.concatenate([starts[1:], [len(names)]])
    return {str(names[a]): (int(a), int(b)) for a, b in zip(starts, ends, strict=True)}


def _between(table: pd.DataFrame, span: tuple[int, int] | None, column: str, start: date, end: date) -> pd.DataFrame:
    first, last = span or (0, 0)
    days = table[column].to_numpy()[first:last]
    a, b = np.searchsorted(days, [np.datetime64(start, "ns"), np.datetime64(end, "ns") + np.timedelta64(1, "D")])
    return table.iloc[first + int(a) : first + int(b)]
