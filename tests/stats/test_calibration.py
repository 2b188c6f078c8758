"""The calibration of stated probabilities, against scikit-learn's."""

import math

import numpy as np
import pytest

from fin_tasks.stats.averages import expected_calibration_error


def test_calibration_error_is_sklearns_curve_weighted() -> None:
    from sklearn.calibration import calibration_curve

    generator = np.random.default_rng(1)
    p = generator.random(500)
    y = (generator.random(500) < p**2).astype(int)
    observed, stated = calibration_curve(y, p, n_bins=10)
    weights = np.histogram(p, bins=10, range=(0, 1))[0] / 500
    expected = float(np.sum(weights * np.abs(observed - stated)))
    assert expected > 0.1
    pairs = list(zip(p, y, strict=True))
    assert expected_calibration_error([pairs]) == pytest.approx(expected)
    assert expected_calibration_error([[[1.0, 0]], [[0.0, 1]]]) == 1


@pytest.mark.parametrize("tenths", range(1, 10))
def test_an_edge_belongs_to_the_lower_bin(tenths: int) -> None:
    edge = tenths / 10
    # Beside a forecast of the lower bin that errs the other way the errors cancel, in another bin they would add up.
    pairs = [[edge, 1], [edge - 0.05, 0]]
    expected = abs(1 - edge - (edge - 0.05)) / 2
    assert expected_calibration_error([pairs]) == pytest.approx(expected)


def test_no_forecast_has_no_calibration_error() -> None:
    assert math.isnan(expected_calibration_error([]))
