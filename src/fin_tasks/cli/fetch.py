"""`fin-tasks fetch`: download a benchmark's files."""

from datetime import datetime
from typing import Annotated, Literal

import typer

from fin_tasks.benchmarks import benchmark_named
from fin_tasks.settings import Settings

from .options import Out, Tickers, tickers_of
from .output import exit_with, say


def fetch(
    benchmark: Annotated[
        str,
        typer.Argument(
            metavar="BENCHMARK", help="Its name, such as xfinbench or dynostock."
        ),
    ],
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Download nothing; check that all pinned files are in the folder that tasks read.",
        ),
    ] = False,
    tickers: Tickers = None,
    end: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d"],
            metavar="DATE",
            help="DynoStock: last day. Default: yesterday.",
        ),
    ] = None,
    earnings: Annotated[
        Literal["alpha-vantage", "yahoo", "upstream"] | None,
        typer.Option(
            help="DynoStock: source of reports. Default: alpha-vantage if there is a key, else upstream."
        ),
    ] = None,
    out: Out = None,
    start: Annotated[
        datetime,
        typer.Option(
            formats=["%Y-%m-%d"],
            metavar="DATE",
            help="DynoStock: first day of prices.",
        ),
    ] = datetime(2000, 1, 1),
) -> None:
    """Download a benchmark's files into the cache. A second run goes on where the first one stopped.

    For DynoStock these are prices and earnings reports, and --out names another folder for them.

    Example: fin-tasks fetch xfinbench

    Example: fin-tasks fetch dynostock --tickers AAPL,MSFT --start 2010-01-01
    """
    settings = Settings.from_environ()
    if benchmark != "dynostock":
        _fetch_files(benchmark, settings, verify=verify)
        return
    from fin_tasks.benchmarks.dynostock.fetch import fetch_market, recorded_tickers

    folder = out or settings.cache_dir / "dynostock" / "market"
    names = tickers_of(tickers) or recorded_tickers()
    problems = fetch_market(
        folder,
        names,
        start=start.date(),
        end=end.date() if end else None,
        earnings=earnings,
        settings=settings,
    )
    say(f"dynostock: {len(names)} tickers were asked for, files in {folder}")
    exit_with(problems)


def _fetch_files(benchmark: str, settings: Settings, *, verify: bool) -> None:
    from fin_tasks.data.locate import load_pins, locate

    hub_files = benchmark_named(benchmark).hub_files
    names = list(hub_files) or [pin.path for pin in load_pins(benchmark).files]
    if not verify:
        located = locate(benchmark, names, source="upstream", settings=settings)
        say(
            f"{benchmark}: {len(located.files)} files at commit {located.pins.revision} in {located.root}"
        )
        return
    offline = settings.model_copy(update={"offline": True})
    located = locate(benchmark, names, settings=offline, optional=True)
    say(f"{benchmark}: {len(located.files)} files in {located.root}")
    problems = [f"{name} is missing" for name in names if not located.matches(name)]
    problems += [f"{name} is not the pinned file" for name in located.unlike_pins()]
    exit_with(problems)
