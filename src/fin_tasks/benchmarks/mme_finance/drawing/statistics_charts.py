"""Bar, line and pie charts."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from math import cos, radians, sin
from typing import TYPE_CHECKING

from fin_tasks.benchmarks.mme_finance.drawing.look import Box
from fin_tasks.benchmarks.mme_finance.drawing.plots import Plot, plotting
from fin_tasks.benchmarks.mme_finance.drawing.sheet import Sheet, line_height, text_width, wrapped
from fin_tasks.benchmarks.mme_finance.scenes import StatisticsScene

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["paint"]

_SLICE = 0.9  # of plain text, labels of slices
_BESIDE = 0.9  # of a bar's room, the widest value above it that is not turned


def paint(scene: StatisticsScene, sheet: Sheet, box: Box) -> None:
    """Write title, unit and legend, and draw the chart below."""
    size = sheet.look.letter
    large, top = round(size * 1.25), box.top
    for line in wrapped(scene.title, large, scene.language, box.width, bold=True):
        sheet.text((box.left, top), line, size=large, bold=True)
        top += line_height(large)
    if scene.form != "pie":
        sheet.text(
            (box.left, top),
            f"（{scene.unit}）" if scene.language == "zh" else f"({scene.unit})",
            size=round(size * 0.9),
            colour=sheet.look.theme.muted,
        )
        _legend(scene, sheet, box, top)
        top += line_height(size) + size // 2
    with plotting(box.width, box.bottom - top, sheet.look) as plot:
        _FORMS[scene.form](plot, scene)
        sheet.paste(plot.image(), (box.left, top))


def _legend(scene: StatisticsScene, sheet: Sheet, box: Box, top: int) -> None:
    """Write the series' names with their colours, at the right."""
    size = round(sheet.look.letter * 0.9)
    x = box.right - sum(text_width(name, size, scene.language) + 3 * size for name in scene.series) + size
    for name, colour in zip(scene.series, sheet.look.theme.series, strict=False):
        sheet.box(Box(x, top + size // 4, x + size, top + size // 4 + size), fill=colour)
        sheet.text((x + round(1.4 * size), top), name, size=size)
        x += text_width(name, size, scene.language) + 3 * size


def _bars(plot: Plot, scene: StatisticsScene) -> None:
    axes = _panel(plot, scene)
    width = 0.76 / len(scene.series)
    most = max(value for values in scene.series.values() for value in values)
    axes.set_xlim(-0.5, len(scene.labels) - 0.5)
    pitch = axes.get_window_extent().width / len(scene.labels)
    turned = plot.measure(_text(most, scene), 0.8) > pitch * width * _BESIDE
    axes.set_ylim(0, most * (1.25 if turned else 1.12))
    for at, (values, colour) in enumerate(zip(scene.series.values(), plot.look.theme.series, strict=False)):
        places = [place + (at - (len(scene.series) - 1) / 2) * width for place in range(len(values))]
        axes.bar(places, values, width=width * 0.94, color=colour)
        for place, value in zip(places, values, strict=True):
            _value(plot, axes, scene, (place, value), above=True, turned=turned)
    plot.value_ticks(axes)
    axes.grid(visible=False, axis="x")


def _lines(plot: Plot, scene: StatisticsScene) -> None:
    axes = _panel(plot, scene)
    values = [value for line in scene.series.values() for value in line]
    room = (max(values) - min(values)) * 0.15
    axes.set_xlim(-0.5, len(scene.labels) - 0.5)
    axes.set_ylim(min(values) - room, max(values) + room)
    for line, colour in zip(scene.series.values(), plot.look.theme.series, strict=False):
        axes.plot(range(len(line)), line, color=colour, linewidth=2.6, marker="o", markersize=plot.look.letter * 0.5)
        for place, value in enumerate(line):
            near = [line[at] for at in (place - 1, place + 1) if 0 <= at < len(line)]
            _value(plot, axes, scene, (place, value), above=value >= sum(near) / len(near), turned=False)
    plot.value_ticks(axes)


def _pie(plot: Plot, scene: StatisticsScene) -> None:
    """Draw slices clockwise from the top, each with its label outside, joined by a line."""
    (values,) = scene.series.values()
    beside = max(plot.measure(label, _SLICE) for label in scene.labels) + plot.look.letter / 2
    size = min((plot.width - 2 * beside) / 1.14, plot.width * 0.6, plot.height * 0.78)
    left, top = (plot.width - size) / 2, min((plot.height - size) / 2, size * 0.4)
    axes = plot.axes(Box(round(left), round(top), round(left + size), round(top + size)))
    axes.axis("off")
    slices = axes.pie(
        values, colors=plot.look.theme.series[: len(values)], startangle=90, counterclock=False, radius=1.0,
        wedgeprops={"edgecolor": plot.look.theme.card, "linewidth": 2.0},
    )[0]  # fmt: skip
    axes.set(xlim=(-1.02, 1.02), ylim=(-1.02, 1.02))
    middles = [radians((wedge.theta1 + wedge.theta2) / 2) for wedge in slices]
    step = 2.7 * plot.look.letter / size * 2.04
    for side in (-1, 1):
        chosen = [at for at, middle in enumerate(middles) if (cos(middle) > 0) == (side > 0)]
        heights = _apart([1.12 * sin(middles[at]) for at in chosen], step, most=1.02 * (1 + 2 * top / size) - step / 2)
        for at, height in zip(chosen, heights, strict=True):
            text = f"{scene.labels[at]}\n{_text(values[at], scene)}{scene.unit}"
            _slice_label(plot, axes, middles[at], (1.14 * side, height), text)


def _apart(heights: list[float], step: float, *, most: float) -> list[float]:
    """Move heights apart until no two are nearer than `step`, to both sides alike, but none above `most`."""
    order = sorted(range(len(heights)), key=lambda at: heights[at])
    moved = list(heights)
    for below, above in pairwise(order):
        moved[above] = max(moved[above], moved[below] + step)
    shift = sum(new - old for new, old in zip(moved, heights, strict=True)) / max(len(heights), 1)
    return [height - max(shift, max(moved) - most) for height in moved]


def _slice_label(plot: Plot, axes: "Axes", middle: float, at: tuple[float, float], text: str) -> None:
    """Write a label beside the pie, with a line to its slice's rim."""
    axes.annotate(
        text,
        (cos(middle), sin(middle)),
        xytext=at,
        ha="left" if at[0] > 0 else "right",
        va="center",
        annotation_clip=False,
        color=plot.look.theme.ink,
        fontproperties=plot.font(_SLICE),
        linespacing=1.25,
        arrowprops={"arrowstyle": "-", "color": plot.look.theme.muted, "linewidth": 1.0, "shrinkA": 2, "shrinkB": 0},
    )


def _panel(plot: Plot, scene: StatisticsScene) -> "Axes":
    """Make the panel with the labels along its lower edge, in two lines or smaller where they would touch."""
    size, labels = plot.look.letter, list(scene.labels)
    right = plot.width - plot.axis_room(f"{1.25 * max(max(line) for line in scene.series.values()):,.0f}", "0.00")
    room = right / len(labels) * 0.92
    if max(plot.measure(label, 0.82) for label in labels) > room:
        labels = [label.replace(" ", "\n", 1) for label in labels]
    widest = max(plot.measure(line, 0.82) for label in labels for line in label.split("\n"))
    lines = max(label.count("\n") for label in labels)
    axes = plot.axes(Box(1, 6, right, round(plot.height - (1.9 + 1.2 * lines) * size)))
    plot.name_ticks(axes, "x", range(len(labels)), labels)
    for text in axes.get_xticklabels():
        text.set_fontsize(0.82 * size * min(1.0, room / widest))
    return axes


def _value(
    plot: Plot, axes: "Axes", scene: StatisticsScene, at: tuple[float, float], *, above: bool, turned: bool
) -> None:
    from matplotlib.patheffects import withStroke

    if scene.printed:
        axes.annotate(
            _text(at[1], scene), at, path_effects=[withStroke(linewidth=4, foreground=plot.look.theme.card)],
            xytext=(0, (0.45 if above else -0.5) * plot.look.letter), textcoords="offset points",
            ha="center", va="bottom" if above else "top", rotation=90 if turned else 0,
            color=plot.look.theme.ink, fontproperties=plot.font(0.8),
        )  # fmt: skip


def _text(value: float, scene: StatisticsScene) -> str:
    return f"{value:,.{scene.decimals}f}"


_FORMS: Mapping[str, Callable[[Plot, StatisticsScene], None]] = {"bar": _bars, "line": _lines, "pie": _pie}
