"""Show a scene in a browser's window, on a phone, or as a photograph of a screen."""

from collections.abc import Callable, Mapping
from functools import partial
from random import Random

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from fin_tasks.benchmarks.mme_finance.fresh.draw import ACCENT, BAR, INK, MUTED, draw, font
from fin_tasks.benchmarks.mme_finance.fresh.scenes import Scene, words


class _Screen:
    def __init__(self, scene: Scene, width: int, height: int, box: tuple[int, int, int, int]) -> None:
        """Draw the scene's contents in a box of an empty screen."""
        self.language, self.image = scene.language, Image.new("RGB", (width, height), "white")
        self.image.paste(draw(scene, box[2] - box[0], box[3] - box[1]), box[:2])
        self.pen = ImageDraw.Draw(self.image)

    def text(self, x: int, y: int, text: str, size: int, color: str = INK, anchor: str = "lm") -> None:
        letters = ImageFont.truetype(font(self.language), size, layout_engine=ImageFont.Layout.BASIC)
        self.pen.text((x, y), text, fill=color, font=letters, anchor=anchor)


def _computer(scene: Scene, random: Random) -> Image.Image:
    screen, word = _Screen(scene, 1280, 900, (0, 136, 1280, 900)), words(scene.language)
    screen.pen.rectangle((0, 0, 1280, 46), fill=BAR)
    screen.pen.rounded_rectangle((24, 8, 1240, 40), 14, fill="white")
    screen.text(44, 24, f"https://markets.example/{random.randint(10_000, 99_999)}", 15, MUTED)
    screen.pen.rectangle((0, 46, 1280, 94), fill=ACCENT)
    screen.text(24, 70, random.choice(word["sites"]), 22, "white")
    for at, entry in enumerate(word["menu"]):
        screen.text(230 + 130 * at, 70, entry, 16, "white")
    screen.text(24, 118, scene.title, 22)
    return screen.image


def _phone(scene: Scene, random: Random, width: int, height: int) -> Image.Image:
    screen, charge = _Screen(scene, width, height, (0, 100, width, height - 60)), random.randint(8, 38)
    screen.text(30, 24, f"{random.randint(7, 21)}:{random.randint(0, 59):02d}", 22)
    screen.text(width - 84, 24, "5G", 20, anchor="rm")
    screen.pen.rounded_rectangle((width - 72, 13, width - 26, 35), 5, outline=INK, width=2)
    screen.pen.rectangle((width - 68, 17, width - 68 + charge, 31), fill=INK)
    screen.pen.rectangle((0, 46, width, 96), fill=BAR)
    screen.text(width // 2, 71, scene.title, 24, anchor="mm")
    screen.pen.rectangle((0, height - 56, width, height), fill=BAR)
    for at, entry in enumerate(words(scene.language)["menu"]):
        screen.text(width * (2 * at + 1) // 10, height - 28, entry, 20, ACCENT if at == 0 else MUTED, "mm")
    return screen.image


def _photograph(scene: Scene, random: Random) -> Image.Image:
    """Photograph a computer's screen: tilted, unevenly lit, with moiré and noise, and slightly out of focus."""
    screen, noise = _computer(scene, random), np.random.default_rng(random.getrandbits(64))
    wall = random.randint(60, 120)
    room = Image.new("RGB", (1440, 1060), (wall, wall - 6, wall - 14))
    room.paste("#15171b", (50, 50, 1390, 1010))  # the frame of the monitor
    room.paste(screen, (80, 80))
    width, height = room.size
    corners = np.array([(0, 0), (0, height), (width, height), (width, 0)]) + noise.uniform(-30, 30, (4, 2))
    tilt, smooth = Image.Transform.QUAD, Image.Resampling.BICUBIC
    photo = room.transform(room.size, tilt, corners.ravel().tolist(), smooth, fillcolor=room.getpixel((0, 0)))
    photo = photo.filter(ImageFilter.GaussianBlur(random.uniform(0.5, 0.8)))
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    light = 1 + 0.02 * np.sin(x * random.uniform(0.3, 0.5) + y * random.uniform(0.05, 0.15))
    light *= 1.04 - 0.4 * ((x / width - 0.5) ** 2 + (y / height - 0.5) ** 2)
    lit = np.asarray(photo, dtype=np.float32) * light[..., None] * noise.uniform(0.9, 1.0, 3).astype(np.float32)
    glare = np.exp(-(((x - random.uniform(200, 1240)) / 160) ** 2) - ((y - random.uniform(100, 960)) / 100) ** 2)
    lit += (255 - lit) * 0.3 * glare[..., None] + noise.normal(0, 4, (height, width, 1))
    return Image.fromarray(lit.clip(0, 255).astype(np.uint8))


STYLES: Mapping[str, Callable[[Scene, Random], Image.Image]] = {
    "computer screenshot": _computer,
    "mobile photograph": _photograph,
    "vertical screenshot on mobile": partial(_phone, width=750, height=1334),
    "horizontal screenshot on mobile": partial(_phone, width=1334, height=750),
}
