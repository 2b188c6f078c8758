"""`fin-tasks build corrections`: FinanceMath's truths that other authors revised, as a file of corrections."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fin_tasks.errors import ConfigError

from .output import warn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fin_tasks.benchmarks.corrections import Correction

_Folder = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Your copy of the benchmark. Default: the files that tasks would use.",
    ),
]
NewFile = Annotated[
    Path, typer.Option("--out", metavar="FILE", help="The YAML file to write.")
]


def build_corrections(
    out: NewFile,
    financemath: _Folder = None,
    financereasoning: _Folder = None,
) -> None:
    """Write corrections.yaml with FinanceMath's truths that FinanceReasoning's authors revised.

    FinanceReasoning asks FinanceMath's validation questions again, 33 of them with another truth. What people
    decide becomes such a file by `fin-tasks label corrections`.

    Example: fin-tasks build corrections --financemath data/fm --financereasoning data/fr --out revised.yaml
    """
    from fin_tasks.report.questions.decided import revised_truths

    write_new_corrections(revised_truths(financemath, financereasoning), out)


def write_new_corrections(corrections: "Sequence[Correction]", out: Path) -> None:
    """Write corrections into a new file, and say how many."""
    from fin_tasks.benchmarks.corrections import note_of
    from fin_tasks.report.questions.decided import write_corrections

    if out.exists():
        raise ConfigError(
            f"--out {out}: expected a new name, got a file that is there."
        )
    write_corrections(corrections, out)
    warn(f"wrote {out}: {note_of(corrections)}")
