"""Prompt sensitivity: the same questions in the four styles of the XFinBench paper, side by side."""

import csv
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fin_tasks.benchmarks.xfinbench.prompts import STYLES
from fin_tasks.errors import DataError
from fin_tasks.report.comparison_files import flat
from fin_tasks.report.estimates import estimate
from fin_tasks.report.measure import Numbers, measure
from fin_tasks.report.pairing import say
from fin_tasks.report.runs import Problem, Run, read_runs
from fin_tasks.report.samples import Rows
from fin_tasks.report.settings import below, differences, of_rows_asked
from fin_tasks.sandbox import escape
from fin_tasks.stats.averages import average
from fin_tasks.stats.intervals import Interval

__all__ = ["REFERENCE", "Cell", "Group", "Sensitivity", "as_object", "collect", "style_of", "write_csv"]

REFERENCE = "cot_role"
"""The style the others are compared with: the paper's own."""

_METRIC = "acc"
_COLUMNS = (
    *("model", "condition", "prompts", "split", "limit", "task", "style", "n", "unscored", "accuracy", "low", "high"),
    *("paired", "difference", "difference_low", "difference_high", "difference_p", "gained", "lost"),
)
_STYLE_OF = {(style.mode, style.role): name for name, style in STYLES.items()}
_FREE = (
    *("provenance.style", "lm_eval_version", "vlmeval_version"),
    *("provenance.fin_tasks", "provenance.scorer", "provenance.data"),
)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """How one style did on one task, or over all tasks.

    Attributes:
        style: A key of `prompts.STYLES`.
        task: The task, without `_da`; `all` over all tasks.
        accuracy: Mean `acc` of the scored rows, a fraction; None without any.
        interval: 95 %: Wilson's, or the bootstrap's where rows were asked several times and have means.
        n: Scored rows.
        unscored: Rows without a score.
        difference: This style less `REFERENCE` on the rows both have; None for that style itself and where it is
            missing.
    """

    style: str
    task: str
    accuracy: float | None
    interval: Interval | None
    n: int
    unscored: int
    difference: Numbers | None


@dataclass(frozen=True, kw_only=True)
class Group:
    """Runs that differ in nothing but the style.

    Attributes:
        model: Its name.
        condition: The finance terms before the question, see `Run.label`.
        prompts: Prompt set; empty where not known.
        split: Split of the data, or `sample`; empty where not known.
        limit: Rows or share of rows lm-eval was limited to; None for all.
        tasks: Tasks, `all` first where there are several.
        cells: Every style found with every task it has, styles in the paper's order.
        missing: Style to the tasks it lacks but another style has.
        spread: Task to largest less smallest accuracy over the styles; only where two or more have one.
    """

    model: str
    condition: str
    prompts: str
    split: str
    limit: float | None
    tasks: tuple[str, ...]
    cells: tuple[Cell, ...]
    missing: Mapping[str, tuple[str, ...]]
    spread: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """What was found.

    Attributes:
        variant: `paper` or `robust`.
        groups: By model and condition.
        problems: Files that could not be used.
        notes: What was left out.
    """

    variant: str
    groups: tuple[Group, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]


def style_of(run: Run) -> str | None:
    """Return the style an XFinBench run was asked in, by its provenance; None for programs and unknown styles."""
    return _STYLE_OF.get((run.provenance("style.mode"), run.provenance("style.role")))


def collect(paths: Sequence[Path], *, variant: str, on_done: Callable[[int], None] | None = None) -> Sensitivity:
    """Collect runs of XFinBench in its four styles.

    Args:
        paths: lm-eval's output folders or samples files.
        variant: The filter whose scores are shown: `paper` or `robust`.
        on_done: Told how many samples files are read.

    Returns:
        A group per model, condition and setting. A task `<name>_da` counts as `<name>` in a direct-answer style.

    Raises:
        DataError: A path does not exist, or no run with a style is below.
    """
    found = read_runs(paths, on_done=on_done)
    notes = list(found.notes)
    styled: list[Run] = []
    for run in found.runs:
        if run.benchmark != "xfinbench" or style_of(run) is None:
            why = "a program has no style but the role" if run.mode == "pot" else "its style is not known"
            notes.append(
                f"{run.path}: left out, as {why if run.benchmark == 'xfinbench' else 'only XFinBench has styles'}."
            )
        elif variant not in run.variants:
            notes.append(f"{run.path}: left out, as it has no scores of the variant {variant}.")
        else:
            styled.append(run)
    if not styled and not found.problems:
        raise DataError(
            f"sensitivity: expected XFinBench samples in the styles {', '.join(STYLES)} below "
            f"{', '.join(map(str, paths))}, found none. Arguments for lm-eval after -- run them. {' '.join(notes)}"
        )
    groups = [_group(runs, variant, notes) for runs in _told_apart(_groups(styled), notes)]
    return Sensitivity(variant=variant, groups=tuple(groups), problems=found.problems, notes=tuple(notes))


def as_object(found: Sensitivity) -> dict[str, Any]:
    """Return everything as a JSON-compatible object; rates are fractions, None where there is no number."""
    return {
        "variant": found.variant,
        "metric": _METRIC,
        "reference": REFERENCE,
        "groups": [
            {
                **{name: value for name, value in vars(group).items() if name not in ("cells", "tasks")},
                "tasks": list(group.tasks),
                "styles": [
                    {
                        "style": cell.style,
                        "task": cell.task,
                        "accuracy": cell.accuracy,
                        "low": cell.interval.low if cell.interval else None,
                        "high": cell.interval.high if cell.interval else None,
                        "n": cell.n,
                        "unscored": cell.unscored,
                        "against_reference": flat(cell.difference) if cell.difference else None,
                    }
                    for cell in group.cells
                ],
            }
            for group in found.groups
        ],
        "problems": [vars(problem) for problem in found.problems],
        "notes": list(found.notes),
    }


