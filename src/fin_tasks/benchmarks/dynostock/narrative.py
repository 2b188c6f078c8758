"""A window's prices and reports in words, for models without eyes: as tables, or told in the order of events."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal, cast, get_args

import numpy as np
import pandas as pd

from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.benchmarks.dynostock.window import Window
from fin_tasks.benchmarks.dynostock.wording import day, figure, millions, outcome_of, percent, price
from fin_tasks.errors import DataError

__all__ = ["FREQUENCIES", "TEMPLATES", "TEXTS", "Frequency", "Text", "in_words", "price_periods", "reports_shown"]

Text = Literal["table", "narrative"]
Frequency = Literal["daily", "weekly", "monthly"]
TEXTS: tuple[Text, ...] = get_args(Text)
FREQUENCIES: tuple[Frequency, ...] = get_args(Frequency)

TEMPLATES: Mapping[str, str] = {
    # Of some sources, or some shares of one, the closes are adjusted for dividends too, and not every source says so.
    "prices_daily": "Share prices in dollars, adjusted for splits and perhaps for dividends, one row per trading day:",
    "prices_weekly": "Share prices in dollars, adjusted for splits and perhaps for dividends, one row per week, "
    "dated by its last trading day:",
    "prices_monthly": "Share prices in dollars, adjusted for splits and perhaps for dividends, one row per month, "
    "dated by its last trading day:",
    "columns": "Date,Open,High,Low,Close,Volume (millions)",
    "columns_close": "Date,Close",
    "reports": "Earnings reports, in dollars per share:",
    "report_columns": "Reported,Quarter end,EPS,Estimate,Surprise,Surprise %,Outcome",
    "intro": "What happened, in order; prices in dollars, adjusted for splits and perhaps for dividends:",
    "day": "On {last} the share traded between {low} and {high} and closed at {close}; "
    "{volume} million shares changed hands.",
    "period": "From {first} to {last} the share traded between {low} and {high} and closed at {close}; "
    "{volume} million shares changed hands.",
    "day_close": "On {last} the share closed at {close}.",
    "period_close": "From {first} to {last} the share ended at {close}.",
    "report": "On {reported} the company reported earnings of {eps} a share for the quarter to {fiscal_end}, "
    "against an estimate of {estimate}. The surprise was {surprise} ({percent}): {outcome}.",
}
"""All wording of this module; part of what a prompt set's hash covers."""


@dataclass(frozen=True, kw_only=True)
class _Report:
    reported: date
    fiscal_end: date
    eps: float
    estimate: float
    surprise: float
    surprise_percentage: float


def in_words(market: Market, window: Window, *, text: Text = "table", frequency: Frequency = "daily") -> str:
    """Write down a window's prices and reports.

    Args:
        market: Holds the window's ticker.
        window: Nothing after its last day is read.
        text: `table`: two tables of comma-separated values; `narrative`: a sentence per event, oldest first.
        frequency: Prices per day, or summed up per calendar week or month.

    Raises:
        DataError: The market has no price for the window.
    """
    periods = price_periods(market.history(window.ticker, window.start, window.end), frequency)
    if periods.empty:
        raise DataError(
            f"prices of {window.ticker}: expected some from {window.start} to {window.end}, found none. "
            "The windows and the market do not belong together: build the windows again."
        )
    reports = list(_reports(market, window))
    if text == "narrative":
        return _narrative(periods, reports, daily=frequency == "daily")
    return f"{_price_table(periods, frequency)}\n\n{_report_table(reports)}"


def reports_shown(market: Market, window: Window) -> pd.DataFrame:
    """Return the reports of a window, oldest first: the newest `window.window` between its first and last day."""
    return market.reports_between(window.ticker, window.start, window.end).tail(window.window)


