"""`fin-tasks fetch`: download a benchmark's files."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Literal

import typer

from fin_tasks.cli.options import DAY, Out, Tickers, say, tell, tickers_of
from fin_tasks.settings import Settings

_FILES = {  # of data sets on the hub, whose files are not pinned
    "bizbench": ["data/test-*.parquet"],
    "mme_finance": ["MMfin.tsv", "MMfin.zip", "MMfin_CN.tsv", "MMfin_CN.zip"],
}


def fetch(
    benchmark: Annotated[
        Literal["xfinbench", "bizbench", "financemath", "mme_finance", "dynostock"],
        typer.Argument(),
    ],
    verify: Annotated[
        bool, typer.Option("--verify", help="Download nothing; check that all files are here.")
    ] = False,
    tickers: Tickers = None,
    start: Annotated[
        datetime, typer.Option(**DAY, help="DynoStock: first day of prices.")
    ] = datetime(2000, 1, 1),
    end: Annotated[
        datetime | None, typer.Option(**DAY, help="DynoStock: last day, else yesterday.")
    ] = None,
    earnings: Annotated[
        Literal["alpha-vantage", "upstream"] | None,
        typer.Option(
            help="DynoStock: source of reports, by default alpha-vantage if there is a key."
        ),
    ] = None,
    out: Out = None,
) -> None:
    """Download a benchmark's files into the cache. A second run goes on where the first one stopped.

    For DynoStock these are prices and earnings reports, and --out names another folder for them.

    Example: fin-tasks fetch xfinbench

    Example: fin-tasks fetch dynostock --tickers AAPL,MSFT --start 2010-01-01
    """
    settings = Settings.from_environ()
    if benchmark != "dynostock":
        from fin_tasks.data.locate import locate
        from fin_tasks.data.pins import load_pins

        settings = replace(settings, offline=settings.offline or verify)
        wanted = _FILES.get(benchmark) or [pin.path for pin in load_pins(benchmark).files]
        found = locate(benchmark, wanted, source="upstream", settings=settings)
        print(f"{benchmark}: {len(found.files)} files at commit {found.commit} in {found.root}")
        return
    from fin_tasks.benchmarks.dynostock.fetch import fetch_market, recorded_tickers

    folder, names = (
        out or settings.cache_dir / "dynostock" / "market",
        tickers_of(tickers) or recorded_tickers(),
    )
    last = end.date() if end else None
    problems = fetch_market(
        folder, names, start=start.date(), end=last, earnings=earnings, settings=settings
    )
    for part in ("prices", "earnings"):
        there = sum(any((folder / part).glob(f"{name}.*")) for name in names)
        say(f"{part}: {there} of {len(names)} tickers in {folder / part}")
    tell(problems)
