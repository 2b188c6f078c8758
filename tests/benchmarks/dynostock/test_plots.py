"""The figures of bias index and accuracy: what is on them, that nothing hides, and that bytes do not change."""

import csv
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from fin_tasks.benchmarks.dynostock.plots import Series, draw_windows, drawing, save, write_table
from fin_tasks.benchmarks.dynostock.score import Counts

SIZES = (4, 8, 12, 16, 20)


def counts(correct: int, led: int, no_answer: int = 0) -> Counts:
    return Counts(total=100, correct=correct, wrong_by_bias=led, no_answer=no_answer)


def models(n: int, **names: str) -> list[Series]:
    generator = np.random.default_rng(n)
    return [
        Series(
            model=names.get(f"m{i}", f"org/a-model-of-{i}b"),
            counts={size: counts(int(generator.integers(40, 70)), int(generator.integers(0, 30))) for size in SIZES},
        )
        for i in range(n)
    ]


def drawn(series: list[Series]) -> Figure:
    figure = draw_windows(series, bias="recency", parser="paper")
    FigureCanvasAgg(figure).draw()
    return figure


def test_points_and_bars_are_the_numbers() -> None:
    one = Series(model="m", counts={4: counts(58, 10), 20: counts(66, 0)})
    with drawing():
        figure = drawn([one])
    index, accuracy = figure.axes
    assert index.lines[0].get_ydata().tolist() == [10 / 42, 0.0]
    assert accuracy.lines[0].get_ydata().tolist() == [0.58, 0.66]
    assert [label.get_text() for label in index.get_xticklabels()] == ["4", "20"]
    for axes, intervals in (
        (index, [c.bias_index_interval for c in one.counts.values()]),
        (accuracy, [c.accuracy_interval for c in one.counts.values()]),
    ):
        (bars,) = (artist for artist in axes.collections if isinstance(artist, LineCollection))
        ends = [segment[:, 1].tolist() for segment in bars.get_segments()]
        assert ends == [[interval.low, interval.high] for interval in intervals]
        low, high = axes.get_ylim()
        assert low <= min(map(min, ends)) and high >= max(map(max, ends))


@pytest.mark.parametrize("n", [2, 3, 8, 12])
def test_bars_of_models_stand_beside_each_other(n: int) -> None:
    with drawing():
        figure = drawn(models(n))
    for axes in figure.axes:
        at = sorted(axes.transData.transform([[line.get_xdata()[0], 0.0]])[0][0] for line in axes.lines)
        width = max(bars.get_linewidth()[0] for bars in axes.collections) * figure.dpi / 72
        assert min(np.diff(at)) >= 0.95 * width
        first, second = (axes.transData.transform([[size, 0.0]])[0][0] for size in SIZES[:2])
        assert at[-1] - at[0] < 0.6 * (second - first)  # no doubt which size a point belongs to


@pytest.mark.parametrize("n", [1, 3, 8])
def test_words_neither_leave_the_figure_nor_cover_each_other(n: int) -> None:
    with drawing():
        figure = drawn(models(n, m0="a-name/" + "x" * 60) if n == 8 else models(n))
    (legend,) = figure.legends
    boxes = [text.get_window_extent() for text in figure.texts] + [legend.get_window_extent()]
    for axes in figure.axes:
        boxes.append(axes.get_tightbbox())
    for i, box in enumerate(boxes):
        assert box.x0 >= 0 and box.y0 >= 0
        assert box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1
        for other in boxes[i + 1 :]:
            assert not (box.x0 < other.x1 and other.x0 < box.x1 and box.y0 < other.y1 and other.y0 < box.y1)
    assert len({(line.get_color(), line.get_marker()) for line in figure.axes[0].lines}) == n


def test_same_results_same_bytes_whatever_the_users_settings(tmp_path: Path) -> None:
    contents = []
    for name, settings in (("a", {}), ("b", {"font.size": 20, "axes.facecolor": "red", "savefig.dpi": 30})):
        with mpl.rc_context(settings):
            before = dict(mpl.rcParams)
            with drawing():
                paths = save(draw_windows(models(3), bias="authority", parser="robust"), tmp_path / name)
            assert dict(mpl.rcParams) == before
        contents.append([path.read_bytes() for path in paths])
    assert contents[0] == contents[1]
    assert [path.suffix for path in paths] == [".png", ".svg"]
    assert b"<dc:date>" not in contents[0][1] and b"Matplotlib" not in contents[0][0]


def test_names_of_strangers_are_drawn_as_they_are(tmp_path: Path) -> None:
    odd = models(3, m0=r"cost $\frac{$", m1="red \x1b[31m\nnext", m2="</text><script>")
    with drawing():
        figure = drawn(odd)
        save(figure, tmp_path / "odd")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        r"cost $\frac{$",
        r"red \x1b[31m\nnext",
        "</text><script>",
    ]
    assert b"<script>" not in (tmp_path / "odd.svg").read_bytes()
    write_table(odd, tmp_path / "odd.csv")
    assert "\x1b" not in (tmp_path / "odd.csv").read_text()


def test_a_model_that_is_never_wrong_can_be_drawn() -> None:
    with drawing():
        figure = drawn([Series(model="m", counts={4: counts(100, 0)})])
    assert figure.axes[0].lines[0].get_ydata().tolist() == [0.0]
    assert figure.axes[1].get_ylim()[1] >= 1.0


def test_the_table_holds_what_is_drawn(tmp_path: Path) -> None:
    write_table([Series(model="m", counts={8: counts(58, 10, 3), 4: counts(100, 0)})], tmp_path / "t.csv")
    first, second = csv.DictReader((tmp_path / "t.csv").read_text().splitlines())
    assert (first["window"], second["window"]) == ("4", "8")
    assert [second[name] for name in ("n", "correct", "wrong", "wrong_by_bias", "no_answer")] == [
        *("100", "58", "42", "10", "3")
    ]
    assert float(second["accuracy_low"]) == pytest.approx(0.4821, abs=1e-4)
    assert float(second["bias_index"]) == pytest.approx(10 / 42, abs=1e-6)
