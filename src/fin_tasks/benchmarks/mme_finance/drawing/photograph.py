"""A photograph of a screen, taken with a phone: tilted, a little out of focus, with reflections, moiré and noise."""

from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFilter

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["photograph"]

_Point = tuple[float, float]
_Floats = npt.NDArray[np.float32]

_BEZEL = 30  # pixels round the screen
_WIDTH, _HEIGHT = 1440, 1080


def photograph(screen: Image.Image, *, seed: int) -> Image.Image:
    """Photograph a screen; all that is random comes from `seed`.

    Args:
        screen: What it shows.
        seed: Of tilt, light and noise.

    Returns:
        1440 x 1080 pixels, as decoded from the JPEG file a phone would keep.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    monitor = Image.new("RGB", (screen.width + 2 * _BEZEL, screen.height + 2 * _BEZEL), "#15171b")
    monitor.paste(screen, (_BEZEL, _BEZEL))
    corners = _corners(monitor, random)
    tilted = monitor.transform(
        (_WIDTH, _HEIGHT), Image.Transform.PERSPECTIVE, _perspective(corners, monitor), Image.Resampling.BICUBIC
    )
    # edges of the monitor are smooth: the mask is drawn larger
    mask = Image.new("L", (2 * _WIDTH, 2 * _HEIGHT))
    ImageDraw.Draw(mask).polygon([(2 * x, 2 * y) for x, y in corners], fill=255)
    scene = _room(random)
    seen = mask.resize((_WIDTH, _HEIGHT), Image.Resampling.BOX)
    scene.paste(tilted, (0, 0), seen)
    blurred = scene.filter(ImageFilter.GaussianBlur(float(random.uniform(0.55, 0.8))))
    return _through_jpeg(
        _lit(np.asarray(blurred, dtype=np.float32), np.asarray(seen, dtype=np.float32) / np.float32(255), random)
    )


def _corners(monitor: Image.Image, random: np.random.Generator) -> "Sequence[_Point]":
    """Choose where the monitor's corners come to lie: upper left, upper right, lower right, lower left."""
    width = _WIDTH * float(random.uniform(0.93, 0.97))
    height = width * monitor.height / monitor.width
    left, top = (_WIDTH - width) / 2, (_HEIGHT - height) / 2
    plain = ((left, top), (left + width, top), (left + width, top + height), (left, top + height))
    # one side is farther away, and all of it is turned a little
    near = float(random.choice((-1.0, 1.0))) * float(random.uniform(0.018, 0.035)) * height
    turn = float(random.uniform(-0.022, 0.022))
    lean = (near, -near, near, -near)
    tilted = [(x, y + shift) for (x, y), shift in zip(plain, lean, strict=True)]
    middle = (_WIDTH / 2, _HEIGHT / 2)
    return [
        (
            float(np.clip(middle[0] + (x - middle[0]) - turn * (y - middle[1]), 4, _WIDTH - 4)),
            float(np.clip(middle[1] + (y - middle[1]) + turn * (x - middle[0]), 4, _HEIGHT - 4)),
        )
        for x, y in tilted
    ]


def _perspective(corners: "Sequence[_Point]", monitor: Image.Image) -> tuple[float, ...]:
    """Return the eight numbers that take a pixel of the photograph to one of the monitor, as Pillow wants them."""
    targets = ((0, 0), (monitor.width, 0), (monitor.width, monitor.height), (0, monitor.height))
    rows, values = [], []
    for (x, y), (u, v) in zip(corners, targets, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    return tuple(
        float(number) for number in np.linalg.solve(np.array(rows, dtype=float), np.array(values, dtype=float))
    )


def _room(random: np.random.Generator) -> Image.Image:
    """Paint what is behind the monitor: a wall that gets darker downwards."""
    top = random.uniform(75, 125) + random.uniform(-9, 9, 3)
    shade = np.linspace(1.0, 0.45, _HEIGHT, dtype=np.float32)[:, None, None]
    wall = np.broadcast_to(top.astype(np.float32) * shade, (_HEIGHT, _WIDTH, 3))
    return Image.fromarray(wall.astype(np.uint8))


def _lit(picture: _Floats, screen: _Floats, random: np.random.Generator) -> Image.Image:
    """Add moiré on the screen, a reflection, darker corners, a cast of colour, and noise."""
    y, x = np.arange(_HEIGHT, dtype=np.float32)[:, None], np.arange(_WIDTH, dtype=np.float32)
    across, along = float(random.uniform(0.045, 0.075)), float(random.uniform(0.010, 0.022))
    bend = 40 * np.sin(y / float(random.uniform(260, 420)))
    moire = 0.022 * screen * np.sin(2 * np.pi * (across * (x + bend) + along * y))
    radius = np.hypot((x - _WIDTH / 2) / _WIDTH, (y - _HEIGHT / 2) / _HEIGHT)
    cast = np.array([1.0, 1.0, 1.0]) + random.uniform(-0.04, 0.03, 3)
    lit = picture * ((1 + moire) * (1.04 - 0.45 * radius**2))[..., None] * cast.astype(np.float32)
    spot = (float(random.uniform(0.15, 0.85)) * _WIDTH, float(random.uniform(0.1, 0.9)) * _HEIGHT)
    wide, high = float(random.uniform(90, 190)), float(random.uniform(60, 130))
    glare = 0.42 * np.exp(-(((x - spot[0]) / wide) ** 2)) * np.exp(-(((y - spot[1]) / high) ** 2))
    lit += (255 - lit) * glare[..., None]
    lit += 4.5 * random.standard_normal(lit.shape[:2], dtype=np.float32)[..., None]
    return Image.fromarray(np.clip(lit, 0, 255).astype(np.uint8))


def _through_jpeg(picture: Image.Image) -> Image.Image:
    kept = BytesIO()
    picture.save(kept, format="JPEG", quality=78)
    kept.seek(0)
    return Image.open(kept).convert("RGB")
