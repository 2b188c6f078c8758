"""Options and output that several commands share."""

import json
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from fin_tasks.errors import ConfigError
from fin_tasks.settings import Settings

if TYPE_CHECKING:
    from fin_tasks.benchmarks.dynostock.market import Market

Source = Literal["auto", "upstream", "data_dir", "sample"]
Adjust = Literal["none", "splits"]
Command = TypeVar("Command", bound=Callable[..., None])

_OPTIONS = tomllib.loads(files(__package__).joinpath("options.toml").read_text("utf-8"))
"""The options of each command by its function, and of all."""
_SCREEN = 30  # rows of a table


class App(typer.Typer):
    """Commands whose options are described in `options.toml`."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(no_args_is_help=True, **settings)

    def command(self, *args: Any, **settings: Any) -> Callable[[Command], Command]:
        """Return a decorator that adds a command."""
        add = super().command(*args, **settings)
        return lambda function: add(_described(function))


def _described(function: Command) -> Command:
    """Annotate the parameters of a command with their descriptions."""
    own = _OPTIONS.get(function.__name__, {})
    for name, kind in function.__annotations__.items():
        if name != "return":
            facts = dict(own.get(name) or _OPTIONS["all"][name])
            make: Any = typer.Argument if facts.pop("argument", False) else typer.Option
            option = make(*facts.pop("flags", ()), **facts)
            function.__annotations__[name] = Annotated[kind, option]
    return function


def json_options(text: str) -> dict[str, Any]:
    """Read the JSON object that --metadata gives."""
    try:
        options = json.loads(text)
    except ValueError:
        options = None
    if not isinstance(options, dict):
        raise ConfigError(f"--metadata: expected a JSON object, got {text!r:.80}.")
    return options


def tickers_of(value: str | None) -> list[str] | None:
    """Read the tickers that an option gives, separated by commas; None if it is not given."""
    from fin_tasks.benchmarks.dynostock.market import TICKER

    if value is None:
        return None
    names = value.replace(" ", "").upper().split(",")
    for name in names:
        if not TICKER.fullmatch(name):
            raise ConfigError(
                f"--tickers: expected some such as AAPL,MSFT, got {name!r}."
            )
    return names


def market_of(
    prices: Path | None,
    earnings: Path | None,
    *,
    adjust: str,
    sample: bool,
    tickers: str | None = None,
) -> "Market":
    """Read the market that a command's options name, by default what `fin-tasks fetch dynostock` stored."""
    from fin_tasks.benchmarks.dynostock.market_files import read_market, sample_market

    wanted = tickers_of(tickers)
    store = Settings.from_environ().cache_dir / "dynostock" / "market"
    if sample and (prices or earnings or adjust != "none"):
        raise ConfigError(
            "--sample: expected no --prices, --earnings or --adjust beside it."
        )
    if sample:
        return sample_market(*wanted or ())
    if not (prices and earnings) and not store.is_dir():
        raise ConfigError(
            f"market data: expected --prices and --earnings, or the folder of `fin-tasks fetch dynostock` at {store}; "
            "found neither. --sample uses the packaged sample."
        )
    return read_market(
        prices or store, earnings or store, tickers=wanted, adjust=adjust
    )


def print_anything() -> None:
    """Print as an escape each character that the encoding of the terminal lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say(*lines: str, error: bool = False) -> None:
    """Print lines that may quote other people's files; control characters are escaped."""
    from fin_tasks.sandbox import escape

    for line in lines:
        print(escape(line), file=sys.stderr if error else sys.stdout)


def tell(problems: Sequence[str]) -> None:
    """Name files that could not be used on stderr; exit with status 1 if there are any."""
    for problem in problems:
        say(f"fin-tasks: error: {problem}", error=True)
    if problems:
        raise typer.Exit(1)


def show(found: Mapping[str, Any], *, as_json: bool, show_all: bool = False) -> None:
    """Print figures as JSON, or as tables: one of each list of rows, and one of all other figures."""
    if as_json:
        print(json.dumps(found))
        return
    from pandas import json_normalize

    figures = json_normalize(dict(found)).iloc[
        0
    ]  # names of nested figures are joined with dots
    rows = []
    for name, value in figures.items():
        if isinstance(value, list) and value and isinstance(value[0], Mapping):
            print_table(str(name), value, show_all=show_all)
        elif value is not None:
            rows.append({"Figure": name, "Value": value})
    if rows:
        print_table("", rows, show_all=show_all)


def print_table(
    title: str,
    rows: Sequence[Mapping[Any, Any]],
    *,
    show_all: bool = False,
) -> None:
    """Print a table whose texts may be other people's, one screen of it; numbers stand on the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from fin_tasks.sandbox import escape

    table = Table(title=Text(escape(title)) if title else None, title_justify="left")
    shown = rows if show_all else rows[:_SCREEN]
    for column in rows[0]:
        texts = [_text(row.get(column)) for row in shown]
        is_number = all(text[:1] in "0123456789+-−–" for text in texts)
        table.add_column(
            str(column), overflow="fold", justify="right" if is_number else "left"
        )
    for row in shown:
        table.add_row(*[Text(escape(_text(value))) for value in row.values()])
    # a line that the terminal wraps reads better than words cut in columns
    Console(width=max(160, Console().width)).print(table)
    if len(rows) > len(shown):
        print(f"{len(rows) - len(shown)} more rows: --all shows them.")


def _text(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value)}: {', '.join(map(str, value))}"
    if value is None or value != value:  # NaN
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
