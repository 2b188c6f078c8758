"""`fin-tasks fetch`: download a benchmark's files."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Annotated, Any, Literal

import typer

from fin_tasks.cli.market_options import day, tickers_of
from fin_tasks.cli.options import Out, sub_commands

app = sub_commands("Download a benchmark's files into the cache, resuming where an earlier download stopped.")

_Verify = Annotated[bool, typer.Option("--verify", help="Download nothing; check that all files are here and right.")]
_Revision = Annotated[
    str | None, typer.Option(metavar="COMMIT|main", help="By default the one used here already, else the newest.")
]


@app.command("xfinbench", epilog="Example: fin-tasks fetch xfinbench --verify")
def fetch_xfinbench(verify: _Verify = False) -> None:
    """Download XFinBench's questions, figures and prompt templates."""
    _fetch("xfinbench", verify=verify)


@app.command("financemath", epilog="Example: fin-tasks fetch financemath")
def fetch_financemath(verify: _Verify = False) -> None:
    """Download FinanceMath's questions."""
    _fetch("financemath", verify=verify)


@app.command("bizbench", epilog="Example: fin-tasks fetch bizbench --split test")
def fetch_bizbench(
    split: Annotated[Literal["test", "train"], typer.Option()] = "test",
    revision: _Revision = None,
    verify: _Verify = False,
) -> None:
    """Download BizBench's questions."""
    _fetch("bizbench", [f"data/{split}-*.parquet"], revision=revision, verify=verify)


@app.command("mme-finance", epilog="Example: fin-tasks fetch mme-finance --lang en")
def fetch_mme_finance(
    lang: Annotated[Literal["en", "zh", "en,zh"], typer.Option()] = "en,zh",
    revision: _Revision = None,
    verify: _Verify = False,
) -> None:
    """Download MME-Finance's questions and pictures."""
    from fin_tasks.benchmarks.mme_finance.data import TABLES

    files = [f"{TABLES['open', name]}{suffix}" for name in lang.split(",") for suffix in (".tsv", ".zip")]
    _fetch("mme_finance", files, revision=revision, verify=verify)


@app.command("dynostock", epilog="Example: fin-tasks fetch dynostock --tickers AAPL,MSFT --start 2010-01-01")
def fetch_dynostock(
    start: Annotated[date, typer.Option(parser=day, metavar="DATE", help="First day of prices.")] = date(2000, 1, 1),
    end: Annotated[
        date | None, typer.Option(parser=day, metavar="DATE", help="By default the folder's last day, or yesterday.")
    ] = None,
    tickers: Annotated[str | None, typer.Option(metavar="AAPL,MSFT|FILE", help="By default the S&P 500.")] = None,
    out: Out = None,
    earnings: Annotated[
        Literal["alpha-vantage", "upstream"] | None,
        typer.Option(help="By default alpha-vantage if there is a key, else upstream: the authors' files."),
    ] = None,
) -> None:
    """Download daily prices and earnings reports, by default into dynostock/market in the cache."""
    from fin_tasks.benchmarks.dynostock.fetch import fetch_market, sp500
    from fin_tasks.sandbox import escape
    from fin_tasks.settings import Settings

    settings = Settings.from_environ()
    folder, names = out or settings.cache_dir / "dynostock" / "market", tickers_of(tickers) or sp500(settings)
    options: Any = {"start": start, "end": end, "earnings": earnings, "settings": settings}
    done = fetch_market(folder, names, **options)
    lines = []
    for part, failed in done.failed.items():
        there = sum(any((folder / part).glob(f"{name}.*")) for name in names)
        lines += [f"{part}: {there} of {len(names)} tickers in {folder / part}, {len(failed)} failed"]
        lines += [f"  {ticker}: {reason}" for ticker, reason in failed.items()]
    print("\n".join(map(escape, [*lines, *done.stopped])))
    if done.stopped or any(done.failed.values()):
        raise typer.Exit(1)


def _fetch(name: str, paths: Sequence[str] = (), *, revision: str | None = None, verify: bool = False) -> None:
    from fin_tasks.data.fetch import load_pins, locate
    from fin_tasks.settings import Settings

    settings = replace(Settings.from_environ(), offline=True) if verify else Settings.from_environ()
    wanted = paths or [pin.path for pin in load_pins(name).files]
    found = locate(name, wanted, source="upstream", settings=settings, revision=revision)
    print(f"{name}: {len(found.files)} files at commit {found.commit} in {found.root}")
