"""Options and output that several commands share."""

import json
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from importlib.resources import files
from inspect import Parameter, Signature, signature
from io import TextIOWrapper
from itertools import groupby
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_args

import typer

from fin_tasks.errors import ConfigError
from fin_tasks.report import Json
from fin_tasks.sandbox import escape
from fin_tasks.settings import Settings

if TYPE_CHECKING:
    from fin_tasks.benchmarks.dynostock.market import Market

Source = Literal["auto", "upstream", "data_dir", "sample"]

_OPTIONS = tomllib.loads(files(__package__).joinpath("options.toml").read_text("utf-8"))
"""The options of each command by its function, and of all."""
_SCREEN = 30  # rows of a table
_NARROW = 110  # columns of a terminal
_FILE_WIDTH = 160  # columns in a file or a pipe

Command = TypeVar("Command", bound=Callable[..., None])


class App(typer.Typer):
    """Commands whose options are described in `options.toml`."""

    def command(self, *args: Any, **settings: Any) -> Callable[[Command], Command]:
        """Return a decorator that adds a command."""
        add = super().command(*args, **settings)
        return lambda function: add(_described(function))


def _described(function: Command) -> Command:
    """Return a command with an option for each parameter, and for each field of a parameter that is a dataclass.

    A flag is off and an option that may be None is None unless it is given.
    """
    groups: Json = {}
    parameters: list[Parameter] = []
    for parameter in signature(function).parameters.values():
        group: Any = parameter.annotation
        if hasattr(group, "__dataclass_fields__"):
            groups[parameter.name] = group
            parameters += signature(group).parameters.values()
        else:
            parameters.append(parameter)
    table = _OPTIONS["all"] | _OPTIONS.get(function.__name__, {})
    options = []
    for parameter in parameters:
        facts = dict(table[parameter.name])
        make: Any = typer.Argument if facts.pop("argument", False) else typer.Option
        default = parameter.default
        if default is Parameter.empty:
            default = False if parameter.annotation is bool else ...
            if NoneType in get_args(parameter.annotation):
                default = None
        option = make(default, *facts.pop("flags", ()), **facts)
        options.append(parameter.replace(kind=Parameter.KEYWORD_ONLY, default=option))

    @wraps(function)
    def command(**values: Any) -> None:
        for name, group in groups.items():
            names = signature(group).parameters
            values[name] = group(**{field: values.pop(field) for field in names})
        function(**values)

    command.__signature__ = Signature(options)  # type: ignore[attr-defined]
    return cast("Command", command)


def task_options(metadata: str = "{}", **more: object) -> Json:
    """Return the options of a task: the JSON object of --metadata, and other options if they are given."""
    try:
        options = dict(json.loads(metadata))
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"--metadata: expected a JSON object, got {metadata!r:.80}."
        ) from error
    for name, value in more.items():
        if value is not None:
            options[name] = str(value)
    return options


def tickers_of(text: str | None) -> list[str]:
    """Read the tickers that an option gives, separated by commas; none if it is not given."""
    return text.replace(" ", "").upper().split(",") if text else []


@dataclass(frozen=True)
class MarketFiles:
    """The market that a command reads, by default what `fin-tasks fetch dynostock` stored."""

    prices: Path | None
    earnings: Path | None
    sample: bool

    def read(self, tickers: str | None) -> "Market":
        """Read all stocks, or some that are separated by commas."""
        from fin_tasks.benchmarks.dynostock.market_files import (
            read_market,
            sample_market,
        )

        names = tickers_of(tickers)
        store = Settings.from_environ().cache_dir / "dynostock" / "market"
        prices = self.prices or store
        earnings = self.earnings or store
        if self.sample:
            if self.prices or self.earnings:
                raise ConfigError(
                    "--sample: expected no --prices or --earnings beside it."
                )
            return sample_market(*names)
        if store in (prices, earnings) and not store.is_dir():
            raise ConfigError(
                "market data: expected --prices and --earnings, or the folder of `fin-tasks fetch dynostock` "
                f"at {store}; found neither. --sample uses the packaged sample."
            )
        return read_market(prices, earnings, tickers=names)


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


def show(summary: Json, as_json: bool, show_all: bool = False) -> None:
    """Print figures as JSON, or as tables: one of each list of rows, and one of all other figures."""
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
    title: str, rows: Sequence[Mapping[Any, Any]], *, show_all: bool = False
) -> None:
    """Print a table whose texts may be other people's, one screen of it.

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
    # An interval stands behind its value, or below it.
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
        print(f"{len(rows) - len(printed)} more rows: --all shows them.")


def _text(value: Any) -> str:
    if value is None or value != value:  # NaN
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
