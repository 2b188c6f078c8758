"""`fin-tasks sensitivity`: how much the wording of the task decides."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fin_tasks.cli.compare import VARIANTS, p_value, percent, points, tell
from fin_tasks.cli.options import Json, counting
from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    from rich.table import Table

    from fin_tasks.report.sensitivity import Cell, Group, Sensitivity

__all__ = ["sensitivity"]

_HOW_TO_READ = """\
Accuracy in per cent of the scored rows with Wilson's 95 % interval; against {reference}: difference in percentage \
points on the rows both styles have, with a paired bootstrap 95 % interval, and McNemar's exact p. Spread: largest \
less smallest accuracy, which grows with the number of styles even where none matters."""


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
) -> None:
    """Run or collect XFinBench's four prompt styles, and show what the style changes.

    For example: fin-tasks sensitivity OUT -- --model hf --model_args pretrained=MODEL
    """
    from fin_tasks.report.sensitivity import as_object, collect

    if variant not in VARIANTS:
        raise ConfigError(f"sensitivity --variant: expected {' or '.join(VARIANTS)}, got {variant!r}.")
    folders, arguments = _split(paths)
    if arguments:
        _run(folders, tasks, arguments)
    with counting("Reading runs", "file") as advance:
        found = collect(folders, variant=variant, on_done=advance)
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


def _show(found: "Sensitivity") -> None:
    from rich.console import Console
    from rich.text import Text

    from fin_tasks.report.sensitivity import REFERENCE
    from fin_tasks.sandbox import escape

    console = Console(highlight=False)
    for group in found.groups:
        console.print(Text(_heading(group), style="bold"))
        console.print(_table(group))
        for style, tasks in group.missing.items():
            console.print(Text(f"Missing: {style} ({escape(', '.join(tasks))})", style="yellow"))
    if found.groups:
        console.print(_HOW_TO_READ.format(reference=REFERENCE), style="dim")
        console.print(f"Scores: acc, {found.variant}.", style="dim")
    for note in found.notes:
        console.print(Text(f"Note: {escape(note)}"))


def _heading(group: "Group") -> str:
    from fin_tasks.sandbox import escape

    parts = [group.model, "" if group.condition == "none" else group.condition]
    parts += [f"{group.prompts} prompts" if group.prompts else "", f"{group.split} split" if group.split else ""]
    parts += [f"limit {group.limit:g}" if isinstance(group.limit, (int, float)) else ""]
    return escape(" · ".join(part for part in parts if part))


def _table(group: "Group") -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from fin_tasks.report.sensitivity import REFERENCE
    from fin_tasks.sandbox import escape

    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("Task", "Style", "n", "Unscored", "Accuracy", f"Against {REFERENCE}", "p"):
        left = name in ("Task", "Style")
        table.add_column(name, justify="left" if left else "right", no_wrap=left, overflow="fold")
    for task in group.tasks:
        cells = [cell for cell in group.cells if cell.task == task]
        for place, cell in enumerate(cells):
            difference = cell.difference
            table.add_row(
                *(Text(escape(task) if place == 0 else ""), cell.style, str(cell.n), str(cell.unscored)),
                *(_accuracy(cell), points(difference) if difference else ""),
                p_value(difference.difference.p if difference.n else None) if difference else "",
                style="bold" if task == "all" else "",
            )
        if task in group.spread:
            table.add_row("", "spread", "", "", f"{100 * group.spread[task]:.1f}", "", "", style="italic")
        table.add_section()
    return table


def _accuracy(cell: "Cell") -> str:
    bounds = f" [{100 * cell.interval.low:.1f}…{100 * cell.interval.high:.1f}]" if cell.interval else ""
    return f"{percent(cell.accuracy)}{bounds}"
