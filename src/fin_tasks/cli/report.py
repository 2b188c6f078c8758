"""`fin-tasks report`: result files in, a page and a leaderboard out."""

import json
from pathlib import Path
from typing import Literal

from fin_tasks.workers import Engine, running_on

from .options import exit_with, say

_MAX_NOTES = 15  # the page shows all


def report(
    paths: list[Path],
    out: Path,
    reference: Path | None,
    token_prices: Path | None,
    corrected: Path | None,
    no_samples: bool,
    export: Literal["every-eval-ever"] | None,
    as_json: bool,
    published: bool = True,
    title: str = "Finance benchmarks",
    engine: Engine = "local",
) -> None:
    """Make a page, tables and figures of results, with intervals, ranks and tests. An older report is replaced.

    Example: fin-tasks report results --out report
    """
    from fin_tasks.report.write import write_report

    with running_on(engine):
        written = write_report(
            paths,
            out,
            title=title,
            published=published,
            reference=reference,
            token_prices=token_prices,
            corrected=corrected,
            samples=not no_samples,
            export=export,
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
