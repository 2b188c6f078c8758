"""Pictures: the same pixels for the same seed in any process, all of their text inside and apart."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from PIL import Image

from fin_tasks.benchmarks.mme_finance.drawing import fonts
from fin_tasks.benchmarks.mme_finance.drawing.draw import draw, save
from fin_tasks.benchmarks.mme_finance.drawing.look import LIGHT, Look
from fin_tasks.benchmarks.mme_finance.drawing.plots import Plot
from fin_tasks.benchmarks.mme_finance.drawing.sheet import Sheet, text_width, wrapped
from fin_tasks.benchmarks.mme_finance.row import IMAGE_STYLES, IMAGE_TYPES, LANGUAGES, Language
from fin_tasks.benchmarks.mme_finance.scene_making.make import make_scene
from fin_tasks.benchmarks.mme_finance.scenes import CandleScene, StatisticsScene
from fin_tasks.errors import ConfigError

SIZES = {
    "computer screenshot": (1440, 900),
    "mobile photograph": (1440, 1080),
    "vertical screenshot on mobile": (720, 1560),
    "horizontal screenshot on mobile": (1600, 740),
}
SCREENS = [style for style in IMAGE_STYLES if style != "mobile photograph"]
Box = tuple[float, float, float, float]


def picture(image_type: str, style: str, *, language: Language = "en", seed: int = 3) -> Image.Image:
    return draw(make_scene(image_type, language=language, seed=seed), style=style, seed=seed)


def fingerprint(image: Image.Image) -> str:
    return hashlib.sha256(image.tobytes()).hexdigest()


@pytest.mark.parametrize("style", IMAGE_STYLES)
def test_size_and_mode(style: str) -> None:
    drawn = picture("table", style)
    assert (drawn.mode, drawn.size) == ("RGB", SIZES[style])


PROGRAM = """
import hashlib
from fin_tasks.benchmarks.mme_finance.drawing.draw import draw
from fin_tasks.benchmarks.mme_finance.scene_making.make import make_scene
for image_type, style, language in {cases!r}:
    image = draw(make_scene(image_type, language=language, seed=3), style=style, seed=3)
    print(hashlib.sha256(image.tobytes()).hexdigest())
