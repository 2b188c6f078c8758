"""Charts of windows: prices, earnings reports and the ends of their quarters, and nothing after the last day."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pandas as pd

from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.benchmarks.dynostock.shown_prices import shown_prices
from fin_tasks.benchmarks.dynostock.window import Window
from fin_tasks.charts.pool import draw_missing, raise_failures
from fin_tasks.charts.spec import ChartSpec, Mark

__all__ = ["Charts", "chart_between", "chart_of", "draw_charts"]

_HEIGHT = 6.0  # inches
_NARROWEST, _WIDEST = 10.0, 30.0
_DAYS_PER_INCH = 30
_BATCH = 500  # charts whose prices are in memory at once


@dataclass(frozen=True, kw_only=True)
class Charts:
    """Charts of windows in a folder.

    Attributes:
        paths: Window's id to its chart; windows that show the same share it.
        drawn: How many files were drawn; the others were there.
    """

    paths: Mapping[str, Path]
    drawn: int

    @property
    def files(self) -> int:
        """How many files that is."""
        return len(set(self.paths.values()))


def chart_of(market: Market, window: Window, *, dpi: int = 300) -> ChartSpec:
    """Return the chart of a window, see `chart_between`.

    Source: Xiao, Lin, Chiu (2024), Behavioral Bias of Vision-Language Models, appendix A.
    """
    return chart_between(market, window.ticker, window.start, window.end, dpi=dpi)


def chart_between(market: Market, ticker: str, start: date, end: date, *, dpi: int = 300) -> ChartSpec:
    """Return the chart of a stock.

    Args:
        market: Holds the stock; read from `start` to `end` only.
        ticker: The stock.
        start: First day shown.
        end: Last day shown.
        dpi: Pixels per inch. The chart is 6 inches high and 10 to 30 wide, an inch for 30 days.

    Returns:
        Daily prices; a mark for each report, with its surprise; and one for each end of a quarter from `start` on. A
        report whose surprise is unknown is neither a Meet nor a Miss and has no mark, nor has an unknown end.

    Raises:
        DataError: There are no prices between these days, or no such ticker.
        ConfigError: `dpi` is too small or too large.
    """
    reports = market.reports_between(ticker, start, end)
    return ChartSpec(
        title=f"{ticker}: price and earnings reports, {start} to {end}",
        stem=f"{ticker}_{start}_{end}",
        prices=_prices(market, ticker, start, end),
        marks=(*_report_marks(reports), *_fiscal_marks(reports, start, end)),
        width=max(_NARROWEST, min((end - start).days / _DAYS_PER_INCH, _WIDEST)),
        height=_HEIGHT,
        dpi=dpi,
    )


def draw_charts(
    market: Market,
    windows: Sequence[Window],
    folder: Path,
    *,
    jobs: int = 1,
    engine: str = "local",
    dpi: int = 300,
    on_done: Callable[[int], None] | None = None,
) -> Charts:
    """Draw the charts of windows into a folder, see `pool.draw`.

    Raises:
        DataError: Some charts cannot be drawn; raised after all others are finished.
        ConfigError: As for `pool.draw`.
    """
    paths: list[Path] = []
    failures: list[str] = []
    drawn = 0
    for first in range(0, len(windows), _BATCH):
        specs = [chart_of(market, window, dpi=dpi) for window in windows[first : first + _BATCH]]

        def advance(done: int, first: int = first) -> None:
            if on_done is not None:
                on_done(first + done)

        done = draw_missing(specs, folder, jobs=jobs, engine=engine, on_done=advance)
        paths += done.paths
        failures += done.failures
        drawn += done.drawn
    raise_failures(folder, failures, of=len(windows))
    return Charts(paths={window.id: path for window, path in zip(windows, paths, strict=True)}, drawn=drawn)


def _prices(market: Market, ticker: str, start: date, end: date) -> pd.DataFrame:
    prices = shown_prices(market, ticker, start, end)
    # some files have a column of candles and lack the others: the closes are still worth a line
    if market.has_candles and not prices.drop(columns="volume").notna().all(axis=1).any():
        return prices[["close"]]
    return prices


def _report_marks(reports: pd.DataFrame) -> list[Mark]:
    known = reports[reports["surprise"].notna()]
    return [
        Mark(day.date(), "meet" if surprise >= 0 else "miss", f"{day.date()}\n{_signed(surprise)}")
        for day, surprise in zip(known["reported"], known["surprise"], strict=True)
    ]


def _fiscal_marks(reports: pd.DataFrame, start: date, end: date) -> list[Mark]:
    days = {day.date() for day in reports["fiscal_end"].dropna()}
    return [Mark(day, "fiscal", str(day)) for day in sorted(days) if start <= day <= end]


def _signed(surprise: float) -> str:
    """Write a surprise with its sign, with two to four decimals, or as many as it takes to tell it from zero.

    Example:
        >>> [_signed(surprise) for surprise in (0.1, -0.0125, 0.0, -0.00002)]
        ['+0.10', '-0.0125', '+0.00', '-2e-05']
    """
    if surprise != 0 and abs(surprise) < 0.00005:
        return f"{surprise:+.1g}"
    whole, _, decimals = f"{surprise + 0.0:+.4f}".partition(".")
    return f"{whole}.{decimals[:2]}{decimals[2:].rstrip('0')}"
