"""Charts of DynoStock's window sizes: processor time beside mplfinance's plain way, and what two processes save.

The plain side draws no marks; ours does. `--ray` draws on all CPUs of a Ray cluster too.
"""

import io
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from statistics import median

import matplotlib as mpl
import mplfinance as mpf
from matplotlib import pyplot as plt

from fin_tasks.benchmarks.dynostock.chart_files import chart_of
from fin_tasks.benchmarks.dynostock.market import sample_market
from fin_tasks.charts.candlestick import draw
from fin_tasks.charts.chart import Chart
from fin_tasks.charts.pool import draw_charts
from fin_tasks.workers import Engine, running_on

SIZES = (4, 8, 12, 16, 20)


def charts(n: int) -> list[Chart]:
    """Windows of all sizes in turn, each ending a report earlier than the one of its size before."""
    market, made = sample_market(), []
    for number in range(n):
        ticker, size = ("AAPL", "IBM", "MSFT")[number % 3], SIZES[number % len(SIZES)]
        own = market.reports[
            (market.reports["ticker"] == ticker)
            & (market.reports["reported"] < "2013-03-01")
        ]
        days = own["reported"].dt.date.tolist()
        days = days[: len(days) - number // len(SIZES)][-size:]
        excerpt = market.excerpt(ticker, days[0] - timedelta(days=30), days[-1])
        made.append(chart_of(excerpt))
    return made


def plain(chart: Chart) -> None:
    look = {
        "type": "candle",
        "mav": 7,
        "volume": True,
        "style": "yahoo",
        "show_nontrading": True,
    }
    size = {"figsize": (20.48, 10.24), "warn_too_much_data": len(chart.prices) + 1}
    figure, _ = mpf.plot(
        chart.prices, title=chart.ticker, returnfig=True, **look, **size
    )
    figure.savefig(io.BytesIO(), dpi=100, bbox_inches="tight")
    plt.close(figure)


if __name__ == "__main__":
    mpl.use("agg")
    totals = [0.0, 0.0]
    for size, chart in zip(SIZES, charts(len(SIZES)), strict=True):
        times: list[list[float]] = [[], []]
        for number in range(8):  # in turn; the first round warms up
            started = time.process_time()
            (plain, draw)[number % 2](chart)
            times[number % 2].append(time.process_time() - started)
        a, b = (median(taken[1:]) for taken in times)
        totals = [totals[0] + a, totals[1] + b]
        print(
            f"{size:2} reports: plain {a:.2f} s, ours {b:.2f} s, {a / b:.2f} times as fast"
        )
    print(f"all: {totals[0] / totals[1]:.2f} times as fast (goal 2)")
    ways: list[tuple[int, Engine]] = [(1, "local"), (2, "local")]
    if "--ray" in sys.argv:
        ways.append((2, "ray"))
    for jobs, engine in ways:
        with tempfile.TemporaryDirectory() as folder, running_on(engine):
            draw_charts(charts(jobs), Path(folder, "warm-up"), jobs=jobs)
            started = time.perf_counter()
            draw_charts(charts(40), Path(folder), jobs=jobs)
            print(
                f"{jobs} at a time ({engine}): 40 charts in {time.perf_counter() - started:.1f} s"
            )
    sys.exit(0 if totals[0] >= 2 * totals[1] else 1)
