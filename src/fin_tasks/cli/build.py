"""`fin-tasks build`."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fin_tasks.cli.build_mme_finance import build_mme_finance
from fin_tasks.cli.market_options import (
    FIRST_DAY,
    LAST_DAY,
    Adjust,
    Earnings,
    Prices,
    Sample,
    day_of,
    market_of,
)
from fin_tasks.cli.options import Json, counting, sub_commands
from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    from fin_tasks.benchmarks.dynostock.charting import Charts
    from fin_tasks.benchmarks.dynostock.market import Market
    from fin_tasks.benchmarks.dynostock.window_set import WindowSet
    from fin_tasks.benchmarks.dynostock.windows import Found

__all__ = ["app"]

app = sub_commands("Make a benchmark's data set from raw data.")

app.command("mme-finance")(build_mme_finance)

_TOLD = 3  # defects of a kind on the screen


@app.command("dynostock")
def build_dynostock(
    prices: Prices = None,
    earnings: Earnings = None,
    sample: Sample = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of the set; dynostock/windows in the cache otherwise, with --sample dynostock/sample.",
        ),
    ] = None,
    bias: Annotated[
        str | None, typer.Option(help="Biases, with commas between them.", show_default="recency,authority")
    ] = None,
    windows: Annotated[
        str | None, typer.Option(help="Window sizes in reports, with commas between.", show_default="4,8,12,16,20")
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(min=0, help="Windows to keep of each bias and size; 0 for all.", show_default="100"),
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(
            help="How much of the past must agree; the protocol's is 0.8. The sample is too small for that.",
            show_default="0.8, with --sample 0.6",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Chooses the windows that are kept, and the authorities.")] = 42,
    start: Annotated[
        str | None, typer.Option(metavar="DATE", help="Leave out reports before this day; of --ticker: first day.")
    ] = None,
    end: Annotated[
        str | None, typer.Option(metavar="DATE", help="Leave out reports after this day; of --ticker: last day.")
    ] = None,
    ticker: Annotated[
        str | None, typer.Option(help="Make one window of this stock, without a biased statement.")
    ] = None,
    adjust: Adjust = "none",
    charts: Annotated[bool, typer.Option("--charts/--no-charts", help="Draw the charts too.")] = True,
    jobs: Annotated[int, typer.Option(min=1, help="Processes that draw charts.")] = 1,
    engine: Annotated[str, typer.Option(help="What runs them: local or ray.")] = "local",
    dpi: Annotated[int, typer.Option(min=1, help="Pixels per inch of the charts.")] = 300,
    as_json: Json = False,
) -> None:
    """Find DynoStock's windows in market data and draw their charts.

    Running it again keeps the charts that are drawn already.
    """
    first, last = _days(start, end)
    own = _own_window(ticker, first, last, ignored=(bias, windows, samples, share))
    if engine not in ("local", "ray"):
        raise ConfigError(f"build dynostock --engine: expected local or ray, got {engine!r}.")
    chosen = _texts("recency,authority" if bias is None else bias)
    sizes = _numbers("--windows", "4,8,12,16,20" if windows is None else windows)

    from fin_tasks.benchmarks.dynostock.window_set import SAMPLE_SHARE, sampled, write_set
    from fin_tasks.benchmarks.dynostock.windows import SHARE, find_windows
    from fin_tasks.settings import Settings

    market = market_of("build dynostock", prices, earnings, adjust=adjust, sample=sample)
    parameters: dict[str, Any] = {"start": start, "end": end, "adjust": adjust}
    if own is not None:
        found = _one_window(market, own)
        parameters |= {"biases": ["plain"], "ticker": own[0]}
    else:
        agreeing = float(SAMPLE_SHARE if sample else SHARE) if share is None else share
        if not isfinite(agreeing):
            raise ConfigError(f"build dynostock --share: expected more than 0.5 and at most 1, got {agreeing}.")
        reports = _reported_between(market, first, last)
        found = find_windows(reports, biases=chosen, windows=sizes, seed=seed, share=Fraction(str(agreeing)))
        kept = 100 if samples is None else samples
        found = replace(found, table=sampled(found.table, kept, seed=seed))
        parameters |= {"biases": sorted(set(chosen)), "windows": sorted(set(sizes)), "samples": kept, "seed": seed}
        parameters["share"] = agreeing
    # A set in the default folder is what the tasks take when nothing is named; the sample must be named.
    folder = out or Settings.from_environ().cache_dir / "dynostock" / ("sample" if sample else "windows")
    made = write_set(folder, found, market, parameters=parameters)
    if not as_json:
        _show(found, market, folder)
    done = _draw(made, dpi=dpi, jobs=jobs, engine=engine) if charts else None
    files, drawn = (done.files, done.drawn) if done else (0, 0)
    if as_json:
        print(json.dumps({**_summary(found, market), "folder": str(folder), "charts": files, "drawn": drawn}))
    elif charts:
        print(f"{files} charts in {made.charts}: {drawn} drawn, {files - drawn} already there")


def _reported_between(market: "Market", start: date | None, end: date | None) -> "Market":
    import pandas as pd

    inside = market.reports["reported"].between(pd.Timestamp(start or FIRST_DAY), pd.Timestamp(end or LAST_DAY))
    return replace(market, reports=market.reports[inside].reset_index(drop=True))


def _one_window(market: "Market", own: tuple[str, date, date]) -> "Found":
    from fin_tasks.benchmarks.dynostock.window import frame_of
    from fin_tasks.benchmarks.dynostock.windows import Found, plain_window

    return Found(frame_of([plain_window(market, *own)]), ())


def _draw(made: "WindowSet", *, dpi: int, jobs: int, engine: str) -> "Charts":
    from fin_tasks.benchmarks.dynostock.charting import draw_charts
    from fin_tasks.benchmarks.dynostock.window import windows_of

    windows = windows_of(made.table)
    with counting("Drawing charts", "chart", total=len(windows)) as on_done:
        return draw_charts(made.market, windows, made.charts, jobs=jobs, engine=engine, dpi=dpi, on_done=on_done)


def _summary(found: "Found", market: "Market") -> dict[str, Any]:
    from fin_tasks.benchmarks.dynostock.window_set import counts_of, defects_of

    priced, reporting = (set(table["ticker"].unique()) for table in (market.prices, market.reports))
    return {
        "windows": len(found.table),
        "counts": counts_of(found),
        "tickers": len(market.tickers),
        "tickers_without_reports": sorted(priced - reporting),
        "tickers_without_prices": sorted(reporting - priced),
        "missing_days": [
            {"day": str(missing.day), "tickers": missing.tickers, "candidates": missing.candidates}
            for missing in found.missing_days
        ],
        "defects": defects_of(market.defects),
    }


def _show(found: "Found", market: "Market", folder: Path) -> None:
    from rich.console import Console
    from rich.table import Column, Table

    from fin_tasks.benchmarks.dynostock.windows import REASONS

    summary, console = _summary(found, market), Console()
    counts = summary["counts"]
    reasons = [reason for reason in REASONS if any(reason in count["dropped"] for count in counts)]
    table = Table(Column("Bias", no_wrap=True), "Window", "Candidates", *reasons, "unbiased", "Found", "Kept")
    for count in counts:
        numbers = [*(count["dropped"].get(reason, 0) for reason in reasons), count["unbiased"]]
        numbers = [count["window"], count["candidates"], *numbers, count["found"], count["kept"]]
        table.add_row(count["bias_type"], *map(str, numbers))
    if counts:
        console.print(table)
        for reason in reasons:
            _say(console, f"{reason}: {REASONS[reason]}")
    if missing := summary["missing_days"]:
        days = ", ".join(f"{one['day']} ({_counted(one['tickers'], 'ticker')})" for one in missing)
        _say(console, f"days without a price that cost most: {days}")
    _say(console, f"{summary['tickers']} tickers with prices and reports")
    for what in ("without_reports", "without_prices"):
        if names := summary[f"tickers_{what}"]:
            _say(console, f"{len(names)} {what.replace('_', ' ')}, left out: {_some(names)}")
    for line in _defect_lines(summary["defects"]):
        _say(console, line)
    _say(console, f"{summary['windows']} windows in {folder}")


def _defect_lines(defects: dict[str, Any]) -> Iterator[str]:
    for kind, found in defects.items():
        yield f"defect {kind}: {found['count']}"
        told = found["first"][:_TOLD]
        yield from (f"  {odd['id']}: {odd['detail']}" for odd in told)
        if found["count"] > len(told):
            yield f"  and {found['count'] - len(told)} more"


def _say(console: Any, text: str) -> None:
    """Print text that holds what files say: no markup, nothing a terminal would obey."""
    from fin_tasks.sandbox import escape

    console.print(escape(text), soft_wrap=True, highlight=False, markup=False)


def _some(names: Sequence[str], limit: int = 20) -> str:
    return ", ".join(names[:limit]) + (f", and {len(names) - limit} more" if len(names) > limit else "")


def _counted(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _texts(value: str) -> list[str]:
    return [part.strip() for part in value.split(",")]


def _numbers(option: str, value: str) -> list[int]:
    parts = _texts(value)
    if wrong := [part for part in parts if not (part.isascii() and part.isdecimal())]:
        raise ConfigError(
            f"build dynostock {option}: expected whole numbers with commas between, such as 4,8, got {wrong[0]!r}."
        )
    return [int(part) for part in parts]


def _own_window(
    ticker: str | None, start: date | None, end: date | None, *, ignored: tuple[object, ...]
) -> tuple[str, date, date] | None:
    if ticker is None:
        return None
    if any(value is not None for value in ignored):
        raise ConfigError(
            "build dynostock --ticker: makes one window; expected no --bias, --windows, --samples or --share."
        )
    if start is None or end is None:
        raise ConfigError("build dynostock --ticker: expected --start and --end too, the first and the last day shown.")
    return ticker.upper(), start, end


def _days(start: str | None, end: str | None) -> tuple[date | None, date | None]:
    first = None if start is None else day_of("build dynostock --start", start)
    last = None if end is None else day_of("build dynostock --end", end)
    if first and last and first > last:
        raise ConfigError(f"build dynostock: expected --start before --end, got {start} and {end}.")
    return first, last
