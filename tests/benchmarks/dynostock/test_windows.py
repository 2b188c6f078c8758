"""Windows: small markets worked out by hand, random ones against a slow implementation, and sets in a folder."""

import json
import shutil
from collections import Counter
from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise, product
from math import isnan
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fin_tasks.benchmarks.dynostock.market import (
    Market,
    sample_market,
    strict_timing,
)
from fin_tasks.benchmarks.dynostock.own_window import longer_window, own_window
from fin_tasks.benchmarks.dynostock.window_set import (
    read_set,
    rebuild_windows,
    sampled,
    write_set,
)
from fin_tasks.benchmarks.dynostock.windows import FoundWindows, find_windows
from fin_tasks.errors import ConfigError, DataError

DAY = timedelta(days=1)
FIRST = date(2000, 1, 3)
NAN = float("nan")


def market_of(
    closes: dict[str, dict[date, float]],
    reports: dict[str, list[tuple[date, float]]],
    *,
    lows: dict[str, dict[date, float]] | None = None,
) -> Market:
    """A market from closes by day and reports as (day, surprise); lows are the closes if none are given."""
    rows = []
    for ticker, prices in closes.items():
        for day, close in prices.items():
            low = close if lows is None else lows[ticker].get(day, 1.0)
            rows.append((ticker, day, close, 1.0, 1.0, low))
    told = []
    for ticker, days in reports.items():
        for day, surprise in days:
            told.append((ticker, day - 20 * DAY, day, 1.0, 1 - surprise, surprise))
    columns = ["ticker", "date", "close", "open", "high", "low"]
    names = ["ticker", "fiscal_end", "reported", "eps", "estimate", "surprise"]
    return Market.of(
        pd.DataFrame(rows, columns=columns), pd.DataFrame(told, columns=names)
    )


def stepwise(moves: list[int], *, gap: int = 40) -> Market:
    """One ticker, a price every day; the price steps up or down on the day after each report."""
    level = 100.0
    closes: dict[date, float] = {}
    reports = []
    for number, move in enumerate(moves):
        report = FIRST + (30 + gap * number) * DAY
        reports.append((report, 0.1))
        closes |= {report + (n - gap) * DAY: level for n in range(1, gap + 1)}
        level += 1 if move else -1
    closes |= {report + n * DAY: level for n in range(1, 12)}
    return market_of({"AB": closes}, {"AB": reports})


def test_a_report_before_the_opening_bell() -> None:
    market = stepwise([1, 1, 1, 1])
    end = market.reports["reported"].iloc[-1]
    closes = market.prices["close"].mask(market.prices["date"] == end, 1e6)
    times = ["post-market"] * 3 + ["pre-market"]
    reports = market.reports.assign(report_time=times)
    timed = Market.of(market.prices.assign(close=closes), reports)
    start = market.prices["date"].min().date()
    # Without strict timing, the reaction counts as a price before the report.
    assert own_window(timed, "AB", start, end.date()).truth == 0
    assert own_window(strict_timing(timed), "AB", start, (end - DAY).date()).truth == 1
    with pytest.raises(ConfigError, match="report_time"):
        strict_timing(market)


@pytest.mark.parametrize(("n_days", "is_pending"), [(8, False), (7, True)])
def test_a_truth_needs_as_many_days_as_it_compares(
    n_days: int, is_pending: bool
) -> None:
    market = stepwise([0, 0, 1, 1])
    last = market.reports["reported"].max() + n_days * DAY
    known = Market.of(market.prices[market.prices["date"] <= last], market.reports)
    found = find_windows(known, biases=["recency"], windows=[4])
    assert len(found.windows) == (not is_pending)
    assert ("truth-pending" in found.counts[0]["dropped"]) == is_pending


def slow_movement(closes: dict[date, float], day: date) -> int | None:
    means = []
    for offsets in (range(-7, 1), range(1, 9)):
        side = [closes.get(day + n * DAY, NAN) for n in offsets]
        known = [Fraction(str(close)) for close in side if not isnan(close)]
        if not known:
            return None
        means.append(sum(known) / len(known))
    before, after = means
    return int(after >= before)


