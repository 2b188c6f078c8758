"""One chart: what is drawn where, and in which colors."""

import io
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from fin_tasks.charts import candlestick
from fin_tasks.charts.candlestick import draw
from fin_tasks.charts.chart import Chart
from fin_tasks.errors import DataError, FinTasksError

START = date(2010, 1, 4)
GREEN, RED, GRAY = (0x00, 0xA0, 0x46), (0xE0, 0x22, 0x2C), (0x70, 0x70, 0x70)


def made(
    n: int = 101,
    *,
    step: float = 0.1,
    marks: tuple[tuple[int, float], ...] = (),
    **options: Any,
) -> Chart:
    """`n` days that all rise (or fall) by `step`, and reports (day, surprise) of quarters that ended 9 days before."""
    days = pd.date_range(START, periods=n)
    close = 50 + step * np.arange(n)
    prices = {
        "open": close - step,
        "high": close + 0.3,
        "low": close - 0.3,
        "close": close,
        "volume": 1e6,
    }
    reports = pd.DataFrame(
        [(days[day], surprise) for day, surprise in marks],
        columns=["reported", "surprise"],
    )
    reports["reported"] = pd.to_datetime(reports["reported"])
    reports["fiscal_end"] = reports["reported"] - pd.Timedelta(days=9)
    base = {"ticker": "T", "start": START, "end": days[-1].date(), "reports": reports}
    return Chart(**{**base, "prices": pd.DataFrame(prices, index=days), **options})


def pixels(chart: Chart) -> Any:
    return np.asarray(Image.open(io.BytesIO(draw(chart))).convert("RGB"))


def triangles(image: Any, color: tuple[int, int, int]) -> list[tuple[float, bool]]:
    """Return the x of each triangle of a color below the legend, and whether it points down."""
    from scipy import ndimage

    mask = (image == color).all(axis=2)
    mask[:90] = False
    found = []
    for y, x in ndimage.find_objects(ndimage.label(mask)[0]):
        shape = mask[y, x]
        if shape.sum() > 60:
            points_down = shape[:3].sum() > shape[-3:].sum()
            found.append(((x.start + x.stop - 1) / 2, points_down))
    return sorted(found)


@pytest.mark.parametrize(
    ("step", "surprise", "color"), [(0.1, -0.01, RED), (-0.1, 0.0, GREEN)]
)
def test_a_mark_has_its_color_and_stands_at_its_day(
    step: float, surprise: float, color: Any
) -> None:
    """All candles have the other color, so that everything of this color is a mark."""
    marks = ((0, surprise), (50, surprise), (100, surprise))
    image = pixels(made(step=step, marks=marks))
    assert image.shape == (1024, 2048, 3)
    (first, _), (middle, _), (last, _) = reports = triangles(image, color)
    (early, _), (late, _) = ends = triangles(image, GRAY)  # one is before the first day
    assert [down for _, down in [*reports, *ends]] == [True] * 3 + [False] * 2
    assert last - first > 1700
    assert middle == pytest.approx((first + last) / 2, abs=1)
    nine_days = 0.09 * (last - first)
    assert (middle - early, last - late) == pytest.approx([nine_days] * 2, abs=1)


def test_candles_and_volume_agree_in_color() -> None:
    chart = made(80)
    # The later ones close below their open, and above the day before.
    chart.prices.loc[chart.prices.index[40:], "open"] += 0.3
    image = pixels(chart)
    for panel in (image[90:760], image[800:965]):
        early = panel[:, :940]
        late = panel[:, 990:]
        for part, color, other in ((early, GREEN, RED), (late, RED, GREEN)):
            assert (part == color).all(axis=2).sum() > 100
            assert not (part == other).all(axis=2).any()


def test_candles_stand_in_the_middle_of_their_day() -> None:
    from scipy import ndimage

    image = pixels(made(5, marks=((2, -0.1),)))
    ((mark, _),) = triangles(image, RED)
    is_green = (image == GREEN).all(axis=2)
    of_the_day = []
    for rows, columns in ndimage.find_objects(ndimage.label(is_green)[0]):
        if columns.stop - columns.start > 40 and columns.start < mark < columns.stop:
            of_the_day.append((rows, columns))
            assert abs((columns.start + columns.stop - 1) / 2 - mark) <= 1.5
    (body, _), _ = of_the_day  # the other one is the day's volume
    # The candle is six times as high as its body. Its thin line is not quite of the color.
    middle = image[90:760, int(mark) - 1 : int(mark) + 3].astype(int)
    is_greenish = middle[:, :, 1] - middle[:, :, [0, 2]].max(axis=2) > 20
    height = is_greenish.any(axis=1).sum()
    assert height / (body.stop - body.start) == pytest.approx(6, abs=0.5)


