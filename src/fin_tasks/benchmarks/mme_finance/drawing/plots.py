"""A chart of matplotlib's, as a part of a picture: a pixel is a point, and nothing of the user's settings gets in."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from PIL import Image

from fin_tasks.benchmarks.mme_finance.drawing.fonts import for_matplotlib
from fin_tasks.benchmarks.mme_finance.drawing.look import Box, Look
from fin_tasks.charts.figures import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.font_manager import FontProperties

__all__ = ["Plot", "plotting"]

_TICKS = 0.82  # of plain text


class Plot:
    """A figure of a fixed size in pixels."""

    def __init__(self, width: int, height: int, look: Look) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.width, self.height, self.look = width, height, look
        # a hair more than the size in pixels, as the canvas rounds down
        size = ((width + 1e-6) / 72, (height + 1e-6) / 72)
        self.figure = Figure(figsize=size, dpi=72, facecolor=look.theme.card)
        self.canvas = FigureCanvasAgg(self.figure)

    def axes(self, box: Box) -> "Axes":
        """Make a panel at a place in pixels from the upper left corner."""
        theme = self.look.theme
        axes = self.figure.add_axes(
            (
                box.left / self.width,
                1 - box.bottom / self.height,
                box.width / self.width,
                box.height / self.height,
            ),
            facecolor=theme.card,
        )
        axes.spines[:].set(color=theme.grid, linewidth=1.0, visible=True)
        axes.grid(visible=True, color=theme.grid, linewidth=0.8)
        axes.set_axisbelow(True)
        return axes

    def font(self, factor: float = 1.0, *, bold: bool = False) -> "FontProperties":
        """Return the font, as large as plain text times `factor`."""
        return for_matplotlib(self.look.language, round(self.look.letter * factor), bold=bold)

    def axis_room(self, *texts: str) -> int:
        """Return the pixels that a vertical axis with such labels takes."""
        return round(max(self.measure(text, _TICKS) for text in texts)) + 10

    def measure(self, text: str, factor: float = 1.0) -> float:
        """Return the pixels a line of text is wide."""
        width, _, _ = self.canvas.get_renderer().get_text_width_height_descent(  # type: ignore[no-untyped-call]
            text, self.font(factor), ismath=False
        )
        return float(width)

    def name_ticks(self, axes: "Axes", axis: Literal["x", "y"], at: Sequence[float], names: Sequence[str]) -> None:
        """Put these ticks on an axis."""
        (axes.set_xticks if axis == "x" else axes.set_yticks)(
            at, names, fontproperties=self.font(_TICKS), color=self.look.theme.muted, rotation=0
        )
        axes.tick_params(axis=axis, length=0, pad=6)
        if axis == "y":
            axes.yaxis.tick_right()

    def value_ticks(self, axes: "Axes", *, most: int = 6, decimals: int | None = None) -> None:
        """Put round numbers on the vertical axis, within its limits."""
        from matplotlib.ticker import MaxNLocator

        low, high = axes.get_ylim()
        values = MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
        edge = (high - low) * 0.02 if low else 0.0  # a line on the frame's own would look like a mistake
        shown = [float(value) for value in values if low + edge <= value <= high - edge]
        places = decimals if decimals is not None else _places(shown)
        self.name_ticks(axes, "y", shown, [f"{value:,.{places}f}" for value in shown])
        axes.set_ylim(low, high)

    def image(self) -> Image.Image:
        """Draw it."""
        self.canvas.draw()  # type: ignore[no-untyped-call]
        pixels = self.canvas.buffer_rgba()  # type: ignore[no-untyped-call]
        return Image.frombuffer("RGBA", self.canvas.get_width_height(), pixels).convert("RGB")


@contextmanager
def plotting(width: int, height: int, look: Look) -> Iterator[Plot]:
    """Make a plot, under fixed settings while it is made and drawn."""
    with drawing({"font.size": look.letter, "axes.unicode_minus": False}):
        plot = Plot(width, height, look)
        yield plot
        plot.figure.clear()


def _places(values: Sequence[float]) -> int:
    """Return how many places after the point tell the ticks apart."""
    return next((places for places in range(4) if all(abs(value - round(value, places)) < 1e-9 for value in values)), 4)
