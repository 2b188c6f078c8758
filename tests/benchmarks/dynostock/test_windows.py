"""Windows: small markets worked out by hand, and random ones against a slow implementation of the definitions."""

from datetime import date, timedelta
from fractions import Fraction
from math import isnan
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fin_tasks.benchmarks.dynostock.authorities import AUTHORITIES
from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.benchmarks.dynostock.window import WINDOW_COLUMNS, Window, windows_of
from fin_tasks.benchmarks.dynostock.windows import REASONS, Found, find_windows, plain_window
from fin_tasks.errors import ConfigError, DataError

DAY = timedelta(days=1)
FIRST = date(2000, 1, 3)
NAN = float("nan")


# Markets


def market_of(
    closes: dict[str, dict[date, float]],
    reports: dict[str, list[tuple[date, float]]],
    *,
    lows: dict[str, dict[date, float]] | None = None,
) -> Market:
    """A market from closes by day and reports as (day, surprise); candles where lows are given."""
    rows: list[dict[str, Any]] = []
    for ticker, prices in closes.items():
        for day, close in prices.items():
            row: dict[str, Any] = {"ticker": ticker, "date": day, "close": close}
            if lows is not None:
                row |= {"open": 1.0, "high": 1.0, "low": lows[ticker].get(day, 1.0), "volume": 1.0}
            rows.append(row)
    columns = (
        ["ticker", "date", "close"] if lows is None else ["ticker", "date", "open", "high", "low", "close", "volume"]
    )
    figures = [
        {
            "ticker": ticker,
            "fiscal_end": day - 20 * DAY,
            "reported": day,
            "eps": 1.0,
            "estimate": 1.0 - surprise,
            "surprise": surprise,
            "surprise_percentage": NAN,
        }
        for ticker, given in reports.items()
        for day, surprise in given
    ]
    names = ["ticker", "fiscal_end", "reported", "eps", "estimate", "surprise", "surprise_percentage"]
    return Market.of(pd.DataFrame(rows, columns=columns), pd.DataFrame(figures, columns=names))


def stepwise(moves: list[int], surprises: list[float], *, gap: int = 40) -> Market:
    """One ticker, a price every day; the price steps up or down on the day after each report."""
    level, closes, reports = 100.0, {}, []
    for number, move in enumerate(moves):
        report = FIRST + (30 + gap * number) * DAY
        reports.append((report, surprises[number]))
        closes |= {report + (n - gap) * DAY: level for n in range(1, gap + 1)}
        level += 1 if move else -1
    closes |= {report + n * DAY: level for n in range(1, 12)}
    return market_of({"AB": closes}, {"AB": reports})


def only(found: Found) -> Window:
    (window,) = windows_of(found.table)
    return window


def test_recency_worked_by_hand() -> None:
    # Newest last: the latest similar report (Meet) went down, the two others up; 2/3 moved the other way.
    market = stepwise([1, 1, 0, 1], [0.0, 0.1, 0.2, 0.3])
    window = only(find_windows(market, biases=["recency"], windows=[4]))
    assert (window.signal, window.truth, window.outcome) == (0, 1, "Meet")
    assert (window.n_same, window.n_contrary) == (3, 2)
    assert (window.start, window.end) == (FIRST, FIRST + 150 * DAY)
    assert window.id == f"recency-w04-AB-{window.end}"
    assert (window.eps, window.estimate, window.surprise) == (1.0, 0.7, 0.3)
    assert window.fiscal_end == window.end - 20 * DAY
    assert window.authority == ""


def test_recency_looks_at_the_same_outcome_only() -> None:
    # The latest report is a Miss, so the Miss before it leads, and the Meets between do not count.
    market = stepwise([1, 1, 0, 1, 1, 0, 1, 0], [-0.1, -0.1, 0.2, -0.1, -0.1, -0.1, 0.3, -0.1])
    window = only(find_windows(market, biases=["recency"], windows=[8]))
    assert (window.signal, window.outcome, window.n_same, window.n_contrary) == (0, "Miss", 5, 4)


