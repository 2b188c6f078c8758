"""`fin-tasks build`: make a data set for a benchmark."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from fin_tasks.errors import ConfigError
from fin_tasks.report import Json
from fin_tasks.settings import Settings
from fin_tasks.workers import running_on

from .corrections import build_corrections
from .options import (
    AsJson,
    Earnings,
    Engine,
    Out,
    Prices,
    Sample,
    Seed,
    Tickers,
    market_of,
)
from .output import print_table, say, show
from .variants import build_variants
from .xfinbench import build_xfinbench

app = typer.Typer(no_args_is_help=True, help="Make a data set for a benchmark.")
app.command("corrections")(build_corrections)
app.command("variants")(build_variants)
app.command("xfinbench")(build_xfinbench)


@app.command("dynostock")
def build_dynostock(
    prices: Prices = None,
    earnings: Earnings = None,
    sample: Sample = False,
    tickers: Tickers = None,
    from_recording: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE|DIR",
            help="Recorded responses whose windows are rebuilt; repeatable.",
        ),
    ] = None,
    out: Out = None,
    as_json: AsJson = False,
    bias: Annotated[
        str, typer.Option(help="Names of biases, separated by commas.")
    ] = "recency,authority",
    windows: Annotated[
        str, typer.Option(help="Window sizes in reports, separated by commas.")
    ] = "4,8,12,16,20",
    samples: Annotated[
        int,
        typer.Option(
            min=0, help="Number of windows to keep for each bias and size; 0 keeps all."
        ),
    ] = 100,
    seed: Seed = 42,
    timing: Annotated[
        Literal["paper", "strict"],
        typer.Option(
            help="strict: a report before the opening bell counts for the previous day."
        ),
    ] = "paper",
    charts: Annotated[
        bool, typer.Option("--charts/--no-charts", help="Also draw the charts.")
    ] = True,
    jobs: Annotated[
        int,
        typer.Option(
            min=1,
            help="Number of processes that draw charts; ignored with --engine ray.",
        ),
    ] = 1,
    engine: Engine = "local",
) -> None:
    """Find DynoStock's windows in market data and draw their charts. A second run draws only missing charts.

    The tasks find the set in its folder in the cache; a set in --out is named with metadata windows_dir.

    Example: fin-tasks build dynostock --sample --samples 0 --no-charts --out windows
    """
    from fin_tasks.benchmarks.dynostock import window_set as sets
    from fin_tasks.benchmarks.dynostock import windows as finding
    from fin_tasks.benchmarks.dynostock.chart_files import chart_of
    from fin_tasks.benchmarks.dynostock.data import SAMPLE_SHARE
    from fin_tasks.benchmarks.dynostock.market import strict_timing
    from fin_tasks.benchmarks.dynostock.replay import find_files, metadata_of
    from fin_tasks.charts.pool import draw_charts

    market = market_of(prices, earnings, sample=sample, tickers=tickers)
    if timing == "strict":
        market = strict_timing(market)
    parameters: Json = {"tickers": tickers, "seed": seed, "timing": timing}
    missing: dict[str, str] = {}
    if from_recording:
        selection, missing = sets.rebuild_windows(market, from_recording, seed=seed)
        parameters["from_recording"] = sorted(path.name for path in from_recording)
    else:
        share = SAMPLE_SHARE if sample else finding.SHARE
        biases = bias.replace(" ", "").split(",")
        try:
            sizes = [int(size) for size in windows.split(",")]
        except ValueError as error:
            raise ConfigError(
                f"--windows: expected sizes such as 4,8,12, got {windows!r}."
            ) from error
        selection = finding.find_windows(
            market, biases=biases, windows=sizes, seed=seed, share=share
        )
        selection = selection._replace(
            windows=sets.sampled(selection.windows, samples, seed=seed)
        )
        parameters |= {"biases": biases, "windows": sizes, "samples": samples}
    if not selection.windows:
        raise sets.no_windows(selection.counts, missing)
    name = "sample" if sample else "windows"
    folder = out or Settings.from_environ().cache_dir / "dynostock" / name
    window_set = sets.write_set(folder, selection, market, parameters=parameters)
    summary: Json = {
        **json.loads((folder / "manifest.json").read_bytes()),
        "folder": str(folder),
        "tickers": len(market.tickers),
        "not_rebuilt": missing,
    }
    if from_recording:
        models = {file.resolve().parent.name for file in find_files(from_recording)}
        summary["asked_as_the_authors"] = [
            {"model": model, "metadata": json.dumps(metadata_of(model))}
            for model in sorted(models)
        ]
    if charts:
        drawing = (
            chart_of(window_set.market.excerpt(window.ticker, window.start, window.end))
            for window in window_set.windows
        )
        with running_on(engine):
            paths, drawn = draw_charts(drawing, window_set.charts, jobs=jobs)
        summary |= {"charts": len(set(paths)), "drawn": drawn}
    if as_json:
        show(summary, as_json)
    else:
        _show_windows(summary)


def _show_windows(summary: Json) -> None:
    """Print which windows were found and why others were not, and what to do next."""
    from fin_tasks.benchmarks.dynostock import BENCHMARK
    from fin_tasks.benchmarks.dynostock.market import TABLES

    reasons = {reason for count in summary["counts"] for reason in count["dropped"]}
    rows = []
    for count in summary["counts"]:
        row = {
            "Statement": BENCHMARK.part_labels[count["bias_type"]],
            "Reports shown": count["window"],
            "Candidates": count["candidates"],
        }
        for reason in sorted(reasons):
            row[TABLES["reasons"][reason]] = count["dropped"].get(reason, 0)
        row[TABLES["reasons"]["unbiased"]] = count["unbiased"]
        rows.append(row | {"Windows": count["found"], "Kept": count["kept"]})
    if rows:
        print_table("Windows", rows, show_all=True)
    market = summary["market"]
    facts = {
        "stocks": summary["tickers"],
        "currency": market.get("currency", "USD") or "not known",
        "adjusted for splits": ", ".join(market.get("adjusted_for_splits", ())) or None,
        "not rebuilt": summary["not_rebuilt"] or None,
        "asked as the authors": summary.get("asked_as_the_authors"),
        "charts": summary.get("charts"),
        "charts drawn now": summary.get("drawn"),
    }
    show(facts, as_json=False)
    say(
        f"{summary['windows']:,} windows of {summary['tickers']:,} stocks are in the folder "
        f"{summary['folder']}. "
        f"Ask a model about them with --metadata '{json.dumps({'windows_dir': str(summary['folder'])})}'."
    )
