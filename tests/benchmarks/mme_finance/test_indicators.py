"""The library's indicators against their definitions, worked out by hand on real prices."""

from itertools import pairwise
from math import sqrt

import pandas as pd
import pytest

from fin_tasks.benchmarks.mme_finance.scene_making.indicators import average, compute
from fin_tasks.benchmarks.mme_finance.scene_making.prices import stretches

DAYS = 400  # after so many, how an exponential average was started no longer shows


@pytest.fixture(scope="module")
def prices() -> pd.DataFrame:
    return dict(stretches())["IBM"].iloc[:DAYS]


def exponential(values: list[float], weight: float) -> list[float]:
    """Average that moves by `weight` of the way to each value, from the first one on."""
    averages = values[:1]
    for value in values[1:]:
        averages.append(averages[-1] + weight * (value - averages[-1]))
    return averages


def test_macd(prices: pd.DataFrame) -> None:
    closes = [float(close) for close in prices["close"]]
    fast, slow = exponential(closes, 2 / 13), exponential(closes, 2 / 27)
    dif = [one - other for one, other in zip(fast, slow, strict=True)]
    dea = exponential(dif, 2 / 10)
    lines = compute("macd", prices)
    assert lines["DIF"].iloc[-1] == pytest.approx(dif[-1], abs=1e-9)
    assert lines["DEA"].iloc[-1] == pytest.approx(dea[-1], abs=1e-9)
    assert lines["MACD"].iloc[-1] == pytest.approx(2 * (dif[-1] - dea[-1]), abs=1e-9)


def test_rsi(prices: pd.DataFrame) -> None:
    closes = [float(close) for close in prices["close"]]
    changes = [after - before for before, after in pairwise(closes)]
    gain = exponential([max(change, 0.0) for change in changes], 1 / 14)[-1]
    loss = exponential([max(-change, 0.0) for change in changes], 1 / 14)[-1]
    assert compute("rsi", prices)["RSI"].iloc[-1] == pytest.approx(100 * gain / (gain + loss), abs=1e-6)


def test_kdj(prices: pd.DataFrame) -> None:
    k = d = 50.0
    for day in range(8, DAYS):
        days = prices.iloc[day - 8 : day + 1]
        low, high = float(days["low"].min()), float(days["high"].max())
        stochastic = 100 * (float(days["close"].iloc[-1]) - low) / (high - low)
        k = 2 / 3 * k + stochastic / 3
        d = 2 / 3 * d + k / 3
    lines = compute("kdj", prices)
    assert [lines[name].iloc[-1] for name in "KDJ"] == pytest.approx([k, d, 3 * k - 2 * d], abs=1e-6)


def test_bollinger(prices: pd.DataFrame) -> None:
    closes = [float(close) for close in prices["close"].iloc[-20:]]
    middle = sum(closes) / 20
    deviation = sqrt(sum((close - middle) ** 2 for close in closes) / 19)
    lines = compute("bollinger", prices)
    expected = [middle + 2 * deviation, middle, middle - 2 * deviation]
    assert [lines[name].iloc[-1] for name in ("UPPER", "MID", "LOWER")] == pytest.approx(expected, abs=1e-9)


def test_the_prices_given_stay_as_they_were(prices: pd.DataFrame) -> None:
    before = prices.copy()
    compute("kdj", prices)
    pd.testing.assert_frame_equal(prices, before)


def test_simple_average(prices: pd.DataFrame) -> None:
    assert average(prices, 5).iloc[-1] == pytest.approx(sum(prices["close"].iloc[-5:]) / 5)
    assert average(prices, 5).iloc[:4].isna().all()
