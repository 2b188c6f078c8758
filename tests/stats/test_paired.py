"""Two conditions on the same documents."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.stats.intervals import bootstrap_mean
from fin_tasks.stats.paired import mcnemar, paired_difference


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_sum_of_the_tails(b: int, c: int) -> None:
    n = b + c
    tail = sum(math.comb(n, k) for k in range(min(b, c) + 1)) / 2**n
    assert mcnemar(b, c) == pytest.approx(min(1.0, 2 * tail))
    assert mcnemar(b, c) == mcnemar(c, b)


def test_mcnemar_of_many_pairs_is_near_the_chi_square() -> None:
    # (|b - c| - 1)^2 / (b + c) = 4.0: p = 0.0455
    assert mcnemar(5_101, 4_900) == pytest.approx(0.0455, abs=5e-4)


def test_a_property() -> None:
    found = paired_difference([1, 1, 1, 0, 0, 1], [0, 0, 1, 1, 0, 0])
    assert found.mean == pytest.approx(2 / 6)
    assert (found.only_first, found.only_second, found.n, found.clusters) == (3, 1, 6, 6)
    assert found.p == mcnemar(3, 1) == 0.625


def test_other_numbers_have_no_discordant_pairs() -> None:
    found = paired_difference([0.7, 0.5], [0.5, 0.5], clusters=["A", "B"])
    assert found.mean == pytest.approx(0.1)
    assert (found.only_first, found.only_second, found.p) == (None, None, None)


def test_the_interval_is_that_of_the_differences() -> None:
    generator = np.random.default_rng(2)
    first, second = generator.random(50).tolist(), generator.random(50).tolist()
    tickers = [f"T{i % 12}" for i in range(50)]
    differences = [a - b for a, b in zip(first, second, strict=True)]
    found = paired_difference(first, second, clusters=tickers, seed=3)
    assert found.interval == bootstrap_mean(differences, clusters=tickers, seed=3)
    assert found.clusters == 12
    turned = paired_difference(second, first, clusters=tickers, seed=3)
    assert turned.mean == pytest.approx(-found.mean)


def test_nothing_and_nonsense() -> None:
    nothing = paired_difference([], [])
    assert math.isnan(nothing.mean) and math.isnan(nothing.interval.low)
    assert (nothing.n, nothing.p) == (0, 1.0)
    with pytest.raises(ValueError, match="expected pairs"):
        paired_difference([1], [])
    with pytest.raises(ValueError, match="0 or more"):
        mcnemar(-1, 3)
