"""The sample's windows, found once, and markets made by hand, for the tests of what a model is shown."""

from datetime import date, timedelta
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.benchmarks.dynostock.market import sample_market as read_sample
from fin_tasks.benchmarks.dynostock.window import Window, windows_of
from fin_tasks.benchmarks.dynostock.windows import find_windows


@lru_cache(maxsize=1)
def sample_market() -> Market:
    return read_sample()


@lru_cache(maxsize=1)
def sample_windows() -> tuple[Window, ...]:
    return tuple(windows_of(find_windows(sample_market()).table))


def one(bias: str) -> Window:
    return next(window for window in sample_windows() if window.bias_type == bias)


def daily(ticker: str, first: str, closes: list[float]) -> pd.DataFrame:
    """Closes of weekdays from a day on."""
    dates = pd.bdate_range(first, periods=len(closes))
    return pd.DataFrame({"ticker": ticker, "date": dates, "close": closes})


def with_candles(prices: pd.DataFrame) -> pd.DataFrame:
    close = prices["close"]
    return prices.assign(open=close - 0.5, high=close + 1, low=close - 1, volume=np.arange(len(prices)) * 1e6)


def report(ticker: str, reported: str, *, eps: float = 1.0, estimate: float = 1.0, **fields: Any) -> dict[str, Any]:
    row = {
        "ticker": ticker,
        "fiscal_end": pd.Timestamp(reported) - pd.Timedelta(days=20),
        "reported": pd.Timestamp(reported),
        "eps": eps,
        "estimate": estimate,
        "surprise": eps - estimate,
        "surprise_percentage": 100 * (eps - estimate) / estimate,
    }
    return {**row, **fields}


def plain(ticker: str = "IBM", *, end: date = date(2010, 4, 19), **fields: Any) -> Window:
    values: dict[str, Any] = {
        "id": f"plain-w04-{ticker}-{end}",
        "bias_type": "plain",
        "window": 4,
        "ticker": ticker,
        "start": end - timedelta(days=300),
        "end": end,
        "signal": None,
        "truth": None,
        "outcome": "Meet",
        "n_same": 3,
        "n_contrary": 1,
        "fiscal_end": date(2010, 3, 31),
        "eps": 1.97,
        "estimate": 1.93,
        "surprise": 0.04,
        "surprise_percentage": 2.0725,
    }
    return Window(**{**values, **fields})