def test_recency_needs_four_fifths_of_long_pasts() -> None:
    surprises = [0.1] * 8
    assert len(find_windows(stepwise([0, 1, 1, 1, 1, 1, 0, 1], surprises), biases=["recency"], windows=[8]).table) == 0
    # 5 of 6 similar ones: 0.833 >= 0.8
    found = find_windows(
        stepwise([1, 1, 1, 1, 1, 0, 1, 1], [*surprises[:6], -0.1, 0.1]), biases=["recency"], windows=[8]
    )
    assert (only(found).n_same, only(found).n_contrary) == (6, 5)


def test_another_share_and_a_share_just_reached() -> None:
    market = stepwise([0, 1, 1, 1, 1, 1, 0, 1], [0.1] * 8)  # 5 of 7 moved the other way
    for share, found in ((Fraction(5, 7), 1), (Fraction(501, 700), 0), (Fraction(3, 5), 1)):
        assert len(find_windows(market, biases=["recency"], windows=[8], share=share).table) == found
    weak = stepwise([1, 0, 0, 0], [0.1] * 4)  # 2 of 3 moved one way
    assert len(find_windows(weak, biases=["authority"], windows=[4], share=Fraction(3, 5)).table) == 1


def test_authority_worked_by_hand() -> None:
    market = stepwise([1, 1, 1, 0], [0.1, 0.1, 0.1, 0.1])
    window = only(find_windows(market, biases=["authority"], windows=[4]))
    assert (window.signal, window.truth, window.n_same, window.n_contrary) == (0, 0, 3, 3)
    assert window.authority in {figure.name for figure in AUTHORITIES}


def test_authority_leaves_out_a_draw_and_a_weak_majority() -> None:
    for moves in ([1, 1, 0, 0], [1, 0, 0, 0]):  # 2 of 3 is no four fifths
        assert only_count(stepwise(moves, [0.1] * 4), "authority").unbiased == 1
    # two similar reports of three are enough (2/3), but not when they moved apart
    assert only_count(stepwise([1, 1, 1, 0], [0.1, -0.1, 0.1, 0.1]), "authority").found == 1
    assert only_count(stepwise([1, 1, 0, 0], [0.1, -0.1, 0.1, 0.1]), "authority").unbiased == 1


def only_count(market: Market, bias: str, size: int = 4) -> Any:
    (count,) = find_windows(market, biases=[bias], windows=[size]).counts
    return count


def test_the_authority_depends_on_seed_and_window_only() -> None:
    reports = [(FIRST + (30 + 40 * n) * DAY, 0.1) for n in range(40)]
    closes = {FIRST + n * DAY: 100.0 + n for n in range(1700)}
    both = market_of({"A": closes, "B": closes}, {"A": reports, "B": reports})
    one = market_of({"B": closes}, {"B": reports})

    def authorities(market: Market, sizes: list[int], seed: int) -> dict[str, str]:
        table = find_windows(market, biases=["authority"], windows=sizes, seed=seed).table
        return dict(zip(table["id"], table["authority"], strict=True))

    whole = authorities(both, [4, 5, 8], 42)
    part = authorities(one, [5], 42)
    assert part.items() <= whole.items()
    assert authorities(one, [5], 43) != part
    assert set(whole.values()) == {figure.name for figure in AUTHORITIES}


# Movements


def test_both_ends_of_both_sides_count() -> None:
    report = FIRST + 30 * DAY
    for day, price, up in (
        (report - 8 * DAY, 1e6, 1),  # outside
        (report - 7 * DAY, 1e6, 0),
        (report, 1e6, 0),
        (report + DAY, 1e6, 1),
        (report + 8 * DAY, 1e6, 1),
        (report + 8 * DAY, 1.0, 0),
        (report + 9 * DAY, 1.0, 1),  # outside
    ):
        closes = {FIRST + n * DAY: 10.0 for n in range(60)} | {day: price}
        window = plain_window(market_of({"A": closes}, {"A": [(report, 0.1)]}), "A", FIRST, report)
        assert window.truth == up, day


