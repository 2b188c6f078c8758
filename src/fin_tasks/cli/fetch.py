"""`fin-tasks fetch`: download a benchmark's files."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Literal

import typer

from fin_tasks.cli.market_options import DAY, Tickers, tickers_of
from fin_tasks.cli.options import Out
from fin_tasks.errors import ConfigError
from fin_tasks.settings import Settings

_FILES = {  # of data sets on the hub, whose files are not pinned
    "bizbench": ["data/test-*.parquet"],
    "mme_finance": ["MMfin.tsv", "MMfin.zip", "MMfin_CN.tsv", "MMfin_CN.zip"],
    "financemath": [],
    "xfinbench": [],
}


def fetch(
    benchmark: Annotated[str, typer.Argument(help="xfinbench, bizbench, financemath, mme_finance or dynostock.")],
    verify: Annotated[bool, typer.Option("--verify", help="Download nothing; check that all files are here.")] = False,
    tickers: Tickers = None,
    start: Annotated[
        datetime, typer.Option(**DAY, help="DynoStock: first day of prices.", show_default="2000-01-01")
    ] = datetime(2000, 1, 1),
    end: Annotated[
        datetime | None, typer.Option(**DAY, help="DynoStock: last day of prices; the folder's, or yesterday.")
    ] = None,
    earnings: Annotated[
        Literal["alpha-vantage", "upstream"] | None,
        typer.Option(help="DynoStock: source of reports; alpha-vantage if there is a key, else the authors' files."),
    ] = None,
    out: Out = None,
) -> None:
    """Download a benchmark's files into the cache. A second run goes on where the first one stopped.

    For DynoStock these are prices and earnings reports, and --out names another folder for them.

    Example: fin-tasks fetch xfinbench

    Example: fin-tasks fetch dynostock --tickers AAPL,MSFT --start 2010-01-01
    """
    settings, name = Settings.from_environ(), benchmark.replace("-", "_")
    if name in _FILES:
        from fin_tasks.data.fetch import load_pins, locate

        settings = replace(settings, offline=settings.offline or verify)
        wanted = _FILES[name] or [pin.path for pin in load_pins(name).files]
        found = locate(name, wanted, source="upstream", settings=settings)
        print(f"{name}: {len(found.files)} files at commit {found.commit} in {found.root}")
        return
    if name != "dynostock":
        raise ConfigError(f"fetch: expected one of {', '.join(_FILES)}, dynostock, got {benchmark!r}.")
    from fin_tasks.benchmarks.dynostock.fetch import fetch_market, recorded_tickers
    from fin_tasks.sandbox import escape

    folder, names = out or settings.cache_dir / "dynostock" / "market", tickers_of(tickers) or recorded_tickers()
    last = end.date() if end else None
    done = fetch_market(folder, names, start=start.date(), end=last, earnings=earnings, settings=settings)
    lines = []
    for part, failed in done.failed.items():
        there = sum(any((folder / part).glob(f"{name}.*")) for name in names)
        lines += [f"{part}: {there} of {len(names)} tickers in {folder / part}, {len(failed)} failed"]
        lines += [f"  {ticker}: {reason}" for ticker, reason in failed.items()]
    print("\n".join(map(escape, [*lines, *done.stopped])))
    if done.stopped or any(done.failed.values()):
        raise typer.Exit(1)
