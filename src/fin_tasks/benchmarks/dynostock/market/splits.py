"""Splits that a file's closes show and its adjusted closes do not."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from fin_tasks.data.tables import Defect
from fin_tasks.errors import ConfigError

__all__ = ["ADJUSTMENTS", "SPLIT_STEP", "Adjust", "Adjusted", "adjusted"]

Adjust = Literal["auto", "none", "full"]
ADJUSTMENTS: tuple[Adjust, ...] = ("auto", "none", "full")

SPLIT_STEP = 1.2
"""Smallest step of adjusted close over close, up or down, that counts as a split: smaller ones are dividends."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Adjusted:
    """Prices after adjustment.

    Attributes:
        prices: The table without `adj_close`.
        splits: Ticker to the days on which a split shows, first day of the new price; only of adjusted tickers.
        defects: Days whose prices became unknown because the adjusted close is.
    """

    prices: pd.DataFrame
    splits: dict[str, list[str]]
    defects: list[Defect]


def adjusted(prices: pd.DataFrame, how: str) -> Adjusted:
    """Scale prices to adjusted closes, per ticker: factor = adjusted close / close.

    Open, high, low and close are multiplied by the factor and volume is divided by it. An adjusted close takes out
    dividends too, so a ticker whose closes are free of splits is better left alone, and `auto` does.

    Args:
        prices: Typed prices, sorted by ticker and day.
        how: `auto`: tickers whose factor steps by `SPLIT_STEP` or more between two trading days; `full`: every ticker
            that has adjusted closes; `none`.

    Raises:
        ConfigError: `how` is something else.

    Example:
        >>> days = pd.to_datetime(["2000-06-20", "2000-06-21"])
        >>> split = pd.DataFrame({"ticker": "A", "date": days, "close": [100.0, 50.0], "adj_close": [25.0, 25.0]})
        >>> adjusted(split, "auto").prices["close"].tolist(), adjusted(split, "auto").splits
        ([25.0, 25.0], {'A': ['2000-06-21']})
    """
    if how not in ADJUSTMENTS:
        raise ConfigError(f"adjust: expected one of {', '.join(ADJUSTMENTS)}, got {how!r}.")
    if "adj_close" not in prices or how == "none":
        return Adjusted(prices=prices.drop(columns="adj_close", errors="ignore"), splits={}, defects=[])
    factor = prices["adj_close"] / prices["close"]
    steps = _steps(prices, factor)
    has_factor = set(prices["ticker"][factor.notna()])
    chosen = has_factor if how == "full" else set(steps["ticker"])
    splits: dict[str, list[str]] = {ticker: [] for ticker in sorted(chosen)}
    for ticker, day in steps.itertuples(index=False, name=None):
        splits[ticker].append(f"{day:%Y-%m-%d}")
    rows = prices["ticker"].isin(chosen)
    scale = factor.where(rows, 1.0)
    scaled: dict[str, Any] = {name: prices[name] * scale for name in ("open", "high", "low", "close") if name in prices}
    # the close itself, not close * (adjusted / close), which differs in the last bit
    scaled["close"] = prices["close"].where(~rows, prices["adj_close"].where(factor.notna()))
    if "volume" in prices:
        scaled["volume"] = prices["volume"] / scale
    lost = rows & prices["close"].notna() & factor.isna()
    defects = [
        Defect("no-adjusted-close", f"{ticker} {day:%Y-%m-%d}", "a split-adjusted ticker; prices treated as unknown")
        for ticker, day in prices.loc[lost, ["ticker", "date"]].itertuples(index=False, name=None)
    ]
    return Adjusted(prices=prices.assign(**scaled).drop(columns="adj_close"), splits=splits, defects=defects)


def _steps(prices: pd.DataFrame, factor: pd.Series) -> pd.DataFrame:
    """Ticker and day of every step of the factor; days without one are skipped over."""
    known = prices.loc[factor.notna(), ["ticker", "date"]]
    step = np.log(factor[factor.notna()]).groupby(known["ticker"]).diff().abs()
    # factors are quotients of rounded prices: a step of exactly 6:5 must not be missed by a bit
    return known[step >= np.log(SPLIT_STEP) - 1e-9]
