"""`fin-tasks chart`: draw one chart for a person to look at."""

from pathlib import Path
from typing import Annotated

import typer

from fin_tasks.cli.market_options import Adjust, Earnings, Prices, Sample, day_of, market_of
from fin_tasks.errors import ConfigError

__all__ = ["chart"]


def chart(
    ticker: Annotated[str, typer.Argument(metavar="TICKER", help="The stock.")],
    start: Annotated[str, typer.Option(metavar="DATE", help="First day shown, such as 2009-03-24.")],
    end: Annotated[str, typer.Option(metavar="DATE", help="Last day shown.")],
    prices: Prices = None,
    earnings: Earnings = None,
    sample: Sample = False,
    adjust: Adjust = "none",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Where to write it; TICKER_START_END.png here otherwise.")
    ] = None,
    dpi: Annotated[int, typer.Option(min=1, help="Pixels per inch; the benchmark's charts have 300.")] = 150,
) -> None:
    """Draw a stock's candlestick chart with its earnings reports, and print the file's name.

    Where a day is narrower than 4 pixels, at a low --dpi or over years, the closes are drawn as a line.
    """
    first, last = day_of("chart --start", start), day_of("chart --end", end)
    if first > last:
        raise ConfigError(f"chart: expected --start on or before --end, got {start} and {end}.")
    if out is not None and not out.parent.is_dir():
        raise ConfigError(f"chart --out {out}: expected a file in a folder that is there, found no {out.parent}.")
    market = market_of("chart", prices, earnings, adjust=adjust, sample=sample)

    from fin_tasks.benchmarks.dynostock.charting import chart_between
    from fin_tasks.charts.render import render

    spec = chart_between(market, ticker.upper(), first, last, dpi=dpi)
    file = out or Path(f"{spec.safe_stem}.png")
    image = render(spec)
    try:
        file.write_bytes(image)
    except OSError as error:
        raise ConfigError(f"chart --out {file}: expected a file that can be written, got {error.strerror}.") from error
    print(file)
