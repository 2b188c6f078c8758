"""`fin-tasks chart`: draw one chart for a person to look at."""

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fin_tasks.errors import ConfigError, DataError

if TYPE_CHECKING:
    from fin_tasks.benchmarks.dynostock.market.tables import Market

__all__ = ["chart"]

_EARLIEST, _LATEST = date(1800, 1, 1), date(2200, 1, 1)  # what pandas can count in nanoseconds
_LISTED = 20  # tickers that an error names


def chart(
    ticker: Annotated[str, typer.Argument(metavar="TICKER", help="The stock.")],
    start: Annotated[str, typer.Option(metavar="DATE", help="First day shown, such as 2009-03-24.")],
    end: Annotated[str, typer.Option(metavar="DATE", help="Last day shown.")],
    prices: Annotated[
        Path | None, typer.Option(metavar="FILE|DIR", help="Daily prices; what `fetch dynostock` stored otherwise.")
    ] = None,
    earnings: Annotated[
        Path | None, typer.Option(metavar="FILE|DIR", help="Earnings reports; what `fetch dynostock` stored otherwise.")
    ] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Use the packaged sample market.")] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Where to write it; TICKER_START_END.png here otherwise.")
    ] = None,
    dpi: Annotated[int, typer.Option(min=1, help="Pixels per inch; the benchmark's charts have 300.")] = 150,
) -> None:
    """Draw a stock's candlestick chart with its earnings reports, and print the file's name."""
    first, last = _day("--start", start), _day("--end", end)
    if first > last:
        raise ConfigError(f"chart: expected --start on or before --end, got {start} and {end}.")
    market = _market(prices, earnings, sample=sample)
    _check_shown(market, ticker, first, last)

    from fin_tasks.benchmarks.dynostock.charting import chart_between
    from fin_tasks.charts.render import render

    spec = chart_between(market, ticker, first, last, dpi=dpi)
    file = out or Path(f"{spec.safe_stem}.png")
    image = render(spec)
    try:
        file.write_bytes(image)
    except OSError as error:
        raise ConfigError(f"chart --out {file}: expected a file that can be written, got {error.strerror}.") from error
    print(file)


def _market(prices: Path | None, earnings: Path | None, *, sample: bool) -> "Market":
    from fin_tasks.benchmarks.dynostock.market.files import load_market
    from fin_tasks.benchmarks.dynostock.market.sample import sample_market
    from fin_tasks.settings import Settings

    if sample:
        if prices or earnings:
            raise ConfigError("chart --sample: expected no --prices and no --earnings with it.")
        return sample_market()
    store = Settings.from_environ().cache_dir / "dynostock" / "market"
    if (prices is None or earnings is None) and not store.is_dir():
        raise ConfigError(
            f"chart: expected --prices and --earnings, or what `fin-tasks fetch dynostock` stores in {store}; "
            "found neither. --sample uses the packaged sample."
        )
    return load_market(prices or store, earnings or store)


def _check_shown(market: "Market", ticker: str, first: date, last: date) -> None:
    priced = sorted(market.prices["ticker"].unique())
    if ticker not in priced:
        more = f" and {len(priced) - _LISTED} more" if len(priced) > _LISTED else ""
        raise DataError(
            f"chart: expected a ticker with prices, got {ticker!r}. There are {', '.join(priced[:_LISTED])}{more}."
        )
    if not market.history(ticker, first, last)["close"].notna().any():
        days = market.history(ticker, _EARLIEST, _LATEST).index
        raise DataError(
            f"chart of {ticker}: expected days between {days[0]:%Y-%m-%d} and {days[-1]:%Y-%m-%d}, of which there are "
            f"prices; got {first} to {last}."
        )


def _day(option: str, value: str) -> date:
    try:
        day = date.fromisoformat(value)
    except ValueError:
        day = date.min
    if not _EARLIEST <= day <= _LATEST:
        raise ConfigError(f"chart {option}: expected a day such as 2010-01-31, got {value!r}.")
    return day