def price_periods(history: pd.DataFrame, frequency: Frequency) -> pd.DataFrame:
    """Sum daily prices up over calendar weeks (Saturday to Friday) or months.

    Args:
        history: Daily prices indexed by date, with `close` and perhaps `open`, `high`, `low`, `volume`.
        frequency: `daily` changes nothing.

    Returns:
        One row per period that has a trading day, indexed by the last one, with the first one under `first`: the first
        open, the highest high, the lowest low, the last close, the sum of the volume; NaN where every day is NaN.

    Example:
        >>> days = pd.to_datetime(["2004-07-15", "2004-07-16", "2004-07-19"])
        >>> price_periods(pd.DataFrame({"close": [1.0, 2.0, 3.0]}, index=days), "weekly")["close"].tolist()
        [2.0, 3.0]
    """
    days = history.assign(first=history.index, last=history.index)
    if frequency == "daily":
        return days.drop(columns="last")
    period = days["last"].dt.to_period("W-FRI" if frequency == "weekly" else "M")
    rules = {"first": "first", "last": "last", "open": "first", "high": "max", "low": "min", "close": "last"}
    groups = days.groupby(period.to_numpy())
    summed = groups.agg({name: rule for name, rule in rules.items() if name in days})
    if "volume" in days:
        summed["volume"] = groups["volume"].sum(min_count=1)
    return summed.set_index("last")


def _reports(market: Market, window: Window) -> Iterator[_Report]:
    for row in reports_shown(market, window).itertuples():
        yield _Report(
            reported=cast(pd.Timestamp, row.reported).date(),
            fiscal_end=cast(pd.Timestamp, row.fiscal_end).date(),
            eps=row.eps,
            estimate=row.estimate,
            surprise=row.surprise,
            surprise_percentage=row.surprise_percentage,
        )


def _price_table(periods: pd.DataFrame, frequency: Frequency) -> str:
    days = np.datetime_as_string(periods.index.to_numpy(), unit="D").tolist()
    columns = [days]
    names = ("open", "high", "low", "close") if "low" in periods else ("close",)
    columns += [[price(value) for value in periods[name].tolist()] for name in names]
    if "volume" in periods:
        columns.append([millions(value) for value in periods["volume"].tolist()])
    head = TEMPLATES["columns" if "low" in periods else "columns_close"]
    rows = (",".join(cells) for cells in zip(*columns, strict=True))
    return "\n".join([TEMPLATES[f"prices_{frequency}"], head, *rows])


def _report_table(reports: list[_Report]) -> str:
    rows = (
        ",".join(
            (
                day(report.reported),
                day(report.fiscal_end),
                figure(report.eps),
                figure(report.estimate),
                figure(report.surprise),
                percent(report.surprise_percentage),
                outcome_of(report.surprise),
            )
        )
        for report in reports
    )
    return "\n".join([TEMPLATES["reports"], TEMPLATES["report_columns"], *rows])


def _narrative(periods: pd.DataFrame, reports: list[_Report], *, daily: bool) -> str:
    # A report comes after the prices of its own day, and before those of a week or month that goes on after it.
    events = [(last, 0, sentence) for last, sentence in _price_sentences(periods, daily=daily)]
    events += [(report.reported, 1, _report_sentence(report)) for report in reports]
    return "\n".join([TEMPLATES["intro"], *(sentence for _, _, sentence in sorted(events))])


def _price_sentences(periods: pd.DataFrame, *, daily: bool) -> Iterator[tuple[date, str]]:
    candles = "low" in periods
    template = TEMPLATES[("day" if daily else "period") + ("" if candles else "_close")]
    for row in periods.itertuples():
        last = row.Index.date()
        words = {"first": day(row.first), "last": day(last), "close": price(row.close)}
        if candles:
            words |= {"low": price(row.low), "high": price(row.high), "volume": millions(row.volume)}
        yield last, template.format(**words)


def _report_sentence(report: _Report) -> str:
    return TEMPLATES["report"].format(
        reported=day(report.reported),
        fiscal_end=day(report.fiscal_end),
        eps=figure(report.eps),
        estimate=figure(report.estimate),
        surprise=figure(report.surprise),
        percent=percent(report.surprise_percentage),
        outcome=outcome_of(report.surprise),
    )
