"""Figures of a report: values with intervals by task, breakdowns, and biases against window size."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fin_tasks.benchmarks.dynostock.figures import COLOURS, MARKERS
from fin_tasks.report.dots import Dot, draw_dots
from fin_tasks.report.earlier import Parts, code_version, key_of_part
from fin_tasks.report.figures import add_legend, drawing, entitle, save
from fin_tasks.report.metric_names import BENCHMARKS
from fin_tasks.report.paper_tables import Shapes
from fin_tasks.report.published_entries import DOUBT
from fin_tasks.report.tables import PUBLISHED, Document, Row, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["write_figures"]

_ROWS = 90  # of one figure: a picture many screens high helps nobody
_MOST = 40  # rows of a panel, likewise
_MODELS = 14  # lines of one figure: as many as colours and markers can tell apart
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
            paths += _dots(
                _in_order(dots, [column.header for column in shape.columns]),
                pen,
                stem,
                title=shape.title,
                caption=f"{_CAPTION}{left}",
            )
    published = frozenset(run["id"] for run in document["runs"] if run["source"] == PUBLISHED)
    names = {run["id"]: run["label"] for run in document["runs"]}
    paths += _windows(points, pen, names=names, published=published)
    return paths


def _points(document: Document) -> Iterator[Point]:
    tasks = {task["id"]: task for task in document["tasks"]}
    for entry in document["entries"]:
        if entry["value"] is not None and (document["mixed"] or not entry["marks"]):
            yield entry, tasks[entry["task"]]


def _labels(document: Document) -> dict[str, str]:
    return {
        run["id"]: f"{run['label']} (published)" if run["source"] == PUBLISHED else run["label"]
        for run in document["runs"]
    }


def _headlines(document: Document, points: Sequence[Point]) -> Iterator[Dot]:
    """Give a panel for each task, a row for each run, and a colour for each way of scoring."""
    labels = _labels(document)
    published = {run["id"] for run in document["runs"] if run["source"] == PUBLISHED}
    panels = {task["title"]: place for place, task in enumerate(document["tasks"])}
    for entry, task in sorted(points, key=lambda point: (panels[point[1]["title"]], -point[0]["value"])):
        if entry["metric"] == task["headline"]:
            panel = task["title"].removesuffix(f" · {task['variant']}")
            row, hollow = labels[entry["run"]], entry["run"] in published
            yield _dot(document, entry, panel=panel, row=row, series=task["variant"], hollow=hollow)


def _best(dots: Sequence[Dot]) -> tuple[list[Dot], str]:
    """Keep the first rows of each panel, which are the best; returns them and what the caption says of it."""
    kept = _first_of_panels(dots, lambda dot: dot.row, most=_MOST)
    return kept, f" The best {_MOST} of each." if len(kept) < len(dots) else ""


def _first_of_panels(dots: Sequence[Dot], name_of: Callable[[Dot], str], *, most: int) -> list[Dot]:
    names: dict[str, dict[str, None]] = defaultdict(dict)
    for dot in dots:
        names[dot.panel].setdefault(name_of(dot))
    kept = {panel: frozenset(islice(of, most)) for panel, of in names.items()}
    return [dot for dot in dots if name_of(dot) in kept[dot.panel]]


def _breakdown(tables: Sequence[Table], skip: Sequence[str]) -> Iterator[Dot]:
    """Give a panel for each table, a row for each of its columns, and a colour for each model."""
    for table in tables:
        for row in table.rows:
            panel = _panel(table, row)
            if panel is None:
                continue
            told_by = PUBLISHED if row.source == PUBLISHED else row.told_by
            series = f"{row.model} ({told_by})" if told_by else row.model
            for column, cell in zip(table.columns, row.cells, strict=True):
                if cell is not None and not cell.apart and column.header not in skip:
                    scale = 100 if cell.unit == "points" else 1
                    low, high = (None if bound is None else bound / scale for bound in (cell.low, cell.high))
                    yield Dot(
                        panel=panel,
                        row=column.header,
                        series=series,
                        value=cell.value / scale,
                        low=low,
                        high=high,
                        n=cell.n,
                        hollow=row.source == PUBLISHED,
                    )


def _panel(table: Table, row: Row) -> str | None:
    """Name the panel of a row; what a paper prints over other rows has one of its own. None for what is left out."""
    if not row.apart:
        return table.title
    if row.source == PUBLISHED and not any(mark.startswith(DOUBT) for mark in row.marks):
        return f"{table.title}; {'; '.join(row.marks)}"
    return None


def _first(dots: Sequence[Dot]) -> tuple[list[Dot], str]:
    """Keep the first models of each panel, so that they can be told apart; returns what the caption says of it too."""
    kept = _first_of_panels(dots, lambda dot: dot.series, most=_MODELS)
    return kept, f" The first {_MODELS} models of each table." if len(kept) < len(dots) else ""


def _in_order(dots: Sequence[Dot], rows: Sequence[str]) -> list[Dot]:
    """Sort the dots of each panel by row, as a model that lacks the first row would put it last."""
    panels = list(dict.fromkeys(dot.panel for dot in dots))
    return sorted(dots, key=lambda dot: (panels.index(dot.panel), rows.index(dot.row)))


def _dot(document: Document, entry: Mapping[str, Any], *, panel: str, row: str, series: str, hollow: bool) -> Dot:
    scale = 100 if document["metrics"][entry["metric"]]["unit"] == "points" else 1
    low, high = (None if entry[bound] is None else entry[bound] / scale for bound in ("low", "high"))
    value = entry["value"] / scale
    return Dot(panel=panel, row=row, series=series, value=value, low=low, high=high, n=entry["n"], hollow=hollow)


def _dots(dots: Sequence[Dot], pen: _Pen, name: str, *, title: str, caption: str) -> list[Path]:
    """Draw dots, in several figures where they are many."""
    paths = []
    for number, page in enumerate(_pages(dots), 1):
        draw = partial(draw_dots, page, title=title, caption=caption, axis="per cent of full marks")
        own_name = name if number == 1 else f"{name}_{number}"
        paths += pen.draw(own_name, (page, title, caption), draw)
    return paths


def _pages(dots: Sequence[Dot]) -> list[list[Dot]]:
    """Divide panels among figures: none too high, or with more series than can be told apart, but by one panel."""
    panels: dict[str, list[Dot]] = defaultdict(list)
    for dot in dots:
        panels[dot.panel].append(dot)
    pages: list[list[Dot]] = []
    height, series = 0, set[str]()
    for own in panels.values():
        lines, names = len({(dot.row, dot.series) for dot in own}), {dot.series for dot in own}
        if not pages or height + lines > _ROWS or len(series | names) > _MODELS:
            pages.append([])
            height, series = 0, set()
        pages[-1] += own
        height += lines
        series |= names
    return pages


def _windows(points: Sequence[Point], pen: _Pen, *, names: Mapping[str, str], published: frozenset[str]) -> list[Path]:
    """Draw bias index and accuracy against window size: a figure for each bias, way of asking and way of scoring."""
    found: dict[tuple[str, ...], list[Point]] = defaultdict(list)
    for entry, task in points:
        if task["window"] and entry["metric"] in ("acc", "bias_index"):
            key = tuple(task[name] for name in ("bias", "mode", "style", "arm", "split", "variant"))
            found[key].append((entry, task))
    paths = []
    for key, own in found.items():
        lines = _lines(own, names, published)
        for start in range(0, len(lines), _MODELS):
            page = lines[start : start + _MODELS]
            number = [str(start // _MODELS + 1)] if start else []
            title, said = f"{key[0].capitalize()} bias", ", ".join(filter(None, key[1:]))
            draw = partial(_draw_windows, page, title=title, said=said)
            paths += pen.draw("_".join(["dynostock", *filter(None, key), *number]), (page, title, said), draw)
    return paths


@dataclass(frozen=True)
class _Line:
    """A model's values over window sizes; dashed and hollow where a paper prints them."""

    name: str
    published: bool
    points: Sequence[Point]

    def look(self, place: int) -> dict[str, Any]:
        """Return how it is drawn as the line of this number."""
        colour = COLOURS[place % len(COLOURS)]
        of_all = {"color": colour, "marker": MARKERS[place % len(MARKERS)], "linewidth": 1.3, "markersize": 5}
        if self.published:
            return {**of_all, "linestyle": (0, (3, 2)), "markerfacecolor": "white", "markeredgewidth": 1.0}
        return {**of_all, "markeredgecolor": "white", "markeredgewidth": 0.6}