def slow_fate(
    run: list[tuple[date, float]],
    twin: bool,
    closes: Any,
    missing: set[date],
    last: date,
    bias: str,
) -> str | tuple[Any, ...]:
    """What becomes of a run of reports, newest first: a reason, "unbiased", or what its window says."""
    size, end, start = len(run), run[0][0], run[-1][0] - 30 * DAY
    threshold = min(Fraction(4, 5), Fraction(size - 2, size - 1))
    if any(isnan(surprise) for _, surprise in run):
        return "unknown-surprise"
    if any(start <= day <= end for day in missing):
        return "missing-prices"
    if twin or (end - run[1][0]).days < 8:
        return "reports-too-close"
    past = [day for day, surprise in run[1:] if (surprise >= 0) == (run[0][1] >= 0)]
    if not past or (bias == "authority" and Fraction(len(past), size - 1) < threshold):
        return "unbiased"
    moves = [slow_movement(closes, day) for day in past]
    if None in moves:
        return "unknown-movement"
    ups = moves.count(1)
    signal = moves[0] if bias == "recency" else int(2 * ups < len(moves))
    contrary = sum(move != signal for move in moves)
    least = threshold if bias == "recency" else Fraction(4, 5)
    is_tie = bias == "authority" and 2 * ups == len(moves)
    if is_tie or Fraction(contrary, len(past)) < least:
        return "unbiased"
    if last < end + 8 * DAY:
        return "truth-pending"
    truth = slow_movement(closes, end)
    if truth is None:
        return "unknown-movement"
    return signal, truth, "Meet" if run[0][1] >= 0 else "Miss", len(past), contrary


def slow_windows(
    closes: Any, reports: Any, lows: Any, sizes: list[int]
) -> tuple[list[tuple[Any, ...]], Counter[Any]]:
    windows, counts = [], Counter[Any]()
    tickers = sorted(closes.keys() & reports.keys())
    for bias, size, ticker in product(("authority", "recency"), sizes, tickers):
        prices = closes[ticker]
        closing = sorted(day for day in prices if not isnan(prices[day]))
        drawn = closing
        if lows:  # open and high are always there
            candles = [day for day in prices if not isnan(lows[ticker].get(day, 1.0))]
            drawn = sorted(candles) or closing
        missing = set(prices) - set(drawn)
        for day, following in pairwise(drawn):
            if (following - day).days > 11:
                missing |= {day + n * DAY for n in range(1, (following - day).days)}
        first, last = closing[0], closing[-1]
        inside = [report for report in reports[ticker] if first <= report[0] <= last]
        newest_first = sorted(inside, key=lambda report: report[0], reverse=True)
        for place in reversed(range(len(newest_first) - size + 1)):
            run = newest_first[place : place + size]
            end, start = run[0][0], run[-1][0] - 30 * DAY
            has_twin = place > 0 and newest_first[place - 1][0] == end
            fate = slow_fate(run, has_twin, prices, missing, last, bias)
            if isinstance(fate, str):
                counts[bias, size, fate] += 1
            else:
                counts[bias, size, "found"] += 1
                windows.append((bias, size, ticker, start, end, *fate))
    return windows, counts


