"""Tables in the shapes of the papers', from a leaderboard's document."""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean, pstdev
from typing import Any

from fin_tasks.stats.intervals import Interval, pooled_interval

__all__ = ["PUBLISHED", "Cell", "Column", "Row", "Table", "arrange", "only", "over_windows", "pooled", "printed"]

PUBLISHED = "published"
"""The source of runs that are a paper's figures."""

Document = Mapping[str, Any]
Task = Mapping[str, Any]
Entry = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A number of a table.

    Attributes:
        value: In `unit`.
        unit: As of metrics in the document.
        low: Lower bound of its 95 % interval; None where there is none.
        high: Upper bound, likewise.
        n: Rows it is over; 0 where that is not known.
        deviation: Standard deviation, where the value is a mean over windows.
        windows: How many windows, likewise.
        marks: Why it differs from the other cells of its row, such as a figure that a paper prints in two ways.
        apart: It does, and is not to be compared with others.
    """

    value: float
    unit: str
    low: float | None = None
    high: float | None = None
    n: int = 0
    deviation: float | None = None
    windows: int = 0
    marks: tuple[str, ...] = ()
    apart: bool = False


Combine = Callable[[Sequence[tuple[Task, Entry, str]]], Cell | None]
"""Takes the entries of one row and column, each with its task and unit."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column.

    Attributes:
        header: Stands above it.
        takes: Whether it shows a metric of a task.
        combine: Makes one number of what it takes.
        higher_is_better: Of the number.
    """

    header: str
    takes: Callable[[Task, str], bool]
    combine: Combine
    higher_is_better: bool = True


@dataclass(frozen=True, kw_only=True)
class Row:
    """A model's numbers.

    Attributes:
        model: Its name; text of strangers.
        told_by: What tells it from other rows of the model; mostly empty.
        source: As of runs in the document.
        marks: Why it differs from most rows; empty where it does not.
        apart: It differs, and is not to be compared with the others.
        cells: By column; None where there is no number.
    """

    model: str
    told_by: str
    source: str
    marks: tuple[str, ...]
    apart: bool
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table; rows that stand apart come last.

    Attributes:
        title: Of the table.
        columns: At least one.
        rows: At least one.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    def best(self, place: int) -> float | None:
        """Return the best number of a column among what may be compared; None where only one has any.

        Where there are runs it is the best of them: published figures are made in other circumstances.
        """
        return self._best[place]

    def is_best(self, row: Row, place: int) -> bool:
        """Whether a row has the best number of a column, as far as its digits show."""
        cell, best = self._in_contest(row, place), self.best(place)
        return cell is not None and best is not None and printed(cell.value, cell.unit) == printed(best, cell.unit)

    @cached_property
    def _best(self) -> tuple[float | None, ...]:
        return tuple(self._best_of(place) for place in range(len(self.columns)))

    def _best_of(self, place: int) -> float | None:
        values = [cell.value for row in self.rows if (cell := self._in_contest(row, place)) is not None]
        if len(values) < 2:
            return None
        return max(values) if self.columns[place].higher_is_better else min(values)

    def _in_contest(self, row: Row, place: int) -> Cell | None:
        cell = row.cells[place]
        out = row.apart or (self._has_runs and row.source == PUBLISHED) or cell is None or cell.apart
        return None if out else cell

    @cached_property
    def _has_runs(self) -> bool:
        return any(row.source != PUBLISHED and not row.apart for row in self.rows)


def arrange(
    document: Document,
    *,
    columns: Sequence[Column],
    section: Callable[[Task], str | None],
) -> list[Table]:
    """Make the tables of one shape.

    Args:
        document: Of `leaderboard.document`.
        columns: Of each table; those without a number are left out of a table.
        section: The title of the table that a task stands in; None for tasks that stand in none.

    Returns:
        One for each section that has a number, in the order of the document's tasks; rows by the first column, the best
        first, then by the next.
    """
    tasks = {task["id"]: (task, title) for task in document["tasks"] if (title := section(task)) is not None}
    runs = {run["id"]: run for run in document["runs"]}
    found: dict[str, list[tuple[Task, Entry, str]]] = {title: [] for _, title in tasks.values()}
    for entry in document["entries"]:
        if entry["task"] in tasks and entry["value"] is not None:
            task, title = tasks[entry["task"]]
            if any(column.takes(task, entry["metric"]) for column in columns):
                found[title].append((task, entry, document["metrics"][entry["metric"]]["unit"]))
    tables = (_table(title, columns, entries, runs, mixed=document["mixed"]) for title, entries in found.items())
    return [table for table in tables if table is not None]


def _table(
    title: str,
    columns: Sequence[Column],
    entries: Sequence[tuple[Task, Entry, str]],
    runs: Mapping[str, Mapping[str, Any]],
    *,
    mixed: bool,
) -> Table | None:
    def order(row: Row) -> tuple[Any, ...]:
        signs = (-1 if column.higher_is_better else 1 for column in columns)
        values = ((cell is None, sign * cell.value if cell else 0) for sign, cell in zip(signs, row.cells, strict=True))
        return row.apart, *values, row.model.casefold(), row.told_by

    rows = [row for own in _alike(entries, runs) for row in _rows(own, columns, runs) if any(row.cells)]
    if not mixed:
        rows = [_set_apart(row) for row in rows]
    rows.sort(key=order)
    there = [place for place in range(len(columns)) if any(row.cells[place] for row in rows)]
    if not there:
        return None

    return Table(
        title=title,
        columns=tuple(columns[place] for place in there),
        rows=tuple(replace(row, cells=tuple(row.cells[place] for place in there)) for row in rows),
    )


def _alike(
    entries: Sequence[tuple[Task, Entry, str]], runs: Mapping[str, Mapping[str, Any]]
) -> Iterable[list[tuple[Task, Entry, str]]]:
    """Put together what may stand in a row: all of a model's entries, and apart from them all that papers print of it.

    Those with marks stand in the row of those without, unless a value is there in two ways.
    """
    of_model: dict[tuple[str, bool], list[tuple[Task, Entry, str]]] = defaultdict(list)
    for one in entries:
        of_model[one[1]["model"], runs[one[1]["run"]]["source"] == PUBLISHED].append(one)
    for own in of_model.values():
        if len({(entry["task"], entry["metric"]) for _, entry, _ in own}) == len(own):
            yield own
            continue
        by_marks: dict[tuple[str, ...], list[tuple[Task, Entry, str]]] = defaultdict(list)
        for one in own:
            by_marks[tuple(one[1]["marks"])].append(one)
        yield from by_marks.values()


def _set_apart(row: Row) -> Row:
    cells = (cell and replace(cell, apart=bool(cell.marks)) for cell in row.cells)
    return replace(row, apart=bool(row.marks), cells=tuple(cells))


def _rows(
    own: Sequence[tuple[Task, Entry, str]], columns: Sequence[Column], runs: Mapping[str, Mapping[str, Any]]
) -> Iterable[Row]:
    """Give a model's entries of one kind as one row; as one for each of its results where one value is there twice."""
    keys = [(entry["task"], entry["metric"]) for _, entry, _ in own]
    batches: dict[tuple[str, ...], list[tuple[Task, Entry, str]]] = defaultdict(list)
    for one in own:
        run = runs[one[1]["run"]]
        of = (run["id"],) if run["source"] == PUBLISHED else (run["date"], run["path"], run["source"])
        batches[of if len(set(keys)) < len(keys) else ()].append(one)
    for entries in batches.values():
        first = entries[0][1]
        run = runs[first["run"]]
        marks = tuple(mark for mark in first["marks"] if all(mark in entry["marks"] for _, entry, _ in entries))
        cells = []
        for column in columns:
            taken = [one for one in entries if column.takes(one[0], one[1]["metric"])]
            cell = column.combine(taken) if taken else None
            cells.append(cell and replace(cell, marks=_own_marks(taken, of_row=marks)))
        yield Row(
            model=first["model"],
            told_by=(run["date"][:16] or run["path"]) if len(batches) > 1 else "",
            source=run["source"],
            marks=marks,
            apart=False,
            cells=tuple(cells),
        )


