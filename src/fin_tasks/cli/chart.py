"""`fin-tasks chart`: draw one chart for a person to look at."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from fin_tasks.cli.options import DAY, Adjust, Earnings, Prices, Sample, Style, Ticker, market_of


def chart(
    ticker: Ticker,
    start: Annotated[datetime, typer.Option(**DAY, help="First day shown, such as 2009-03-24.")],
    end: Annotated[datetime, typer.Option(**DAY, help="Last day shown.")],
    prices: Prices = None,
    earnings: Earnings = None,
    sample: Sample = False,
    adjust: Adjust = "none",
    style: Style = "house",
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Picture, else TICKER_START_END.png.")] = None,
) -> None:
    """Draw a stock's prices with its earnings reports, as a model sees them.

    Example: fin-tasks chart AAPL --sample --start 2011-03-21 --end 2012-01-24 --out chart.png
    """
    from fin_tasks.benchmarks.dynostock.data import chart_between
    from fin_tasks.charts.candlestick import draw

    market = market_of(prices, earnings, adjust=adjust, sample=sample)
    shown = chart_between(market, ticker.upper(), start.date(), end.date(), style=style)
    file = out or Path(f"{shown.stem}.png")
    file.write_bytes(draw(shown))
    print(file)
