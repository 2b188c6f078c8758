"""When two numbers are the same answer."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.answers.compare import equal_reading, near_reading
from fin_tasks.answers.numbers import Number


def number(value: float, step: float) -> Number:
    return Number(value=value, readings=(value,), step=step)


@pytest.mark.parametrize(
    ("value", "step", "truth", "truth_step", "equal"),
    [
        (142.9, 0.1, 142.86, 0.01, True),
        (142.8, 0.1, 142.86, 0.01, False),
        (142.857, 0.001, 142.86, 0.01, True),
        (142.865, 0.001, 142.86, 0.01, True),
        (142.866, 0.001, 142.86, 0.01, False),
        (13.0, 1.0, 13.31, 0.01, False),  # rounds to it, but is 2.3 % off and has two digits
        (1.0, 0.01, 1.005, 0.001, True),  # three digits
        (0.0, 1.0, 0.0, 0.1, True),
        (0.0, 0.01, 0.004, 0.001, False),
        (0.004, 0.001, 0.0, 0.1, False),
        (0.1 + 0.2, 0.0, 0.3, 0.0, True),
        (5.0, 1.0, -5.0, 1.0, False),
    ],
)
def test_equal_up_to_the_rounding_shown(
    value: float, step: float, truth: float, truth_step: float, equal: bool
) -> None:
    assert (equal_reading(number(value, step), truth, truth_step) is not None) is equal


def test_the_reading_that_fits_is_returned() -> None:
    bps = Number(value=0.0037, readings=(0.0037, 0.37, 37.0), step=0.0001)
    assert [equal_reading(bps, truth, 0.0) for truth in (0.0037, 0.37, 37.0, 3.7)] == [0.0037, 0.37, 37.0, None]
    assert near_reading(bps, 37.1) == 37.0


@pytest.mark.parametrize(("value", "near"), [(100.5, True), (99.5, True), (100.51, False), (99.49, False)])
def test_near_is_half_a_percent_of_the_truth(value: float, near: bool) -> None:
    assert (near_reading(number(value, 0.0), 100.0) is not None) is near


FLOATS = st.floats(min_value=-1e12, max_value=1e12, allow_nan=False)
STEPS = st.sampled_from([0.0, 0.001, 0.01, 0.1, 1.0])


@given(value=FLOATS, truth=FLOATS, step=STEPS, truth_step=STEPS)
def test_turning_both_signs_changes_nothing(value: float, truth: float, step: float, truth_step: float) -> None:
    there = equal_reading(number(value, step), truth, truth_step) is None
    assert there is (equal_reading(number(-value, step), -truth, truth_step) is None)


@given(value=FLOATS, truth=FLOATS, step=STEPS, power=st.integers(-20, 20))
def test_the_unit_of_both_does_not_matter(value: float, truth: float, step: float, power: int) -> None:
    scaled = [math.ldexp(x, power) for x in (value, truth, step)]
    there = equal_reading(number(value, step), truth, step) is None
    assert there is (equal_reading(number(scaled[0], scaled[2]), scaled[1], scaled[2]) is None)


@given(value=FLOATS, step=STEPS, truth_step=STEPS)
def test_every_number_equals_itself(value: float, step: float, truth_step: float) -> None:
    assert equal_reading(number(value, step), value, truth_step) == value
    assert near_reading(number(value, step), value) == value
