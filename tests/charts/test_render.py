"""Pictures: their size and bytes, what is where in them, and odd prices."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from hashlib import sha256
from itertools import combinations
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from PIL import Image

from fin_tasks.benchmarks.dynostock.charting import chart_between
from fin_tasks.benchmarks.dynostock.market import sample_market
from fin_tasks.charts import png, style
from fin_tasks.charts.compose import Picture
from fin_tasks.charts.render import compose, render
from fin_tasks.charts.spec import ChartSpec, Mark
from fin_tasks.errors import DataError

REPORTS = tuple(Mark(date(2010, 1, 20 + n), kind, f"2010-01-{20 + n}\n+0.1") for n, kind in ((0, "meet"), (7, "miss")))


@pytest.fixture
def spec(prices: pd.DataFrame) -> ChartSpec:
    marks = (*REPORTS, Mark(date(2010, 3, 27), "meet", "2010-03-27\n+0.20"), Mark(date(2010, 3, 31), "fiscal", "end"))
    return ChartSpec(title="T", stem="T", prices=prices, marks=marks, dpi=80)


def opened(image: bytes) -> Image.Image:
    with Image.open(io.BytesIO(image)) as picture:
        picture.load()
        return picture


def boxes_of(picture: Picture) -> dict[str, Bbox]:
    """Every text that shows, by what it says and where it is."""
    with mpl.rc_context(style.settings()):
        figure = picture.canvas.figure
        figure.draw_without_rendering()
        renderer = picture.canvas.get_renderer()
        texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
        boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in texts]
    return {f"{words!r} at {box.x0:.0f}, {box.y0:.0f}": box for words, box in boxes}


def triangles_of(picture: Picture) -> Iterator[Bbox]:
    half = picture.triangle_size / 2
    for x, y in picture.triangles:
        yield Bbox.from_extents(x - half, y - half, x + half, y + half)


def assert_legible(picture: Picture) -> None:
    """Everything is inside the picture, no text covers another, and no label a triangle."""
    width, height = picture.canvas.get_width_height()
    texts, triangles = boxes_of(picture), list(triangles_of(picture))
    outside = [name for name, box in texts.items() if box.x0 < 0 or box.y0 < 0 or box.x1 > width or box.y1 > height]
    assert not outside
    assert not [(a, b) for (a, one), (b, other) in combinations(texts.items(), 2) if one.overlaps(other)]
    panel = picture.canvas.figure.axes[0].bbox
    assert all(panel.contains(box.x0, box.y0) and panel.contains(box.x1, box.y1) for box in triangles)
    assert not [name for name, box in texts.items() if any(box.overlaps(triangle) for triangle in triangles)]
    smaller = [box.shrunk(0.98, 0.98) for box in triangles]
    assert not [pair for pair in combinations(smaller, 2) if pair[0].overlaps(pair[1])]


@pytest.mark.parametrize(("width", "dpi", "pixels"), [(10.0, 80, (800, 480)), (10 + 1 / 3, 101, (1044, 606))])
def test_the_size_is_exact_and_nothing_but_the_picture_is_stored(
    spec: ChartSpec, width: float, dpi: int, pixels: tuple[int, int]
) -> None:
    sized = replace(spec, width=width, dpi=dpi)
    picture = opened(render(sized))
    assert picture.size == sized.pixels == pixels
    assert picture.mode == "RGB"
    assert set(picture.info) == {"dpi"}
    assert picture.info["dpi"] == pytest.approx((dpi, dpi), abs=0.02)


def test_sizes_of_all_kinds_are_exact() -> None:
    prices = pd.DataFrame({"close": [1.0, 2.0]}, index=pd.to_datetime(["2010-01-04", "2010-01-05"]))
    for days in range(300, 420, 7):
        sized = ChartSpec(title="", stem="", prices=prices, width=days / 30, dpi=37)
        assert compose(sized).canvas.get_width_height() == sized.pixels


def test_the_file_holds_the_pixels_as_drawn(spec: ChartSpec) -> None:
    random = np.random.default_rng(0).integers(0, 256, (97, 41, 4), dtype=np.uint8)
    assert np.array_equal(np.asarray(opened(png.encode(random, dpi=72))), random[..., :3])
    picture = compose(spec)
    with mpl.rc_context(style.settings()):
        picture.canvas.draw()
    drawn = np.asarray(picture.canvas.buffer_rgba())
    assert (drawn[..., 3] == 255).all()
    assert np.array_equal(np.asarray(opened(render(spec))), drawn[..., :3])


def test_the_users_settings_change_no_byte_and_stay(spec: ChartSpec) -> None:
    before = render(spec)
    with mpl.rc_context({"font.size": 30, "axes.grid": True, "figure.autolayout": True, "lines.linewidth": 9}):
        plt.style.use("dark_background")
        kept = dict(mpl.rcParams)
        assert render(spec) == before
        assert dict(mpl.rcParams) == kept
    assert plt.get_fignums() == []


DRAW = """
import sys, json, locale
import pandas as pd
from datetime import date
if len(sys.argv) > 2: locale.setlocale(locale.LC_ALL, sys.argv[2])
from fin_tasks.charts.spec import ChartSpec, Mark
from fin_tasks.charts.render import render
from hashlib import sha256
marks = [Mark(date.fromisoformat(day), kind, label) for day, kind, label in json.loads(sys.argv[1])]
prices = pd.read_pickle("prices.pkl")
spec = ChartSpec(title="T", stem="T", prices=prices, marks=tuple(marks), dpi=80)
print(spec.key(), sha256(render(spec)).hexdigest())
"""


def test_another_process_in_another_place_draws_the_same_bytes(spec: ChartSpec, tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_text(
        "font.family: monospace\ndate.epoch: 0000-12-31\ntimezone: Asia/Tokyo\naxes.formatter.use_locale: True\n"
        "savefig.dpi: 7\ntext.antialiased: False\npath.sketch: 1, 100, 2\nbackend: svg\n"
    )
    elsewhere = {"MATPLOTLIBRC": str(tmp_path), "TZ": "Pacific/Kiritimati", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "7"}
    spec.prices.to_pickle(tmp_path / "prices.pkl")
    marks = json.dumps([[mark.date.isoformat(), mark.kind, mark.label] for mark in spec.marks])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", DRAW, marks, "C.UTF-8"],
        cwd=tmp_path,
        env={**os.environ, **elsewhere, "MPLCONFIGDIR": str(tmp_path / "config")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [spec.key(), sha256(render(spec)).hexdigest()]


def test_fonts_come_with_matplotlib(spec: ChartSpec) -> None:
    with mpl.rc_context(style.settings()):
        figure = compose(spec).canvas.figure
        figure.draw_without_rendering()
    files = {text.get_fontproperties().get_file() for text in figure.findobj(Text) if text.get_text()}
    assert {Path(str(file)).name for file in files} == {"DejaVuSans.ttf", "DejaVuSans-Bold.ttf"}
    assert all(Path(str(file)).is_relative_to(mpl.get_data_path()) for file in files)


@pytest.mark.parametrize("ticker", ["AAPL", "IBM", "MSFT"])
@pytest.mark.parametrize("n", [4, 8, 12, 16, 20])
def test_real_windows_can_be_read(ticker: str, n: int) -> None:
    market = sample_market()
    reports = market.reports_between(ticker, date(2001, 1, 1), date(2013, 3, 1))
    for newest in (len(reports) - 1, len(reports) - 3):
        end, oldest = reports["reported"][newest].date(), reports["reported"][newest - n + 1].date()
        chart = chart_between(market, ticker, oldest - timedelta(days=30), end, dpi=100)
        picture = compose(chart)
        assert len(picture.labels) == len(picture.triangles) == len(chart.marks) >= 2 * n - 1
        assert_legible(picture)


@pytest.mark.parametrize("width", [7.5, 10.0, 30.0])
def test_many_reports_can_be_read(prices: pd.DataFrame, width: float) -> None:
    days = [date(2010, 1, 4) + timedelta(days=6 * n) for n in range(26)]
    marks = [Mark(day, "meet" if n % 3 else "miss", f"{day}\n{n:+d}") for n, day in enumerate(days)]
    marks += [Mark(day, "fiscal", str(day)) for day in days]
    assert_legible(compose(ChartSpec(title="T", stem="T", prices=prices, marks=tuple(marks), width=width, dpi=100)))


def test_reports_of_one_day_stand_on_each_other(prices: pd.DataFrame) -> None:
    marks = tuple(Mark(date(2010, 3, 27), "meet", f"2010-03-27\n+{n}") for n in range(4))
    picture = compose(ChartSpec(title="T", stem="T", prices=prices, marks=marks, dpi=100))
    assert_legible(picture)
    assert len({x for x, _ in picture.triangles}) == 1


def test_more_marks_than_there_is_room_for(prices: pd.DataFrame) -> None:
    marks = tuple(Mark(date(2010, 3, 27), "meet", f"2010-03-27\n+{n}") for n in range(120))
    with pytest.raises(DataError, match=r"labels fit side by side into 7\.5 inches, got 120\. Show fewer days"):
        render(ChartSpec(title="T", stem="T", prices=prices, marks=marks, width=7.5, dpi=80))


def test_triangles_are_at_their_days_and_clear_of_the_prices(spec: ChartSpec) -> None:
    picture = compose(replace(spec, dpi=160))
    assert picture.kind == "candle"
    axes, half = picture.canvas.figure.axes[0], picture.triangle_size / 2
    place = axes.transData.inverted().transform
    marks = sorted(mark for mark in spec.marks if mark.kind != "fiscal")
    marks += sorted(mark for mark in spec.marks if mark.kind == "fiscal")
    for mark, label, (x, y) in zip(marks, picture.labels, picture.triangles, strict=True):
        day, _ = place((x, y))
        assert day == pytest.approx(mpl.dates.date2num(mark.date), abs=0.01)
        assert label.get_text() == mark.label
        near = spec.prices[np.abs(spec.prices.index - pd.Timestamp(mark.date)) <= pd.Timedelta(days=1)]
        if mark.kind == "fiscal":
            assert place((x, y + half))[1] < near["low"].min()
        else:
            assert place((x, y - half))[1] > near["high"].max()


def test_the_legend_is_complete_and_above_the_panels(spec: ChartSpec) -> None:
    for dpi, close in ((160, []), (80, ["Close"])):
        picture = compose(replace(spec, dpi=dpi, prices=spec.prices if dpi == 160 else spec.prices[["close"]]))
        (legend,) = picture.canvas.figure.legends
        names = ["EPS Meet", "EPS Miss", "Fiscal end", *close, "7-day moving average"]
        assert [text.get_text() for text in legend.get_texts()] == names
        assert legend.get_window_extent().y0 >= picture.canvas.figure.axes[0].bbox.y1


def test_a_line_where_candles_would_be_too_thin(spec: ChartSpec) -> None:
    kinds = {dpi: compose(replace(spec, dpi=dpi)).kind for dpi in (70, 80, 100, 300)}
    days = (spec.prices.index[-1] - spec.prices.index[0]).days
    assert {dpi: dpi * 9 / days >= 4 for dpi in kinds} == {dpi: kind == "candle" for dpi, kind in kinds.items()}
    assert compose(replace(spec, prices=spec.prices[["close"]], dpi=300)).kind == "line"


def test_more_days_than_mplfinance_likes(prices: pd.DataFrame) -> None:
    many = pd.concat([prices] * 8).set_axis(pd.bdate_range("2005-01-03", periods=8 * len(prices)))
    chart = ChartSpec(title="T", stem="T", prices=many, width=30.0, dpi=300)
    assert compose(chart).kind == "candle"


def test_volume_bars_have_the_height_and_the_colour_of_the_day(spec: ChartSpec) -> None:
    panel = compose(spec).canvas.figure.axes[1]
    (bars,) = panel.collections
    assert [path.vertices[:, 1].max() for path in bars.get_paths()] == spec.prices["volume"].tolist()
    rose = spec.prices["close"].diff().fillna(0) >= 0
    assert np.array_equal(bars.get_facecolor()[:, 1] > bars.get_facecolor()[:, 0], rose)


def scaled(prices: pd.DataFrame, factor: float) -> pd.DataFrame:
    return prices.mul([factor] * 4 + [1.0])


ODD = {
    "one day": lambda prices: prices.iloc[:1],
    "two days": lambda prices: prices.iloc[:2],
    "two days far apart": lambda prices: prices.iloc[[0, -1]],
    "constant": lambda prices: prices.assign(open=5.0, high=5.0, low=5.0, close=5.0),
    "nothing traded": lambda prices: prices.assign(volume=0.0),
    "unknown volume": lambda prices: prices.assign(volume=float("nan")),
    "infinite volume": lambda prices: prices.assign(volume=float("inf")),
    "unknown days": lambda prices: prices[prices.index.month != 2].reindex(prices.index),
    "unknown lows": lambda prices: prices.assign(low=prices["low"].where(prices.index.month != 2)),
    "one known day": lambda prices: prices.iloc[50:51].reindex(prices.index),
    "infinite price": lambda prices: prices.assign(high=prices["high"].where(prices.index.month != 2, float("inf"))),
    "huge": lambda prices: scaled(prices, 1e12),
    "tiny": lambda prices: scaled(prices, 1e-7),
    "absurd": lambda prices: scaled(prices, 1e200),
    "negative": lambda prices: prices - 60,
    "closes": lambda prices: prices[["close"]],
    "one close": lambda prices: prices[["close"]].iloc[:1],
}


@pytest.mark.parametrize("name", ODD)
def test_odd_prices_are_drawn_and_can_be_read(spec: ChartSpec, name: str) -> None:
    odd = replace(spec, prices=ODD[name](spec.prices), dpi=100)
    assert opened(render(odd)).size == odd.pixels
    assert_legible(compose(odd))


def test_any_text_is_drawn_as_it_is(spec: ChartSpec) -> None:
    title = "A$B$ \\frac 株\x1b[31m\n" + "long " * 60
    odd = replace(spec, title=title, marks=(Mark(date(2010, 3, 1), "meet", "$x$\n株\x00"),))
    render(odd)
    picture = compose(odd)
    assert_legible(picture)
    assert picture.labels[0].get_text() == "$x$\n??"
    assert not picture.labels[0].get_parse_math()


def test_the_canvas_is_agg_whatever_the_backend(spec: ChartSpec) -> None:
    assert type(compose(spec).canvas) is FigureCanvasAgg