def _lines(points: Sequence[Point], names: Mapping[str, str], published: frozenset[str]) -> list[_Line]:
    """Make the line of each run: a model's windows make one, but where one of them is there twice."""
    runs = {entry["run"]: (names[entry["run"]], task["window"], entry["run"] in published) for entry, task in points}
    twice = {(name, printed) for (name, _, printed), count in Counter(runs.values()).items() if count > 1}
    found: dict[tuple[str, bool], list[Point]] = defaultdict(list)
    for entry, task in points:
        name, _, printed = runs[entry["run"]]
        told_by = [PUBLISHED] * printed + [entry["run"][:8]] * ((name, printed) in twice)
        found[f"{name} ({', '.join(told_by)})" if told_by else name, printed].append((entry, task))
    return [_Line(name, printed, own) for (name, printed), own in found.items()]


def _draw_windows(lines: Sequence[_Line], stem: Path, *, title: str, said: str) -> list[Path]:
    from matplotlib.figure import Figure

    panels = (("bias_index", "Wrong answers that follow the signal (%)"), ("acc", "Right answers (%)"))
    with drawing():
        figure = Figure(figsize=(7.2, 3.9 + 0.17 * ((len(lines) - 1) // 2)), layout="constrained")
        for axes, (metric, axis) in zip(figure.subplots(1, 2), panels, strict=True):
            _draw_panel(axes, lines, metric)
            axes.set_ylabel(axis)
        add_legend(figure, figure.axes[1].lines, [line.name for line in lines])
        printed = " Dashed and hollow: published figures." if any(line.published for line in lines) else ""
        entitle(figure, title, f"Against window size, {said}. Bars: 95 % intervals.{printed}")
        return save(figure, stem)


def _draw_panel(axes: "Axes", lines: Sequence[_Line], metric: str) -> None:
    sizes = sorted({task["window"] for line in lines for _, task in line.points})
    gap = min((b - a for a, b in zip(sizes, islice(sizes, 1, None), strict=False)), default=4)
    step = min(0.13, 0.55 / len(lines)) * gap  # intervals of one size stand beside each other
    for place, line in enumerate(lines):
        look = line.look(place)
        own = ((task["window"], entry) for entry, task in line.points if entry["metric"] == metric)
        there = sorted(own, key=lambda point: point[0])
        at = [size + (place - (len(lines) - 1) / 2) * step for size, _ in there]
        for x, (_, entry) in zip(at, there, strict=True):
            if entry["low"] is not None and entry["high"] is not None:
                axes.vlines(x, 100 * entry["low"], 100 * entry["high"], color=look["color"], alpha=0.28, linewidth=3)
        axes.plot(at, [100 * entry["value"] for _, entry in there], **look)
    axes.set_xticks(sizes)
    # a window alone keeps the room that it would have among others
    room = gap if len(sizes) == 1 else 0.6 * gap
    axes.set_xlim(sizes[0] - room, sizes[-1] + room)
    axes.set_xlabel("Window size (earnings reports)")
    axes.set_ylim(-3, 103)
    axes.grid(axis="y")
