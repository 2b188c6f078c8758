"""`fin-tasks build`."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from fin_tasks.cli.build_mme_finance import build_mme_finance
from fin_tasks.cli.market_options import FIRST_DAY, LAST_DAY, Adjust, Earnings, Prices, Sample, day, market_of
from fin_tasks.cli.options import Json, Out, print_table, sub_commands
from fin_tasks.cli.xfinbench import build_xfinbench
from fin_tasks.errors import ConfigError

app = sub_commands("Make a benchmark's data set from raw data.")
app.command("xfinbench")(build_xfinbench)
app.command("mme_finance", epilog="Example: fin-tasks build mme_finance --n 500 --seed 7 --out DIR")(build_mme_finance)
app.command("mme-finance", hidden=True)(build_mme_finance)


@app.command("dynostock", epilog="Example: fin-tasks build dynostock --sample --samples 0 --out DIR")
def build_dynostock(
    prices: Prices = None,
    earnings: Earnings = None,
    sample: Sample = False,
    out: Out = None,
    bias: Annotated[str, typer.Option(help="Biases, separated by commas.")] = "recency,authority",
    windows: Annotated[str, typer.Option(help="Window sizes in reports, separated by commas.")] = "4,8,12,16,20",
    samples: Annotated[int, typer.Option(min=0, help="Windows to keep of each bias and size; 0 for all.")] = 100,
    share: Annotated[
        float | None, typer.Option(help="Minimum share of similar reports.", show_default="0.8, sample: 0.6")
    ] = None,
    seed: Annotated[int, typer.Option(help="Chooses the windows that are kept, and the authorities.")] = 42,
    start: Annotated[date, typer.Option(parser=day, help="Leave out reports before this day.")] = FIRST_DAY,
    end: Annotated[date, typer.Option(parser=day, help="Leave out reports after this day.")] = LAST_DAY,
    tickers: Annotated[str | None, typer.Option(help="Only these stocks: AAPL,MSFT or a file of them.")] = None,
    from_recording: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE|DIR", help="Rebuild the windows of recordings (exp_recency_4.json); repeatable."),
    ] = None,
    timing: Annotated[
        Literal["paper", "strict"],
        typer.Option(help="strict: a report before the opening bell counts as of the day before."),
    ] = "paper",
    adjust: Adjust = "none",
    charts: Annotated[bool, typer.Option("--charts/--no-charts", help="Draw the charts too.")] = True,
    jobs: Annotated[int, typer.Option(min=1, help="Processes that draw charts.")] = 1,
    engine: Annotated[Literal["local", "ray"], typer.Option(help="What runs them.")] = "local",
    dpi: Annotated[int, typer.Option(min=1, help="Pixels per inch of the charts.")] = 300,
    as_json: Json = False,
) -> None:
    """Find DynoStock's windows in market data and draw their charts; a second run draws only missing charts.

    The folder is dynostock/windows in the cache, where the tasks find it, else --out.
    """
    from fin_tasks.benchmarks.dynostock import window_set as sets
    from fin_tasks.benchmarks.dynostock import windows as finding
    from fin_tasks.settings import Settings

    if start > end:
        raise ConfigError(f"build dynostock: expected --start before --end, got {start} and {end}.")
    market = market_of(prices, earnings, adjust=adjust, sample=sample, tickers=tickers)
    market = finding.strict_timing(market) if timing == "strict" else market
    parameters: dict[str, Any] = {"adjust": adjust, "timing": timing, "tickers": tickers, "seed": seed}
    missing: dict[str, str] = {}
    if from_recording:
        found, missing = sets.rebuild_windows(market, from_recording, seed=seed)
        parameters |= {"from_recording": sorted(path.name for path in from_recording)}
    else:
        least = Fraction(str(share)) if share else sets.SAMPLE_SHARE if sample else finding.SHARE
        reports = market.reports[market.reports["reported"].between(str(start), str(end))].reset_index(drop=True)
        sizes = [int(size) if size.strip().isdecimal() else 0 for size in windows.split(",")]
        chosen: dict[str, Any] = {"biases": bias.replace(" ", "").split(","), "windows": sizes, "seed": seed}
        found = finding.find_windows(replace(market, reports=reports), **chosen, share=least)
        found = found._replace(table=sets.sampled(found.table, samples, seed=seed))
        parameters |= {**chosen, "samples": samples, "share": float(least), "start": f"{start}", "end": f"{end}"}
    # Tasks take the set in the default folder; the sample must be named.
    folder = out or Settings.from_environ().cache_dir / "dynostock" / ("sample" if sample else "windows")
    made = sets.write_set(folder, found, market, parameters=parameters)
    priced, reporting = ({*table["ticker"].unique()} for table in (market.prices, market.reports))
    summary = {"folder": str(folder), **json.loads((folder / "manifest.json").read_text(encoding="utf-8"))}
    summary |= {"tickers": len(priced & reporting), "not_rebuilt": dict(sorted(missing.items()))}
    summary |= {"without_reports": sorted(priced - reporting), "without_prices": sorted(reporting - priced)}
    if not as_json:
        _show(summary, finding.REASONS)
    if charts:
        from fin_tasks.benchmarks.dynostock.data import chart_between
        from fin_tasks.charts.pool import draw_charts

        shown = finding.windows_of(made.table)
        drawing = (chart_between(made.market, one.ticker, one.start, one.end, dpi=dpi) for one in shown)
        paths, drawn = draw_charts(drawing, made.charts, jobs=jobs, engine=engine, total=len(shown))
        summary |= {"charts": len(set(paths)), "drawn": drawn}
    if as_json:
        print(json.dumps(summary))
    elif charts:
        print(f"{summary['charts']} charts in {made.charts}, {drawn} of them drawn now")


def _show(summary: Mapping[str, Any], why: Mapping[str, str]) -> None:
    from fin_tasks.sandbox import escape

    reasons = [reason for reason in why if any(reason in count["dropped"] for count in summary["counts"])]
    names = ("bias_type", "window", "candidates", *reasons, "unbiased", "found", "kept")
    rows = [[str({**count, **count["dropped"]}.get(name, 0)) for name in names] for count in summary["counts"]]
    if rows:
        print_table("Windows", names, rows)
    lines = [f"{reason}: {why[reason]}" for reason in reasons]
    lines += [f"not rebuilt: {name}: {reason}" for name, reason in summary["not_rebuilt"].items()]
    for kind, found in summary["market"]["defects"].items():
        lines += [f"defect {kind}, {len(found)} tickers, such as {found[0]}"]
    for name in ("without_reports", "without_prices"):
        lines += [f"{name.replace('_', ' ')}: {', '.join(summary[name])}"] if summary[name] else []
    lines += [f"{summary['windows']} windows of {summary['tickers']} tickers in {summary['folder']}"]
    print("\n".join(map(escape, lines)))
