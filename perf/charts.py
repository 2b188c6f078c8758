"""What a chart costs, beside mplfinance used the plain way, and what several processes make of it.

The charts are those of the five window sizes of DynoStock, of the sample market, at 300 dpi.

- one process, both sides in turn: `mplfinance.plot` and `savefig` with a tight box, and ours at the plain side's size
  in pixels; the plain side draws no marks, ours does;
- one process, then one for each core (`--jobs`);
- with `--ray`, two workers of a local Ray, and whether the bytes are the same.
"""

import argparse
import io
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import matplotlib as mpl
import mplfinance as mpf
from matplotlib import pyplot as plt
from PIL import Image

from fin_tasks.benchmarks.dynostock.charting import chart_between
from fin_tasks.benchmarks.dynostock.market import sample_market
from fin_tasks.charts.pool import draw
from fin_tasks.charts.render import render
from fin_tasks.charts.spec import ChartSpec

SIZES = (4, 8, 12, 16, 20)
LIMIT = 2.0


def main() -> int:
    """Run the comparisons; status 1 when a limit is broken or bytes differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="charts of each size per side")
    parser.add_argument("--charts", type=int, default=20, help="charts for the processes; 0 leaves them out")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--ray", action="store_true", help="draw them with two Ray workers too")
    options = parser.parse_args()
    mpl.use("agg")
    ok = compare_one_process(options.rounds)
    if options.charts:
        ok &= compare_processes(options.charts, options.jobs, ray=options.ray)
    return 0 if ok else 1


def charts(n: int) -> list[ChartSpec]:
    """Return windows of all sizes in turn, each ending a report earlier than the one of its size before."""
    market, specs = sample_market(), []
    for number in range(n):
        ticker, size = ("AAPL", "IBM", "MSFT")[number % 3], SIZES[number % len(SIZES)]
        days = market.prices.loc[market.prices["ticker"] == ticker, "date"]
        reported = market.reports_between(ticker, days.min(), days.max())["reported"].dt.date.tolist()
        newest = len(reported) - 1 - number // len(SIZES)
        first = reported[newest - size + 1] - timedelta(days=30)
        specs.append(chart_between(market, ticker, first, reported[newest]))
    return specs


def plain(spec: ChartSpec) -> bytes:
    """Draw the prices as mplfinance's documentation shows, without marks."""
    figure, _ = mpf.plot(
        spec.prices,
        type="candle",
        mav=7,
        volume=True,
        style="yahoo",
        show_nontrading=True,
        title=spec.title,
        figsize=(spec.width, spec.height),
        warn_too_much_data=len(spec.prices) + 1,
        returnfig=True,
    )
    file = io.BytesIO()
    figure.savefig(file, dpi=spec.dpi, bbox_inches="tight")
    plt.close(figure)
    return file.getvalue()


def compare_one_process(rounds: int) -> bool:
    """Measure both sides in turn, in seconds of this process's own time, so that neighbours count less."""
    total_plain = total_ours = 0.0
    print("reports    pixels        plain     ours   ratio    plain     ours")
    for spec in charts(len(SIZES)):
        width, height = Image.open(io.BytesIO(plain(spec))).size
        ours = replace(spec, width=width / spec.dpi, height=height / spec.dpi)
        assert Image.open(io.BytesIO(render(ours))).size == (width, height)
        taken: dict[Callable[[ChartSpec], bytes], list[float]] = {plain: [], render: []}
        bytes_of: dict[Callable[[ChartSpec], bytes], int] = {}
        for _ in range(rounds):
            for side, of in ((plain, spec), (render, ours)):
                started = time.process_time()
                bytes_of[side] = len(side(of))
                taken[side].append(time.process_time() - started)
        a, b = statistics.median(taken[plain]), statistics.median(taken[render])
        total_plain, total_ours = total_plain + a, total_ours + b
        reports = sum(mark.kind != "fiscal" for mark in spec.marks)
        sizes = f"{bytes_of[plain] // 1024:5} KiB {bytes_of[render] // 1024:5} KiB"
        print(f"{reports:7}  {width:5} x {height}  {a:6.2f} s {b:6.2f} s  {a / b:5.2f}  {sizes}")
    ratio = total_plain / total_ours
    print(f"all five                 {total_plain:6.2f} s {total_ours:6.2f} s  {ratio:5.2f}  limit {LIMIT:g}")
    return ratio >= LIMIT


def compare_processes(n: int, jobs: int, *, ray: bool) -> bool:
    """Measure whole runs over the same charts, in seconds of the clock."""
    specs = charts(n)
    runs: list[tuple[str, dict[str, Any]]] = [("1 process", {}), (f"{jobs} processes", {"jobs": jobs})]
    if ray:
        runs.append(("2 Ray workers", {"jobs": 2, "engine": "ray"}))
    contents, first = [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name, settings in runs:
            place = Path(folder) / name
            draw(specs[:2], place / "warm-up", **settings)
            started = time.perf_counter()
            paths = draw(specs, place, **settings)
            taken = time.perf_counter() - started
            first = first or taken
            contents.append([path.read_bytes() for path in paths])
            print(f"{name:14} {n} charts in {taken:6.2f} s, {n / taken:5.2f} a second, {first / taken:4.2f} times")
            started = time.perf_counter()
            draw(specs, place, **settings)
            print(f"{'':14} again in {time.perf_counter() - started:6.2f} s, none drawn")
    same = all(content == contents[0] for content in contents)
    print("the bytes are the same" if same else "THE BYTES DIFFER")
    return same


if __name__ == "__main__":
    sys.exit(main())
