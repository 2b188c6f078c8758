"""The labels of marks: the largest letters, nearest to their triangles, with which all of them can be read."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import IdentityTransform

from fin_tasks.charts import style
from fin_tasks.charts.placement import Place, in_levels, side_by_side
from fin_tasks.charts.spec import Mark

__all__ = ["Band", "label_band"]


@dataclass(frozen=True)
class _Manner:
    """A way to write labels: letters in points, upright or turned, on so many levels; 0 pushes them aside instead."""

    size: float
    turned: bool
    levels: int


# tried in this order
_MANNERS = (
    _Manner(11, False, 1),
    _Manner(9.5, False, 1),
    _Manner(9, False, 2),
    _Manner(8, False, 3),
    _Manner(8, True, 1),
    _Manner(8, True, 2),
    _Manner(6.5, True, 2),
    _Manner(6.5, True, 0),
    _Manner(4.5, True, 0),
)
_GAP = 5.0  # points between labels, and between levels


@dataclass(frozen=True)
class Band:
    """Labels of one side of the prices.

    Attributes:
        texts: One for each mark, not yet at its place.
        places: Left edge and level of each.
        widths: Pixels of each label.
        level: Pixels from a level to the next.
    """

    texts: tuple[Text, ...]
    places: tuple[Place, ...]
    widths: tuple[float, ...]
    level: float

    @property
    def height(self) -> float:
        """Pixels that all levels take together."""
        return self.level * (1 + max(place.level for place in self.places)) if self.places else 0.0

    def put(self, edge: float, xs: Sequence[float], *, upward: bool) -> list[tuple[float, float]]:
        """Move the texts to their places, level by level from the pixel `edge`; return where lines to them end."""
        ends = []
        for text, place, width, x in zip(self.texts, self.places, self.widths, xs, strict=True):
            y = edge + place.level * self.level if upward else edge - place.level * self.level
            text.set_position((place.left, y))
            text.set_verticalalignment("bottom" if upward else "top")
            ends.append((max(place.left, min(x, place.left + width)), y))
        return ends


def label_band(
    marks: Sequence[Mark],
    xs: Sequence[float],
    *,
    figure: Figure,
    renderer: RendererAgg,
    low: float,
    high: float,
    most: float,
) -> Band | None:
    """Find the first manner of writing in which all labels fit.

    Args:
        marks: The marks of one side, oldest first.
        xs: Pixel of each mark's day.
        figure: Where the labels will be.
        renderer: Measures them.
        low: Leftmost pixel they may cover.
        high: Rightmost pixel they may cover.
        most: Pixels in height that all levels may take together.

    Returns:
        The labels and their places, or None where no manner suffices.
    """
    if not marks:
        return Band((), (), (), 0.0)
    gap = _GAP * renderer.dpi / 72
    for manner in _MANNERS:
        texts = tuple(_text(mark, manner, figure) for mark in marks)
        boxes = [text.get_window_extent(renderer) for text in texts]
        widths = tuple(float(box.width) for box in boxes)
        level = max(float(box.height) for box in boxes) + gap
        room = {"low": low, "high": high, "gap": gap * (0.6 if manner.turned else 1.0)}
        if manner.levels:
            places = in_levels(xs, widths, levels=manner.levels, **room)
        else:
            places = side_by_side(xs, widths, **room)
        if places is not None:
            band = Band(texts, tuple(places), widths, level)
            if band.height <= most:
                return band
    return None


def _text(mark: Mark, manner: _Manner, figure: Figure) -> Text:
    words = style.drawable(mark.label)
    text = Text(
        text=words.replace("\n", "  ") if manner.turned else words,
        color=style.MARKS[mark.kind].ink,
        fontproperties=style.font(manner.size),
        rotation=90 if manner.turned else 0,
        rotation_mode="default",
        multialignment="center",
        horizontalalignment="left",
        verticalalignment="bottom",
        linespacing=1.15,
        parse_math=False,  # a dollar sign in a stranger's label is a dollar sign
        transform=IdentityTransform(),
        bbox={"facecolor": style.BEHIND, "edgecolor": "none", "pad": 1.0},  # hides lines that pass behind it
        zorder=5,
    )
    text.set_figure(figure)
    return text
