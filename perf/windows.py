"""Windows of an index: ours beside a researcher's loop over tickers, sizes and reports; both must find the same.

Goals: 500 tickers, 5 sizes, 2 biases and 25 years take less than 5 s and 2 GB, and the loop would take 500 times as
long. It takes a minute for 20 tickers, so its time is multiplied; it grows faster than that, as it reads all prices
for each ticker.
"""

import multiprocessing
import resource
import sys
import time
from collections.abc import Iterator
from operator import attrgetter

import numpy as np
import pandas as pd
from measured import Figure, finish, options

from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.benchmarks.dynostock.windows import WINDOWS, find_windows

YEARS, DAY = 25, pd.Timedelta(days=1)
NAMES = [
    "bias_type",
    "window",
    "ticker",
    "start",
    "end",
    "signal",
    "truth",
    "n_same",
    "n_contrary",
]


GOAL_RATIO, GOAL_S, GOAL_GB = 500, 5, 2


def large(tickers: int, years: int) -> tuple[float, float]:
    market, started = synthetic(tickers, years), time.perf_counter()
    find_windows(market)
    return time.perf_counter() - started, resource.getrusage(
        resource.RUSAGE_SELF
    ).ru_maxrss * 1024 / 1e9


def synthetic(tickers: int, years: int) -> Market:
    """Random walks on weekdays with candles, and a report a quarter, one in 200 without a surprise."""
    rng, days = (
        np.random.default_rng(0),
        pd.bdate_range("2000-01-03", periods=years * 261, unit="ns"),
    )
    names, quarters = [f"T{number:03d}" for number in range(tickers)], 4 * years
    closes = (
        np.exp(rng.normal(0, 0.01, (tickers, len(days))).cumsum(axis=1))
        .round(4)
        .ravel()
        * 50
    )
    prices = pd.DataFrame(
        {
            "ticker": np.repeat(names, len(days)),
            "date": np.tile(days, tickers),
            "close": closes,
        }
    )
    prices = prices.assign(
        open=closes, high=closes * 1.01, low=closes * 0.99, volume=1e6
    )
    shift = pd.to_timedelta(rng.integers(0, 15, tickers * quarters), "D")
    surprise = rng.normal(0.05, 0.06, tickers * quarters).round(2)
    surprise[rng.random(surprise.size) < 0.005] = np.nan
    reported = np.tile(days[15:-30:62][:quarters], tickers) + shift
    reports = pd.DataFrame(
        {
            "ticker": np.repeat(names, quarters),
            "reported": reported,
            "surprise": surprise,
        }
    )
    return Market.of(prices, reports.assign(fiscal_end=reported - 25 * DAY))


def loop(market: Market) -> Iterator[tuple[object, ...]]:
    calendar = pd.DatetimeIndex(market.prices["date"].unique()).sort_values()
    for ticker in market.tickers:
        prices = market.prices[market.prices["ticker"] == ticker].set_index("date")
        reports = market.reports[market.reports["ticker"] == ticker].sort_values(
            "reported", ascending=False
        )
        for size, first in (
            (w, i) for w in WINDOWS for i in range(len(reports) - w + 1)
        ):
            run = reports.iloc[first : first + size]
            end, start = run["reported"].iloc[0], run["reported"].iloc[-1] - 30 * DAY
            is_meet = run["surprise"] >= 0
            past = run["reported"].iloc[1:][(is_meet == is_meet.iloc[0]).iloc[1:]]
            if (
                run["surprise"].isna().any()
                or calendar[-1] < end + 8 * DAY
                or past.empty
            ):
                continue
            moves, floor = (
                [movement(prices, day) for day in past],
                min(0.8, (size - 2) / (size - 1)),
            )
            against, ups = sum(move != moves[0] for move in moves), sum(moves)
            most = max(ups, len(moves) - ups)
            if against / len(moves) >= floor:
                yield (
                    "recency",
                    size,
                    ticker,
                    start.date(),
                    end.date(),
                    moves[0],
                    movement(prices, end),
                    len(moves),
                    against,
                )
            if len(moves) / (size - 1) >= floor and most / len(moves) >= 0.8:
                yield (
                    "authority",
                    size,
                    ticker,
                    start.date(),
                    end.date(),
                    int(most > ups),
                    movement(prices, end),
                    len(moves),
                    most,
                )


def movement(prices: pd.DataFrame, day: pd.Timestamp) -> int:
    before = prices[(prices.index >= day - 7 * DAY) & (prices.index <= day)][
        "close"
    ].mean()
    after = prices[(prices.index >= day + DAY) & (prices.index <= day + 8 * DAY)][
        "close"
    ].mean()
    return int(after >= before)


def main() -> int:
    given = options(__doc__).parse_args()
    years = 8 if given.tiny else YEARS
    market = synthetic(1 if given.tiny else 20, years)
    windows = find_windows(market).windows  # once to warm up
    started = time.perf_counter()
    for _ in range(5):
        find_windows(market)
    ours, started = (time.perf_counter() - started) / 5, time.perf_counter()
    theirs = sorted(loop(market))
    slow = time.perf_counter() - started
    assert sorted(map(attrgetter(*NAMES), windows)) == theirs, (
        "the two sides found different windows"
    )
    n_tickers = 5 if given.tiny else 500
    # In a process of its own, whose peak memory is that of the large market alone.
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        seconds, gigabytes = pool.apply(large, (n_tickers, years))
    what = f"the windows of {n_tickers} tickers, 5 sizes, 2 biases, {years} years"
    figures = [
        Figure(
            what=f"{len(theirs):,} windows of 20 tickers",
            value=ours,
            unit="s",
            beside=f"a loop over tickers, sizes and reports, {slow:.0f} s",
        ),
        Figure(what=what, value=seconds, unit="s", most=GOAL_S),
        Figure(
            what="the loop would take as long for them",
            value=slow / len(market.tickers) * n_tickers / seconds,
            unit="times",
            least=GOAL_RATIO,
            beside="its time for 20 tickers, multiplied",
        ),
        Figure(what="their memory", value=gigabytes, unit="GB", most=GOAL_GB),
    ]
    return finish(figures, given, __file__)


if __name__ == "__main__":
    sys.exit(main())
