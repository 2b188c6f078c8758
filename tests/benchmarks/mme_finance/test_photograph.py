"""A photograph of a screen: the same for the same seed, tilted, and still to be read."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from fin_tasks.benchmarks.mme_finance.drawing.photograph import _corners, _perspective, photograph


@pytest.fixture(scope="module")
def screen() -> Image.Image:
    image = Image.new("RGB", (1440, 900), "white")
    draw = ImageDraw.Draw(image)
    for x in range(0, 1440, 24):
        draw.rectangle((x, 0, x + 11, 899), fill="black")
    return image


def test_a_seed_takes_the_same_photograph(screen: Image.Image) -> None:
    assert photograph(screen, seed=5).tobytes() == photograph(screen, seed=5).tobytes()
    assert photograph(screen, seed=5).tobytes() != photograph(screen, seed=6).tobytes()


@pytest.mark.parametrize("seed", range(12))
def test_the_whole_monitor_is_in_view_and_tilted(seed: int) -> None:
    monitor = Image.new("RGB", (1500, 960))
    corners = _corners(monitor, np.random.default_rng(seed))
    assert all(4 <= x <= 1436 and 4 <= y <= 1076 for x, y in corners)
    (left, upper), (right, other), *_ = corners
    assert right - left > 1200
    assert abs(upper - other) > 1
    sides = [
        np.hypot(corners[one][0] - corners[two][0], corners[one][1] - corners[two][1]) for one, two in ((0, 3), (1, 2))
    ]
    assert 1.02 < max(sides) / min(sides) < 1.2


def test_perspective_takes_the_corners_of_the_photograph_to_those_of_the_monitor() -> None:
    monitor = Image.new("RGB", (300, 200))
    corners = [(10.0, 20.0), (280.0, 5.0), (290.0, 190.0), (20.0, 170.0)]
    a, b, c, d, e, f, g, h = _perspective(corners, monitor)
    for (x, y), target in zip(corners, ((0, 0), (300, 0), (300, 200), (0, 200)), strict=True):
        over = g * x + h * y + 1
        assert ((a * x + b * y + c) / over, (d * x + e * y + f) / over) == pytest.approx(target, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_strokes_as_fine_as_letters_keep_their_contrast(screen: Image.Image, seed: int) -> None:
    """Bars of twelve pixels stay dark on light along a line through the screen, but where the reflection is."""
    taken = np.asarray(photograph(screen, seed=seed).convert("L"), dtype=float)
    line = taken[540, 200:1240]
    runs = np.lib.stride_tricks.sliding_window_view(line, 40)
    contrast = runs.max(axis=1) - runs.min(axis=1)
    assert np.median(contrast) > 150
    assert contrast.min() > 70


def test_noise_and_a_reflection_are_there() -> None:
    taken = np.asarray(photograph(Image.new("RGB", (1440, 900), "#404040"), seed=2).convert("L"), dtype=float)
    middle = taken[300:780, 200:1240]
    assert taken.max() - np.median(middle) > 50
    assert 1.0 < np.diff(middle, axis=1).std() < 12.0
