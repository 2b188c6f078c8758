"""`fin-tasks report`: result files in, a page and a leaderboard out."""

import json
from pathlib import Path
from typing import Annotated

import typer

from .options import AsJson, Corrected, CorrectionFile, OutDir, TokenPrices
from .output import exit_with, say

_MAX_NOTES = 15  # the page shows all


def report(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATHS...", help="Results files, or folders with them."),
    ],
    out: OutDir,
    reference: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Results file whose settings other runs must match.",
        ),
    ] = None,
    token_prices: TokenPrices = None,
    corrected: Corrected = None,
    corrections: CorrectionFile = None,
    no_samples: Annotated[
        bool,
        typer.Option(
            "--no-samples",
            help="Leave questions, right answers and responses out of the page.",
        ),
    ] = False,
    as_json: AsJson = False,
    published: Annotated[
        bool, typer.Option(help="Also show the papers' figures.")
    ] = True,
    title: Annotated[
        str,
        typer.Option(help="Title of the page. Default: the title in board.yaml."),
    ] = "",
) -> None:
    """Make a page, tables and figures of results, with intervals, ranks and tests. An older report is replaced.

    Example: fin-tasks report results --out report
    """
    from fin_tasks.report.write import write_report

    written = write_report(
        paths,
        out,
        title=title,
        published=published,
        reference=reference,
        token_prices=token_prices,
        corrected=corrected,
        corrections=corrections,
        samples=not no_samples,
    )
    summary = {
        "out": str(out),
        "runs": written.n_runs,
        "models": written.n_models,
        "notes": written.notes,
        "problems": written.problems,
    }
    if as_json:
        print(json.dumps(summary, allow_nan=False))
    else:
        say(
            *(f"Note: {note}" for note in written.notes[:_MAX_NOTES]),
            f"Runs: {written.n_runs}, models: {written.n_models}, notes: {len(written.notes)}.",
            f"Open {written.page}",
        )
    exit_with(written.problems)