def write_csv(found: Sensitivity, path: Path) -> None:
    """Write a line per group, task and style; texts are made safe to print, no number is an empty cell."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, _COLUMNS, lineterminator="\n")
        writer.writeheader()
        for group in as_object(found)["groups"]:
            for style in group.pop("styles"):
                against = style.pop("against_reference") or {}
                line = {**group, **style, **{f"difference_{name}": against.get(name) for name in ("low", "high", "p")}}
                line |= {name: against.get(name) for name in ("difference", "gained", "lost")}
                line["paired"] = against.get("n")
                writer.writerow({name: _safe(line[name]) for name in _COLUMNS})


def _safe(value: Any) -> Any:
    return escape(value) if isinstance(value, str) else value


def _task(run: Run) -> str:
    return run.family.removesuffix("_da")


def _groups(runs: Sequence[Run]) -> list[list[Run]]:
    groups: dict[tuple[Any, ...], list[Run]] = {}
    for run in runs:
        facts = {name: value for name, value in of_rows_asked(run.setting).items() if not below(name, _FREE)}
        groups.setdefault((run.model, run.condition, tuple(sorted(facts.items()))), []).append(run)
    return list(groups.values())


def _told_apart(groups: Sequence[list[Run]], notes: list[str]) -> Sequence[list[Run]]:
    """Say by what groups of one model and condition differ, as their headings may not show it."""
    first: dict[tuple[str, str], Run] = {}
    for runs in groups:
        run = runs[0]
        other = first.setdefault((run.model, run.condition), run)
        if other is not run:
            apart = say(differences(of_rows_asked(other.setting), of_rows_asked(run.setting), ignore=_FREE))
            notes.append(f"{run.path}: kept apart from {other.path}, as they differ in {apart}.")
    return groups


def _group(runs: Sequence[Run], variant: str, notes: list[str]) -> Group:
    newest: dict[tuple[str, str], Run] = {}
    for run in sorted(runs, key=lambda run: run.date):
        key = (str(style_of(run)), _task(run))
        if key in newest:
            notes.append(f"{newest[key].path}: left out, {run.path} asked the same later.")
        newest[key] = run
    _keep_one_data(newest, notes)
    tasks = sorted({task for _, task in newest})
    by_style = {
        style: {task: newest[style, task].variants[variant] for task in tasks if (style, task) in newest}
        for style in STYLES
    }
    missing = {
        style: tuple(task for task in tasks if task not in has)
        for style, has in by_style.items()
        if len(has) < len(tasks)
    }
    shown = ("all", *tasks) if len(tasks) > 1 else tuple(tasks)
    cells = tuple(_cells(by_style, shown, tasks))
    first = runs[0]
    return Group(
        model=first.model,
        condition=first.label,
        prompts=str(first.provenance("prompts.set") or ""),
        split=first.split,
        limit=first.fact("limit"),
        tasks=shown,
        cells=cells,
        missing=missing,
        spread=_spread(cells),
    )


def _keep_one_data(newest: dict[tuple[str, str], Run], notes: list[str]) -> None:
    """Leave out runs of a task over other data than its newest run has: their rows are other questions."""
    for (style, task), run in list(newest.items()):
        last = max((other for (_, name), other in newest.items() if name == task), key=lambda other: other.date)
        if run.data != last.data:
            apart = [one for one in differences(last.setting, run.setting) if one.fact == "provenance.data.revision"]
            notes.append(f"{run.path}: left out, its data differ from those of {last.path}: {say(apart) or 'unknown'}.")
            del newest[style, task]


def _cells(by_style: Mapping[str, Mapping[str, Rows]], shown: Sequence[str], tasks: Sequence[str]) -> Iterator[Cell]:
    """Give the cells. Over all tasks only styles that have every task get one: others would not be comparable."""
    for style, has in by_style.items():
        for task in shown:
            wanted = list(tasks) if task == "all" else [task]
            if not all(one in has for one in wanted):
                continue
            reference = by_style[REFERENCE]
            pairs = [(reference[one], has[one]) for one in wanted if one in reference]
            compared = style != REFERENCE and len(pairs) == len(wanted)
            difference = measure(pairs, _METRIC) if compared else None
            yield _cell(style, task, [has[one] for one in wanted], difference)


def _cell(style: str, task: str, parts: Sequence[Rows], difference: Numbers | None) -> Cell:
    values = [row.values.get(_METRIC) for rows in parts for row in rows.values()]
    scored = [value for value in values if value is not None]
    rows = [row for part in parts for row in part.values()]
    found = estimate(
        np.array([math.nan if value is None else value for value in values], dtype=np.float64),
        clusters=[row.source or f"row {place}" for place, row in enumerate(rows)],
        unit="fraction",
    )
    return Cell(
        style=style,
        task=task,
        accuracy=average(scored) if scored else None,
        interval=None if math.isnan(found.interval.low) else found.interval,
        n=len(scored),
        unscored=len(values) - len(scored),
        difference=difference,
    )


def _spread(cells: Sequence[Cell]) -> dict[str, float]:
    by_task: dict[str, list[float]] = {}
    for cell in cells:
        if cell.accuracy is not None:
            by_task.setdefault(cell.task, []).append(cell.accuracy)
    return {task: max(values) - min(values) for task, values in by_task.items() if len(values) > 1}
