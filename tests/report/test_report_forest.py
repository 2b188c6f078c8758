"""The forest plot: the same bytes for the same numbers, and any text in it."""

from pathlib import Path

import matplotlib as mpl

from fin_tasks.report.forest import Effect, draw_forest

EFFECTS = [
    Effect(heading="bm25 against none", name="all", value=0.05, low=-0.01, high=0.11, n=90, whole=True),
    Effect(heading="bm25 against none", name="  TU", value=0.1, low=None, high=None, n=1),
    Effect(
        heading="a $model_{x}$ \x1b[31m" + "with a long name " * 12, name="TR", value=None, low=None, high=None, n=0
    ),
]


def draw(stem: Path) -> tuple[bytes, str]:
    png, svg = draw_forest(EFFECTS, stem, title="What changed", caption="Made up.", axis="change")
    return png.read_bytes(), svg.read_text()


def test_the_same_numbers_give_the_same_bytes_whatever_the_settings(tmp_path: Path) -> None:
    first = draw(tmp_path / "first")
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red"}):
        assert draw(tmp_path / "second") == first
    assert first[0].startswith(b"\x89PNG")


def test_no_text_of_strangers_gets_into_the_markup(tmp_path: Path) -> None:
    _, svg = draw(tmp_path / "plot")
    assert "\x1b" not in svg
    assert "2026" not in svg  # no date
