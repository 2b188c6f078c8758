"""`fin-tasks build`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fin_tasks.cli.build_mme_finance import build_mme_finance
from fin_tasks.cli.market_options import FIRST_DAY, LAST_DAY, Adjust, Earnings, Prices, Sample, day_of, market_of
from fin_tasks.cli.options import Json, sub_commands
from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    from fin_tasks.benchmarks.dynostock.market import Market
    from fin_tasks.benchmarks.dynostock.windows import Found

__all__ = ["app"]

app = sub_commands("Make a benchmark's data set from raw data.")
app.command("mme-finance")(build_mme_finance)

_COMMAND = "build dynostock"
_BIASES, _SIZES = "recency,authority", "4,8,12,16,20"


@app.command("dynostock")
def build_dynostock(
    prices: Prices = None,
    earnings: Earnings = None,
    sample: Sample = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of the set; by default dynostock/windows in the cache."),
    ] = None,
    bias: Annotated[str | None, typer.Option(help="Biases, separated by commas.", show_default=_BIASES)] = None,
    windows: Annotated[
        str | None, typer.Option(help="Window sizes in reports, separated by commas.", show_default=_SIZES)
    ] = None,
    samples: Annotated[
        int | None, typer.Option(min=0, help="Windows to keep of each bias and size; 0 for all.", show_default="100")
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(help="Minimum share of past reports that moved the same way.", show_default="0.8, sample: 0.6"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Chooses the windows that are kept, and the authorities.")] = 42,
    start: Annotated[str | None, typer.Option(metavar="DATE", help="Leave out reports before this day.")] = None,
    end: Annotated[str | None, typer.Option(metavar="DATE", help="Leave out reports after this day.")] = None,
    tickers: Annotated[str | None, typer.Option(help="Only these stocks: AAPL,MSFT or a file of them.")] = None,
    ticker: Annotated[
        str | None, typer.Option(help="Make one window of this stock from --start to --end, without a statement.")
    ] = None,
    from_recording: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE|DIR", help="Rebuild the windows of recordings (exp_recency_4.json); repeatable."),
    ] = None,
    timing: Annotated[
        str, typer.Option(help="paper, or strict: a report before the opening bell counts as of the day before.")
    ] = "paper",
    adjust: Adjust = "none",
    charts: Annotated[bool, typer.Option("--charts/--no-charts", help="Draw the charts too.")] = True,
    jobs: Annotated[int, typer.Option(min=1, help="Processes that draw charts.")] = 1,
    engine: Annotated[str, typer.Option(help="What runs them: local or ray.")] = "local",
    dpi: Annotated[int, typer.Option(min=1, help="Pixels per inch of the charts.")] = 300,
    as_json: Json = False,
) -> None:
    """Find DynoStock's windows in market data and draw their charts.

    A second run draws only the charts that are missing.
    """
    first = day_of(f"{_COMMAND} --start", start) if start else FIRST_DAY
    last = day_of(f"{_COMMAND} --end", end) if end else LAST_DAY
    if first > last:
        raise ConfigError(f"{_COMMAND}: expected --start before --end, got {start} and {end}.")
    if engine not in ("local", "ray") or timing not in ("paper", "strict"):
        raise ConfigError(f"{_COMMAND}: expected --engine local or ray and --timing paper or strict.")
    if (ticker or from_recording) and ((ticker and from_recording) or any((bias, windows, samples, share))):
        raise ConfigError(
            f"{_COMMAND} --ticker and --from-recording: they say which windows to make; expected only one of them, and "
            "no --bias, --windows, --samples or --share."
        )
    if share is not None and not 0.5 < share <= 1:
        raise ConfigError(f"{_COMMAND} --share: expected more than 0.5 and at most 1, got {share}.")
    if ticker and not (start and end):
        raise ConfigError(f"{_COMMAND} --ticker: expected --start and --end too, the first and the last day shown.")

    from fin_tasks.benchmarks.dynostock.recorded import rebuild_windows
    from fin_tasks.benchmarks.dynostock.window_set import SAMPLE_SHARE, sampled, write_set
    from fin_tasks.benchmarks.dynostock.windows import (
        SHARE,
        Found,
        find_windows,
        frame_of,
        plain_window,
        strict_timing,
        windows_of,
    )
    from fin_tasks.settings import Settings

    market = market_of(_COMMAND, prices, earnings, adjust=adjust, sample=sample, tickers=tickers)
    market = strict_timing(market) if timing == "strict" else market
    parameters: dict[str, Any] = {"start": start, "end": end, "adjust": adjust, "timing": timing, "tickers": tickers}
    missing: dict[str, str] = {}
    if ticker:
        found = Found(frame_of([plain_window(market, ticker.upper(), first, last)]))
        parameters |= {"biases": ["plain"], "ticker": ticker.upper()}
    elif from_recording:
        found, missing = rebuild_windows(market, from_recording, seed=seed)
        parameters |= {"from_recording": sorted(path.name for path in from_recording), "seed": seed}
    else:
        agreeing = (SAMPLE_SHARE if sample else SHARE) if share is None else Fraction(str(share))
        biases, sizes = (bias or _BIASES).replace(" ", "").split(","), _sizes(windows or _SIZES)
        reported = market.reports["reported"].between(str(first), str(last))
        within = replace(market, reports=market.reports[reported].reset_index(drop=True))
        found = find_windows(within, biases=biases, windows=sizes, seed=seed, share=agreeing)
        kept = 100 if samples is None else samples
        found = replace(found, table=sampled(found.table, kept, seed=seed))
        parameters |= {"biases": sorted(set(biases)), "windows": sorted(set(sizes)), "samples": kept, "seed": seed}
        parameters["share"] = float(agreeing)
    # Tasks take the set in the default folder; the sample must be named.
    folder = out or Settings.from_environ().cache_dir / "dynostock" / ("sample" if sample else "windows")
    made = write_set(folder, found, market, parameters=parameters)
    summary = _summary(found, market, missing, folder)
    if not as_json:
        _show(summary)
    files, drawn = 0, 0
    if charts:
        from fin_tasks.benchmarks.dynostock.charting import draw_charts

        paths, drawn = draw_charts(made.market, windows_of(made.table), made.charts, jobs=jobs, engine=engine, dpi=dpi)
        files = len(set(paths))
    if as_json:
        print(json.dumps({**summary, "charts": files, "drawn": drawn}))
    elif charts:
        print(f"{files} charts in {made.charts}: {drawn} drawn, {files - drawn} already there")


def _sizes(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise ConfigError(f"{_COMMAND} --windows: expected whole numbers such as 4,8, got {text!r}.") from error


def _summary(found: "Found", market: "Market", missing: Mapping[str, str], folder: Path) -> dict[str, Any]:
    from fin_tasks.benchmarks.dynostock.window_set import counts_of, defects_of

    priced, reporting = (set(table["ticker"].unique()) for table in (market.prices, market.reports))
    return {
        "folder": str(folder),
        "windows": len(found.table),
        "counts": counts_of(found),
        "not_rebuilt": dict(sorted(missing.items())),
        "tickers": len(market.tickers),
        "tickers_without_reports": sorted(priced - reporting),
        "tickers_without_prices": sorted(reporting - priced),
        "defects": defects_of(market),
    }


def _show(summary: Mapping[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Column, Table

    from fin_tasks.benchmarks.dynostock.windows import REASONS
    from fin_tasks.sandbox import escape

    console = Console()
    if counts := summary["counts"]:
        reasons = [reason for reason in REASONS if any(reason in count["dropped"] for count in counts)]
        table = Table(Column("Bias", no_wrap=True), "Window", "Candidates", *reasons, "unbiased", "Found", "Kept")
        for count in counts:
            numbers = [*(count["dropped"].get(reason, 0) for reason in reasons), count["unbiased"]]
            numbers = [count["window"], count["candidates"], *numbers, count["found"], count["kept"]]
            table.add_row(count["bias_type"], *map(str, numbers))
        console.print(table)
        for reason in reasons:
            console.print(f"{reason}: {REASONS[reason]}", soft_wrap=True, highlight=False)
    for line in _lines(summary):  # may quote files: nothing that a terminal would obey
        console.print(escape(line), soft_wrap=True, highlight=False, markup=False)


def _lines(summary: Mapping[str, Any]) -> Iterator[str]:
    yield f"{summary['tickers']} tickers with prices and reports"
    for what in ("without_reports", "without_prices"):
        if names := summary[f"tickers_{what}"]:
            yield f"{len(names)} {what.replace('_', ' ')}, left out: {_some(names)}"
    for kind, found in summary["defects"].items():
        yield f"defect {kind}: {found['count']}"
        yield from (f"  {odd['id']}: {odd['detail']}" for odd in found["first"][:3])
    if missing := summary["not_rebuilt"]:
        yield f"{len(missing)} recorded windows cannot be rebuilt:"
        yield from (f"  {name}: {reason}" for name, reason in missing.items())
    yield f"{summary['windows']} windows in {summary['folder']}"


def _some(names: Sequence[str], limit: int = 20) -> str:
    return ", ".join(names[:limit]) + (f", and {len(names) - limit} more" if len(names) > limit else "")
