"""Charts of DynoStock's window sizes: processor time beside mplfinance's plain way, and what two processes save.

The plain side draws no marks; ours does. `--ray` draws on all CPUs of a Ray cluster too.
"""

import argparse
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
from measured import Figure, finish, options

from fin_tasks.benchmarks.dynostock.chart_files import chart_of
from fin_tasks.benchmarks.dynostock.market import sample_market
from fin_tasks.charts.candlestick import draw
from fin_tasks.charts.chart import Chart
from fin_tasks.charts.pool import draw_charts
from fin_tasks.workers import Engine, running_on

SIZES = (4, 8, 12, 16, 20)
GOAL_RATIO = 2


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


def main() -> int:
    parser = options(__doc__)
    parser.add_argument("--ray", action="store_true", help="draw with Ray too")
    given = parser.parse_args()
    mpl.use("agg")
    figures = [*beside_mplfinance(given), *side_by_side(given)]
    return finish(figures, given, __file__)


def beside_mplfinance(given: argparse.Namespace) -> list[Figure]:
    """Return the processor time of a chart of each size on both sides."""
    sizes, rounds = ((4,), 2) if given.tiny else (SIZES, 4)
    figures = []
    totals = [0.0, 0.0]
    for size, chart in zip(sizes, charts(len(sizes)), strict=True):
        times: list[list[float]] = [[], []]
        for number in range(2 * rounds):  # in turn; the first round warms up
            started = time.process_time()
            (plain, draw)[number % 2](chart)
            times[number % 2].append(time.process_time() - started)
        theirs, ours = (median(taken[1:]) for taken in times)
        totals = [totals[0] + theirs, totals[1] + ours]
        what = f"a chart of {size} reports, processor time"
        beside = f"mplfinance without marks, {theirs:.2f} s"
        figures.append(Figure(what=what, value=ours, unit="s", beside=beside))
    ratio = totals[0] / totals[1]
    what = "mplfinance takes as long for all sizes"
    return [*figures, Figure(what=what, value=ratio, unit="times", least=GOAL_RATIO)]


def side_by_side(given: argparse.Namespace) -> list[Figure]:
    """Return the seconds that many charts take in one process, in two, and with Ray."""
    n_charts = 1 if given.tiny else 40
    ways: list[tuple[int, Engine]] = [(1, "local"), (2, "local")]
    ways = ways[:1] if given.tiny else ways
    ways += [(2, "ray")] if given.ray else []
    figures = []
    for jobs, engine in ways:
        with tempfile.TemporaryDirectory() as folder, running_on(engine):
            draw_charts(charts(jobs), Path(folder, "warm-up"), jobs=jobs)
            started = time.perf_counter()
            draw_charts(charts(n_charts), Path(folder), jobs=jobs)
            seconds = time.perf_counter() - started
        what = f"{n_charts} charts, {jobs} at a time ({engine})"
        figures.append(Figure(what=what, value=seconds, unit="s"))
    return figures


if __name__ == "__main__":
    sys.exit(main())