@pytest.mark.parametrize(
    ("price", "before", "after"),
    [(0.1, 3, 8), (0.3, 8, 7), (0.7, 8, 3), (2.675, 5, 6), (19.99, 7, 5), (1 / 3, 8, 8), (1e-8, 7, 8)],
)
def test_a_constant_price_goes_up_whatever_float_sums_say(price: float, before: int, after: int) -> None:
    report = FIRST + 30 * DAY
    closes = {report + n * DAY: price for n in range(1 - before, 1 + after)} | {report + 20 * DAY: 1.0}
    assert plain_window(market_of({"A": closes}, {"A": [(report, 0.1)]}), "A", FIRST, report).truth == 1


def test_a_tie_of_the_prices_as_written_is_a_tie() -> None:
    report = FIRST + 30 * DAY
    before = {report - n * DAY: 0.2 for n in range(3)} | {report + 20 * DAY: 1.0}
    assert sum(map(Fraction, (0.1, 0.3))) / 2 < Fraction(0.2)  # in binary it is none

    def truth(first: float) -> int | None:
        after = {report + DAY: first, report + 2 * DAY: 0.1}
        return plain_window(market_of({"A": before | after}, {"A": [(report, 0.1)]}), "A", FIRST, report).truth

    assert truth(0.3) == 1
    assert truth(0.3 - 1e-12) == 0


# What is dropped


def test_reasons_are_counted() -> None:
    moves, surprises = [1, 1, 0, 1], [0.1] * 4
    good = stepwise(moves, surprises)
    assert only_count(good, "recency").found == 1
    assert only_count(stepwise(moves, [0.1, NAN, 0.1, 0.1]), "recency").dropped == {"unknown-surprise": 1}

    end = good.reports["reported"].max()
    cut = Market.of(good.prices[good.prices["date"] <= end + 7 * DAY], good.reports)
    assert only_count(cut, "recency").dropped == {"truth-pending": 1}
    whole = Market.of(good.prices[good.prices["date"] <= end + 8 * DAY], good.reports)
    assert only_count(whole, "recency").found == 1

    silent = good.prices[good.prices["date"] <= end]
    silent = pd.concat([silent, pd.DataFrame([{"ticker": "ZZ", "date": end + 8 * DAY, "close": 1.0}])])
    assert only_count(Market.of(silent, good.reports), "recency").dropped == {"unknown-movement": 1}


def test_a_day_without_a_candle_drops_the_window() -> None:
    good = stepwise([1, 1, 0, 1], [0.1] * 4)
    closes = {stamp.date(): close for stamp, close in zip(good.prices["date"], good.prices["close"], strict=True)}
    reports = {"AB": [(stamp.date(), 0.1) for stamp in good.reports["reported"]]}
    end = reports["AB"][-1][0]
    inside, outside = end - 60 * DAY, end + DAY
    assert only_count(market_of({"AB": closes}, reports, lows={"AB": {inside: NAN}}), "recency").dropped == {
        "missing-prices": 1
    }
    assert only_count(market_of({"AB": closes}, reports, lows={"AB": {outside: NAN}}), "recency").found == 1
    # no row of its own on a day of the calendar is the same; without candles the close is what counts
    fewer = {day: close for day, close in closes.items() if day != inside}
    other = {"AB": fewer, "ZZ": {inside: 5.0}}
    assert only_count(market_of(other, reports), "recency").dropped == {"missing-prices": 1}
    assert only_count(market_of({"AB": fewer}, reports), "recency").found == 1


def test_a_ticker_that_never_has_candles_is_judged_by_its_closes() -> None:
    good = stepwise([1, 1, 0, 1], [0.1] * 4)
    closes = {stamp.date(): close for stamp, close in zip(good.prices["date"], good.prices["close"], strict=True)}
    reports = {"AB": [(stamp.date(), 0.1) for stamp in good.reports["reported"]]}
    day = reports["AB"][-1][0] - 60 * DAY

    def count(closes: dict[date, float], lows: dict[date, float]) -> Any:
        both = {"AB": closes, "ZZ": dict.fromkeys(closes, 5.0)}
        return only_count(market_of(both, reports, lows={"AB": lows, "ZZ": {}}), "recency")

    nowhere = dict.fromkeys(closes, NAN)
    assert count(closes, nowhere).found == 1
    assert count(closes | {day: NAN}, nowhere).dropped == {"missing-prices": 1}
    assert count(closes, nowhere | {day: 1.0}).dropped == {"missing-prices": 1}  # a single candle, and others lack


