"""What the commands that read market data share: their options, days and the market itself."""

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    from fin_tasks.benchmarks.dynostock.market.tables import Market

__all__ = ["FIRST_DAY", "LAST_DAY", "Adjust", "Earnings", "Prices", "Sample", "day_of", "market_of"]

FIRST_DAY, LAST_DAY = date(1800, 1, 1), date(2200, 1, 1)  # what pandas can count in nanoseconds

Prices = Annotated[
    Path | None, typer.Option(metavar="FILE|DIR", help="Daily prices; what `fetch dynostock` stored otherwise.")
]
Earnings = Annotated[
    Path | None, typer.Option(metavar="FILE|DIR", help="Earnings reports; what `fetch dynostock` stored otherwise.")
]
Sample = Annotated[bool, typer.Option("--sample", help="Use the packaged sample market.")]
Adjust = Annotated[str, typer.Option(help="How to adjust prices: auto, none or full.")]


def day_of(option: str, value: str) -> date:
    """Read a day as `2010-01-31`.

    Args:
        option: What an error names, such as `chart --start`.
        value: The text.

    Raises:
        ConfigError: It is no such day, or one that no table of prices can have.
    """
    try:
        day = date.fromisoformat(value)
    except ValueError:
        day = date.min
    if not FIRST_DAY <= day <= LAST_DAY:
        raise ConfigError(f"{option}: expected a day such as 2010-01-31, got {value!r}.")
    return day


def market_of(command: str, prices: Path | None, earnings: Path | None, *, adjust: str, sample: bool) -> "Market":
    """Load the market that a command's options name; without any, what `fin-tasks fetch dynostock` stored.

    Raises:
        ConfigError: The options contradict each other, or nothing is stored.
        DataError: The files cannot be read.
    """
    from fin_tasks.benchmarks.dynostock.market.files import load_market
    from fin_tasks.benchmarks.dynostock.market.sample import sample_market
    from fin_tasks.settings import Settings

    if sample:
        if prices or earnings or adjust != "auto":
            raise ConfigError(f"{command} --sample: expected no --prices, --earnings or --adjust with it.")
        return sample_market()
    store = Settings.from_environ().cache_dir / "dynostock" / "market"
    if (prices is None or earnings is None) and not store.is_dir():
        raise ConfigError(
            f"{command}: expected --prices and --earnings, or what `fin-tasks fetch dynostock` stores in {store}; "
            "found neither. --sample uses the packaged sample."
        )
    return load_market(prices or store, earnings or store, adjust=adjust)