@st.composite
def markets(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    """Closes, reports and days without a low: holes, holidays, ties, constant prices, weekends, two reports a day."""
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    days = [FIRST + n * DAY for n in range(draw(st.integers(20, 130)))]
    if draw(st.booleans()):
        days = [day for day in days if day.weekday() < 5]
    names = st.sampled_from(["A", "AB", "B", "c"])
    closes, reports, lows = {}, {}, {}
    for ticker in draw(st.lists(names, min_size=1, max_size=3, unique=True)):
        listed = days[draw(st.sampled_from([0, 0, 7])) :]
        level = st.sampled_from([0.1, 0.2, 0.3, 0.7, 1.2345, 10.0, 10.01])
        n_levels = draw(st.sampled_from([1, 3, 8]))
        levels = draw(st.lists(level, min_size=1, max_size=n_levels))
        closes[ticker] = {day: levels[chance.integers(len(levels))] for day in listed}
        hole = draw(st.sampled_from(listed))
        width = draw(st.sampled_from([0, 0, 0, 1, 3, 5, 20]))
        is_row = draw(st.booleans())
        for day in listed:
            if hole <= day < hole + width * DAY:
                del closes[ticker][day]
                closes[ticker] |= {day: NAN} if is_row else {}
        closes[ticker][days[0]] = 1.0
        some_days = st.sets(st.sampled_from(listed), max_size=1)
        lows[ticker] = dict.fromkeys(draw(some_days | st.just(days)), NAN)

        day = FIRST + draw(st.integers(-10, 20)) * DAY
        unknown = [NAN] if draw(st.booleans()) else []
        surprises = st.sampled_from([0.0, 0.1, 0.1, 0.2, -0.1, *unknown])
        gaps = st.sampled_from([0, 3, 8, 9, 15])
        # Reports of one day have one outcome: their order is not part of the definitions.
        outcomes: dict[date, float] = {}
        reports[ticker] = []
        for gap in draw(st.lists(gaps, min_size=2, max_size=12)):
            day += gap * DAY
            outcomes.setdefault(day, draw(surprises))
            reports[ticker].append((day, outcomes[day]))
    last_days = days[-draw(st.sampled_from([1, 9])) :]
    holidays = draw(st.sets(st.sampled_from(days[1:]), max_size=2)).union(last_days)
    for prices in closes.values():
        prices |= dict.fromkeys(holidays & prices.keys(), NAN)
    return closes, reports, draw(st.sampled_from([None, lows]))


@settings(max_examples=20)
@given(markets())
def test_random_markets_against_the_slow_way(drawn: tuple[Any, Any, Any]) -> None:
    closes, reports, lows = drawn
    sizes = [3, 4, 6]
    found = find_windows(market_of(closes, reports, lows=lows), windows=sizes)
    expected, counts = slow_windows(closes, reports, lows, sizes)
    names = "bias_type window ticker start end signal truth outcome n_same n_contrary"
    assert list(map(attrgetter(*names.split()), found.windows)) == expected
    for count in found.counts:
        fates = {name: count[name] for name in ("found", "unbiased")}
        fates |= count["dropped"]
        place = (count["bias_type"], count["window"])
        theirs = {key[2]: n for key, n in counts.items() if key[:2] == place}
        assert {fate: n for fate, n in fates.items() if n} == theirs
        assert count["candidates"] == sum(fates.values())


def test_a_set_comes_back_and_shows_no_other_days(tmp_path: Path) -> None:
    market = stepwise([1, 1, 0, 1, 0, 0, 1, 1, 0, 1])
    found = find_windows(market, windows=[4])
    first = FoundWindows(found.windows[:1], found.counts)
    made = write_set(tmp_path, first, market, parameters={"a": 1})
    (window,) = made.windows
    assert window == found.windows[0]
    assert made.facts["parameters"] == {"a": 1}
    assert made.market.prices["date"].max().date() == window.end
    assert made.market.reports["reported"].max().date() == window.end
    of_window = ("AB", window.start, window.end)
    prices = made.market.excerpt(*of_window).prices
    assert prices.equals(market.excerpt(*of_window).prices)
    shutil.copy(tmp_path / "prices.parquet", tmp_path / "reports.parquet")
    with pytest.raises(DataError, match=r"reports\.parquet"):
        read_set(tmp_path)


def test_a_longer_window_shows_more_reports_until_the_same_day() -> None:
    market = stepwise([1, 1, 0, 1, 0, 0, 1, 1, 0, 1])
    window = find_windows(market, windows=[4]).windows[-1]
    longer = longer_window(market, window, 1.5)
    assert longer.end == window.end
    reports = market.excerpt("AB", longer.start, longer.end).reports["reported"]
    assert len(reports) == 6
    assert longer.start == reports.iloc[0].date() - 30 * DAY


def test_a_sample_depends_on_seed_and_windows_only() -> None:
    market = stepwise([1, 0, 1, 1, 0, 0, 1, 1, 0, 1] * 8)
    windows = find_windows(market, windows=[4]).windows
    few = set(sampled(windows, 3))
    assert len(few) == 3
    assert few < set(sampled(windows, 6))
    assert set(sampled(windows[::-1], 3)) == few != set(sampled(windows, 3, seed=1))
    assert sampled(windows, 0) == windows


def test_a_recorded_window_has_the_figure_of_its_row(tmp_path: Path) -> None:
    """The authors draw one of 11 figures for each row, after `numpy.random.seed(42)`."""
    market = sample_market()
    share = Fraction(3, 5)
    found = find_windows(market, biases=["authority"], windows=[4], share=share)
    rows = []
    for window in found.windows:
        days = {"start_time": f"{window.start}", "end_time": f"{window.end}"}
        row = {"ticker": window.ticker, **days, "bias": window.signal, "response": "1"}
        rows.append({**row, "gt": window.truth})
    # A row of another market has a place in the file, and so a figure.
    rows.insert(1, {**rows[0], "ticker": "ELSE"})
    file = tmp_path / "exp_authority_4.json"
    file.write_text(json.dumps(rows))
    rebuilt, missing = rebuild_windows(market, [file])
    figures = [
        *("Goldman Sachs", "Jamie Dimon", "Kenneth Griffin", "JPMorgan", "Ray Dalio"),
        *("Goldman Sachs", "Abigail Johnson", "Cathie Wood", "Goldman Sachs"),
        *("Kenneth Griffin", "Kenneth Griffin", "JPMorgan"),
    ]
    expected = {}
    for row, figure in zip(rows, figures, strict=False):
        expected[row["ticker"], row["end_time"]] = figure
    del expected["ELSE", rows[1]["end_time"]]
    assert len(expected) >= 3 and len(missing) == 1
    by_window = {}
    for window in rebuilt.windows:
        by_window[window.ticker, f"{window.end}"] = window.authority
    assert by_window.items() >= expected.items()


def four_exchanges() -> Market:
    """Four stocks with the same prices and reports, each with five holidays of its own a year."""
    names = ("ACME", "SAP.DE", "7203.T", "VOD.L")
    moves = [1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1, 0, 0, 0, 1, 1]
    base = stepwise(moves, gap=91)
    prices = []
    for number, name in enumerate(names):
        is_holiday = base.prices["date"].dt.day_of_year % 73 == number
        prices.append(base.prices[~is_holiday].assign(ticker=name))
    reports = [base.reports.assign(ticker=name) for name in names]
    return Market.of(pd.concat(prices), pd.concat(reports))


def found_by_ticker(market: Market) -> dict[str, list[tuple[str, date]]]:
    """Bias and last day of the windows of each ticker."""
    found: dict[str, list[tuple[str, date]]] = {}
    for window in find_windows(market, windows=[4, 8]).windows:
        found.setdefault(window.ticker, []).append((window.bias_type, window.end))
    return found


def test_holidays_of_an_exchange_cost_no_window() -> None:
    market = four_exchanges()
    found = found_by_ticker(market)
    assert len(found) == 4
    assert len(found["ACME"]) >= 4
    for windows in found.values():
        assert windows == found["ACME"]
    # A table with a column for each stock has an empty cell on a holiday.
    wide = market.prices.pivot(index="date", columns="ticker")
    prices = wide.stack("ticker", future_stack=True).reset_index()
    assert found_by_ticker(Market.of(prices, market.reports)) == found


def test_windows_of_a_stock_do_not_depend_on_other_stocks() -> None:
    market = four_exchanges()
    is_short = market.prices["ticker"] == "SAP.DE"
    is_short &= market.prices["date"] > market.prices["date"].max() - 500 * DAY
    market = Market.of(market.prices[~is_short], market.reports)
    alone: dict[str, list[tuple[str, date]]] = {}
    for ticker in market.tickers:
        own_prices = market.prices[market.prices["ticker"] == ticker]
        alone |= found_by_ticker(Market.of(own_prices, market.reports))
    assert found_by_ticker(market) == alone
    assert len(alone["SAP.DE"]) < len(alone["ACME"])


@pytest.mark.parametrize(("n_days", "is_hole"), [(10, False), (11, True)])
def test_a_long_gap_is_no_holiday(n_days: int, is_hole: bool) -> None:
    market = stepwise([1, 1, 0, 1, 0, 0, 1, 1, 0, 1])
    windows = find_windows(market, windows=[4]).windows
    first = pd.Timestamp(windows[0].start + 40 * DAY)
    gap = market.prices["date"].between(first, first + (n_days - 1) * DAY)
    cut = Market.of(market.prices[~gap], market.reports)
    counts = find_windows(cut, windows=[4]).counts
    has_missing = ["missing-prices" in count["dropped"] for count in counts]
    assert has_missing == [is_hole] * 2
