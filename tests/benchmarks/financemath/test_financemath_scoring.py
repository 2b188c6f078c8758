"""The authors' numeric comparison, clause by clause."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fin_tasks.benchmarks.financemath.scoring import paper_equal

_finite = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("prediction", "truth", "equal"),
    [
        (2.0, 2.0, True),
        (0.0, 0.0, True),
        (0.0, 1e-12, False),
        (-0.0, 0.0, True),
        # a pure power of ten, signs aside
        (5.0, -0.5, True),
        (-800.0, 800.0, True),
        (2250.0, 0.225, True),
        (1014.58, 101.458, True),
        (1014.58, 101.45798, False),
        # 100, 1,000 or 100,000 within 0.15 %
        (51.7, 0.51672, True),
        (0.51672, -51.7, True),
        (4.235, 424.0, True),
        (4.23, 424.0, False),
        (1234.9, 1.2345, True),
        (123_490.0, 1.2345, True),
        (12_349.0, 1.2345, False),
        (12.349, 1.2345, False),
        # the same when rounded up to three decimals
        (0.0051, 0.0059, True),
        (0.0051, 0.0049, False),
        (0.0051, 0.006, True),
        (-0.0051, 0.0059, True),
        # within 0.15 % of the truth, which is the base
        (1.0015, 1.0, True),
        (1.0016, 1.0, False),
        (998.5, 1000.0, True),
        (998.4, 1000.0, False),
        (math.nan, 1.0, False),
        (math.inf, math.inf, False),
        (1e308, 1e-308, False),
        (1e308, 1e308, True),
        (1.5e308, 1e308, False),
        (5e-324, 0.0, False),
    ],
)
def test_paper_equal(prediction: float, truth: float, equal: bool) -> None:
    assert paper_equal(prediction, truth) is equal


@given(st.floats(), st.floats())
def test_any_two_floats_compare(prediction: float, truth: float) -> None:
    assert isinstance(paper_equal(prediction, truth), bool)


@given(_finite)
def test_a_number_equals_itself(number: float) -> None:
    assert paper_equal(number, number)


@given(_finite, st.floats(min_value=1.01, max_value=9.9))
def test_a_factor_that_is_nothing_special_is_told_apart(truth: float, factor: float) -> None:
    assume(1.0 < abs(truth) < 1e300)
    assert not paper_equal(truth * factor, truth)
