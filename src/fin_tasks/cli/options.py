"""Options and output that several commands share."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from fin_tasks.errors import ConfigError

__all__ = ["Items", "Json", "Responses", "counting", "report", "sub_commands"]


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
Responses = Annotated[Path, typer.Argument(metavar="FILE", help="Saved responses.")]


def sub_commands(about: str) -> typer.Typer:
    """Return an empty family of commands that shows its help when called without one."""
    return typer.Typer(no_args_is_help=True, help=about)


@contextmanager
def counting(what: str | None, unit: str, total: int | None = None) -> Iterator[Callable[[int], None] | None]:
    """Count finished items on stderr, where that is a terminal; the function given out takes how many are done."""
    if what is None:
        yield None
        return
    from tqdm import tqdm

    with tqdm(desc=what, unit=unit, total=total, disable=None) as bar:

        def advance(done: int) -> None:
            bar.update(done - bar.n)

        yield advance


def report(result: Any, *, as_json: bool, items: Path | None, table: Callable[[Any], Any] | None = None) -> None:
    """Print the summary of a replay, and write its items where asked; `table` shows a summary of a special form."""
    if items is not None:
        with items.open("w", encoding="utf-8") as out:
            out.writelines(json.dumps(item, allow_nan=False) + "\n" for item in result.items())
    if as_json:
        print(json.dumps(result.summary()))
        return
    from rich.console import Console

    from fin_tasks.doctor import summary_table

    Console().print((table or summary_table)(result.summary()))
