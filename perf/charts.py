"""What a chart costs beside mplfinance's plain way, and what several processes make of it.

The charts are DynoStock's five window sizes of the sample market at 300 dpi. The plain side draws no marks; ours does.
"""

import argparse
import io
import os
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from statistics import median

import matplotlib as mpl
import mplfinance as mpf
from matplotlib import pyplot as plt

from fin_tasks.benchmarks.dynostock.data import chart_between
from fin_tasks.benchmarks.dynostock.market import sample_market
from fin_tasks.charts.candlestick import Chart, draw
from fin_tasks.charts.pool import draw_charts

SIZES = (4, 8, 12, 16, 20)
LIMIT = 2.0


def charts(n: int) -> list[Chart]:
    """Windows of all sizes in turn, each ending a report earlier than the one of its size before."""
    market, made = sample_market(), []
    for number in range(n):
        ticker, size = ("AAPL", "IBM", "MSFT")[number % 3], SIZES[number % len(SIZES)]
        days = market.prices.loc[market.prices["ticker"] == ticker, "date"]
        reported = market.reports_between(ticker, days.min(), days.max())["reported"].dt.date.tolist()
        window = reported[: len(reported) - number // len(SIZES)][-size:]
        made.append(chart_between(market, ticker, window[0] - timedelta(days=30), window[-1]))
    return made


def plain(chart: Chart) -> None:
    """Draw the prices as mplfinance's documentation shows."""
    look = {"type": "candle", "mav": 7, "volume": True, "style": "yahoo", "show_nontrading": True}
    size = {"figsize": (chart.width, 6), "warn_too_much_data": len(chart.prices) + 1}
    figure, _ = mpf.plot(chart.prices, title=chart.ticker, returnfig=True, **look, **size)
    figure.savefig(io.BytesIO(), dpi=chart.dpi, bbox_inches="tight")
    plt.close(figure)


def main() -> int:
    """Print processor seconds per chart, then seconds of whole runs; return 1 below the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="charts of each size and side")
    parser.add_argument("--ray", action="store_true", help="run them with two Ray workers too")
    options = parser.parse_args()
    mpl.use("agg")
    taken = []
    for size, chart in zip(SIZES, charts(len(SIZES)), strict=True):
        times: list[list[float]] = [[], []]
        for _ in range(options.rounds + 1):  # the first round warms up
            for side, function in enumerate((plain, draw)):
                started = time.process_time()
                function(chart)
                times[side].append(time.process_time() - started)
        taken.append([median(side[1:]) for side in times])
        a, b = taken[-1]
        print(f"{size:2} reports: plain {a:.2f} s, ours {b:.2f} s, {a / b:.2f} times as fast")
    a, b = (sum(side) for side in zip(*taken, strict=True))
    print(f"all: plain {a:.2f} s, ours {b:.2f} s, {a / b:.2f} times as fast, limit {LIMIT:g}")
    for jobs, engine in [(1, "local"), (os.cpu_count() or 1, "local"), (2, "ray")][: 3 if options.ray else 2]:
        with tempfile.TemporaryDirectory() as folder:
            draw_charts(charts(jobs), Path(folder, "warm-up"), jobs=jobs, engine=engine)
            started = time.perf_counter()
            draw_charts(charts(40), Path(folder), jobs=jobs, engine=engine)
            print(f"{jobs} at a time ({engine}): 40 charts in {time.perf_counter() - started:.1f} s")
    return 0 if a >= LIMIT * b else 1


if __name__ == "__main__":
    sys.exit(main())
