"""Options of the commands that read market data, and the market that they name."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fin_tasks.errors import ConfigError
from fin_tasks.settings import Settings

if TYPE_CHECKING:
    from fin_tasks.benchmarks.dynostock.market import Market

_FETCHED = "by default what `fin-tasks fetch dynostock` stored."
DAY: dict[str, Any] = {"formats": ["%Y-%m-%d"], "metavar": "DATE"}
Ticker = Annotated[str, typer.Argument(metavar="TICKER", help="The stock, such as AAPL.")]
Tickers = Annotated[str | None, typer.Option(metavar="AAPL,MSFT", help="DynoStock: only these stocks.")]
Prices = Annotated[Path | None, typer.Option(metavar="FILE|DIR", help=f"Daily prices; {_FETCHED}")]
Earnings = Annotated[Path | None, typer.Option(metavar="FILE|DIR", help=f"Earnings reports; {_FETCHED}")]
Sample = Annotated[bool, typer.Option("--sample", help="Use the packaged sample market.")]
Adjust = Annotated[Literal["none", "splits"], typer.Option(help="splits: take splits out of prices that ignore them.")]
Style = Annotated[Literal["house", "paper"], typer.Option(help="Our drawing, or the authors'.")]


def tickers_of(value: str | None) -> list[str] | None:
    """Read the tickers that an option gives, separated by commas; None if it is not given."""
    from fin_tasks.benchmarks.dynostock.market import TICKER

    if value is None:
        return None
    names = value.replace(" ", "").upper().split(",")
    if odd := [name for name in names if not TICKER.fullmatch(name)]:
        raise ConfigError(f"--tickers: expected some such as AAPL,MSFT, got {odd[0]!r}.")
    return names


def market_of(
    prices: Path | None, earnings: Path | None, *, adjust: str, sample: bool, tickers: str | None = None
) -> "Market":
    """Read the market that a command's options name, by default what `fin-tasks fetch dynostock` stored."""
    from fin_tasks.benchmarks.dynostock.market import read_market, sample_market

    wanted, store = tickers_of(tickers), Settings.from_environ().cache_dir / "dynostock" / "market"
    if sample and (prices or earnings or adjust != "none"):
        raise ConfigError("--sample: expected no --prices, --earnings or --adjust beside it.")
    if sample:
        return sample_market(*wanted or ())
    if not (prices and earnings) and not store.is_dir():
        raise ConfigError(
            f"market data: expected --prices and --earnings, or the folder of `fin-tasks fetch dynostock` at {store}; "
            "found neither. --sample uses the packaged sample."
        )
    return read_market(prices or store, earnings or store, tickers=wanted, adjust=adjust)
