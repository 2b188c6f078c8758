"""What commands print: figures, tables, messages and errors."""

import json
import sys
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from itertools import groupby
from typing import Any

import typer

from fin_tasks.errors import escape
from fin_tasks.report import Json

_SCREEN = 30  # rows of a table
_NARROW = 110  # columns of a terminal
_FILE_WIDTH = 160  # columns in a file or a pipe


def print_anything() -> None:
    """Print as an escape each character that the encoding of the terminal lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say(*lines: str) -> None:
    """Print lines that may quote other people's files; control characters are escaped."""
    for line in lines:
        print(escape(line))


def warn(text: str) -> None:
    """Print a message on stderr; control characters but line ends are escaped."""
    for line in f"fin-tasks: {text}".split("\n"):
        print(escape(line), file=sys.stderr)


def exit_with(problems: Sequence[str]) -> None:
    """Print problems on stderr and exit with status 1, if there are any."""
    for problem in problems:
        warn(f"error: {problem}")
    if problems:
        raise typer.Exit(1)


def show(summary: Json, as_json: bool, show_all: bool | None = None) -> None:
    """Print figures as JSON, or as tables: one of each list of rows, and one of all other figures.

    `show_all` is None in a command without --all.
    """
    if as_json:
        print(json.dumps(summary))
        return
    from pandas import json_normalize

    # Names of nested figures are joined with dots.
    figures = json_normalize(summary).iloc[0]
    rows = []
    for name, value in figures.items():
        if isinstance(value, list) and value and isinstance(value[0], Mapping):
            table = json_normalize(value).to_dict("records")
            print_table(str(name), table, show_all=show_all)
        elif value is not None:
            meaning = meaning_of(str(name).rpartition(".")[2])
            text = f"{name}: {meaning}" if meaning else name
            rows.append({"Name": text, "Value": value})
    if rows:
        print_table("", rows, show_all=show_all)


def meaning_of(metric: str) -> str:
    """Return what a metric measures; empty if its name says it."""
    from fin_tasks.report.model import metric_of

    label = metric_of(metric).label
    return "" if label.lower() == metric.replace("_", " ").lower() else label


def print_table(
    title: str, rows: Sequence[Mapping[Any, Any]], *, show_all: bool | None = None
) -> None:
    """Print a table whose texts may be other people's, one screen of it.

    `show_all` is None in a command without --all.

    If rows have a column without a name, its texts are the titles of tables of their own.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    console = Console(markup=False, emoji=False)
    if not console.is_terminal:
        console.width = max(_FILE_WIDTH, console.width)
    is_narrow = console.width < _NARROW
    padding = (0, 0 if is_narrow else 1, 0, 0)
    # An interval is shown behind its value or below it.
    interval = "\n[" if is_narrow else " ["
    columns = [column for column in rows[0] if column]
    printed = rows if show_all else rows[:_SCREEN]
    for heading, members in groupby(printed, lambda row: row.get("", title)):
        table = Table(
            title=escape(heading) or None,
            title_justify="left",
            box=SIMPLE_HEAD,
            padding=padding,
        )
        for column in columns:
            table.add_column(str(column), overflow="fold")
        for row in members:
            texts = [escape(_text(row[column])) for column in columns]
            table.add_row(*[text.replace(" [", interval) for text in texts])
        console.print(table)
    if len(rows) > len(printed):
        advice = "." if show_all is None else ": --all shows them."
        print(f"{len(rows) - len(printed)} more rows{advice}")


def _text(value: Any) -> str:
    if value is None or value != value:  # NaN
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
