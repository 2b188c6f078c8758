"""Figures of a report: values with intervals by task, breakdowns, and biases against window size."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fin_tasks.benchmarks.dynostock.plots import COLOURS, MARKERS
from fin_tasks.report.dots import Dot, draw_dots
from fin_tasks.report.earlier import Parts, code_version, key_of_part
from fin_tasks.report.figures import drawing, entitle, save
from fin_tasks.report.metric_names import BENCHMARKS
from fin_tasks.report.paper_tables import Shapes
from fin_tasks.report.tables import Document, Table
from fin_tasks.sandbox import escape

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["write_figures"]

_ROWS = 90  # of one figure: a picture many screens high helps nobody
_MOST = 40  # rows of a panel, likewise
_MODELS = 14  # lines of one figure: as many as colours and markers can tell apart
_NAME = 34  # letters of a name in a legend
_CAPTION = "95 % intervals where rows are known. Rows that must not be compared with the others are left out."
_BREAKDOWNS = ("xfinbench_capabilities", "mme_finance_category")

Point = tuple[Mapping[str, Any], Mapping[str, Any]]
"""An entry with its task."""


@dataclass(frozen=True)
class _Pen:
    """Draws figures into a folder; one that an earlier report has, of the same numbers, is taken over."""

    folder: Path
    parts: Parts | None

    def draw(self, name: str, what: Any, draw: Callable[[Path], list[Path]]) -> list[Path]:
        """Draw a figure.

        Args:
            name: Of its files, without the suffix.
            what: All that decides how it looks.
            draw: Draws it, given the path without the suffix.
        """
        if self.parts is None:
            return draw(self.folder / name)
        key = key_of_part(code_version(), version("matplotlib"), name, what)
        if (taken := self.parts.take(key)) is not None:
            return [self.folder / file for file in taken]
        paths = draw(self.folder / name)
        names = [path.name for path in paths]
        self.parts.add(key, [f"{self.folder.name}/{file}" for file in names], names)
        return paths


def write_figures(document: Document, folder: Path, *, shapes: Shapes, parts: Parts | None = None) -> list[Path]:
    """Draw all figures that have a number, and the breakdowns of `shapes`, as PNG and SVG; return the files.

    Args:
        document: Of `leaderboard.document`.
        folder: Where to, right below the report's folder.
        shapes: Of `paper_tables.make`.
        parts: Those of an earlier report, from which figures that would be the same are taken over.
    """
    pen = _Pen(folder, parts)
    points = list(_points(document))
    paths: list[Path] = []
    for benchmark, name in BENCHMARKS.items():
        own = [point for point in points if point[1]["benchmark"] == benchmark and not point[1]["window"]]
        dots, left = _best(list(_headlines(document, own)))
        paths += _dots(dots, pen, f"{benchmark}_models", title=f"{name}: models", caption=f"{_CAPTION}{left}")
    for stem in _BREAKDOWNS:
        if stem in shapes:
            shape, tables = shapes[stem]
            dots, left = _first(list(_breakdown(tables, ("Overall",))))
            paths += _dots(dots, pen, stem, title=shape.title, caption=f"{_CAPTION}{left}")
    paths += _windows(points, pen)
    return paths


def _points(document: Document) -> Iterator[Point]:
    tasks = {task["id"]: task for task in document["tasks"]}
    for entry in document["entries"]:
        if entry["value"] is not None and (document["mixed"] or not entry["marks"]):
            yield entry, tasks[entry["task"]]


def _labels(document: Document) -> dict[str, str]:
    return {
        run["id"]: f"{run['label']} (published)" if run["source"] == "published" else run["label"]
        for run in document["runs"]
    }


def _headlines(document: Document, points: Sequence[Point]) -> Iterator[Dot]:
    """Give a panel for each task, a row for each run, and a colour for each way of scoring."""
    labels = _labels(document)
    panels = {task["title"]: place for place, task in enumerate(document["tasks"])}
    for entry, task in sorted(points, key=lambda point: (panels[point[1]["title"]], -point[0]["value"])):
        if entry["metric"] == task["headline"]:
            panel = task["title"].removesuffix(f" · {task['variant']}")
            yield _dot(document, entry, panel=panel, row=labels[entry["run"]], series=task["variant"])


def _best(dots: Sequence[Dot]) -> tuple[list[Dot], str]:
    """Keep the first rows of each panel, which are the best; returns them and what the caption says of it."""
    rows: dict[str, dict[str, None]] = defaultdict(dict)
    for dot in dots:
        rows[dot.panel].setdefault(dot.row)
    kept = {panel: frozenset(islice(of, _MOST)) for panel, of in rows.items()}
    left = f" The best {_MOST} of each." if any(len(of) > _MOST for of in rows.values()) else ""
    return [dot for dot in dots if dot.row in kept[dot.panel]], left


def _breakdown(tables: Sequence[Table], skip: Sequence[str]) -> Iterator[Dot]:
    """Give a panel for each table, a row for each of its columns, and a colour for each model."""
    for table in tables:
        for row in table.rows:
            for column, cell in zip(table.columns, row.cells, strict=True):
                if cell is not None and not (row.apart or cell.apart) and column.header not in skip:
                    scale = 100 if cell.unit == "points" else 1
                    low, high = (None if bound is None else bound / scale for bound in (cell.low, cell.high))
                    told_by = "published" if row.source == "published" else row.told_by
                    series = f"{row.model} ({told_by})" if told_by else row.model
                    place = {"panel": table.title, "row": column.header, "series": series}
                    yield Dot(value=cell.value / scale, low=low, high=high, n=cell.n, **place)


def _first(dots: Sequence[Dot]) -> tuple[list[Dot], str]:
    """Keep the first models, so that they can be told apart; returns them and what the caption says of it."""
    names = list(dict.fromkeys(dot.series for dot in dots))
    kept = names[:_MODELS]
    left = f" The first {_MODELS} of {len(names)} models of the table." if len(names) > _MODELS else ""
    return [dot for dot in dots if dot.series in kept], left


def _dot(document: Document, entry: Mapping[str, Any], **place: str) -> Dot:
    scale = 100 if document["metrics"][entry["metric"]]["unit"] == "points" else 1
    low, high = (None if entry[bound] is None else entry[bound] / scale for bound in ("low", "high"))
    return Dot(value=entry["value"] / scale, low=low, high=high, n=entry["n"], **place)


def _dots(dots: Sequence[Dot], pen: _Pen, name: str, *, title: str, caption: str) -> list[Path]:
    """Draw dots, in several figures where they are many."""
    paths = []
    for number, page in enumerate(_by_height(dots), 1):
        draw = partial(draw_dots, page, title=title, caption=caption, axis="per cent of full marks")
        own_name = name if number == 1 else f"{name}_{number}"
        paths += pen.draw(own_name, (page, title, caption), draw)
    return paths


def _by_height(dots: Sequence[Dot]) -> list[list[Dot]]:
    """Divide panels among figures, so that only a panel too high by itself makes one too high."""
    panels: dict[str, list[Dot]] = defaultdict(list)
    for dot in dots:
        panels[dot.panel].append(dot)
    pages: list[list[Dot]] = []
    height = 0
    for own in panels.values():
        lines = len({(dot.row, dot.series) for dot in own})
        if not pages or height + lines > _ROWS:
            pages.append([])
            height = 0
        pages[-1] += own
        height += lines
    return pages


def _windows(points: Sequence[Point], pen: _Pen) -> list[Path]:
    """Draw bias index and accuracy against window size: a figure for each bias, way of asking and way of scoring."""
    found: dict[tuple[str, ...], list[Point]] = defaultdict(list)
    for entry, task in points:
        if task["window"] and entry["metric"] in ("acc", "bias_index"):
            key = tuple(task[name] for name in ("bias", "mode", "style", "arm", "split", "variant"))
            found[key].append((entry, task))
    paths = []
    for key, own in found.items():
        series = _series(own)
        names = list(dict.fromkeys(series.values()))
        for start in range(0, len(names), _MODELS):
            page = names[start : start + _MODELS]
            lines = {name: [point for point in own if series[point[0]["run"]] == name] for name in page}
            number = [str(start // _MODELS + 1)] if start else []
            title, said = f"{key[0].capitalize()} bias", ", ".join(filter(None, key[1:]))
            draw = partial(_draw_windows, lines, title=title, said=said)
            paths += pen.draw("_".join(["dynostock", *filter(None, key), *number]), (lines, title, said), draw)
    return paths


def _series(points: Sequence[Point]) -> dict[str, str]:
    """Name the line of each run: a model's windows make one, but where one of them is there twice."""
    runs = {entry["run"]: (entry["model"], task["window"]) for entry, task in points}
    twice = {key[0] for key, count in Counter(runs.values()).items() if count > 1}
    return {run: f"{model} ({run[:8]})" if model in twice else model for run, (model, _) in runs.items()}


