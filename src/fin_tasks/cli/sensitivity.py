"""`fin-tasks sensitivity`: how much the wording of the task decides."""

import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fin_tasks.cli.compare import VARIANTS, make_folder, p_value, percent, points, tell
from fin_tasks.cli.options import Json, counting
from fin_tasks.cli.tables import print_whole
from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    from rich.table import Table

    from fin_tasks.report.sensitivity import Cell, Group, Sensitivity

__all__ = ["sensitivity"]

_HOW_TO_READ = """\
Accuracy in per cent of the scored rows with Wilson's 95 % interval; against {reference}: difference in percentage \
points on the rows both styles have, with the 95 % interval and p of McNemar's exact test, or of a t-test where \
questions share a figure or exercise, for which Wilson's interval allows too. Spread: largest less smallest accuracy, \
which grows with the number of styles even where none matters."""


def sensitivity(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATHS...",
            help="Folder for the results; what follows -- is for lm-eval, which is run once per style "
            "that is not there yet. Without: folders or samples files to collect.",
        ),
    ],
    tasks: Annotated[
        str, typer.Option(help="Tasks to run, separated by commas.", show_default=True)
    ] = "xfinbench_text",
    variant: Annotated[str, typer.Option(help="Scores to show: paper or robust.")] = "paper",
    as_json: Json = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write sensitivity.csv, sensitivity.png and sensitivity.svg here."),
    ] = None,
) -> None:
    """Run or collect XFinBench's four prompt styles, and show what the style changes.

    For example: fin-tasks sensitivity OUT -- --model hf --model_args pretrained=MODEL
    """
    from fin_tasks.report.sensitivity import as_object, collect

    if variant not in VARIANTS:
        raise ConfigError(f"sensitivity --variant: expected {' or '.join(VARIANTS)}, got {variant!r}.")
    make_folder(out)
    folders, arguments = _split(paths)
    if arguments:
        _run(folders, tasks, arguments)
    with counting("Reading runs", "file") as advance:
        found = collect(folders, variant=variant, on_done=advance)
    if out is not None and found.groups:
        _write(found, out)
    if as_json:
        print(json.dumps(as_object(found), allow_nan=False))
    else:
        _show(found)
    tell(found.problems)


def _split(words: Sequence[str]) -> tuple[list[Path], list[str]]:
    """Tell folders from lm-eval's arguments, which start with a dash: where `--` was is not handed on."""
    first = next((place for place, word in enumerate(words) if word.startswith("-")), len(words))
    if first == 0:
        raise ConfigError(f"sensitivity: expected a folder for the results first, got {words[0]!r}.")
    return [Path(word) for word in words[:first]], list(words[first:])


def _run(folders: Sequence[Path], tasks: str, arguments: Sequence[str]) -> None:
    from fin_tasks.report.style_runs import run_styles
    from fin_tasks.sandbox import escape

    if len(folders) != 1:
        named = ", ".join(map(str, folders))
        raise ConfigError(f"sensitivity: expected one folder for the results before --, got {named}.")

    def notify(message: str) -> None:
        print(f"fin-tasks: {escape(message)}", file=sys.stderr)

    failure = run_styles(folders[0], tasks=tasks, arguments=arguments, notify=notify)
    if failure is not None:
        print(
            f"fin-tasks: error: sensitivity: lm-eval ended with status {failure.status} in style {failure.style}; what "
            "it said stands above. The same command again goes on from there.",
            file=sys.stderr,
        )
        raise typer.Exit(failure.status if failure.status > 0 else 1)


def _write(found: "Sensitivity", out: Path) -> None:
    from fin_tasks.report.dots import Dot, draw_dots
    from fin_tasks.report.sensitivity import write_csv

    write_csv(found, out / "sensitivity.csv")
    panels = [_heading(group) for group in found.groups]
    dots = [
        Dot(
            # groups may differ in what a heading does not say
            panel=panel if panels.count(panel) == 1 else f"{panel} ({place + 1})",
            row=cell.task,
            series=cell.style,
            value=cell.accuracy,
            low=cell.interval.low if cell.interval else None,
            high=cell.interval.high if cell.interval else None,
            n=cell.n,
        )
        for place, (panel, group) in enumerate(zip(panels, found.groups, strict=True))
        for cell in group.cells
        if cell.accuracy is not None
    ]
    caption = f"Right answers of those scored, 95 % intervals. Scores: acc, {found.variant}."
    if dots:
        draw_dots(dots, out / "sensitivity", title="Prompt styles", caption=caption, axis="accuracy (%)")


def _show(found: "Sensitivity") -> None:
    from rich.console import Console
    from rich.text import Text

    from fin_tasks.report.sensitivity import REFERENCE
    from fin_tasks.sandbox import escape

    console = Console(highlight=False)
    for group in found.groups:
        console.print(Text(_heading(group), style="bold"))
        print_whole(console, partial(_table, group))
        for style, tasks in group.missing.items():
            console.print(Text(f"Missing: {style} ({escape(', '.join(tasks))})", style="yellow"))
    if found.groups:
        console.print(_HOW_TO_READ.format(reference=REFERENCE), style="dim")
        console.print(f"Scores: acc, {found.variant}.", style="dim")
    for note in found.notes:
        console.print(Text(f"Note: {escape(note)}"))


def _heading(group: "Group") -> str:
    from fin_tasks.report.variants import split_title
    from fin_tasks.sandbox import escape

    parts = [group.model, "" if group.condition == "none" else group.condition]
    parts += [f"{group.prompts} prompts" if group.prompts else "", split_title(group.split)]
    parts += [f"limit {group.limit:g}" if isinstance(group.limit, (int, float)) else ""]
    return escape(" · ".join(part for part in parts if part))


def _table(group: "Group", narrow: bool) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from fin_tasks.report.sensitivity import REFERENCE
    from fin_tasks.sandbox import escape

    table = Table(box=SIMPLE_HEAD, show_edge=not narrow, pad_edge=False, padding=(0, 1, 0, 0))
    between = "\n" if narrow else " "
    for name in ("Task", "Style", "n", "Unscored", "Accuracy", f"Against{between}{REFERENCE}", "p"):
        table.add_column(name, justify="left" if name in ("Task", "Style") else "right", no_wrap=True)
    for task in group.tasks:
        cells = [cell for cell in group.cells if cell.task == task]
        named = task.removeprefix("xfinbench_") if narrow else task  # there are no others
        for place, cell in enumerate(cells):
            difference = cell.difference
            table.add_row(
                *(Text(escape(named) if place == 0 else ""), cell.style, str(cell.n), str(cell.unscored)),
                *(_accuracy(cell, between), points(difference, narrow=narrow) if difference else ""),
                p_value(difference.p if difference.n else None) if difference else "",
                style="bold" if task == "all" else "",
            )
        if task in group.spread:
            table.add_row("", "spread", "", "", f"{100 * group.spread[task]:.1f}", "", "", style="italic")
        table.add_section()
    return table


def _accuracy(cell: "Cell", between: str) -> str:
    bounds = [f"[{100 * cell.interval.low:.1f}…{100 * cell.interval.high:.1f}]"] if cell.interval else []
    return between.join([percent(cell.accuracy), *bounds])