def test_long_periods_have_candles_of_weeks() -> None:
    """A week that ends with the last day holds nothing of the days after."""
    from scipy import ndimage

    falls = made(700)
    falls.prices.loc[falls.prices.index[-1:], ["low", "close"]] = 1.0
    drawn = (pixels(falls)[90:760] == RED).all(axis=2).any(axis=0)
    ((columns,),) = ndimage.find_objects(ndimage.label(drawn)[0])
    assert 8 <= columns.stop - columns.start <= 20, "one week, several pixels wide"


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the list of the figures that are drawn from now on."""
    drawn: list[Any] = []
    make = candlestick.Figure

    def keep(**options: Any) -> Any:
        drawn.append(make(**options))
        return drawn[-1]

    monkeypatch.setattr(candlestick, "Figure", keep)
    return drawn


@pytest.mark.parametrize("n_reports", [4, 40])
def test_labels_cover_neither_prices_nor_each_other(
    n_reports: int, figures: list[Any]
) -> None:
    days = 30 + 91 * (n_reports - 1) + 1
    marks = tuple((day, -0.12) for day in range(30, days, 91))
    image = Image.open(io.BytesIO(draw(made(days, marks=marks))))
    axes = figures[0].axes[0]
    boxes = [text.get_window_extent() for text in axes.texts]
    lowest, highest = (
        axes.transData.transform((0, y))[1] for y in (49.7, 50.3 + 0.1 * (days - 1))
    )
    assert image.size == (2048, 1024)
    assert len(boxes) == 2 * n_reports
    assert all(box.y1 < lowest or box.y0 > highest for box in boxes)
    panel = axes.bbox.padded(1)
    assert all(panel.x0 < box.x0 and box.x1 < panel.x1 for box in boxes)
    assert all(panel.y0 < box.y0 and box.y1 < panel.y1 for box in boxes)
    assert not [
        box for n, box in enumerate(boxes) for other in boxes[:n] if box.overlaps(other)
    ]
    # of 2,048 pixels, so that letters have ten where a model sees 1,500
    assert min(box.height for box in boxes) > 10


def test_a_small_chart_is_the_same_picture() -> None:
    grays = []
    for width in (2048, 1024):
        image = Image.open(io.BytesIO(draw(made(marks=((50, 0.1),), pixels=width))))
        assert image.size == (width, width // 2)
        small = image.convert("L").resize((128, 64), Image.Resampling.BOX)
        grays.append(np.asarray(small).astype(float))
    assert np.abs(grays[0] - grays[1]).mean() < 4


def as_upstream(chart: Chart) -> Any:
    """The authors' picture, from what is known of it: positions as numbers, after mplfinance has set its axes."""
    import matplotlib as mpl
    import matplotlib.dates as mdates
    import mplfinance
    from matplotlib import pyplot as plt

    prices = chart.prices.rename(columns=str.capitalize)
    low, high = prices["Low"].min(), prices["High"].max()
    buffer = (high - low) * 0.1
    width = max(10, min((chart.end - chart.start).days / 30, 30))
    with mpl.rc_context():
        mpl.rcdefaults()
        figure, axes = mplfinance.plot(
            prices,
            type="candle",
            mav=7,
            volume=True,
            style="yahoo",
            title=f"{chart.ticker} stock price chart with EPS Dates",
            ylabel="Stock Price",
            figratio=(width, 6),
            figscale=1,
            panel_ratios=(2, 1),
            show_nontrading=True,
            ylim=(low - buffer, high + buffer),
            returnfig=True,
        )
        every = prices.reindex(pd.date_range(chart.start, chart.end)).interpolate()
        for outcome, color in (("Meet", "#00b060"), ("Miss", "#fe3032")):
            rows = chart.reports[
                (chart.reports["surprise"] >= 0) == (outcome == "Meet")
            ]
            x = [mdates.date2num(day) for day in rows["reported"]]
            y = [
                min(every["High"][day] + 0.15 * (high - low), high + buffer / 4)
                for day in rows["reported"]
            ]
            axes[0].scatter(
                x, y, s=50, marker="v", color=color, alpha=0.9, label=f"EPS {outcome}"
            )
            for day, height, surprise in zip(x, y, rows["surprise"], strict=True):
                text = f"{mdates.num2date(day):%Y-%m-%d}\nSurprise: {surprise:.2f}"
                look = {
                    "fontsize": 6,
                    "fontweight": "bold",
                    "ha": "center",
                    "va": "bottom",
                }
                axes[0].text(day, height + buffer / 4, text, **look)
        ends = chart.reports["fiscal_end"]
        ends = ends[ends >= pd.Timestamp(chart.start)]
        x = [mdates.date2num(day) for day in ends]
        y = [
            max(low - buffer / 4, every["Low"][day] - 0.15 * (high - low))
            for day in ends
        ]
        look = {"s": 50, "marker": "^", "color": "#606060", "alpha": 0.9}
        axes[0].scatter(x, y, label="Fiscal End Date", **look)
        for day, height in zip(x, y, strict=True):
            look = {"fontsize": 6, "fontweight": "bold", "ha": "center", "va": "top"}
            axes[0].text(
                day, height - buffer / 4, f"{mdates.num2date(day):%Y-%m-%d}", **look
            )
        axes[0].legend(frameon=False)
        file = io.BytesIO()
        figure.savefig(file, dpi=300, bbox_inches="tight")
        plt.close(figure)
    return np.asarray(Image.open(file).convert("RGB"))


