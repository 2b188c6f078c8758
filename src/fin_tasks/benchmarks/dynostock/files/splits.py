"""Splits in prices of files: those that the files tell, and those that only the adjusted close shows."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pandas as pd

from fin_tasks.charts.chart import CANDLE_COLUMNS
from fin_tasks.errors import DataError

_LEAST_JUMP = math.log(1.2)
"""Smaller jumps of Close / Adj Close are taken for dividends."""
_COMMON_RATIOS = [
    *(Fraction(n, 1) for n in range(2, 101)),
    *(Fraction(1, n) for n in range(2, 101)),
    *map(Fraction, ("3/2", "5/2", "7/2", "4/3", "5/3", "5/4", "6/5", "2/3", "3/4")),
]
_TOLERANCE = 0.01
"""Relative error of a ratio; a dividend on the day of a split and rounded figures change it."""


class Split(NamedTuple):
    """Prices before `day` were divided by `ratio`, such as 2:1."""

    ticker: str
    day: str
    ratio: str


class _Jump(NamedTuple):
    """A day on which a price and its ratio to the adjusted price jump, and the split that the file states."""

    ticker: str
    day: pd.Timestamp
    ratio: float
    stated: Fraction


def splits_after(stated: "pd.Series[float]") -> "pd.Series[float]":
    """Return the product of the ratios after each day of a stock, oldest first; a ratio of 0 is no split."""
    ratios = stated.fillna(1.0).replace(0.0, 1.0)
    until_last = ratios[::-1].cumprod()[::-1]
    return until_last / ratios


def adjust_for_splits(prices: pd.DataFrame) -> tuple[pd.DataFrame, list[Split]]:
    """Adjust prices that jump where Close / Adj Close jumps, and complete the column `splits_after`.

    Args:
        prices: Sorted by ticker and day.

    Returns:
        The prices, and the splits for which they were adjusted.

    Raises:
        DataError: A jump is no split that companies make.
    """
    if prices["splits_after"].notna().all():
        return prices, []  # the source has adjusted the prices
    if prices[["adj_close", "stock_splits"]].isna().all(axis=None):
        return prices.fillna({"splits_after": 1.0}), []
    tables = []
    splits = []
    for _, table in prices.groupby("ticker", sort=False):
        adjusted, own = _adjusted(table)
        tables.append(adjusted)
        splits += own
    return pd.concat(tables), splits


def _adjusted(prices: pd.DataFrame) -> tuple[pd.DataFrame, list[Split]]:
    """Adjust the prices of one stock."""
    if prices["splits_after"].notna().any():
        return prices, []
    stated = prices["stock_splits"]
    prices = prices.assign(splits_after=splits_after(stated))
    splits = []
    for jump in _jumps(prices):
        ratio = jump.stated if stated.notna().any() else _common_ratio(jump)
        if ratio == 1:
            continue  # the file knows of no split, so it was a dividend
        is_before = prices["date"] < jump.day
        prices.loc[is_before, CANDLE_COLUMNS] /= float(ratio)
        prices.loc[is_before, "volume"] *= float(ratio)
        if stated.isna().all():
            prices.loc[is_before, "splits_after"] *= float(ratio)
        name = f"{ratio.numerator}:{ratio.denominator}"
        splits.append(Split(jump.ticker, f"{jump.day:%Y-%m-%d}", name))
    return prices, splits


def _jumps(prices: pd.DataFrame) -> Iterator[_Jump]:
    """Find the days on which both the close and its ratio to the adjusted close jump."""
    until = prices["stock_splits"].fillna(1.0).replace(0.0, 1.0).cumprod()
    rows = prices.assign(until=until)[prices["adj_close"] > 0].dropna(subset="close")
    factor = rows["close"] / rows["adj_close"]
    before = rows.shift()
    ratios = factor.shift() / factor
    jumps = np.log(ratios)
    falls = np.log(before["close"] / rows["close"])
    is_jump = (jumps.abs() > _LEAST_JUMP) & (falls / jumps > 0.5)
    stated = rows["until"] / before["until"]
    for row in np.flatnonzero(is_jump):
        yield _Jump(
            ticker=str(rows["ticker"].iloc[row]),
            day=rows["date"].iloc[row],
            ratio=float(ratios.iloc[row]),
            stated=Fraction(stated.iloc[row]).limit_denominator(1000),
        )


def _common_ratio(jump: _Jump) -> Fraction:
    for ratio in _COMMON_RATIOS:
        if abs(jump.ratio / ratio - 1) <= _TOLERANCE:
            return ratio
    raise DataError(
        f"{jump.ticker}: Close / Adj Close falls to 1/{jump.ratio:.3g} of itself on {jump.day:%Y-%m-%d}, and the price "
        "jumps too, but this is no usual split. Adjust the prices for splits, or leave out Adj Close if it was a "
        "dividend."
    )
