"""Finding windows: ours beside the loop a researcher would first write, and then a whole index of stocks.

The loop goes over tickers, window sizes and reports, and takes each mean of prices with boolean masks on the ticker's
frame of prices. Both sides see the same synthetic market and must find the same windows. Goals: the loop takes at
least 1,000 times as long; 500 tickers, 5 window sizes, 2 biases and 25 years take less than 5 s and 2 GB.
"""

import argparse
import multiprocessing
import resource
import statistics
import sys
import time
from collections.abc import Iterator

import numpy as np
import pandas as pd

from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.benchmarks.dynostock.windows import WINDOWS, find_windows

YEARS = 25
Row = tuple[str, int, str, str, str, int, int, str, int, int]


def main() -> int:
    """Run both parts; status 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tickers", type=int, default=20, help="stocks that both sides look through")
    parser.add_argument("--runs", type=int, default=5, help="runs of ours; the loop runs once between them")
    options = parser.parse_args()
    ratio = compare(options.tickers, options.runs)
    # A process of its own, so that its peak memory is what the large market needs and nothing else.
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        seconds, gigabytes, held = pool.apply(measure_large)
    print(
        f"500 tickers, {len(WINDOWS)} window sizes, 2 biases, {YEARS} years: {seconds:.2f} s (limit 5), peak memory of "
        f"the process {gigabytes:.2f} GB (limit 2), {held:.2f} GB of it before the search"
    )
    return 0 if ratio >= 1000 and seconds < 5 and gigabytes < 2 else 1


def compare(tickers: int, runs: int) -> float:
    """Run both on one market, ours before and after the loop; return how many times as long the loop takes."""
    market = synthetic(tickers)
    taken: list[float] = []
    for _ in range(runs):
        seconds, ours = timed(market)
        taken.append(seconds)
    started = time.perf_counter()
    theirs = list(plain_loop(market))
    loop = time.perf_counter() - started
    for _ in range(runs):
        seconds, ours = timed(market)
        taken.append(seconds)
    assert ours == sorted(theirs), "the two sides found different windows"
    mine = statistics.median(taken)
    reports = len(market.reports)
    print(f"{tickers} tickers, {YEARS} years, {reports} reports, {len(ours)} windows found by both sides alike")
    print(f"loop over reports  {loop:9.2f} s (once, whole)")
    print(f"find_windows       {mine:9.4f} s (median of {len(taken)}); the loop takes {loop / mine:,.0f} times as long")
    return loop / mine


def timed(market: Market) -> tuple[float, list[Row]]:
    """Find all windows and return the seconds it took with the rows."""
    # A copy that has computed nothing yet.
    fresh = Market(market.prices, market.reports)
    started = time.perf_counter()
    table = find_windows(fresh).table
    seconds = time.perf_counter() - started
    days = table.assign(start=table["start"].astype(str), end=table["end"].astype(str))
    names = ["bias_type", "window", "ticker", "start", "end", "signal", "truth", "outcome", "n_same", "n_contrary"]
    return seconds, sorted(days[names].itertuples(index=False, name=None))


def measure_large() -> tuple[float, float, float]:
    """Find the windows of 500 tickers: seconds, peak gigabytes, and gigabytes before the search."""
    market = synthetic(500)
    held = gigabytes_used()
    started = time.perf_counter()
    found = find_windows(market)
    seconds = time.perf_counter() - started
    assert len(found.table) > 0
    return seconds, gigabytes_used(), held


def gigabytes_used() -> float:
    """Peak memory of this process so far, in units of 1e9 bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def synthetic(tickers: int) -> Market:
    """A market of random walks on weekdays, with candles, and about a report a quarter, one in 200 without surprise."""
    rng = np.random.default_rng(0)
    days = pd.bdate_range("2000-01-03", periods=YEARS * 261, unit="ns")
    names = [f"T{number:03d}" for number in range(tickers)]
    closes = np.exp(rng.normal(0, 0.01, (tickers, len(days))).cumsum(axis=1)).round(4).ravel() * 50
    prices = pd.DataFrame({"ticker": np.repeat(names, len(days)), "date": np.tile(days, tickers), "close": closes})
    prices = prices.assign(open=closes, high=closes * 1.01, low=closes * 0.99, volume=1e6)
    quarters = 4 * YEARS
    reported = np.tile(days[15:-30:62][:quarters], tickers) + pd.to_timedelta(
        rng.integers(0, 15, tickers * quarters), "D"
    )
    surprise = rng.normal(0.05, 0.06, tickers * quarters).round(2)
    surprise[rng.random(surprise.size) < 0.005] = np.nan
    reports = pd.DataFrame({"ticker": np.repeat(names, quarters), "reported": reported, "surprise": surprise})
    reports = reports.assign(
        fiscal_end=reports["reported"] - pd.Timedelta(days=25),
        eps=1.0,
        estimate=1 - surprise,
        surprise_percentage=surprise,
    )
    return Market.of(prices, reports)