def test_a_day_on_which_nobody_has_a_close_is_no_day_of_trading() -> None:
    good = stepwise([1, 1, 0, 1], [0.1] * 4)
    closes = {stamp.date(): close for stamp, close in zip(good.prices["date"], good.prices["close"], strict=True)}
    days = [stamp.date() for stamp in good.reports["reported"]]
    reports = {"AB": [(day, 0.1) for day in days]}
    holiday, end = days[-1] - 60 * DAY, days[-1]
    for lows in (None, {"AB": {holiday: NAN}, "ZZ": {}}, {"AB": {}, "ZZ": {}}):
        both = {"AB": closes | {holiday: NAN}, "ZZ": {holiday: NAN}}
        assert only_count(market_of(both, reports, lows=lows), "recency").found == 1
    # a candle on a day that does not count makes up for none on a day that does
    lacking = closes | {holiday: NAN}
    del lacking[holiday + DAY]
    both = {"AB": lacking, "ZZ": {holiday: NAN, holiday + DAY: 5.0}}
    lows = {"AB": {}, "ZZ": {}}
    assert only_count(market_of(both, reports, lows=lows), "recency").dropped == {"missing-prices": 1}

    after = {day: NAN if day > end + 7 * DAY else close for day, close in closes.items()}
    assert only_count(market_of({"AB": after}, reports), "recency").dropped == {"truth-pending": 1}
    assert plain_window(market_of({"AB": after}, reports), "AB", days[0], end).truth is None
    for silent in ({day: NAN if day < days[1] else close for day, close in closes.items()}, dict.fromkeys(closes, NAN)):
        assert only_count(market_of({"AB": silent}, reports), "recency").candidates == 0
    early = market_of({"AB": {day: NAN if day <= days[0] else close for day, close in closes.items()}}, reports)
    (three,) = find_windows(early, biases=["recency"], windows=[3]).counts
    assert three.candidates == 1


def test_the_days_that_cost_most_are_named() -> None:
    good = stepwise([1, 1, 0, 1, 1, 0], [0.1] * 6)
    closes = {stamp.date(): close for stamp, close in zip(good.prices["date"], good.prices["close"], strict=True)}
    days = [stamp.date() for stamp in good.reports["reported"]]
    names = ["A", "B", "C", "D"]
    reports = {name: [(day, 0.1) for day in days] for name in names}
    stray, hole = FIRST + 100 * DAY, days[0] - 5 * DAY
    prices = {name: {day: close for day, close in closes.items() if day != stray} for name in names}
    prices |= {"ZZ": {stray: 1.0}}
    del prices["B"][hole]
    found = find_windows(market_of(prices, reports), windows=[4, 5])
    missing = [(one.day, one.tickers, one.candidates) for one in found.missing_days]
    # all three windows of 4 show the stray day but the last one, and both of 5; only the first of each shows the hole
    shown = sum(days[i] - 30 * DAY <= stray <= days[i + n - 1] for n in (4, 5) for i in range(len(days) - n + 1))
    assert missing == [(stray, 4, 4 * shown), (hole, 1, 2)]
    assert shown >= 4
    assert [count.dropped["missing-prices"] for count in found.counts[:2]] == [12, 8]
    assert find_windows(good, windows=[4]).missing_days == ()
    assert find_windows(market_of({}, {})).missing_days == ()


@pytest.mark.parametrize(("gap", "found"), [(0, 0), (7, 0), (8, 1)])
def test_no_window_whose_past_tells_the_truth(gap: int, found: int) -> None:
    good = stepwise([1, 1, 1, 1], [0.1] * 4)
    newest = good.reports.iloc[-1]
    twin = newest.to_frame().T.assign(
        reported=newest["reported"] + gap * DAY, fiscal_end=newest["fiscal_end"] + 3 * DAY
    )
    far = pd.DataFrame([{"ticker": "ZZ", "date": newest["reported"] + 30 * DAY, "close": 1.0}])
    market = Market.of(pd.concat([good.prices, far]), pd.concat([good.reports, twin]))
    (count,) = find_windows(market, biases=["authority"], windows=[5]).counts
    assert (count.candidates, count.found + count.unbiased) == (1, found)
    assert count.dropped.get("reports-too-close", 0) == 1 - found
    if gap == 0:  # the shorter window ends on that day too, and would show the twin
        assert only_count(market, "authority").dropped == {"reports-too-close": 2}


