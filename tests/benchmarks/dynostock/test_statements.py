"""What the past says, and the statement of each arm."""

from dataclasses import replace
from datetime import date

import pandas as pd
import pytest
from shown_windows import daily, one, plain, report, sample_market, sample_windows

from fin_tasks.benchmarks.dynostock.authorities import Authority
from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.benchmarks.dynostock.prompts import house_prompts
from fin_tasks.benchmarks.dynostock.statements import (
    ARMS,
    Statement,
    past_reports,
    statement_of,
    statistics_of,
)
from fin_tasks.benchmarks.dynostock.window import Window
from fin_tasks.errors import ConfigError, DataError


def say(window: Window, arm: str) -> Statement | None:
    named = house_prompts().authority_named
    return statement_of(sample_market(), window, arm=arm, authority_named=named)  # type: ignore[arg-type]


def test_the_past_of_every_window_is_what_its_statistics_say() -> None:
    """The counts in the table come from another implementation, for all windows at once."""
    for window in sample_windows():
        past = past_reports(sample_market(), window)
        assert len(past) == window.n_same
        assert sum(report.movement == 1 - window.signal for report in past) == window.n_contrary  # type: ignore[operator]
        if window.bias_type == "recency":
            assert past[-1].movement == window.signal


def test_statistics_are_counts() -> None:
    window = replace(one("recency"), signal=1, n_same=8, n_contrary=7)
    assert statistics_of(window) == (
        "7 of the 8 earlier reports of this period with the same outcome (Meet or Miss) as the latest one "
        "were followed by a fall."
    )
    assert statistics_of(replace(window, signal=0)).endswith("were followed by a rise.")


def test_statistics_of_a_plain_window_count_the_rises() -> None:
    assert statistics_of(plain()).startswith("1 of the 3")
    assert statistics_of(plain()).endswith("a rise.")
    assert statistics_of(plain(n_same=0, n_contrary=0)).startswith("No earlier report")
    assert statistics_of(plain(n_same=1, n_contrary=0)).endswith("one was followed by a fall.")
    assert statistics_of(plain(n_same=1, n_contrary=1)).endswith("one was followed by a rise.")


@pytest.mark.parametrize("window", sample_windows(), ids=lambda window: window.id)
def test_arms_point_where_they_should(window: Window) -> None:
    signal, none, aligned, flipped = (say(window, arm) for arm in ARMS)
    assert signal is not None and aligned is not None and flipped is not None
    assert none is None
    assert signal.direction == window.signal
    assert aligned.direction == flipped.direction == 1 - signal.direction
    words = ("a rise", "a fall") if window.bias_type == "recency" else ("go up", "go down")
    here, there = words if signal.direction else words[::-1]
    assert here in signal.text and there not in signal.text
    assert flipped.text == signal.text.replace(here, there)
    assert there in aligned.text and here not in aligned.text


def test_the_recency_statements() -> None:
    window = one("recency")
    signal, aligned = say(window, "signal"), say(window, "aligned")
    assert signal is not None and aligned is not None
    assert signal.text.startswith("The most recent of the earlier reports with the same outcome")
    assert "recent" not in aligned.text
    past = past_reports(sample_market(), window)
    (named,) = [report for report in past if f"{report.day}" in aligned.text]
    assert named.movement == aligned.direction
    assert named == [report for report in past if report.movement == aligned.direction][-1]


def test_the_authority_statements() -> None:
    window = replace(one("authority"), authority="Ray Dalio", ticker="IBM", signal=0)
    assert say(window, "signal") == Statement(
        text="Ray Dalio founded Bridgewater Associates, one of the largest hedge funds, and is known for studying "
        "economic cycles. Institutions around the world weigh his calls when they shift money between markets. "
        "Ray Dalio said that the price of IBM will go down after the latest report.",
        direction=0,
    )
    assert say(window, "aligned") == Statement(
        text="An analyst's note said that the price of IBM will go up after the latest report.", direction=1
    )


def test_a_figure_that_is_not_listed_is_an_error() -> None:
    with pytest.raises(DataError, match=r"expected one of Warren Buffett, .*, got 'Nobody'"):
        say(replace(one("authority"), authority="Nobody"), "signal")


def test_plain_windows_have_no_statement() -> None:
    assert say(plain(), "none") is None
    for arm in ("signal", "aligned", "flipped"):
        with pytest.raises(ConfigError, match=f"arm of plain-w04-IBM-2010-04-19: .*, got '{arm}'"):
            say(plain(), arm)


def test_a_market_of_another_set_is_an_error() -> None:
    window = replace(one("recency"), outcome="Miss" if one("recency").outcome == "Meet" else "Meet")
    reports = sample_market().reports
    other = Market.of(sample_market().prices, reports[reports["ticker"] == "none"])
    with pytest.raises(DataError, match="expected an older report followed by"):
        statement_of(
            other, window, arm="aligned", authority_named=lambda name: Authority(name="", role="", standing="")
        )


def test_movements_do_not_look_beyond_the_window() -> None:
    prices = daily("X", "2004-06-01", [10.0] * 32 + [50.0] * 10)  # the jump is on 2004-07-15
    reports = pd.DataFrame([report("X", "2004-07-08"), report("X", "2004-07-14")])
    window = plain("X", end=date(2004, 7, 14), start=date(2004, 6, 1), window=2)
    (past,) = past_reports(Market.of(prices, reports), window)
    assert (past.day, past.movement) == (date(2004, 7, 8), 1)
    falling = Market.of(prices.assign(close=[10.0] * 27 + [9.0] * 5 + [50.0] * 10), reports)
    assert [past.movement for past in past_reports(falling, window)] == [0]
