"""Options of the commands that read market data, and the market that they name."""

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    from fin_tasks.benchmarks.dynostock.market import Market

__all__ = ["FIRST_DAY", "LAST_DAY", "Adjust", "Earnings", "Prices", "Sample", "day_of", "market_of"]

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


def market_of(command: str, prices: Path | None, earnings: Path | None, *, adjust: str, sample: bool) -> "Market":
    """Read the market that a command's options name, by default what `fin-tasks fetch dynostock` stored."""
    from fin_tasks.benchmarks.dynostock.market import read_market, sample_market
    from fin_tasks.settings import Settings

    if sample:
        if prices or earnings or adjust != "none":
            raise ConfigError(f"{command} --sample: expected no --prices, --earnings or --adjust with it.")
        return sample_market()
    store = Settings.from_environ().cache_dir / "dynostock" / "market"
    if (prices is None or earnings is None) and not store.is_dir():
        raise ConfigError(
            f"{command}: expected --prices and --earnings, or what `fin-tasks fetch dynostock` stores in {store}; "
            "found neither. --sample uses the packaged sample."
        )
    return read_market(prices or store, earnings or store, adjust=adjust)
