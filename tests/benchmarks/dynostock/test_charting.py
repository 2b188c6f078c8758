"""Charts of windows: what is in them, and that nothing after the last day is."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fin_tasks.benchmarks.dynostock.charting import chart_between, chart_of, draw_charts
from fin_tasks.benchmarks.dynostock.market import REPORT_COLUMNS, Market
from fin_tasks.benchmarks.dynostock.windows import Window
from fin_tasks.charts.candlestick import draw
from fin_tasks.errors import DataError

REPORTS = (
    # fiscal end, reported, surprise; the second on a Saturday, the third before any price
    ("2009-12-31", "2010-02-10", 0.0),
    ("2010-03-31", "2010-05-15", -0.01),
    ("2009-09-30", "2009-11-01", 0.3),
    (None, "2010-08-10", 0.2),
    ("2010-09-30", "2010-11-10", float("nan")),
)


def market_of(prices: pd.DataFrame) -> Market:
    rows = [("T/1", end, day, 1.0, 1.0, surprise, 0.0) for end, day, surprise in REPORTS]
    return Market.of(prices, pd.DataFrame(rows, columns=list(REPORT_COLUMNS[:-1])))


def window_of(**changes: object) -> Window:
    made = {
        "id": "plain-w02-T-2010-05-15",
        "bias_type": "plain",
        "window": 2,
        "ticker": "T/1",
        "start": date(2010, 1, 11),
        "end": date(2010, 5, 15),
        "signal": None,
        "truth": None,
        "outcome": "Miss",
        "n_same": 0,
        "n_contrary": 0,
        "fiscal_end": date(2010, 3, 31),
        "eps": 1.0,
        "estimate": 1.0,
        "surprise": -0.01,
        "surprise_percentage": -1.0,
    }
    return Window(**{**made, **changes})  # type: ignore[arg-type]


@pytest.fixture
def prices() -> pd.DataFrame:
    days = pd.bdate_range("2010-01-04", "2010-12-31")
    close = 50 + np.random.default_rng(2).normal(0, 1, len(days)).cumsum()
    return pd.DataFrame(
        {
            "ticker": "T/1",
            "date": days,
            "open": close,
            "high": close + 1,
            "low": close - 1,
            "close": close,
            "volume": 1e6,
        }
    )


@pytest.fixture
def market(prices: pd.DataFrame) -> Iterator[Market]:
    yield market_of(prices)


def test_a_window_shows_its_days_and_its_reports(market: Market) -> None:
    chart = chart_of(market, window_of(), dpi=100)
    assert (chart.ticker, chart.stem, chart.dpi) == ("T/1", "T-1_2010-01-11_2010-05-15", 100)
    assert (chart.prices.index[0], chart.prices.index[-1]) == (pd.Timestamp("2010-01-11"), pd.Timestamp("2010-05-14"))
    assert [(str(mark.day.date()), mark.kind, mark.surprise) for mark in chart.marks] == [
        ("2010-02-10", "meet", 0.0),  # the end of its quarter is before the first day
        ("2010-03-31", "fiscal", None),
        ("2010-05-15", "miss", -0.01),
    ]


def test_nothing_after_the_last_day_changes_a_byte(prices: pd.DataFrame) -> None:
    altered = prices.copy()
    altered.loc[altered["date"] > "2010-05-15", ["open", "high", "low", "close", "volume"]] = 1e6
    past = prices[prices["date"] <= "2010-05-15"]
    charts = [chart_of(market_of(table), window_of(), dpi=60) for table in (prices, altered, past)]
    assert len({chart.file_name for chart in charts}) == len({draw(chart) for chart in charts}) == 1


def test_closes_alone_are_enough(prices: pd.DataFrame) -> None:
    for table in (prices[["ticker", "date", "close"]], prices.assign(open=float("nan"))):
        assert list(chart_of(market_of(table), window_of()).prices.columns) == ["close"]


def test_days_without_prices(market: Market) -> None:
    for ticker, start, end, message in (
        ("T/1", date(2011, 1, 1), date(2011, 2, 1), "T/1: expected prices from 2011-01-01 to 2011-02-01, found none"),
        ("T/1", date(2010, 5, 15), date(2010, 5, 16), "2010-05-16, none of these days has a price. .* to 2010-12-31"),
        ("none", date(2010, 1, 1), date(2010, 2, 1), "expected one with prices, got 'none'. There are T/1"),
    ):
        with pytest.raises(DataError, match=message):
            chart_between(market, ticker, start, end)


def test_windows_that_show_the_same_share_a_file(market: Market, tmp_path: Path) -> None:
    windows = [window_of(), window_of(id="other"), window_of(id="longer", end=date(2010, 6, 30))]
    paths, drawn = draw_charts(market, windows, tmp_path, dpi=40)
    assert drawn == 2 and paths[0] == paths[1] != paths[2]
    assert set(tmp_path.glob("*.png")) == set(paths)
    paths[1].unlink()
    assert draw_charts(market, windows, tmp_path, dpi=40) == (paths, 1)
