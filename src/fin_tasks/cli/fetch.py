"""`fin-tasks fetch`: download a benchmark's files."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fin_tasks.cli.market_options import day_of
from fin_tasks.cli.options import sub_commands

if TYPE_CHECKING:
    from fin_tasks.benchmarks.dynostock.market.collect import Plan, ReportSource, Summary
    from fin_tasks.benchmarks.dynostock.market.fetched import FetchedFolder
    from fin_tasks.settings import Settings

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
    start: Annotated[str, typer.Option(help="First day of prices, as 2000-01-31.")] = "2000-01-01",
    end: Annotated[str | None, typer.Option(help="Last day of prices; yesterday otherwise, the last full day.")] = None,
    tickers: Annotated[
        str | None, typer.Option(metavar="AAPL,MSFT|FILE", help="Stocks as Yahoo writes them; the S&P 500 otherwise.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder to fill; <cache>/dynostock/market otherwise.")] = None,
    earnings: Annotated[
        str, typer.Option(help="alpha-vantage, yahoo, upstream; auto: the first where there is a key, else the second.")
    ] = "auto",
    per_minute: Annotated[float, typer.Option(min=0.1, help="Requests a minute to Alpha Vantage.")] = 5.0,
) -> None:
    """Download daily prices and earnings reports into a folder, resuming where an earlier run stopped."""
    from fin_tasks.benchmarks.dynostock.market.collect import Plan
    from fin_tasks.benchmarks.dynostock.market.fetched import FetchedFolder
    from fin_tasks.errors import FetchError
    from fin_tasks.settings import Settings

    settings = Settings.from_environ()
    if settings.offline_markets:
        raise FetchError("fetch dynostock: downloads are switched off. Unset FIN_TASKS_OFFLINE.")
    first, last = day_of("--start", start), day_of("--end", end) if end else _yesterday()
    source = _report_source(earnings, settings, per_minute)
    names, facts = _tickers(tickers, settings)
    plan = Plan(tickers=names, start=first, end=last, constituents=facts)
    folder = FetchedFolder(path=out or settings.cache_dir / "dynostock" / "market")
    _collect(plan, folder, source, settings)


def _collect(plan: "Plan", folder: "FetchedFolder", source: "ReportSource", settings: "Settings") -> None:
    from tqdm import tqdm

    from fin_tasks.benchmarks.dynostock.market.collect import collect
    from fin_tasks.benchmarks.dynostock.market.yahoo import Yahoo

    n = len(plan.tickers)
    prices = Yahoo(cache=settings.cache_dir / "dynostock" / "yfinance")
    with tqdm(desc="tickers", unit="ticker", total=n, disable=None) as bar:

        def advance(part: str, done: int) -> None:
            bar.set_description(part, refresh=False)
            bar.n = done
            bar.refresh()

        summary = collect(plan, folder, prices=prices, reports=source, on_done=advance)
    _show(summary, folder.path, n)
    if not summary.complete:
        raise typer.Exit(1)


def _show(summary: "Summary", folder: Path, n_tickers: int) -> None:
    from fin_tasks.sandbox import escape

    print(f"{folder}: {n_tickers} ticker(s)")
    for part, fetched in summary.fetched.items():
        failed = sum(failure.part == part for failure in summary.failures)
        left = len(summary.left[part])
        print(f"{part}: {fetched} fetched, {summary.kept[part]} already there, {failed} failed, {left} left")
    for failure in summary.failures:
        print(f"  {failure.ticker} {failure.part}: {escape(failure.reason)}")
    for reason in summary.stopped:
        print(f"stopped: {escape(reason)}")
    if not summary.complete:
        print("Run the same command again to try what is missing; what is here is not fetched again.")


def _tickers(text: str | None, settings: "Settings") -> tuple[tuple[str, ...], dict[str, Any]]:
    """Tickers of the option, a file or the S&P 500 list, each once, and where they come from."""
    from fin_tasks.benchmarks.dynostock.market.constituents import fetch_constituents
    from fin_tasks.benchmarks.dynostock.market.price_rows import TICKER
    from fin_tasks.errors import ConfigError

    if text is None:
        found = fetch_constituents(settings)
        return found.tickers, found.facts
    is_file = Path(text).is_file()
    words = (Path(text).read_text(encoding="utf-8-sig") if is_file else text).replace(",", " ").upper().split()
    names = tuple(dict.fromkeys(words))
    if not names or (bad := [name for name in names if not TICKER.fullmatch(name)]):
        found_there = repr(bad[0]) if names else "nothing"
        raise ConfigError(f"--tickers: expected tickers such as AAPL,MSFT or a file of them, got {found_there}.")
    return names, {"source": "--tickers", "n": len(names)}


def _report_source(name: str, settings: "Settings", per_minute: float) -> "ReportSource":
    from fin_tasks.benchmarks.dynostock.market.alpha_vantage import AlphaVantage
    from fin_tasks.benchmarks.dynostock.market.upstream import UpstreamReports
    from fin_tasks.benchmarks.dynostock.market.yahoo import Yahoo
    from fin_tasks.errors import ConfigError, FetchError

    if name == "auto":
        name = "alpha-vantage" if settings.alpha_vantage_key else "yahoo"
    if name == "alpha-vantage":
        return AlphaVantage.of(settings, per_minute=per_minute)
    if name == "yahoo":
        return Yahoo(cache=settings.cache_dir / "dynostock" / "yfinance")
    if name == "upstream":
        if settings.offline:
            raise FetchError("--earnings upstream: downloads from GitHub are switched off. Unset HF_HUB_OFFLINE.")
        return UpstreamReports(settings=settings)
    raise ConfigError(f"--earnings: expected auto, alpha-vantage, yahoo or upstream, got {name!r}.")


def _yesterday() -> date:
    """The last day that is over everywhere stocks of ours trade: a price of today is not final."""
    return datetime.now(timezone.utc).date() - timedelta(days=1)


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
