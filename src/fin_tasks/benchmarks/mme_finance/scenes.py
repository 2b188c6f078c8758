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
    """Daily prices of one stock.

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

    Attributes:
        language: Of all words.
        prices: What the candles show.
        averages: Days of a simple moving average to its line.
        header: Label to value as printed above the chart, such as `Open` to `128.40`.
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
        paragraphs: The text, in order.
        facts: What the text says, by a key that `questions` knows: `rating`, `target_price`, `revenue`,
            `revenue_before`, `margin`, `analyst`, ... as printed.
    """

    language: Language
    publisher: str
    title: str
    day: str
    paragraphs: tuple[str, ...]
    facts: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class MixedScene:
    """A page with several parts, such as candles beside a table.

    Attributes:
        language: Of all words.
        title: As printed above.
        parts: Two or more, from the top.
    """

    language: Language
    title: str
    parts: "tuple[CandleScene | IndicatorScene | StatisticsScene | TableScene | DocumentScene, ...]"


Scene = CandleScene | IndicatorScene | StatisticsScene | TableScene | DocumentScene | MixedScene
"""Anything a picture can show."""
