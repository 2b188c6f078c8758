"""Options and output that several commands share."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from fin_tasks.errors import ConfigError

__all__ = [
    *("BaseUrl", "Concurrency", "DataDir", "Items", "Json", "KeyVariable", "Model", "NewFolder", "Out", "Prices"),
    *("Source", "counting", "print_table", "sub_commands"),
]


def _writable(path: Path | None) -> Path | None:
    """Find out before the work, not after it, that a file cannot be written."""
    if path is not None:
        try:
            path.open("a").close()
        except OSError as error:
            raise ConfigError(f"--items {path}: expected a file that can be written, got {error.strerror}.") from error
    return path


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
Items = Annotated[
    Path | None,
    typer.Option("--items", metavar="OUT.jsonl", help="Write one line per row here.", callback=_writable),
]
Out = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Write the results to this folder.")]
NewFolder = Annotated[Path, typer.Option("--out", metavar="DIR", help="Write the results to this folder.")]
DataDir = Annotated[
    Path | None, typer.Option("--data-dir", metavar="DIR", help="The benchmark's own files, else FIN_TASKS_DATA.")
]
Source = Annotated[str, typer.Option("--source", help="auto, upstream, data_dir or sample.")]
Model = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="The model to ask, or the one that gave saved responses.")
]
BaseUrl = Annotated[str, typer.Option("--base-url", metavar="URL", help="OpenAI-compatible address of the model.")]
KeyVariable = Annotated[str, typer.Option(help="Environment variable with the model's key.")]
Concurrency = Annotated[int, typer.Option(min=1, help="Requests at the same time.")]
Prices = Annotated[Path | None, typer.Option(help="YAML file: date, prompt, completion (a million tokens).")]


def sub_commands(about: str) -> typer.Typer:
    """Return an empty family of commands that shows its help when called without one."""
    return typer.Typer(no_args_is_help=True, help=about)


@contextmanager
def counting(what: str, unit: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Show progress on stderr if that is a terminal; call the function yielded with the number of items done."""
    from tqdm import tqdm

    with tqdm(desc=what, unit=unit, total=total, disable=None) as bar:

        def advance(done: int) -> None:
            bar.update(done - bar.n)

        yield advance


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table whose texts may be other people's; numbers stand on the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from fin_tasks.sandbox import escape

    cells = [[Text(escape(cell)) for cell in row] for row in rows]
    table = Table(title=Text(escape(title)), title_justify="left")
    for at, name in enumerate(columns):
        numbers = all(row[at].plain[:1] in "0123456789+-−–" for row in cells)
        table.add_column(name, overflow="fold", justify="right" if numbers else "left")
    for cells_of_row in cells:
        table.add_row(*cells_of_row)
    console = Console()
    wide = console.measure(table, options=console.options.update(width=160)).maximum
    console.width = max(console.width, wide)  # a line that the terminal wraps reads better than words cut in columns
    console.print(table)