def _own_marks(taken: Sequence[tuple[Task, Entry, str]], *, of_row: Collection[str]) -> tuple[str, ...]:
    """Give the marks of what makes a cell, less those of its row; in a mean over windows with those they are of."""
    sizes = {task["window"] for task, _, _ in taken}
    found: dict[str, list[int | None]] = defaultdict(list)
    for task, entry, _ in taken:
        for mark in entry["marks"]:
            if mark not in of_row and task["window"] not in found[mark]:
                found[mark].append(task["window"])
    told = []
    for mark, windows in found.items():
        some = sorted(size for size in windows if size)
        of = (
            f"window{'s' * (len(some) > 1)} {', '.join(map(str, some))}: " if some and len(windows) < len(sizes) else ""
        )
        told.append(f"{of}{mark}")
    return tuple(told)


def printed(value: float, unit: str) -> str:
    """Write a value as the papers do: per cent with one decimal, grades with two.

    Example:
        >>> printed(0.0186, "fraction"), printed(63.184, "points")
        ('1.9', '63.18')
    """
    return f"{100 * value:.1f}" if unit == "fraction" else f"{value:.2f}"


def only(taken: Sequence[tuple[Task, Entry, str]]) -> Cell | None:
    """Show a value as it is; where several tasks give one, the first."""
    _, entry, unit = taken[0]
    return Cell(value=entry["value"], unit=unit, low=entry["low"], high=entry["high"], n=entry["n"])


