"""One chart: what is drawn where, and in which colors."""

import io
from datetime import date
from typing import Any

import mplfinance
import numpy as np
import pandas as pd
import pytest
from PIL import Image
from scipy import ndimage

from fin_tasks.charts import candlestick
from fin_tasks.charts.candlestick import Chart, draw
from fin_tasks.errors import DataError, FinTasksError

START = date(2010, 1, 4)
GREEN, RED, GRAY = (0x00, 0xA0, 0x46), (0xE0, 0x22, 0x2C), (0x70, 0x70, 0x70)


def made(
    n: int = 101, *, step: float = 0.1, marks: tuple[tuple[int, float], ...] = (), **options: Any
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
        [(days[day], surprise) for day, surprise in marks], columns=["reported", "surprise"]
    )
    reports["reported"] = pd.to_datetime(reports["reported"])
    reports["fiscal_end"] = reports["reported"] - pd.Timedelta(days=9)
    base = {"ticker": "T", "start": START, "end": days[-1].date(), "reports": reports, "dpi": 100}
    return Chart(**{**base, "prices": pd.DataFrame(prices, index=days), **options})


def pixels(chart: Chart) -> Any:
    return np.asarray(Image.open(io.BytesIO(draw(chart))).convert("RGB"))


def triangles(image: Any, color: tuple[int, int, int]) -> list[tuple[float, bool]]:
    """Return the x of each triangle of a color below the legend, and whether it points down."""
    mask = (image == color).all(axis=2)
    mask[:62] = False
    places = [
        place for place in ndimage.find_objects(ndimage.label(mask)[0]) if mask[place].sum() > 30
    ]
    return sorted(
        ((x.start + x.stop - 1) / 2, mask[y, x][:3].sum() > mask[y, x][-3:].sum())
        for y, x in places
    )


@pytest.mark.parametrize(("step", "surprise", "color"), [(0.1, -0.01, RED), (-0.1, 0.0, GREEN)])
def test_a_mark_has_its_color_and_stands_at_its_day(
    step: float, surprise: float, color: Any
) -> None:
    """All candles have the other color, so that everything of this color is a mark."""
    image = pixels(made(step=step, marks=((0, surprise), (50, surprise), (100, surprise))))
    assert image.shape == (600, 1000, 3)
    (first, _), (middle, _), (last, _) = reports = triangles(image, color)
    (early, _), (late, _) = ends = triangles(image, GRAY)  # one is before the first day
    assert [down for _, down in [*reports, *ends]] == [True] * 3 + [False] * 2
    assert last - first > 800 and middle == pytest.approx((first + last) / 2, abs=1)
    assert (middle - early, last - late) == pytest.approx([0.09 * (last - first)] * 2, abs=1)


def test_candles_and_volume_agree_in_color() -> None:
    chart = made(80)
    chart.prices.loc[chart.prices.index[40:], "open"] += (
        0.3  # they close below their open, above the day before
    )
    image = pixels(chart)
    for panel in (image[62:450], image[460:565]):
        for color, other, part in ((GREEN, RED, panel[:, :450]), (RED, GREEN, panel[:, 480:])):
            assert (part == color).all(axis=2).sum() > 100 and not (part == other).all(axis=2).any()


@pytest.mark.parametrize(
    ("days", "width"), [(365, 12.1333), (1825, 30.0), (3650, 30.0), (100, 10.0)]
)
def test_labels_cover_neither_prices_nor_each_other(
    days: int, width: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures: list[Any] = []
    make = candlestick.Figure
    monkeypatch.setattr(
        candlestick, "Figure", lambda **options: figures.append(make(**options)) or figures[0]
    )
    image = Image.open(
        io.BytesIO(
            draw(made(days, marks=tuple((day, -0.12) for day in range(9, days, 91)), dpi=300))
        )
    )
    axes, boxes = (
        figures[0].axes[0],
        [text.get_window_extent() for text in figures[0].axes[0].texts],
    )
    lowest, highest = (axes.transData.transform((0, y))[1] for y in (49.7, 50.3 + 0.1 * (days - 1)))
    assert image.size == (round(width * 300), 1800)
    assert len(boxes) == 2 * len(range(9, days, 91))
    assert all(box.y1 < lowest or box.y0 > highest for box in boxes)
    assert all(axes.bbox.padded(1).fully_containsx(x) for box in boxes for x in (box.x0, box.x1))
    assert all(axes.bbox.padded(1).fully_containsy(y) for box in boxes for y in (box.y0, box.y1))
    assert not [box for n, box in enumerate(boxes) for other in boxes[:n] if box.overlaps(other)]
    assert [text.get_text().split()[0] for text in figures[0].texts] == ["Price", "Volume", "T:"]


def test_paper_draws_a_line_from_600_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    plot, seen = mplfinance.plot, list[dict[str, Any]]()
    monkeypatch.setattr(
        mplfinance,
        "plot",
        lambda prices, **options: seen.append(options) or plot(prices, **options),
    )
    for rows in (599, 600):
        draw(made(rows, marks=((300, 0.2),), style="paper", dpi=50))
    assert [(options["type"], options.get("mav")) for options in seen] == [
        ("candle", 7),
        ("line", None),
    ]


def test_what_cannot_be_drawn_is_refused() -> None:
    closes = made().prices.assign(high=float("nan"))
    for options in ({"style": "x"}, {"dpi": 5}, {"prices": closes}, {"start": date(2012, 1, 1)}):
        with pytest.raises(FinTasksError):
            made(**options)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="Show fewer days"):
        draw(made(marks=tuple((day, 0.1) for day in range(101))))