def test_a_market_without_anything() -> None:
    empty = market_of({}, {})
    found = find_windows(empty)
    assert list(found.table.columns) == list(WINDOW_COLUMNS)
    assert len(found.table) == 0
    assert {count.candidates for count in found.counts} == {0}
    no_prices = market_of({}, {"A": [(FIRST, 0.1)]})
    assert len(find_windows(no_prices, windows=[2]).table) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"biases": ["recency", "herd"]}, "expected some of recency, authority, got 'herd'"),
        ({"biases": []}, "got none"),
        ({"biases": ["plain"]}, "got 'plain'"),
        ({"windows": [4, 1]}, "window sizes from 2 to 400 reports, such as 4, got 1"),
        ({"windows": [10**12]}, "got 1000000000000"),
        ({"windows": []}, "got none"),
    ],
)
def test_options_that_mean_nothing(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        find_windows(market_of({}, {}), **options)


# Windows of one's own


def test_a_plain_window() -> None:
    market = stepwise([1, 1, 0, 1, 0], [0.1, 0.1, 0.1, -0.1, 0.1])
    days = [stamp.date() for stamp in market.reports["reported"]]
    window = plain_window(market, "AB", days[0], days[-1])
    assert (window.id, window.window, window.bias_type) == (f"plain-w05-AB-{days[-1]}", 5, "plain")
    assert (window.signal, window.truth, window.outcome) == (None, 0, "Meet")
    assert (window.n_same, window.n_contrary) == (3, 2)
    # the question is about the days after `end`, and movements that reach beyond it are not told
    assert plain_window(market, "AB", days[0], days[2] + 7 * DAY).truth == 0
    assert plain_window(market, "AB", days[0], days[2] + 8 * DAY).truth == 1
    with_close = pd.concat([market.reports, market.reports.tail(1).assign(reported=pd.Timestamp(days[-1] + 7 * DAY))])
    crowded = Market.of(market.prices, with_close)
    assert plain_window(crowded, "AB", days[0], days[-1] + 7 * DAY).n_same == 3
    last = market.prices["date"].max().date()
    assert plain_window(market, "AB", days[0], last - 8 * DAY).truth is not None
    assert plain_window(market, "AB", days[0], last - 7 * DAY).truth is None


def test_a_plain_window_that_cannot_be() -> None:
    market = stepwise([1, 1], [0.1, NAN])
    first, second = (stamp.date() for stamp in market.reports["reported"])
    with pytest.raises(DataError, match=r"no-such-ticker: expected a ticker .* one of AB"):
        plain_window(market, "no-such-ticker", first, second)
    with pytest.raises(DataError, match=f"expected an earnings report .* Reports near: {first}, {second}"):
        plain_window(market, "AB", first + DAY, second - DAY)
    with pytest.raises(DataError, match=r"expected prices .* found none\. There are prices from"):
        plain_window(market, "AB", date(1990, 1, 1), date(1990, 12, 31))
    silent = Market.of(market.prices.assign(close=NAN), market.reports)
    with pytest.raises(DataError, match="AB: expected prices, found 91 days without a single close"):
        plain_window(silent, "AB", first, second)
    inside = market.prices["date"].between(pd.Timestamp(first - DAY), pd.Timestamp(first + DAY))
    with pytest.raises(DataError, match="none of these days has a price"):
        plain_window(Market.of(market.prices[~inside], market.reports), "AB", first - DAY, first + DAY)
    with pytest.raises(DataError, match=r"expected a known surprise .* Choose an end before"):
        plain_window(market, "AB", first, second)
    with pytest.raises(ConfigError, match="expected a start before the end"):
        plain_window(market, "AB", second, first)


# Against a slow implementation


def slow_mean(closes: dict[date, float], first: date, last: date) -> Fraction | None:
    values, day = [], first
    while day <= last:
        if not isnan(closes.get(day, NAN)):
            values.append(Fraction(str(closes[day])))
        day += DAY
    return sum(values, Fraction(0)) / len(values) if values else None


def slow_movement(closes: dict[date, float], day: date) -> int | None:
    before, after = slow_mean(closes, day - 7 * DAY, day), slow_mean(closes, day + DAY, day + 8 * DAY)
    return None if before is None or after is None else int(after >= before)


def slow_fate(
    run: list[tuple[date, float]],
    twin: bool,
    closes: dict[date, float],
    drawn: set[date],
    calendar: list[date],
    bias: str,
) -> str | tuple[int, int, str, int, int]:
    """What becomes of a run of reports, newest first: a reason, "unbiased", or what its window says."""
    size, end, start = len(run), run[0][0], run[-1][0] - 30 * DAY
    threshold = min(Fraction(4, 5), Fraction(size - 2, size - 1))
    if any(isnan(surprise) for _, surprise in run):
        return "unknown-surprise"
    if any(start <= day <= end and day not in drawn for day in calendar):
        return "missing-prices"
    if twin or (end - run[1][0]).days < 8:
        return "reports-too-close"
    past = [day for day, surprise in run[1:] if (surprise >= 0) == (run[0][1] >= 0)]
    if not past or (bias == "authority" and Fraction(len(past), size - 1) < threshold):
        return "unbiased"
    moves = [slow_movement(closes, day) for day in past]
    if None in moves:
        return "unknown-movement"
    if bias == "recency":
        signal = moves[0]
        contrary = sum(move != signal for move in moves)
        biased = Fraction(contrary, len(past)) >= threshold
    else:
        ups = moves.count(1)
        signal = int(2 * ups < len(moves))
        contrary = max(ups, len(moves) - ups)
        biased = 2 * ups != len(moves) and Fraction(contrary, len(moves)) >= Fraction(4, 5)
    if not biased:
        return "unbiased"
    if calendar[-1] < end + 8 * DAY:
        return "truth-pending"
    truth = slow_movement(closes, end)
    if truth is None:
        return "unknown-movement"
    return signal, truth, "Meet" if run[0][1] >= 0 else "Miss", len(past), contrary


def slow_drawn(closes: dict[date, float], lows: dict[date, float] | None) -> set[date]:
    candles = set() if lows is None else {day for day in closes if not isnan(lows.get(day, 1.0))}
    return candles or {day for day in closes if not isnan(closes[day])}


def slow_windows(
    closes: dict[str, dict[date, float]],
    reports: dict[str, list[tuple[date, float]]],
    lows: dict[str, dict[date, float]] | None,
    sizes: list[int],
) -> tuple[list[tuple[Any, ...]], dict[tuple[str, int, str], int]]:
    calendar = sorted({day for prices in closes.values() for day in prices if not isnan(prices[day])})
    windows, counts = [], {}
    for bias in ("authority", "recency"):
        for size in sizes:
            for ticker in sorted(closes.keys() & reports.keys()):
                prices = closes[ticker]
                drawn = slow_drawn(prices, None if lows is None else lows[ticker])
                inside = [report for report in reports[ticker] if calendar[0] <= report[0] <= calendar[-1]]
                newest_first = sorted(inside, key=lambda report: report[0], reverse=True)
                for i in reversed(range(len(newest_first) - size + 1)):
                    run = newest_first[i : i + size]
                    twin = i > 0 and newest_first[i - 1][0] == run[0][0]
                    fate = slow_fate(run, twin, prices, drawn, calendar, bias)
                    key = fate if isinstance(fate, str) else "found"
                    counts[bias, size, key] = counts.get((bias, size, key), 0) + 1
                    if not isinstance(fate, str):
                        windows.append((bias, size, ticker, run[-1][0] - 30 * DAY, run[0][0], *fate))
    return windows, counts


@st.composite
def markets(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    """Closes, reports and days without a low: holes, holidays, ties, constant prices, weekends, two reports a day."""
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    days = [FIRST + n * DAY for n in range(draw(st.integers(20, 130)))]
    if draw(st.booleans()):
        days = [day for day in days if day.weekday() < 5]
    closes, reports, lows = {}, {}, {}
    for ticker in draw(st.lists(st.sampled_from(["A", "AB", "B", "c"]), min_size=1, max_size=3, unique=True)):
        listed = days[draw(st.sampled_from([0, 0, 7])) :]
        level = st.one_of(st.sampled_from([0.1, 0.2, 0.3, 0.7, 10.0, 10.01]), st.floats(1, 2))
        levels = draw(st.lists(level, min_size=1, max_size=draw(st.sampled_from([1, 3, 8]))))
        closes[ticker] = {day: levels[chance.integers(len(levels))] for day in listed}
        hole, width = draw(st.sampled_from(listed)), draw(st.sampled_from([0, 0, 0, 1, 3, 5, 20]))
        is_row = draw(st.booleans())
        for day in [day for day in listed if hole <= day < hole + width * DAY]:
            closes[ticker].pop(day)
            closes[ticker] |= {day: NAN} if is_row else {}
        closes[ticker] |= {days[0]: 1.0}
        lows[ticker] = dict.fromkeys(draw(st.one_of(st.sets(st.sampled_from(listed), max_size=1), st.just(days))), NAN)

        day, outcomes, reports[ticker] = FIRST + draw(st.integers(-10, 20)) * DAY, {}, []
        surprises = st.sampled_from([0.0, 0.1, 0.1, 0.2, -0.1, *[NAN] * draw(st.booleans())])
        for gap in draw(st.lists(st.sampled_from([0, 3, 8, 9, 15]), min_size=2, max_size=12)):
            day += gap * DAY
            # reports of one day have one outcome: their order among themselves is not part of the definitions
            reports[ticker].append((day, outcomes.setdefault(day, draw(surprises))))
    holidays = draw(st.sets(st.sampled_from(days[1:]), max_size=2)) | set(
        days[len(days) - draw(st.sampled_from([0, 9])) :]
    )
    for prices in closes.values():
        prices |= dict.fromkeys(holidays & prices.keys(), NAN)
    return closes, reports, draw(st.sampled_from([None, lows]))


@settings(max_examples=80, deadline=None)
@given(markets())
def test_random_markets_against_the_slow_way(drawn: tuple[Any, Any, Any]) -> None:
    closes, reports, lows = drawn
    sizes = [2, 3, 4, 6]
    market = market_of(closes, reports, lows=lows)
    found = find_windows(market, windows=sizes)
    expected, counts = slow_windows(closes, reports, lows, sizes)
    names = ("bias_type", "window", "ticker", "start", "end", "signal", "truth", "outcome", "n_same", "n_contrary")
    assert [tuple(getattr(window, name) for name in names) for window in windows_of(found.table)] == expected
    for count in found.counts:
        ours = {"found": count.found, "unbiased": count.unbiased, **count.dropped}
        theirs = {key: n for (bias, size, key), n in counts.items() if (bias, size) == (count.bias_type, count.window)}
        assert {key: n for key, n in ours.items() if n} == theirs
        assert count.candidates == sum(ours.values())
        assert set(count.dropped) <= set(REASONS)
    assert found.table["id"].is_unique


def test_the_slow_way_meets_everything() -> None:
    """The random markets are worth something: they hold windows and each reason to drop one."""
    seen: set[str] = set()

    @settings(max_examples=100, deadline=None, database=None, derandomize=True)
    @given(markets())
    def look(drawn: tuple[Any, Any, Any]) -> None:
        closes, reports, lows = drawn
        seen.update(key for _, _, key in slow_windows(closes, reports, lows, [2, 3, 4])[1])

    look()
    assert seen == {"found", "unbiased", *REASONS}


def test_rows_of_a_large_market_are_in_order() -> None:
    rng = np.random.default_rng(0)
    days = [FIRST + n * DAY for n in range(900)]
    tickers = ["B", "A", "a", "AA"]
    closes = {ticker: dict(zip(days, 50 + rng.normal(size=900).cumsum() / 9, strict=True)) for ticker in tickers}
    reports = {ticker: [(FIRST + (30 + 20 * n) * DAY, 0.1) for n in range(42)] for ticker in tickers}
    table = find_windows(market_of(closes, reports), windows=[6, 4]).table
    assert len(table) > 50
    assert table.equals(table.sort_values(["bias_type", "window", "ticker", "end"], ignore_index=True))