def pooled(*, parts: frozenset[str], whole: str) -> Combine:
    """Average over the rows of several tasks.

    Args:
        parts: Names of the tasks; all have to be there.
        whole: The task that holds the average itself, which is shown where a part is missing.

    Returns:
        What takes one metric of these tasks; without an interval where a part has none.
    """

    def combine(taken: Sequence[tuple[Task, Entry, str]]) -> Cell | None:
        own = {task["task"]: (entry, unit) for task, entry, unit in reversed(taken)}
        there = [own[name][0] for name in sorted(parts) if name in own and own[name][0]["n"]]
        if len(there) == len(parts):
            n = sum(entry["n"] for entry in there)
            value = math.fsum(entry["n"] * entry["value"] for entry in there) / n
            known = [
                (entry["n"], entry["value"], Interval(entry["low"], entry["high"]))
                for entry in there
                if entry["low"] is not None and entry["high"] is not None
            ]
            bounds = pooled_interval(known) if len(known) == len(there) else None
            low, high = (bounds.low, bounds.high) if bounds else (None, None)
            return Cell(value=value, unit="fraction", low=low, high=high, n=n)
        return (
            only([(task, entry, unit) for task, entry, unit in taken if task["task"] == whole])
            if whole in own
            else None
        )

    return combine


def over_windows(metric: str) -> Combine:
    """Average a metric over window sizes, with the population's standard deviation, as the paper on biases does.

    Where there are no windows, a value over all of them is shown with `<metric>_std` beside it.
    """

    def combine(taken: Sequence[tuple[Task, Entry, str]]) -> Cell | None:
        unit = taken[0][2]
        sizes = {
            task["window"]: entry["value"] for task, entry, _ in taken if task["window"] and entry["metric"] == metric
        }
        whole = {entry["metric"]: entry["value"] for task, entry, _ in taken if not task["window"]}
        if sizes:
            values = list(sizes.values())
            n = min(entry["n"] for task, entry, _ in taken if task["window"])
            return Cell(
                # what is printed of all windows counts over what is worked out here
                value=whole.get(metric, fmean(values)),
                unit=unit,
                deviation=whole.get(f"{metric}_std", pstdev(values)),
                windows=len(values),
                n=n,
            )
        return Cell(value=whole[metric], unit=unit, deviation=whole.get(f"{metric}_std")) if metric in whole else None

    return combine