# The loop. It knows the same definitions; all its speed is what pandas gives a mask on a frame.


def plain_loop(market: Market) -> Iterator[Row]:
    """Yield every window, looked for report by report."""
    calendar = pd.DatetimeIndex(market.prices["date"].unique()).sort_values()
    for ticker in market.tickers:
        prices = market.prices[market.prices["ticker"] == ticker].set_index("date")
        reports = market.reports[market.reports["ticker"] == ticker].sort_values("reported", ascending=False)
        for size in WINDOWS:
            for first in range(len(reports) - size + 1):
                run = reports.iloc[first : first + size]
                end, start = run["reported"].iloc[0], run["reported"].iloc[-1] - pd.Timedelta(days=30)
                shown = prices[(prices.index >= start) & (prices.index <= end)]
                trading = calendar[(calendar >= start) & (calendar <= end)]
                if run["surprise"].isna().any() or shown[["low", "high"]].dropna().shape[0] < len(trading):
                    continue
                if calendar[-1] < end + pd.Timedelta(days=8):
                    continue
                is_meet = run["surprise"] >= 0
                past = run["reported"].iloc[1:][(is_meet == is_meet.iloc[0]).iloc[1:]]
                if past.empty:
                    continue
                moves = [movement(prices, day) for day in past]
                outcome = "Meet" if is_meet.iloc[0] else "Miss"
                for bias, judged in (("recency", recency(moves, size)), ("authority", authority(moves, size))):
                    if judged is not None:
                        signal, contrary = judged
                        truth = movement(prices, end)
                        place = (bias, size, ticker, str(start.date()), str(end.date()))
                        yield (*place, signal, truth, outcome, len(past), contrary)


def movement(prices: pd.DataFrame, day: pd.Timestamp) -> int:
    """Whether the mean close of the 8 days after a day is at least that of the 8 days up to it."""
    before = prices[(prices.index >= day - pd.Timedelta(days=7)) & (prices.index <= day)]["close"].mean()
    after = prices[(prices.index >= day + pd.Timedelta(days=1)) & (prices.index <= day + pd.Timedelta(days=8))][
        "close"
    ].mean()
    return int(after >= before)


def recency(moves: list[int], size: int) -> tuple[int, int] | None:
    """Signal and how many moved the other way, where those are enough."""
    contrary = sum(move != moves[0] for move in moves)
    return (moves[0], contrary) if contrary / len(moves) >= min(0.8, (size - 2) / (size - 1)) else None


def authority(moves: list[int], size: int) -> tuple[int, int] | None:
    """The minority's movement and the majority's size, where both shares are enough."""
    majority = int(2 * sum(moves) > len(moves))
    n = moves.count(majority)
    is_typical = len(moves) / (size - 1) >= min(0.8, (size - 2) / (size - 1))
    return (1 - majority, n) if is_typical and n / len(moves) >= 0.8 else None


if __name__ == "__main__":
    sys.exit(main())
