"""`fin-tasks report`: result files in, a page and a leaderboard out."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from fin_tasks.cli.options import Json, NewFolder, TokenPrices, say, tell
from fin_tasks.errors import ConfigError

Collection = Literal["every-eval-ever", "model-card"]


def report(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATHS...", help="Results files, or folders with them.")
    ],
    out: NewFolder,
    published: Annotated[bool, typer.Option(help="Show the papers' figures too.")] = True,
    title: Annotated[str, typer.Option(help="Title of the page.")] = "Finance benchmarks",
    reference: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Rank runs with the settings of this.")
    ] = None,
    token_prices: TokenPrices = None,
    no_samples: Annotated[
        bool, typer.Option("--no-samples", help="Leave out questions and responses.")
    ] = False,
    export: Annotated[
        Collection | None, typer.Option(help="Also write results for a collection.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a page, tables and figures of results, with intervals, ranks and tests. An older report is replaced.

    Example: fin-tasks report results --out report
    """
    from fin_tasks.endpoints.prices import read_prices
    from fin_tasks.report import read
    from fin_tasks.report.export import export as write_export
    from fin_tasks.report.figures import write_tables_and_figures
    from fin_tasks.report.leaderboard import board
    from fin_tasks.report.site.page import replacing, write_page

    found = read(paths)
    wanted = next(
        (run.id for run in found.runs if reference and run.path.resolve() == reference.resolve()),
        "",
    )
    if reference is not None and not wanted:
        raise ConfigError(
            f"--reference: expected a results file among PATHS, got {str(reference)!r}."
        )
    known = read_prices(token_prices) if token_prices else None
    made = board(found, title=title, reference=wanted, papers=published, prices=known)
    with replacing(out) as folder:
        (folder / "leaderboard.json").write_text(
            json.dumps(made, indent=1, allow_nan=False) + "\n", encoding="utf-8"
        )
        write_tables_and_figures(found, made, folder)
        left_out = write_export(export, made, folder) if export else []
        problems = write_page(found, made, folder, samples=not no_samples)
    own = [run for run in made["runs"] if run["source"] != "published"]
    summary = {
        "out": str(out),
        "runs": len({run["path"] for run in own}),
        "models": len({run["model"] for run in own}),
        "notes": made["notes"] + left_out,
        "problems": [problem.message for problem in found.problems] + problems,
    }
    if as_json:
        print(json.dumps(summary, allow_nan=False))
    else:
        done = f"Runs: {summary['runs']}, models: {summary['models']}. Open {out / 'index.html'}"
        say(*(f"Note: {note}" for note in summary["notes"]), done)
    tell(summary["problems"])
