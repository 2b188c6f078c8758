"""Options and output that several commands share."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

__all__ = [
    *("BaseUrl", "Concurrency", "DataDir", "Json", "KeyVariable", "Model", "NewFolder", "Out", "Seed"),
    *("Source", "TokenPrices", "WhoseModel", "print_table", "show"),
]

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Out = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Write the results to this folder.")]
NewFolder = Annotated[Path, typer.Option("--out", metavar="DIR", help="Write the results to this folder.")]
DataDir = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Your folder with the benchmark's files, else FIN_TASKS_DATA.")
]
Source = Annotated[
    Literal["auto", "upstream", "data_dir", "sample"],
    typer.Option(help="The authors' files, your folder, or the packaged sample; auto: your folder if there is one."),
]
Model = Annotated[str | None, typer.Option(metavar="NAME", help="The model to ask.")]
WhoseModel = Annotated[str | None, typer.Option("--model", metavar="NAME", help="The model that gave the responses.")]
BaseUrl = Annotated[str, typer.Option(metavar="URL", help="OpenAI-compatible address of the model.")]
KeyVariable = Annotated[str, typer.Option(metavar="NAME", help="Environment variable with the key for the address.")]
Concurrency = Annotated[int, typer.Option(min=1, help="Requests at the same time.")]
TokenPrices = Annotated[
    Path | None, typer.Option(metavar="YAML", help="Price of a million tokens: date, prompt, completion.")
]
Seed = Annotated[int, typer.Option(help="Another number draws other rows.")]


def show(found: Mapping[str, Any], *, as_json: bool) -> None:
    """Print figures as JSON, or as tables: one of all figures, and one of each list of rows."""
    if as_json:
        print(json.dumps(found))
        return
    figures: list[tuple[str, str]] = []
    waiting = list(found.items())[::-1]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += [(f"{name}.{key}", inner) for key, inner in value.items()][::-1]
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            print_table(name, list(value[0]), [[_text(row.get(column)) for column in value[0]] for row in value])
        elif value is not None:
            figures.append((name, _text(value)))
    if figures:
        print_table("", ("Figure", "Value"), figures)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return (
            f"{len(value)}: {', '.join(map(str, value[:20]))}{', ...' if len(value) > 20 else ''}" if value else "none"
        )
    return "–" if value is None or value != value else f"{value:.4g}" if isinstance(value, float) else str(value)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table whose texts may be other people's; numbers stand on the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from fin_tasks.sandbox import escape

    cells = [[Text(escape(cell)) for cell in row] for row in rows]
    table = Table(title=Text(escape(title)) if title else None, title_justify="left")
    for at, name in enumerate(columns):
        numbers = all(row[at].plain[:1] in "0123456789+-−–" for row in cells)
        table.add_column(name, overflow="fold", justify="right" if numbers else "left")
    for cells_of_row in cells:
        table.add_row(*cells_of_row)
    # a line that the terminal wraps reads better than words cut in columns
    Console(width=max(160, Console().width)).print(table)
