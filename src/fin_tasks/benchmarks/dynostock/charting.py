"""Charts of windows: prices, earnings reports and the ends of their quarters, and nothing after the last day."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.benchmarks.dynostock.windows import Window, shown_prices
from fin_tasks.charts import pool
from fin_tasks.charts.candlestick import Chart, Style

__all__ = ["chart_between", "chart_of", "draw_charts"]


def chart_of(market: Market, window: Window, *, dpi: int = 300, style: Style = "house") -> Chart:
    """Return the chart of a window.

    Source: Xiao, Lin, Chiu (2024), Behavioral Bias of Vision-Language Models, appendix A.
    """
    return chart_between(market, window.ticker, window.start, window.end, dpi=dpi, style=style)


def chart_between(
    market: Market, ticker: str, start: date, end: date, *, dpi: int = 300, style: Style = "house"
) -> Chart:
    """Return the chart of a stock from `start` to `end`.

    Raises:
        DataError: There are no prices between these days, or no such ticker.
        ConfigError: `dpi` or `style` is not possible.
    """
    prices, reports = shown_prices(market, ticker, start, end), market.reports_between(ticker, start, end)
    return Chart(ticker=ticker, start=start, end=end, prices=prices, reports=reports, dpi=dpi, style=style)


def draw_charts(
    market: Market, windows: Sequence[Window], folder: Path, *, jobs: int = 1, engine: str = "local", dpi: int = 300
) -> tuple[list[Path], int]:
    """Draw the charts of windows into a folder; return each window's file and how many were drawn, see `pool`."""
    charts = (chart_of(market, window, dpi=dpi) for window in windows)
    return pool.draw_charts(charts, folder, jobs=jobs, engine=engine, total=len(windows))
