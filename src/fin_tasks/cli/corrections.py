"""`fin-tasks build corrections`: a file of questions to leave out, and of truths to replace."""

from pathlib import Path
from typing import Annotated

import typer

from fin_tasks.errors import ConfigError, DataError

from .output import exit_with, warn

_Folder = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Your copy. Default: as the tasks find it."),
]


def build_corrections(
    out: Annotated[Path, typer.Option(metavar="FILE", help="The YAML file to write.")],
    sheets: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="SHEET...", help="Filled sheets of `fin-tasks questions`."
        ),
    ] = None,
    financemath: _Folder = None,
    financereasoning: _Folder = None,
) -> None:
    """Make corrections.yaml from filled sheets; without sheets, of FinanceMath's truths that others revised.

    FinanceReasoning asks FinanceMath's validation questions again, 33 of them with another truth.

    Example: fin-tasks build corrections --financemath data/fm --financereasoning data/fr --out revised.yaml
    """
    from fin_tasks.benchmarks.corrections import note_of
    from fin_tasks.report.questions import decided

    if out.exists():
        raise ConfigError(
            f"--out {out}: expected a new name, got a file that is there."
        )
    problems: list[str] = []
    if sheets:
        corrections, problems = decided.corrections_in(sheets)
        if not corrections:
            raise DataError(
                "build corrections: expected rows with the decision exclude or truth, found none. "
                + " ".join(problems[:1])
            )
    else:
        corrections = decided.revised_truths(financemath, financereasoning)
    decided.write_corrections(corrections, out)
    warn(f"wrote {out}: {note_of(corrections)}")
    exit_with(problems)
