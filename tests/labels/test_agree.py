"""Judges beside people: the statistics."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from fin_tasks.labels.agreement import agreement


@pytest.mark.parametrize("seed", range(5))
def test_the_correlation_is_scipys(seed: int) -> None:
    x, y = np.random.default_rng(seed).integers(0, 6, (2, 5 + 5 * seed)).tolist()
    assert agreement(x, y)["spearman"] == pytest.approx(
        spearmanr(x, y).statistic, abs=1e-12
    )


def test_an_interval_holds_the_value() -> None:
    found = agreement([0, 1, 2, 3, 4, 5] * 5, [0, 2, 1, 3, 5, 4] * 5)
    assert found["low"] < found["spearman"] < found["high"]  # type: ignore[operator]
    assert (found["mean_absolute_difference"], found["bias"]) == (
        pytest.approx(4 / 6),
        0,
    )
    assert agreement([3, 3], [1, 2])["spearman"] is None