"""


def test_another_process_draws_the_same_pixels(tmp_path: Path) -> None:
    """Also where another locale, time zone, hash seed and a `matplotlibrc` are set."""
    (tmp_path / "matplotlibrc").write_text("axes.facecolor: red\nfont.size: 30\nlines.linewidth: 9\n")
    cases: list[tuple[str, str, Language]] = [
        ("candlestick chart", "mobile photograph", "en"),
        ("statistical chart", "vertical screenshot on mobile", "zh"),
        ("document", "computer screenshot", "en"),
    ]
    settings = {"MATPLOTLIBRC": str(tmp_path), "PYTHONHASHSEED": "7", "TZ": "Asia/Shanghai", "LC_ALL": "C"}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(cases=cases)],
        env={**os.environ, **settings}, capture_output=True, text=True, check=True, timeout=180,
    )  # fmt: skip
    here = [fingerprint(picture(kind, style, language=language)) for kind, style, language in cases]
    assert run.stdout.split() == here


def test_scene_and_seed_change_the_picture() -> None:
    scene = make_scene("candlestick chart", language="en", seed=1)
    style = "vertical screenshot on mobile"
    drawn = {fingerprint(draw(scene, style=style, seed=seed)) for seed in range(4)}
    assert len(drawn) == 4
    assert fingerprint(draw(scene, style=style, seed=0)) in drawn


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("style", SCREENS)
@pytest.mark.parametrize("image_type", IMAGE_TYPES)
def test_all_text_is_inside_and_apart(
    image_type: str, style: str, language: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[tuple[str, Box]] = []
    plotted: list[tuple[str, Box, tuple[int, int]]] = []
    write: Callable[..., None] = Sheet.text
    finish: Callable[[Plot], Image.Image] = Plot.image

    def noted(self: Sheet, at: tuple[float, float], text: str, **options: Any) -> None:
        font = fonts.for_pillow(
            self.look.language, options.get("size") or self.look.letter, bold=bool(options.get("bold"))
        )
        left, top, right, bottom = font.getbbox(text, anchor=options.get("anchor", "la"))
        written.append((text, (at[0] + left, at[1] + top, at[0] + right, at[1] + bottom)))
        write(self, at, text, **options)

    def measured(self: Plot) -> Image.Image:
        image = finish(self)
        shown = [text for text in self.figure.findobj(Text) if text.get_visible() and text.get_text()]
        for text in shown:
            box = text.get_window_extent(self.canvas.get_renderer())
            plotted.append((text.get_text(), (box.x0, box.y0, box.x1, box.y1), (self.width, self.height)))
        return image

    monkeypatch.setattr(Sheet, "text", noted)
    monkeypatch.setattr(Plot, "image", measured)
    for seed in (0, 5, 16) if image_type == "statistical chart" else (1,):
        written.clear()
        plotted.clear()
        drawn = picture(image_type, style, language=language, seed=seed)
        assert len(written) >= 4
        for text, box in written:
            assert is_inside(box, drawn.size), text
        for (one, first), (other, second) in combinations(written, 2):
            assert not overlap(first, second), (one, other)
        for text, box, size in plotted:
            assert is_inside(box, size), text


def is_inside(box: Box, size: tuple[int, int]) -> bool:
    return box[0] >= -1 and box[1] >= -1 and box[2] <= size[0] + 1 and box[3] <= size[1] + 1


def overlap(one: Box, other: Box) -> bool:
    return max(one[0], other[0]) < min(one[2], other[2]) - 1 and max(one[1], other[1]) < min(one[3], other[3]) - 1


@pytest.mark.parametrize("image_type", IMAGE_TYPES)
def test_letters_have_glyphs(image_type: str) -> None:
    """A font without a letter draws an empty box for it, which nobody would notice in five hundred pictures."""
    from matplotlib.font_manager import get_font

    for language in LANGUAGES:
        found = fonts.font_file(language)
        for path in (found.path, found.bold):
            known = set(get_font(path).get_charmap())
            text = "".join(repr(make_scene(image_type, language=language, seed=seed)) for seed in range(20))
            assert not {letter for letter in text if ord(letter) not in known}


def test_colours_of_rising_days_are_those_of_the_language() -> None:
    def share(language: Language, of: str) -> float:
        look = Look(language=language, theme=LIGHT, letter=20, arrangement="across")
        colour = np.array([int(getattr(look, of)[at : at + 2], 16) for at in (1, 3, 5)])
        pixels = np.asarray(picture("candlestick chart", "computer screenshot", language=language, seed=3), dtype=int)
        return float((abs(pixels - colour).sum(axis=2) < 12).mean())

    scene = make_scene("candlestick chart", language="en", seed=3)
    assert share("en", "rise") == pytest.approx(share("zh", "rise"), rel=0.1), scene
    assert share("en", "fall") == pytest.approx(share("zh", "fall"), rel=0.1)
    looks = {language: Look(language=language, theme=LIGHT, letter=20, arrangement="across") for language in LANGUAGES}
    assert looks["en"].rise == looks["zh"].fall != looks["zh"].rise


def test_bars_are_as_high_as_their_values(monkeypatch: pytest.MonkeyPatch) -> None:
    heights: list[float] = []
    finish: Callable[[Plot], Image.Image] = Plot.image

    def measured(self: Plot) -> Image.Image:
        heights.extend(float(bar.get_height()) for bar in self.figure.axes[0].patches)  # type: ignore[attr-defined]
        return finish(self)

    monkeypatch.setattr(Plot, "image", measured)
    scene: Any = make_scene("statistical chart", language="en", seed=1)
    draw(scene, style="computer screenshot", seed=1)
    assert heights == [value for values in scene.series.values() for value in values]


def test_kept_pictures_still_look_like_this(request: pytest.FixtureRequest) -> None:
    """Another matplotlib or FreeType may shift letters by a pixel, not move or recolour anything.

    `pytest tests/benchmarks/mme_finance --update-golden` keeps new ones; then look at them.
    """
    kept = Path(__file__).parents[2] / "golden" / "mme_finance"
    for image_type, style in (("candlestick chart", SCREENS[0]), ("document", SCREENS[1]), ("mixed chart", SCREENS[2])):
        drawn = picture(image_type, style).resize((160, 120), Image.Resampling.BOX)
        path = kept / f"{image_type.split()[0]}.png"
        if request.config.getoption("--update-golden", default=False):
            path.parent.mkdir(exist_ok=True)
            drawn.save(path)
        difference = np.abs(np.asarray(drawn, dtype=int) - np.asarray(Image.open(path), dtype=int))
        assert difference.mean() < 1.5, path.name


def test_save(tmp_path: Path) -> None:
    shown = picture("table", "vertical screenshot on mobile")
    path = save(shown, tmp_path / "one", style="vertical screenshot on mobile")
    assert path.name == "one.png"
    assert fingerprint(Image.open(path)) == fingerprint(shown)
    photo = save(picture("table", "mobile photograph"), tmp_path / "two", style="mobile photograph")
    assert photo.name == "two.jpg"
    assert photo.stat().st_size < 260_000
    assert path.stat().st_size < 160_000


def test_only_known_styles() -> None:
    with pytest.raises(ConfigError, match=r"computer screenshot, .* got 'oil on canvas'"):
        picture("table", "oil on canvas")


def test_text_breaks_where_it_may() -> None:
    lines = wrapped("Revenue of $1,284.5 million came in above the year before.", 20, "en", 200)
    assert len(lines) > 2
    assert all(text_width(line, 20, "en") <= 200 for line in lines)
    assert any("$1,284.5" in line for line in lines)
    text = "营业收入12.84亿美元\uff0c上年同期为11.02亿美元\uff1b毛利率为30.2%。"  # full-width comma and semicolon
    chinese = wrapped(text, 20, "zh", 130)
    assert "".join(chinese) == text
    assert not any(line[0] in "\uff0c\uff1b。" for line in chinese)
    assert any("12.84" in line for line in chinese)


def test_no_font_for_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.font_manager import fontManager

    monkeypatch.setattr(fonts, "_PACKAGE", ("a-package-that-is-not-there", "font.ttf"))
    monkeypatch.setattr(fontManager, "ttflist", [])
    with pytest.raises(ConfigError, match=r"Noto Sans SC, found none.*pip install 'fin-tasks\[pictures\]'"):
        fonts._chinese()


def test_fonts_say_what_they_are() -> None:
    english, chinese = fonts.font_file("en"), fonts.font_file("zh")
    assert english.name == "DejaVu Sans Book"
    assert chinese.path != english.path
    assert len(english.sha256) == len(chinese.sha256) == 64


def marks(scene: CandleScene, style: str, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Box, Box]]:
    """The texts of the highest and the lowest price, their boxes, and that of all lines in their columns."""
    found: list[tuple[str, Box, Box]] = []
    finish: Callable[[Plot], Image.Image] = Plot.image

    def measured(self: Plot) -> Image.Image:
        image = finish(self)
        axes = self.figure.axes[0]
        for text in axes.texts:
            box = Text.get_window_extent(text)  # without the line to the candle
            points = [point for line in axes.lines for point in axes.transData.transform(line.get_xydata())]
            ys = [y for x, y in points if box.x0 <= x <= box.x1]
            whole = (box.x0, min(ys), box.x1, max(ys))
            found.append((text.get_text(), (box.x0, box.y0, box.x1, box.y1), whole))
        return image

    monkeypatch.setattr(Plot, "image", measured)
    draw(scene, style=style, seed=1)
    return found


@pytest.mark.parametrize("style", SCREENS)
@pytest.mark.parametrize("seed", range(5))
def test_marked_prices_are_beyond_all_candles_and_lines(style: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = make_scene("candlestick chart", language="en", seed=seed)
    assert isinstance(scene, CandleScene)
    found = {text: (box, lines) for text, box, lines in marks(scene, style, monkeypatch)}
    (box, lines), (low, lines_low) = (
        found[f"{value:.2f}"] for value in (max(scene.prices.high), min(scene.prices.low))
    )
    assert box[1] > lines[3] - 1
    assert low[3] < lines_low[1] + 1


@pytest.mark.parametrize("style", SCREENS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_values_above_bars_stay_above_their_own_bar(
    style: str, language: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    widths: list[tuple[float, float]] = []
    finish: Callable[[Plot], Image.Image] = Plot.image

    def measured(self: Plot) -> Image.Image:
        image = finish(self)
        for axes in self.figure.axes:
            bars = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
            for text, bar in zip(axes.texts, bars, strict=True):
                widths.append((Text.get_window_extent(text).width, bar.get_window_extent().width))
        return image

    monkeypatch.setattr(Plot, "image", measured)
    for seed in range(16):
        scene = make_scene("statistical chart", language=language, seed=seed)
        if isinstance(scene, StatisticsScene) and scene.form == "bar":
            draw(scene, style=style, seed=seed)
    assert len(widths) > 30
    assert all(text <= bar + 1 for text, bar in widths), max(text - bar for text, bar in widths)
