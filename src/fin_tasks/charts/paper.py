"""A chart as the authors of DynoStock draw it, with mplfinance.

Source: Xiao, Lin, Chiu (2024), Behavioral Bias of Vision-Language Models, and the authors' code.
"""

import io
import logging
from typing import Any

import matplotlib as mpl
import matplotlib.dates
import pandas as pd
from matplotlib.axes import Axes

from .chart import Chart

_MAX_CANDLES = 600
"""From this many rows on, mplfinance warns of too much data, and the authors draw a line."""
_dates: Any = matplotlib.dates  # its functions have no types
_LOOKS = {
    "meet": ("v", "#00b060", "EPS Meet"),
    "miss": ("v", "#fe3032", "EPS Miss"),
    "fiscal": ("^", "#606060", "Fiscal End Date"),
}
"""Shape, color and label of each kind of mark."""


def draw_as_authors(chart: Chart) -> bytes:
    """Draw a chart as PNG."""
    import mplfinance
    from matplotlib import pyplot

    # The style asks for a font weight that matplotlib's own fonts lack.
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    prices = chart.prices.rename(columns=str.capitalize)
    low = prices["Low"].min()
    high = prices["High"].max()
    margin = 0.1 * (high - low)
    width = max(10.0, min((chart.end - chart.start).days / 30, 30.0))
    look = {"type": "candle", "mav": 7}
    if len(prices) >= _MAX_CANDLES:
        look = {"type": "line"}
    file = io.BytesIO()
    with mpl.rc_context():
        mpl.rcdefaults()
        figure, (axes, *_) = mplfinance.plot(
            prices,
            **look,
            title=f"{chart.ticker} stock price chart with EPS Dates",
            ylabel="Stock Price",
            ylim=(low - margin, high + margin),
            style="yahoo",
            volume=chart.has_volumes,
            show_nontrading=True,
            panel_ratios=(2, 1) if chart.has_volumes else (1,),
            figratio=(width, 6),
            figscale=1,
            returnfig=True,
        )
        every_day = prices.reindex(pd.date_range(chart.start, chart.end)).interpolate()
        away = 0.15 * (high - low)
        gap = margin / 4
        above = (every_day["High"] + away).clip(upper=high + gap)
        # A day before the first price has no height of its own: its mark is drawn at the bottom.
        below = (every_day["Low"] - away).clip(lower=low - gap).fillna(low - gap)
        for kind in ("meet", "miss"):
            _draw_marks(axes, chart, kind, above, gap)
        _draw_marks(axes, chart, "fiscal", below, -gap)
        axes.legend(frameon=False)
        figure.savefig(
            file, bbox_inches="tight", dpi=300, pil_kwargs={"compress_level": 1}
        )
        pyplot.close(figure)
    return file.getvalue()


def _draw_marks(
    axes: Axes,
    chart: Chart,
    kind: str,
    heights: "pd.Series[float]",
    gap: float,
) -> None:
    """Draw the triangles of one kind at the heights of their days, and the labels `gap` above them."""
    shape, color, label = _LOOKS[kind]
    marks = [mark for mark in chart.marks if mark.kind == kind]
    days = [mark.day for mark in marks]
    y = heights.loc[days]
    # Numbers, because days as such would change the ticks that mplfinance has set.
    x = _dates.date2num(days)
    axes.scatter(x, y, s=50, marker=shape, color=color, alpha=0.9, label=label)
    for mark, day, height in zip(marks, x, y, strict=True):
        text = f"{mark.day:%Y-%m-%d}"
        if mark.surprise is not None:
            text += f"\nSurprise: {mark.surprise:.2f}"
        axes.text(
            day,
            height + gap,
            text,
            fontsize=6,
            fontweight="bold",
            ha="center",
            va="bottom" if gap > 0 else "top",
        )