def _draw_windows(lines: Mapping[str, Sequence[Point]], stem: Path, *, title: str, said: str) -> list[Path]:
    from matplotlib.figure import Figure

    panels = (("bias_index", "Wrong answers that follow the signal (%)"), ("acc", "Right answers (%)"))
    with drawing():
        figure = Figure(figsize=(7.2, 3.9 + 0.17 * ((len(lines) - 1) // 3)), layout="constrained")
        for axes, (metric, axis) in zip(figure.subplots(1, 2), panels, strict=True):
            _draw_panel(axes, lines, metric)
            axes.set_ylabel(axis)
        names = [_shortened(name) for name in lines]
        figure.legend(figure.axes[1].lines, names, loc="outside lower left", ncols=3, frameon=False)
        entitle(figure, title, f"Against window size, {said}. Bars: 95 % intervals.")
        return save(figure, stem)


def _draw_panel(axes: "Axes", lines: Mapping[str, Sequence[Point]], metric: str) -> None:
    sizes = sorted({task["window"] for own in lines.values() for _, task in own})
    gap = min((b - a for a, b in zip(sizes, islice(sizes, 1, None), strict=False)), default=4)
    step = min(0.13, 0.55 / len(lines)) * gap  # intervals of one size stand beside each other
    for place, own in enumerate(lines.values()):
        look: Any = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
        there = sorted(
            ((task["window"], entry) for entry, task in own if entry["metric"] == metric), key=lambda p: p[0]
        )
        at = [size + (place - (len(lines) - 1) / 2) * step for size, _ in there]
        for x, (_, entry) in zip(at, there, strict=True):
            if entry["low"] is not None and entry["high"] is not None:
                axes.vlines(x, 100 * entry["low"], 100 * entry["high"], color=look["color"], alpha=0.28, linewidth=3)
        values = [100 * entry["value"] for _, entry in there]
        axes.plot(at, values, markersize=5, markeredgecolor="white", markeredgewidth=0.6, linewidth=1.3, **look)
    axes.set_xticks(sizes)
    axes.set_xlabel("Window size (earnings reports)")
    axes.set_ylim(-3, 103)
    axes.grid(axis="y")


def _shortened(name: str) -> str:
    text = escape(name)
    return text if len(text) <= _NAME else f"{text[: _NAME - 1]}…"
