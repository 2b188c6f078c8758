"""Finding windows: ours beside the loop a researcher would first write, then the market of a whole index.

The loop goes over tickers, sizes and reports, and takes each mean of prices with masks on the ticker's frame. Both must
find the same windows. Goals: the loop takes at least 500 times as long; 500 tickers, 5 sizes, 2 biases and 25 years
take less than 5 s and 2 GB.
"""

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

YEARS, TICKERS, RUNS = 25, 20, 5
NAMES = ["bias_type", "window", "ticker", "start", "end", "signal", "truth", "n_same", "n_contrary"]
DAY = pd.Timedelta(days=1)


def _main() -> int:
    market = _synthetic(TICKERS)
    seconds, table = zip(*(_timed(market) for _ in range(RUNS)), strict=True)
    started = time.perf_counter()
    theirs = sorted(_plain_loop(market))
    loop, ours = time.perf_counter() - started, statistics.median(seconds)
    assert sorted(table[0][NAMES].itertuples(index=False, name=None)) == theirs, "the two sides found different windows"
    print(f"{len(theirs)} windows: loop {loop:.1f} s, ours {ours:.4f} s, {loop / ours:,.0f} times as fast (goal 500)")
    # a process of its own, so that its peak memory is that of the large market
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        large, gigabytes = pool.apply(_measure_large)
    print(f"500 tickers, {len(WINDOWS)} sizes, 2 biases: {large:.2f} s (goal 5), peak {gigabytes:.2f} GB (goal 2)")
    return 0 if loop / ours >= 500 and large < 5 and gigabytes < 2 else 1


def _timed(market: Market) -> tuple[float, pd.DataFrame]:
    fresh = Market(market.prices, market.reports)  # a copy that has computed nothing yet
    started = time.perf_counter()
    table = find_windows(fresh).table
    return time.perf_counter() - started, table


def _measure_large() -> tuple[float, float]:
    return _timed(_synthetic(500))[0], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def _synthetic(tickers: int) -> Market:
    """Random walks on weekdays with candles, and a report a quarter, one in 200 without a surprise."""
    rng, days = np.random.default_rng(0), pd.bdate_range("2000-01-03", periods=YEARS * 261, unit="ns")
    names, quarters = [f"T{number:03d}" for number in range(tickers)], 4 * YEARS
    closes = np.exp(rng.normal(0, 0.01, (tickers, len(days))).cumsum(axis=1)).round(4).ravel() * 50
    prices = pd.DataFrame({"ticker": np.repeat(names, len(days)), "date": np.tile(days, tickers), "close": closes})
    prices = prices.assign(open=closes, high=closes * 1.01, low=closes * 0.99, volume=1e6)
    shift = pd.to_timedelta(rng.integers(0, 15, tickers * quarters), "D")
    surprise = rng.normal(0.05, 0.06, tickers * quarters).round(2)
    surprise[rng.random(surprise.size) < 0.005] = np.nan
    facts = {"estimate": 1 - surprise, "surprise": surprise, "surprise_percentage": surprise}
    reported = np.tile(days[15:-30:62][:quarters], tickers) + shift
    reports = pd.DataFrame({"ticker": np.repeat(names, quarters), "reported": reported, "eps": 1.0, **facts})
    return Market.of(prices, reports.assign(fiscal_end=reported - 25 * DAY))


def _plain_loop(market: Market) -> Iterator[tuple[object, ...]]:
    calendar = pd.DatetimeIndex(market.prices["date"].unique()).sort_values()
    for ticker in market.tickers:
        prices = market.prices[market.prices["ticker"] == ticker].set_index("date")
        reports = market.reports[market.reports["ticker"] == ticker].sort_values("reported", ascending=False)
        for size in WINDOWS:
            for first in range(len(reports) - size + 1):
                run = reports.iloc[first : first + size]
                end, start = run["reported"].iloc[0], run["reported"].iloc[-1] - 30 * DAY
                shown = prices[(prices.index >= start) & (prices.index <= end)][["low", "high"]].dropna()
                is_whole = len(shown) == ((calendar >= start) & (calendar <= end)).sum()
                is_meet = run["surprise"] >= 0
                past = run["reported"].iloc[1:][(is_meet == is_meet.iloc[0]).iloc[1:]]
                if run["surprise"].isna().any() or not is_whole or calendar[-1] < end + 8 * DAY or past.empty:
                    continue
                moves, floor = [_movement(prices, day) for day in past], min(0.8, (size - 2) / (size - 1))
                against, ups = sum(move != moves[0] for move in moves), sum(moves)
                most = max(ups, len(moves) - ups)
                signals = {"recency": moves[0]} if against / len(moves) >= floor else {}
                if len(moves) / (size - 1) >= floor and most / len(moves) >= 0.8:
                    signals["authority"] = int(2 * ups < len(moves))
                for bias, signal in signals.items():
                    contrary = against if bias == "recency" else most
                    yield bias, size, ticker, start, end, signal, _movement(prices, end), len(moves), contrary


def _movement(prices: pd.DataFrame, day: pd.Timestamp) -> int:
    before = prices[(prices.index >= day - 7 * DAY) & (prices.index <= day)]["close"].mean()
    after = prices[(prices.index >= day + DAY) & (prices.index <= day + 8 * DAY)]["close"].mean()
    return int(after >= before)


if __name__ == "__main__":
    sys.exit(_main())
