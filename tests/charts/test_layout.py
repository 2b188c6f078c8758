"""Axes of any range have labels that can be read and told apart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.charts.layout import Days, Prices, axis_values

LABEL = 60.0  # pixels


@given(first=st.integers(-10_000, 40_000), span=st.integers(0, 20_000), width=st.integers(500, 9000))
def test_days_are_labelled_at_a_distance(first: int, span: int, width: int) -> None:
    days = np.array([first, first + span]).astype("datetime64[D]")
    axis = Days.between(days, left=0, right=width)
    ticks = axis.ticks(LABEL)
    assert ticks
    xs = axis.x(np.array([day for day, _ in ticks], dtype="datetime64[D]"))
    assert np.all(np.diff(xs) >= LABEL)
    assert np.all((xs >= -1e-6) & (xs <= width + 1e-6))
    assert len({text for _, text in ticks}) == len(ticks)


def test_steps_follow_the_room() -> None:
    def texts(days: int) -> list[str]:
        axis = Days.between(np.array(["2009-12-28", np.datetime64("2009-12-28") + days], "M8[D]"), left=0, right=1000)
        return [text for _, text in axis.ticks(LABEL)]

    assert texts(30)[:2] == ["2009-12-28", "2010-01-04"]
    assert texts(300)[:3] == ["2010-01", "2010-02", "2010-03"]
    assert texts(900)[:2] == ["2010-01", "2010-04"]
    assert texts(8000)[:2] == ["2010-01", "2012-01"]


def test_a_day_is_where_the_axis_says() -> None:
    axis = Days.between(np.array(["2010-01-01", "2010-01-31"], "M8[D]"), left=100, right=400)
    assert axis.x(np.array(["2010-01-01", "2010-01-16", "2010-01-31"], "M8[D]")).tolist() == [100, 250, 400]
    alone = Days.between(np.array(["2010-01-08"], "M8[D]"), left=100, right=400)
    assert alone.x(np.array(["2010-01-08"], "M8[D]")).tolist() == [250]


def test_a_tenth_of_the_range_is_kept_free_on_both_sides() -> None:
    scale = Prices.between(50, 100, bottom=10, top=610, least_buffer=1)
    assert (scale.price(10), scale.price(610)) == pytest.approx((45, 105))
    assert scale.y(np.array([50.0, 100.0])).tolist() == pytest.approx([60, 560])


@given(low=st.floats(1e-9, 1e12), ratio=st.floats(1, 1e4))
def test_prices_of_any_size_are_labelled_inside_the_panel(low: float, ratio: float) -> None:
    scale = Prices.between(low, low * ratio, bottom=0, top=500, least_buffer=60)
    ticks = scale.ticks()
    assert 2 <= len(ticks) <= 12
    ys = scale.y(np.array([value for value, _ in ticks]))
    assert np.all(np.diff(ys) > 20)
    assert np.all((ys >= 0) & (ys <= 500))
    assert len({text for _, text in ticks}) == len(ticks)
    for value, text in ticks:
        assert float(text.replace(",", "")) == pytest.approx(value, rel=1e-6, abs=1e-12)


def test_nothing_below_zero_is_labelled_unless_there_is_something() -> None:
    assert Prices.between(1, 100, bottom=0, top=500, least_buffer=60).ticks()[0][0] == 0
    assert axis_values(-1, 1, most=4)[0][0] < 0
