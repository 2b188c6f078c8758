"""`fin-tasks plot`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from fin_tasks.cli.options import sub_commands
from fin_tasks.errors import ConfigError, DataError

__all__ = ["app"]

app = sub_commands("Draw results.")


@app.callback()
def _family() -> None:
    """Keep `dynostock` a command of its own, as the only one it would be left out of the call."""


@app.command("dynostock")
def plot_dynostock(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS...",
            help="Recordings (exp_*.json), lm-eval's samples_*.jsonl, folders of them, or what replay --json printed.",
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for <bias>.png, <bias>.svg and <bias>.csv, made where missing.")
    ] = Path("plots"),
    bias: Annotated[str | None, typer.Option(help="recency or authority; every one found otherwise.")] = None,
    parser: Annotated[
        str,
        typer.Option(
            "--parser",
            "--variant",
            help="paper or robust. paper is the default here and of replay, as both are compared with published "
            "numbers; report-bias takes robust, as there is none to compare with.",
        ),
    ] = "paper",
) -> None:
    """Draw bias index and accuracy against window size, a line per model and setting, with 95 % intervals."""
    from fin_tasks.benchmarks.dynostock.plots import draw_windows, drawing, save, write_table
    from fin_tasks.benchmarks.dynostock.series import find_series
    from fin_tasks.benchmarks.dynostock.windows import BIASES
    from fin_tasks.sandbox import escape

    if bias is not None and bias not in BIASES:
        raise ConfigError(f"plot dynostock --bias: expected {' or '.join(BIASES)}, got {bias!r}.")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"--out {out}: expected a folder to write to, got {error.strerror}.") from error
    found = find_series(results, parser=parser)
    drawn = {name: series for name, series in found.series.items() if bias in (None, name)}
    for name, series in drawn.items():
        with drawing():
            paths = save(draw_windows(series, bias=name, parser=parser), out / name)
        write_table(series, out / f"{name}.csv")
        for path in (*paths, out / f"{name}.csv"):
            print(escape(str(path)))
    for note in found.notes:
        print(f"fin-tasks: note: {escape(note)}", file=sys.stderr)
    for problem in found.problems:
        print(f"fin-tasks: error: {escape(problem)}", file=sys.stderr)
    if not drawn:
        wanted = f"of {bias} bias" if bias else "to draw"
        raise DataError(f"plot dynostock: expected results {wanted}, found none.")
    if found.problems:
        raise typer.Exit(1)
