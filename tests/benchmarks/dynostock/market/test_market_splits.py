"""Splits that closes show and adjusted closes do not."""

import numpy as np
import pandas as pd
import pytest

from fin_tasks.benchmarks.dynostock.market.splits import adjusted
from fin_tasks.errors import ConfigError


def prices(closes: list[float], adjusted_closes: list[float], ticker: str = "A") -> pd.DataFrame:
    close = np.array(closes, dtype=float)
    return pd.DataFrame(
        {
            "ticker": ticker,
            "date": pd.date_range("2024-01-01", periods=len(closes)).astype("datetime64[ns]"),
            "open": close,
            "high": close * 2,
            "low": close / 2,
            "close": close,
            "volume": 100.0,
            "adj_close": adjusted_closes,
        }
    )


SPLIT = prices([100, 102, 51, 52], [50, 51, 51, 52])


def test_a_split_scales_the_whole_candle_and_the_volume() -> None:
    done = adjusted(SPLIT, "auto")
    assert done.splits == {"A": ["2024-01-03"]}
    assert done.prices["close"].tolist() == [50, 51, 51, 52]
    assert done.prices["high"].tolist() == [100, 102, 102, 104]
    assert done.prices["volume"].tolist() == [200, 200, 100, 100]
    assert "adj_close" not in done.prices


def test_dividends_are_no_splits() -> None:
    dividend = prices([100, 97, 98], [97, 97, 98])
    done = adjusted(dividend, "auto")
    assert done.splits == {}
    assert done.prices["close"].tolist() == [100, 97, 98]
    assert adjusted(dividend, "full").prices["close"].tolist() == [97, 97, 98]
    assert adjusted(dividend, "full").splits == {"A": []}


@pytest.mark.parametrize(
    ("step", "is_split"), [(1.2, True), (1 / 1.2, True), (1.19, False), (1 / 1.19, False), (0.1, True)]
)
def test_the_smallest_step(step: float, is_split: bool) -> None:
    done = adjusted(prices([100, 100], [100, 100 * step]), "auto")
    assert bool(done.splits) is is_split


def test_a_split_is_seen_across_days_without_prices_but_not_across_tickers() -> None:
    gap = prices([100, np.nan, 50], [50, np.nan, 50])
    assert adjusted(gap, "auto").splits == {"A": ["2024-01-03"]}
    two = pd.concat([prices([100], [100]), prices([100], [10], "B")], ignore_index=True)
    assert adjusted(two, "auto").splits == {}


def test_only_the_ticker_with_a_split_changes() -> None:
    both = pd.concat([SPLIT, prices([10, 10], [9, 10], "B")], ignore_index=True)
    assert adjusted(both, "auto").prices["close"].tolist() == [50, 51, 51, 52, 10, 10]


def test_no_adjusted_close_in_a_split_ticker_makes_the_day_unknown_by_name() -> None:
    done = adjusted(SPLIT.assign(adj_close=[50, 51, np.nan, 52]), "auto")
    assert done.prices["close"].isna().tolist() == [False, False, True, False]
    assert [(d.kind, d.row_id) for d in done.defects] == [("no-adjusted-close", "A 2024-01-03")]


def test_none_and_tables_without_adjusted_closes_stay() -> None:
    assert adjusted(SPLIT, "none").prices["close"].tolist() == [100, 102, 51, 52]
    assert adjusted(SPLIT.drop(columns="adj_close"), "auto").prices["close"].tolist() == [100, 102, 51, 52]


def test_another_word_is_refused() -> None:
    with pytest.raises(ConfigError, match="expected one of auto, none, full, got 'maybe'"):
        adjusted(SPLIT, "maybe")