def test_the_paper_style_is_the_authors_picture(
    caplog: pytest.LogCaptureFixture,
) -> None:
    # The first quarter ends on a day before the first price.
    marks = ((11, 0.2), (102, -0.3), (182, 0.0))
    chart = made(200, prices=made(200).prices.iloc[4:], marks=marks, style="paper")
    ours = pixels(chart)
    assert not [
        record for record in caplog.records if "findfont" in record.getMessage()
    ]
    theirs = as_upstream(chart)
    assert ours.shape == theirs.shape and (ours == theirs).all()


def test_paper_draws_a_line_from_600_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    import mplfinance

    seen = []

    def plot(_: Any, **options: Any) -> Any:
        seen.append((options["type"], options.get("mav")))
        raise StopIteration

    monkeypatch.setattr(mplfinance, "plot", plot)
    for rows in (599, 600):
        with pytest.raises(StopIteration):
            draw(made(rows, style="paper"))
    assert seen == [("candle", 7), ("line", None)]


def test_any_ticker_gives_a_name_of_a_file() -> None:
    assert made(ticker="../BRK.B").stem.startswith("BRK-B_2010-01-04_")


def test_what_cannot_be_drawn_is_refused() -> None:
    closes = made().prices.assign(high=float("nan"))
    for options in (
        {"pixels": 5},
        {"prices": closes},
        {"start": date(2012, 1, 1)},
    ):
        with pytest.raises(FinTasksError):
            made(**options)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="Show fewer days"):
        draw(made(marks=tuple((day, 0.1) for day in range(101))))


@pytest.mark.parametrize("style", ["house", "paper"])
def test_without_volumes_there_is_no_panel_of_volumes(style: Any) -> None:
    chart = made(style=style)
    for unknown in (np.nan, 0.0):
        prices = chart.prices.assign(volume=unknown)
        bare = made(style=style, prices=prices)
        assert not bare.has_volumes and bare.file_name != chart.file_name
    # The lowest green line of the picture is that of a candle, and not of a bar of volume.
    without, with_volumes = map(lowest_green, (bare, chart))
    assert without < with_volumes


def lowest_green(chart: Chart) -> float:
    """Return how far down the picture green reaches, as a share of its height."""
    image = pixels(chart).astype(int)
    is_green = (image[:, :, 1] > image[:, :, 0] + 60).any(axis=1)
    return float(np.flatnonzero(is_green).max() / len(image))


def test_axes_of_a_flat_price_and_of_volumes(figures: list[Any]) -> None:
    columns = dict.fromkeys(("open", "high", "low", "close"), 50.0)
    draw(made(prices=made().prices.assign(**columns)))
    prices, volumes = figures[0].axes
    assert figures[0].texts[0].get_text().startswith("T: daily prices")
    assert prices.get_ylim() == pytest.approx((49.95, 50.05))
    assert volumes.get_ylim() == pytest.approx((0, 1.08))
