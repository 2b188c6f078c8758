"""Draws the pictures of the offline sample, so that each of them can be redrawn and checked.

The curves are computed from the numbers the questions state; which line carries which letter is decided here and
nowhere else. matplotlib is a development dependency and imported only when something is drawn; pyplot and its global
figures are not used at all.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURES", "draw_all"]

_INCHES = (6.4, 4.4)
_DPI = 100
_COLOURS = ("#1f4e79", "#b3401f", "#2e7d4f", "#7a4fa3")
_GREY = "#777777"
_POINT: Mapping[str, Any] = MappingProxyType({"color": "black", "marker": "o", "linestyle": "none", "markersize": 6})

Array = npt.NDArray[np.float64]


def draw_all(out: Path) -> list[Path]:
    """Draw every figure of the sample as a PNG file.

    The files carry no date and no version, so the same matplotlib writes the same bytes again.

    Args:
        out: Folder for the files; it is created where it is missing, and files of the same name are replaced.

    Returns:
        The paths written, in the order of `FIGURES`.
    """
    from matplotlib import style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    out.mkdir(parents=True, exist_ok=True)
    paths = []
    with style.context("default"):  # whatever the user's own matplotlibrc says; restored on leaving
        for name, draw in FIGURES.items():
            figure = Figure(figsize=_INCHES, dpi=_DPI, layout="constrained")
            FigureCanvasAgg(figure)
            draw(figure.add_subplot())
            path = out / f"{name}.png"
            figure.savefig(path, format="png", metadata={"Software": None})
            paths.append(path)
    return paths


def _frame(axes: "Axes", *, title: str, x: str, y: str) -> None:
    axes.set_title(title, fontsize=11)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)


def _mark(axes: "Axes", label: str, at: tuple[float, float], shift: tuple[float, float] = (7, 7)) -> None:
    """Put a dot at a place and its bold label a few points away from it."""
    axes.plot(*at, **_POINT)
    _label(axes, label, at, shift)


def _label(
    axes: "Axes", label: str, at: tuple[float, float], shift: tuple[float, float], colour: str = "black"
) -> None:
    axes.annotate(
        label, at, xytext=shift, textcoords="offset points", fontsize=12, fontweight="bold", color=colour, ha="center"
    )


def _bare(axes: "Axes") -> None:
    """Hide the scales of a diagram that has a shape but no numbers."""
    axes.set_xticks([])
    axes.set_yticks([])


def _payoffs(axes: "Axes") -> None:
    price = np.linspace(40, 70, 301)
    profits = {
        "A": 8 - abs(price - 55),
        "B": np.clip(price - 50, 0, 10) - 3,
        "C": np.clip(60 - price, 0, 10) - 5,
        "D": np.maximum(5 - abs(price - 55), 0) - 1,
    }
    places = {"A": (54.0, 7.0, -8, 6), "B": (67.0, 7.0, 0, 6), "C": (43.0, 5.0, 0, 6), "D": (45.5, -1.0, 0, 5)}
    for (letter, profit), colour in zip(profits.items(), _COLOURS, strict=True):
        axes.plot(price, profit, color=colour, linewidth=2)
        x, y, right, up = places[letter]
        _label(axes, letter, (x, y), (right, up), colour)
    axes.axhline(0, color=_GREY, linewidth=0.8)
    axes.set_xticks(range(40, 71, 5))
    _frame(axes, title="Profit at expiry", x="Share price at expiry ($)", y="Profit per share ($)")


def _loanable_funds(axes: "Axes") -> None:
    quantity = np.linspace(1, 9, 50)
    lines: dict[str, tuple[Array, str, str]] = {
        "S": (quantity, _COLOURS[0], "-"),
        "S'": (quantity - 2, _COLOURS[0], "--"),
        "D": (8 - quantity, _COLOURS[1], "-"),
        "D'": (10 - quantity, _COLOURS[1], "--"),
    }
    for name, (rate, colour, dashes) in lines.items():
        shown = (rate >= 0.5) & (rate <= 8)
        axes.plot(quantity[shown], rate[shown], color=colour, linestyle=dashes, linewidth=2)
        _label(axes, name, (quantity[shown][-1], rate[shown][-1]), (12, -2), colour)
    # O: before; A: both curves move; B: demand moves; C: supply moves
    for name, at in {"O": (4.0, 4.0), "A": (6.0, 4.0), "B": (5.0, 5.0), "C": (5.0, 3.0)}.items():
        _mark(axes, name, at, (0, 9))
    axes.set_xlim(0, 10)
    axes.set_ylim(0, 9)
    _bare(axes)
    _frame(axes, title="Market for loanable funds", x="Quantity of funds", y="Real interest rate")


def _reserves(axes: "Axes") -> None:
    before, after, floor, lending = 4.0, 8.0, 2.0, 7.0
    slope_from, slope_to = 1.5, 6.5  # reserves at which demand leaves the lending rate and reaches the floor

    def demanded_at(quantity: float) -> float:
        return lending + (quantity - slope_from) * (floor - lending) / (slope_to - slope_from)

    demand = [(0.5, lending), (slope_from, lending), (slope_to, floor), (9.5, floor)]
    axes.plot(*zip(*demand, strict=True), color=_COLOURS[1], linewidth=2)
    beyond = [(slope_to, floor), (after, demanded_at(after))]
    axes.plot(*zip(*beyond, strict=True), color=_COLOURS[1], linestyle=":", linewidth=1.2)
    axes.plot([before, before], [0, lending], color=_COLOURS[0], linestyle="--", linewidth=2)
    axes.plot([after, after], [0, lending], color=_COLOURS[0], linewidth=2)
    for level in (floor, lending):
        axes.axhline(level, color=_GREY, linewidth=0.8, linestyle=":")
    axes.text(slope_from + 0.3, 7.1, "lending facility", color=_GREY, fontsize=9)
    axes.text(0.5, floor + 0.15, "interest on reserves", color=_GREY, fontsize=9)
    axes.text(2.1, 5.6, "demand", color=_COLOURS[1], fontsize=10, rotation=-40, rotation_mode="anchor")
    _mark(axes, "O", (before, demanded_at(before)), (12, 5))
    _mark(axes, "A", (after, demanded_at(after)), (12, 0))
    _mark(axes, "B", (after, demanded_at(before)), (12, 0))
    _mark(axes, "C", (after, floor), (12, 6))
    axes.set_xlim(0, 10)
    axes.set_ylim(0, 8)
    _bare(axes)
    _frame(axes, title="Market for bank reserves", x="Quantity of reserves", y="Overnight rate")


def _zero_curves(axes: "Axes") -> None:
    years = np.linspace(1, 10, 91)
    curves: dict[str, Array] = {
        "A": 1.5 + 2.2 * (1 - np.exp(-(years - 1) / 3)),
        "B": 2.6 + 1.1 * (years - 1) * np.exp(-(years - 1) / 2.5),
        "C": np.full_like(years, 5.0),
        "D": 6.4 - 2.0 * (1 - np.exp(-(years - 1) / 3)),
    }
    for (letter, rate), colour in zip(curves.items(), _COLOURS, strict=True):
        axes.plot(years, rate, color=colour, linewidth=2)
        _label(axes, letter, (years[0], rate[0]), (-10, -4), colour)
    axes.set_xlim(0.4, 10.2)
    axes.set_ylim(1, 7)
    axes.set_xticks(range(1, 11))
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    _frame(axes, title="Zero curves on four dates", x="Maturity (years)", y="Zero rate (%)")


def _frontier(axes: "Axes") -> None:
    risk_free, least_mean, least_risk, width = 2.0, 7.0, 6.0, 2.2
    mean = np.linspace(2.8, 13.5, 200)

    def risk(value: Array | float) -> Array:
        return np.sqrt(least_risk**2 + (width * (np.asarray(value) - least_mean)) ** 2)

    # where the line from the risk-free rate touches the hyperbola
    tangent_mean = least_mean + least_risk**2 / (width**2 * (least_mean - risk_free))
    tangent_risk = float(risk(tangent_mean))
    slope = (tangent_mean - risk_free) / tangent_risk
    axes.plot(risk(mean), mean, color=_COLOURS[0], linewidth=2)
    axes.plot([0, 17], [risk_free, risk_free + 17 * slope], color=_COLOURS[1], linewidth=2)
    axes.axvline(12, color=_GREY, linewidth=0.8, linestyle=":")
    frontier_mean = least_mean + np.sqrt(12**2 - least_risk**2) / width
    _mark(axes, "A", (tangent_risk, tangent_mean), (-9, 5))
    _mark(axes, "B", (12.0, risk_free + 12 * slope), (-9, 4))
    _mark(axes, "C", (12.0, frontier_mean), (10, -14))
    _mark(axes, "D", (least_risk, least_mean), (14, -5))
    axes.set_xlim(0, 17.5)
    axes.set_ylim(0, 19)
    _frame(axes, title="Risky frontier and line from the risk-free rate", x="Standard deviation (%)", y="Mean (%)")


def _price_yield(axes: "Axes") -> None:
    rate = np.linspace(0.03, 0.13, 101)

    def straight(years: int) -> Array:
        annuity = (1 - (1 + rate) ** -years) / rate
        return 8 * annuity + 100 * (1 + rate) ** -years

    long_bond = straight(30)
    # a smooth minimum of the straight price and the call price: close to either one far from the point of call
    callable_bond = -4 * np.logaddexp(-long_bond / 4, -105 / 4)
    curves: dict[str, Array] = {"A": callable_bond, "B": long_bond, "C": straight(3)}
    for (letter, price), colour in zip(curves.items(), _COLOURS, strict=False):
        axes.plot(100 * rate, price, color=colour, linewidth=2)
        _label(axes, letter, (3.0, price[0]), (-10, -4), colour)
    axes.axhline(105, color=_GREY, linewidth=0.8, linestyle=":")
    axes.text(13, 106.5, "call price 105", color=_GREY, fontsize=9, ha="right")
    axes.set_xlim(2.4, 13.2)
    _frame(axes, title="Price and yield", x="Yield (%)", y="Price (% of face value)")


def _lattice(axes: "Axes") -> None:
    start, up = 80.0, 1.25
    nodes = {(step, rise): start * up ** (2 * rise - step) for step in range(3) for rise in range(step + 1)}
    names = {(0, 0): "root", (1, 1): "U", (1, 0): "V"}
    for (step, rise), price in nodes.items():
        height = 2 * rise - step
        if step < 2:
            for move in (1, -1):
                axes.plot([step, step + 1], [height, height + move], color=_GREY, linewidth=1.2, zorder=1)
        axes.plot(step, height, color=_COLOURS[0], marker="o", markersize=9)
        axes.text(step, height - 0.3, f"${price:.2f}", ha="center", va="top", fontsize=11)
        axes.text(step, height + 0.2, names.get((step, rise), ""), ha="center", fontsize=12, fontweight="bold")
    axes.set_xlim(-0.3, 2.3)
    axes.set_ylim(-2.8, 2.6)
    axes.set_xticks([0, 1, 2])
    axes.set_yticks([])
    _frame(axes, title="Share price on a lattice", x="Step", y="")
    axes.spines["left"].set_visible(False)


def _market_line(axes: "Axes") -> None:
    beta = np.array([0.0, 1.8])
    axes.plot(beta, 3 + 5 * beta, color=_COLOURS[0], linewidth=2)
    axes.text(1.33, 8.7, "security market line", color=_COLOURS[0], fontsize=9)
    forecasts = {"A": (1.5, 10.5), "B": (0.6, 8.5), "C": (1.0, 6.0), "D": (1.2, 10.0)}
    for letter, at in forecasts.items():
        _mark(axes, letter, at, (0, 8))
    axes.set_xlim(0, 1.9)
    axes.set_ylim(0, 13)
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    _frame(axes, title="Required and forecast returns", x="Beta", y="Expected return (%)")


def _npv_profiles(axes: "Axes") -> None:
    rate = np.linspace(0, 0.25, 101)
    flows = {"A": (-100, 65, 45, 28), "B": (-100, 20, 45, 78), "C": (-100, 5, 20, 122)}
    for (letter, stream), colour in zip(flows.items(), _COLOURS, strict=False):
        value = sum((flow / (1 + rate) ** year for year, flow in enumerate(stream)), np.zeros_like(rate))
        axes.plot(100 * rate, value, color=colour, linewidth=2)
        _label(axes, letter, (0, float(value[0])), (-10, -4), colour)
    axes.axhline(0, color=_GREY, linewidth=0.8)
    axes.axvline(12, color=_GREY, linewidth=0.8, linestyle=":")
    axes.set_xlim(-1.2, 25)
    axes.set_xticks(range(0, 26, 4))
    _frame(axes, title="Net present value profiles", x="Discount rate (%)", y="Net present value ($ million)")


def _loss_density(axes: "Axes") -> None:
    shape, scale = 4.0, 2.0
    loss = np.linspace(0, 60, 3001)  # far beyond the picture, as the shortfall needs the whole tail
    density = loss ** (shape - 1) * np.exp(-loss / scale) / (scale**shape * 6)
    cumulative = np.cumsum(density) * (loss[1] - loss[0])
    threshold = float(loss[np.searchsorted(cumulative, 0.95)])
    tail = loss >= threshold
    shortfall = float(np.average(loss[tail], weights=density[tail]))
    axes.plot(loss, density, color=_COLOURS[0], linewidth=2)
    axes.fill_between(loss[tail], density[tail], color=_COLOURS[1], alpha=0.6, linewidth=0)
    markers = {"A": (shape - 1) * scale, "B": shape * scale, "C": threshold, "D": shortfall}
    for letter, at in markers.items():
        height = float(np.interp(at, loss, density))
        axes.plot([at, at], [0, height + 0.012], color="black", linewidth=1.2, linestyle="--")
        _label(axes, letter, (at, height + 0.012), (0, 4))
    axes.text(19.5, 0.03, "worst 5 % of days", color=_COLOURS[1], fontsize=10)
    axes.set_xlim(0, 26)
    axes.set_ylim(0, 0.14)
    _frame(axes, title="Distribution of the one-day loss", x="Loss ($ million)", y="Density")


def _drawdowns(axes: "Axes") -> None:
    quarter = [0, 3, 6, 10, 14, 20, 24, 28, 32]
    value = [100, 125, 100, 200, 150, 160, 112, 400, 305]
    axes.plot(quarter, value, color=_COLOURS[0], linewidth=2, marker="o", markersize=4)
    for number, (x, y) in enumerate(zip(quarter, value, strict=True)):
        above = number % 2 == 1  # troughs and peaks take turns
        axes.annotate(str(y), (x, y), xytext=(0, 7 if above else -16), textcoords="offset points", ha="center")
    axes.set_ylim(0, 440)
    _frame(axes, title="Value of a fund at its peaks and troughs", x="Quarter", y="Value ($ million)")
    for letter, (start, end) in {"A": (3, 6), "B": (10, 14), "C": (28, 32), "D": (10, 24)}.items():
        height = 12 if letter == "D" else 42
        axes.annotate("", (end, height), xytext=(start, height), arrowprops={"arrowstyle": "<->", "color": "black"})
        _label(axes, letter, ((start + end) / 2, height), (0, 4))


FIGURES: Mapping[str, Callable[["Axes"], None]] = MappingProxyType(
    {
        "sample_figure_0": _payoffs,
        "sample_figure_1": _loanable_funds,
        "sample_figure_2": _reserves,
        "sample_figure_3": _zero_curves,
        "sample_figure_4": _frontier,
        "sample_figure_5": _price_yield,
        "sample_figure_6": _lattice,
        "sample_figure_7": _market_line,
        "sample_figure_8": _npv_profiles,
        "sample_figure_9": _loss_density,
        "sample_figure_10": _drawdowns,
    }
)
"""Drawing function of each figure, by the name that the `figure` column of the sample holds."""
