"""`fin-tasks chart`: draw one chart for a person to look at."""

from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import typer

from fin_tasks.cli.market_options import Adjust, Earnings, Prices, Sample, day, market_of
from fin_tasks.errors import ConfigError


def chart(
    ticker: Annotated[str, typer.Argument(metavar="TICKER", help="The stock.")],
    start: Annotated[date, typer.Option(parser=day, metavar="DATE", help="First day shown, such as 2009-03-24.")],
    end: Annotated[date, typer.Option(parser=day, metavar="DATE", help="Last day shown.")],
    prices: Prices = None,
    earnings: Earnings = None,
    sample: Sample = False,
    adjust: Adjust = "none",
    style: Annotated[
        Literal["house", "paper"], typer.Option(help="`paper` draws as the authors did: a line from 600 days on.")
    ] = "house",
    dpi: Annotated[int, typer.Option(help="Pixels per inch.")] = 300,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="File to write.", show_default="TICKER_START_END.png")
    ] = None,
) -> None:
    """Draw a stock's candlestick chart with its earnings reports, as a model sees it, and print the file's name."""
    if start > end:
        raise ConfigError(f"chart: expected --start on or before --end, got {start} and {end}.")
    from fin_tasks.benchmarks.dynostock.data import chart_between
    from fin_tasks.charts.candlestick import draw

    market = market_of(prices, earnings, adjust=adjust, sample=sample)
    shown = chart_between(market, ticker.upper(), start, end, dpi=dpi, style=style)
    file = out or Path(f"{shown.stem}.png")
    try:
        file.write_bytes(draw(shown))
    except OSError as error:
        raise ConfigError(f"chart --out {file}: expected a file that can be written, got {error.strerror}.") from error
    print(file)
