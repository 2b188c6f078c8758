"""Prices made up for charts, and the flag that draws the golden images anew."""

import numpy as np
import pandas as pd
import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="draw the golden images anew; then look at them")


@pytest.fixture
def prices() -> pd.DataFrame:
    """Half a year of candles that wander about."""
    random = np.random.default_rng(1)
    days = pd.bdate_range("2010-01-04", periods=125)
    close = 50 + random.normal(0, 1, len(days)).cumsum()
    opened = close + random.normal(0, 0.5, len(days))
    return pd.DataFrame(
        {
            "open": opened,
            "high": np.maximum(opened, close) + random.exponential(0.5, len(days)),
            "low": np.minimum(opened, close) - random.exponential(0.5, len(days)),
            "close": close,
            "volume": random.uniform(1e6, 5e6, len(days)).round(),
        },
        index=days,
    )
