"""`fin-tasks fetch`: download a benchmark's files."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fin_tasks.cli.market_options import day_of
from fin_tasks.cli.options import sub_commands
from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    pass

__all__ = ["app"]

app = sub_commands("Download a benchmark's files into the cache, resuming where an earlier download stopped.")

Verify = Annotated[
    bool, typer.Option("--verify", help="Download nothing; check that all files are here and are the right ones.")
]


@app.command("xfinbench")
def fetch_xfinbench(verify: Verify = False) -> None:
    """Download XFinBench's questions, figures and prompt templates."""
    _fetch("xfinbench", verify=verify)


@app.command("financemath")
def fetch_financemath(verify: Verify = False) -> None:
    """Download FinanceMath's questions."""
    _fetch("financemath", verify=verify)


@app.command("bizbench")
def fetch_bizbench(
    split: Annotated[str, typer.Option(help="test or train.")] = "test",
    revision: Annotated[
        str | None,
        typer.Option(
            metavar="COMMIT|main",
            help="Commit of kensho/bizbench on the hub. Without: the one used here already, else the newest; main: the "
            "newest, used from then on.",
        ),
    ] = None,
    verify: Verify = False,
) -> None:
    """Download BizBench's questions."""
    if split not in ("test", "train"):
        raise typer.BadParameter(f"expected test or train, got {split!r}.", param_hint="--split")
    _fetch("bizbench", [f"data/{split}-*.parquet"], revision=revision, verify=verify)


@app.command("mme-finance")
def fetch_mme_finance(
    lang: Annotated[str, typer.Option(metavar="en,zh", help="Languages, with commas between them.")] = "en,zh",
    revision: Annotated[
        str | None,
        typer.Option(
            metavar="COMMIT|main",
            help="Commit of hithink-ai/MME-Finance on the hub. Without: the one used here already, else the newest; "
            "main: the newest, used from then on.",
        ),
    ] = None,
    verify: Verify = False,
) -> None:
    """Download MME-Finance's questions and pictures, and unpack the pictures."""
    from fin_tasks.benchmarks.mme_finance.files import STEMS, locate
    from fin_tasks.settings import Settings

    names = [name.strip() for name in lang.split(",")]
    if unknown := [name for name in names if name not in STEMS]:
        raise typer.BadParameter(f"expected en, zh or en,zh, got {unknown[0]!r}.", param_hint="--lang")
    stems = [stem for language, stem in STEMS.items() if language in names]
    files = [f"{stem}{suffix}" for stem in stems for suffix in (".tsv", ".zip")]
    commit = _fetch("mme_finance", files, revision=revision, verify=verify)
    for name in names:
        print(locate(language=name, source="upstream", data_revision=commit, settings=Settings.from_environ()).pictures)


@app.command("dynostock")
def fetch_dynostock(
    start: Annotated[str, typer.Option(metavar="DATE", help="First day of prices.")] = "2000-01-01",
    end: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="Last day of prices; by default the folder's, or yesterday."),
    ] = None,
    tickers: Annotated[
        str | None, typer.Option(metavar="AAPL,MSFT|FILE", help="As Yahoo spells them; by default the S&P 500.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder to fill; by default <cache>/dynostock/market.")
    ] = None,
    earnings: Annotated[
        str | None, typer.Option(help="alpha-vantage (the default if there is a key) or upstream.")
    ] = None,
    per_minute: Annotated[float, typer.Option(min=0.1, help="Requests a minute to Alpha Vantage.")] = 5.0,
) -> None:
    """Download daily prices and earnings reports into a folder, resuming where an earlier run stopped."""
    from fin_tasks.benchmarks.dynostock.fetch import fetch_market, sp500
    from fin_tasks.benchmarks.dynostock.market import TICKER
    from fin_tasks.sandbox import escape
    from fin_tasks.settings import Settings

    first, last = day_of("--start", start), day_of("--end", end) if end else None
    settings = Settings.from_environ()
    text = tickers or ""
    if Path(text).is_file():
        text = Path(text).read_text(encoding="utf-8-sig")
    names = list(dict.fromkeys(text.replace(",", " ").upper().split())) if tickers else sp500(settings)
    if not names or (bad := [name for name in names if not TICKER.fullmatch(name)]):
        raise ConfigError(f"--tickers: expected tickers such as AAPL,MSFT or a file of them, got {names and bad[0]!r}.")
    folder = out or settings.cache_dir / "dynostock" / "market"
    done = fetch_market(
        folder, names, start=first, end=last, earnings=earnings, per_minute=per_minute, settings=settings
    )
    for part, failed in done.failed.items():
        there = sum(1 for name in names if any((folder / part).glob(f"{name}.*")))
        print(f"{part}: {there} of {len(names)} tickers in {folder / part}, {done.new[part]} new, {len(failed)} failed")
        for ticker, reason in failed.items():
            print(f"  {ticker}: {escape(reason)}")
    for sentence in done.stopped:
        print(escape(sentence))
    if done.stopped or any(done.failed.values()):
        raise typer.Exit(1)


def _fetch(
    benchmark: str, paths: Sequence[str] = (), *, revision: str | None = None, verify: bool = False
) -> str | None:
    """Fetch files, all pinned ones if none are named, and return their commit."""
    from fin_tasks.data.fetch import load_pins, locate
    from fin_tasks.settings import Settings

    settings = Settings.from_environ()
    settings = replace(settings, offline=True) if verify else settings
    wanted = paths or [pin.path for pin in load_pins(benchmark).files]
    found = locate(benchmark, wanted, source="upstream", settings=settings, revision=revision)
    print(f"{benchmark}: {len(found.files)} files at commit {found.commit} in {found.root}")
    return found.commit
