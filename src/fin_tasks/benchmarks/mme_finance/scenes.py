"""What a picture shows, as data: drawn by `drawing`, asked about by `questions`.

Words in a scene are in its language already; numbers are exact, and those printed in the picture are printed as
`shown` says.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

from fin_tasks.benchmarks.mme_finance.row import Language

__all__ = [
    "CandleScene",
    "DocumentScene",
    "IndicatorScene",
    "MixedScene",
    "Prices",
    "Scene",
    "StatisticsScene",
    "TableScene",
]

Line = tuple[float | None, ...]
"""A value per day, None before there are enough days for one."""


@dataclass(frozen=True, kw_only=True)
class Prices:
    """Daily prices of one stock, as traded: there is no split among the days.

    Attributes:
        symbol: Ticker.
        name: The company's name as the picture shows it.
        days: Trading days, ascending.
        open: Prices in USD, one per day; also `high`, `low`, `close`.
        volume: Shares per day.
    """

    symbol: str
    name: str
    days: tuple[date, ...]
    open: tuple[float, ...]
    high: tuple[float, ...]
    low: tuple[float, ...]
    close: tuple[float, ...]
    volume: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class CandleScene:
    """A candlestick chart with moving averages, volume, and a header that prints the last day's prices.

    Days that closed at or above their open are green in English pictures and red in Chinese ones, the others the
    other way round, as readers of either language are used to.

    Attributes:
        language: Of all words.
        prices: What the candles show.
        averages: Days of a simple moving average to its line.
        header: Label to value as printed above the chart, such as `Open` to `128.40`: the last day's date, open, high,
            low, close, change to the day before in per cent, volume, and the averages (`MA5`).
    """

    language: Language
    prices: Prices
    averages: Mapping[int, Line]
    header: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class IndicatorScene:
    """Closes above, a technical indicator below (Bollinger bands lie over the closes).

    Attributes:
        language: Of all words.
        prices: What the upper panel shows.
        indicator: Which one.
        parameters: As printed, such as `(12, 26, 9)`.
        lines: Name as printed (`DIF`, `DEA`, `MACD`; `RSI`; `K`, `D`, `J`; `UPPER`, `MID`, `LOWER`) to its line.
            `MACD` is drawn as bars and is twice the difference of the two others, as in the apps people use.
        header: Name to the last value as printed.
    """

    language: Language
    prices: Prices
    indicator: Literal["macd", "rsi", "kdj", "bollinger"]
    parameters: str
    lines: Mapping[str, Line]
    header: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class StatisticsScene:
    """A bar, line or pie chart.

    Attributes:
        language: Of all words.
        form: Which chart.
        title: As printed.
        unit: As printed.
        labels: Along the axis, or of the slices.
        series: Name as in the legend to one value per label.
        printed: Whether the values stand beside their bars, points or slices (with the decimals of `decimals`).
        decimals: Places after the point of printed values.
    """

    language: Language
    form: Literal["bar", "line", "pie"]
    title: str
    unit: str
    labels: tuple[str, ...]
    series: Mapping[str, tuple[float, ...]]
    printed: bool
    decimals: int


@dataclass(frozen=True, kw_only=True)
class TableScene:
    """A table.

    Attributes:
        language: Of all words.
        title: As printed.
        unit: As printed below the title.
        columns: Headings; the first one is of the row names.
        rows: Row name to the numbers of the other columns.
        decimals: Places after the point of printed numbers; thousands are parted by commas.
    """

    language: Language
    title: str
    unit: str
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[float, ...]]
    decimals: int


@dataclass(frozen=True, kw_only=True)
class DocumentScene:
    """A page of a report.

    Attributes:
        language: Of all words.
        publisher: As printed in the head.
        title: As printed.
        day: As printed.
        headings: One above each paragraph.
        paragraphs: The text, in order.
        box: Label to value as printed beside the text, such as `Rating` to `Buy`.
        facts: What text and box say, as printed, by keys that are the same in every language: `company`, `symbol`,
            `publisher`, `day`, `quarter`, `rating`, `rating_before`, `target_price`, `price`, `analyst`, `revenue`,
            `revenue_before` (the same quarter a year earlier), `profit`, `profit_before`, `margin`, `margin_before`
            (of gross profit, per cent), `segment` (which grew most), `eps`, `market_cap`.
        values: The numbers among them, by the same keys: prices in dollars, amounts in million dollars, margins in per
            cent.
    """

    language: Language
    publisher: str
    title: str
    day: str
    headings: tuple[str, ...]
    paragraphs: tuple[str, ...]
    box: Mapping[str, str]
    facts: Mapping[str, str]
    values: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class MixedScene:
    """A page with several parts, such as candles beside a table.

    Attributes:
        language: Of all words.
        title: As printed above.
        parts: Two or more, from the top, or from the left where the picture is wide.
    """

    language: Language
    title: str
    parts: "tuple[CandleScene | IndicatorScene | StatisticsScene | TableScene | DocumentScene, ...]"


Scene = CandleScene | IndicatorScene | StatisticsScene | TableScene | DocumentScene | MixedScene
"""Anything a picture can show."""
