"""Numbers in every way people write them, and when two are the same answer."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.answers.notation import plain
from fin_tasks.answers.numbers import Number, equal_reading, find_numbers, near_reading, number_from_float
from fin_tasks.answers.paper import near_marked


def test_a_place_holds_sign_currency_and_unit() -> None:
    text = plain("loss of -$5.2 million today")
    (found,) = find_numbers(text)
    assert text[found.start : found.end] == "-¤5.2 million"


@given(cents=st.integers(1, 10**14))
def test_every_grouping_comes_back(cents: int) -> None:
    english = f"{cents / 100:,.2f}"
    swapped = english.replace(",", "_").replace(".", ",").replace("_", ".")
    for text in (english, english.replace(",", "\u202f"), english.replace(",", "{,}"), swapped):
        assert [found.number.value for found in find_numbers(plain(text))] == [float(f"{cents / 100:.2f}")]


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    for found in find_numbers(plain(text)):
        assert all(math.isfinite(reading) for reading in found.number.readings)


@pytest.mark.parametrize(("value", "step"), [(142.86, 0.01), (143.0, 1.0), (5e-05, 1e-05), (1.5e300, 1e299)])
def test_a_float_is_rounded_where_its_shortest_form_ends(value: float, step: float) -> None:
    number = number_from_float(value)
    assert number is not None
    assert math.isclose(number.step, step)
    assert number_from_float(math.copysign(math.inf, value)) is None


@pytest.mark.parametrize(
    ("value", "step", "truth", "truth_step", "equal"),
    [
        (142.9, 0.1, 142.86, 0.01, True),
        (142.8, 0.1, 142.86, 0.01, False),
        (142.865, 0.001, 142.86, 0.01, True),
        (142.866, 0.001, 142.86, 0.01, False),
        (13.0, 1.0, 13.31, 0.01, False),  # rounds to it, but is 2.3 % off and has two digits
        (1.0, 0.01, 1.005, 0.001, True),  # three digits
        (0.0, 0.01, 0.004, 0.001, False),
        (0.1 + 0.2, 0.0, 0.3, 0.0, True),
        (5.0, 1.0, -5.0, 1.0, False),
    ],
)
def test_equal_up_to_the_rounding_shown(
    value: float, step: float, truth: float, truth_step: float, equal: bool
) -> None:
    number = Number(value=value, readings=(value,), step=step)
    assert (equal_reading(number, truth, truth_step) is not None) is equal


def test_the_reading_that_fits_is_returned() -> None:
    bps = Number(value=0.0037, readings=(0.0037, 0.37, 37.0), step=0.0001)
    assert [equal_reading(bps, truth, 0.0) for truth in (0.0037, 0.37, 37.0, 3.7)] == [0.0037, 0.37, 37.0, None]
    assert [near_reading(bps, truth) for truth in (37.1, 37.3)] == [37.0, None]


@pytest.mark.parametrize(
    ("answer", "truth", "near"),
    [(100.0, 100.4, True), (1.0, 100.0, True), (100.0, 1.0, True), (100.0, 101.0, False), (0.0, 0.0, False)],
)
def test_the_authors_tolerance_is_blind_to_a_factor_of_100(answer: float, truth: float, near: bool) -> None:
    assert near_marked(answer, truth) is near
