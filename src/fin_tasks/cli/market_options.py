"""Options of the commands that read market data, and the market that they name."""

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    from fin_tasks.benchmarks.dynostock.market import Market

__all__ = ["FIRST_DAY", "LAST_DAY", "Adjust", "Earnings", "Prices", "Sample", "day_of", "market_of", "tickers_of"]

FIRST_DAY, LAST_DAY = date(1800, 1, 1), date(2200, 1, 1)  # pandas can count these in nanoseconds

_FETCHED = "by default what `fetch dynostock` stored."
Prices = Annotated[Path | None, typer.Option(metavar="FILE|DIR", help=f"Daily prices; {_FETCHED}")]
Earnings = Annotated[Path | None, typer.Option(metavar="FILE|DIR", help=f"Earnings reports; {_FETCHED}")]
Sample = Annotated[bool, typer.Option("--sample", help="Use the packaged sample market.")]
Adjust = Annotated[str, typer.Option(help="none, or splits for prices that are not adjusted for splits.")]


def day_of(option: str, value: str) -> date:
    """Read the day that an option gives, such as 2010-01-31."""
    try:
        day = date.fromisoformat(value)
    except ValueError:
        day = date.min
    if not FIRST_DAY <= day <= LAST_DAY:
        raise ConfigError(f"{option}: expected a day such as 2010-01-31, got {value!r}.")
    return day


def tickers_of(value: str | None) -> list[str] | None:
    """Read the tickers that an option gives, separated by commas or in a file; None if it is not given."""
    from fin_tasks.benchmarks.dynostock.market import TICKER

    if value is None:
        return None
    text = Path(value).read_text(encoding="utf-8-sig") if Path(value).is_file() else value
    names = list(dict.fromkeys(text.replace(",", " ").upper().split())) or [""]
    if odd := [name for name in names if not TICKER.fullmatch(name)]:
        raise ConfigError(f"--tickers: expected tickers such as AAPL,MSFT or a file of them, got {odd[0]!r}.")
    return names


def market_of(
    command: str, prices: Path | None, earnings: Path | None, *, adjust: str, sample: bool, tickers: str | None = None
) -> "Market":
    """Read the market that a command's options name, by default what `fin-tasks fetch dynostock` stored."""
    from fin_tasks.benchmarks.dynostock.market import Market, read_market, sample_market
    from fin_tasks.settings import Settings

    if sample:
        if prices or earnings or adjust != "none":
            raise ConfigError(f"{command} --sample: expected no --prices, --earnings or --adjust with it.")
        market = sample_market()
        wanted = tickers_of(tickers) or market.tickers
        if unknown := sorted(set(wanted) - set(market.tickers)):
            raise ConfigError(f"{command} --tickers: expected some of {', '.join(market.tickers)}, got {unknown[0]!r}.")
        kept = (table[table["ticker"].isin(wanted)] for table in (market.prices, market.reports))
        return Market.of(*kept, facts=market.facts) if tickers else market
    store = Settings.from_environ().cache_dir / "dynostock" / "market"
    if (prices is None or earnings is None) and not store.is_dir():
        raise ConfigError(
            f"{command}: expected --prices and --earnings, or the folder of `fin-tasks fetch dynostock` at {store}; "
            "found neither. --sample uses the packaged sample."
        )
    return read_market(prices or store, earnings or store, tickers=tickers_of(tickers), adjust=adjust)
