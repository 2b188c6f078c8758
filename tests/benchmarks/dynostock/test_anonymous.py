"""Windows without names and dates."""

import re
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from shown_windows import one, sample_market, sample_windows

from fin_tasks.benchmarks.dynostock.anonymous import ANONYMOUS_TICKER, anonymise, shift_of
from fin_tasks.benchmarks.dynostock.statements import past_reports
from fin_tasks.benchmarks.dynostock.window import Window


@pytest.mark.parametrize("window", sample_windows()[::3], ids=lambda window: window.id)
def test_only_names_and_dates_change(window: Window) -> None:
    market = sample_market()
    small, hidden = anonymise(market, window)
    shift = shift_of(window)
    assert shift.days % 7 == 0 and shift.seconds == 0
    before = market.history(window.ticker, window.start, window.end)
    assert set(small.prices["ticker"]) == set(small.reports["ticker"]) == {ANONYMOUS_TICKER}
    after = small.history(ANONYMOUS_TICKER, hidden.start, hidden.end)
    assert len(after) == len(before) == len(small.prices)
    assert np.array_equal(after.to_numpy(), before.to_numpy())
    assert ((after.index - before.index) == shift).all()
    assert (after.index.day_of_week == before.index.day_of_week).all()
    assert len(small.reports) >= window.window
    assert [past.movement for past in past_reports(small, hidden)] == [
        past.movement for past in past_reports(market, window)
    ]
    same = replace(
        hidden,
        id=window.id,
        ticker=window.ticker,
        start=window.start,
        end=window.end,
        fiscal_end=window.fiscal_end,
    )
    assert same == window


def test_the_era_is_another_one_and_always_the_same() -> None:
    ends = {window.id: anonymise(sample_market(), window)[1].end for window in sample_windows()}
    again = {window.id: anonymise(sample_market(), window)[1].end for window in sample_windows()}
    assert ends == again
    assert all(date(1970, 1, 1) <= end < date(1990, 1, 1) for end in ends.values())
    assert len({shift_of(window) for window in sample_windows()}) > len(ends) // 2


def test_windows_of_any_time_end_in_that_era() -> None:
    for end in (date(2000, 1, 31), date(2026, 8, 1), date(1969, 12, 31), date(2199, 1, 1)):
        for i in range(40):
            window = replace(one("recency"), id=f"{i}", end=end)
            assert date(1970, 1, 1) <= end + shift_of(window) < date(1990, 1, 1)


def test_the_new_id_tells_nothing() -> None:
    for window in sample_windows():
        _, hidden = anonymise(sample_market(), window)
        assert window.ticker not in hidden.id
        assert not re.search(r"\d{4}-\d\d-\d\d", hidden.id)
