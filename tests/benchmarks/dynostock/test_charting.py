"""Charts of windows: what is in them, and that nothing after the last day is."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fin_tasks.benchmarks.dynostock import charting
from fin_tasks.benchmarks.dynostock.charting import chart_between, chart_of, draw_charts
from fin_tasks.benchmarks.dynostock.market import REPORT_COLUMNS, Market
from fin_tasks.benchmarks.dynostock.window import Window
from fin_tasks.charts import pool
from fin_tasks.charts.render import render
from fin_tasks.charts.spec import ChartSpec
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


def marks(market: Market, start: date, end: date) -> list[tuple[str, str, str]]:
    return [(str(mark.date), mark.kind, mark.label) for mark in chart_between(market, "T/1", start, end).marks]


def test_a_window_shows_its_days_and_its_reports(market: Market) -> None:
    spec = chart_of(market, window_of(), dpi=100)
    assert spec.title == "T/1: price and earnings reports, 2010-01-11 to 2010-05-15"
    assert spec.safe_stem == "T-1_2010-01-11_2010-05-15"
    assert (spec.width, spec.height, spec.dpi) == (10, 6, 100)
    assert (spec.prices.index[0], spec.prices.index[-1]) == (pd.Timestamp("2010-01-11"), pd.Timestamp("2010-05-14"))
    assert [(str(mark.date), mark.kind, mark.label) for mark in spec.marks] == [
        ("2010-02-10", "meet", "2010-02-10\n+0.00"),  # the end of its quarter is before the first day
        ("2010-05-15", "miss", "2010-05-15\n-0.01"),
        ("2010-03-31", "fiscal", "2010-03-31"),
    ]


def test_what_is_unknown_has_no_mark(market: Market) -> None:
    assert marks(market, date(2010, 6, 1), date(2010, 12, 31)) == [
        ("2010-08-10", "meet", "2010-08-10\n+0.20"),
        ("2010-09-30", "fiscal", "2010-09-30"),
    ]


@pytest.mark.parametrize(("days", "width"), [(100, 10.0), (300, 10.0), (330, 11.0), (900, 30.0), (3000, 30.0)])
def test_the_width_follows_the_days(market: Market, days: int, width: float) -> None:
    start = date(2010, 1, 4)
    spec = chart_between(market, "T/1", start, date.fromordinal(start.toordinal() + days))
    assert spec.width == pytest.approx(width)
    assert spec.pixels == (round(width * 300), 1800)


def test_nothing_after_the_last_day_changes_a_byte(prices: pd.DataFrame) -> None:
    window = window_of(start=date(2010, 1, 11), end=date(2010, 5, 15))
    figures = ["open", "high", "low", "close", "volume"]
    altered = prices.copy()
    altered.loc[altered["date"] > "2010-05-15", figures] = 1e6
    before, after, without = (
        chart_of(market_of(table), window, dpi=60)
        for table in (prices, altered, prices[prices["date"] <= "2010-05-15"])
    )
    assert before.key() == after.key() == without.key()
    assert render(before) == render(after)
    altered.loc[altered["date"] == "2010-05-14", figures] = 60.0
    assert chart_of(market_of(altered), window, dpi=60).key() != before.key()


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


def test_one_ticker_s_closes_beside_another_s_candles(prices: pd.DataFrame) -> None:
    figures = dict.fromkeys(("open", "high", "low", "volume"), float("nan"))
    market = market_of(pd.concat([prices.assign(**figures), prices.assign(ticker="OTHER")]))
    assert list(chart_of(market, window_of()).prices.columns) == ["close"]
    assert "low" in chart_of(market, window_of(ticker="OTHER")).prices.columns


def test_windows_that_show_the_same_share_a_file(market: Market, tmp_path: Path) -> None:
    windows = [window_of(), window_of(id="other"), window_of(id="longer", end=date(2010, 6, 30))]
    told: list[int] = []
    charts = draw_charts(market, windows, tmp_path, dpi=40, on_done=told.append)
    paths = charts.paths
    assert (charts.files, charts.drawn) == (2, 2)
    assert list(paths) == ["plain-w02-T-2010-05-15", "other", "longer"]
    assert paths["other"] == paths["plain-w02-T-2010-05-15"] != paths["longer"]
    assert set(tmp_path.glob("*.png")) == set(paths.values())
    assert told[-1] == 3
    paths["other"].unlink()
    again = draw_charts(market, windows, tmp_path, dpi=40)
    assert (again.paths, again.files, again.drawn) == (paths, 2, 1)


def test_batches_after_a_failure_are_drawn(market: Market, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charting, "_BATCH", 1)
    windows = [window_of(id=str(n), end=date(2010, 6, n)) for n in (7, 8, 9)]
    first = chart_of(market, windows[0], dpi=40)
    picture = render(first)

    def render_but_one(spec: ChartSpec) -> bytes:
        if spec.key() == first.key():
            raise ValueError("no")
        return picture

    monkeypatch.setattr(pool, "render", render_but_one)
    with pytest.raises(DataError, match="expected 3 charts, 1 could not be drawn; the others are there"):
        draw_charts(market, windows, tmp_path, dpi=40)
    assert len(list(tmp_path.glob("*.png"))) == 2
