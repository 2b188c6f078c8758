"""What candlesticks and indicators share: the figures above the chart, days along it, legends in colour."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING

from fin_tasks.benchmarks.mme_finance.drawing.look import Box, Look
from fin_tasks.benchmarks.mme_finance.drawing.plots import Plot
from fin_tasks.benchmarks.mme_finance.drawing.sheet import Sheet, line_height, text_width
from fin_tasks.benchmarks.mme_finance.scenes import Prices

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["draw_candles", "figures_above", "frame_of", "legend", "name_days"]


def figures_above(sheet: Sheet, box: Box, figures: Mapping[str, str]) -> int:
    """Print labels with their values below, in as few lines as there is room for; return the pixel where they end."""
    size = sheet.look.letter
    small = round(size * 0.85)
    widest = max(text_width(value, size, sheet.look.language, bold=True) for value in figures.values())
    columns = next((count for count in (len(figures), 4, 3) if widest + size <= box.width // count), 2)
    step = line_height(small) + line_height(size) + size // 3
    for at, (label, value) in enumerate(figures.items()):
        x = box.left + (at % columns) * box.width // columns
        y = box.top + at // columns * step
        sheet.text((x, y), label, size=small, colour=sheet.look.theme.muted)
        signed = {"+": sheet.look.rise, "-": sheet.look.fall}
        sheet.text((x, y + line_height(small)), value, bold=True, colour=signed.get(value[0]))
    return box.top + -(-len(figures) // columns) * step


def legend(sheet: Sheet, at: tuple[int, int], entries: Sequence[tuple[str, str]], *, size: int) -> None:
    """Write entries, each in its colour, one after the other."""
    x, y = at
    for text, colour in entries:
        sheet.text((x, y), text, size=size, colour=colour)
        x += text_width(text, size, sheet.look.language) + size


def frame_of(prices: Prices) -> "pd.DataFrame":
    """Return prices as mplfinance takes them."""
    import pandas as pd

    return pd.DataFrame(
        {name: getattr(prices, name) for name in ("open", "high", "low", "close", "volume")},
        index=pd.DatetimeIndex([day.isoformat() for day in prices.days]),
    )


def draw_candles(axes: "Axes", prices: Prices, look: Look, *, volume: "Axes | None" = None) -> None:
    """Let mplfinance draw the candles, and bars of volume, a place for each trading day."""
    import mplfinance as mpf

    colours = mpf.make_marketcolors(up=look.rise, down=look.fall, edge="inherit", wick="inherit", volume="inherit")
    mpf.plot(
        frame_of(prices),
        type="candle",
        ax=axes,
        volume=volume if volume is not None else False,
        style=mpf.make_mpf_style(marketcolors=colours),
        update_width_config={"candle_width": 0.66, "candle_linewidth": 1.4, "volume_width": 0.66},
        xlabel="",
        ylabel="",
        ylabel_lower="",
    )
    if volume is not None:
        volume.set_ylabel("")  # mplfinance writes the power of ten there, beyond the edge
        for bar in volume.patches:
            bar.set_linewidth(0)


def name_days(plot: Plot, axes: "Axes", days: Sequence[date]) -> None:
    """Put as many days along the lower edge as there is room for, the first and the last among them."""
    axes.set_xlim(-1, len(days))
    width = axes.get_window_extent().width
    count = max(2, min(6, int(width / (plot.measure("2000-00-00", 0.82) * 1.5))))
    at = sorted({round(step * (len(days) - 1) / (count - 1)) for step in range(count)})
    plot.name_ticks(axes, "x", at, [days[place].isoformat() for place in at])
    labels = axes.get_xticklabels()
    labels[0].set_horizontalalignment("left")
    labels[-1].set_horizontalalignment("right")
