"""`fin-tasks questions`: the questions of a benchmark, measured by the runs that asked them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fin_tasks.errors import DataError
from fin_tasks.report import Json

from .options import AsJson, CorrectionFile, Scoring, ShowAll
from .output import exit_with, print_table, say, warn

if TYPE_CHECKING:
    from pandas import DataFrame

_LISTED = 20


def questions(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="RUNS...", help="Run folders or results files."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the list as a sheet for people to decide on, .xlsx or .csv.",
        ),
    ] = None,
    corrections: CorrectionFile = None,
    scoring: Scoring = "robust",
    show_all: ShowAll = False,
    as_json: AsJson = False,
) -> None:
    """List the questions on which good models agree on another answer than the truth.

    Each response counts as much as its run is right on the other questions. Models share mistakes, so the list
    says what people should read first, not which truths are wrong.

    Example: fin-tasks questions results --out questions.xlsx
    """
    from fin_tasks.report import read
    from fin_tasks.report.questions.sheet import check_name, write_sheet
    from fin_tasks.report.questions.table import question_table

    if out:
        check_name(out)
    report = read(paths, corrections=corrections)
    table = question_table(report, scoring)
    suspicious = table[table["lead"] > 0]
    if as_json:
        records = table.drop(columns="examples").to_json(orient="records")
        print(json.dumps({"scoring": scoring, "questions": json.loads(records)}))
    else:
        _print_list(table, suspicious, show_all=show_all)
    if out:
        if suspicious.empty:
            raise DataError(
                f"--out {out}: expected a question on which another answer leads, found none."
            )
        write_sheet(report, suspicious, out, scoring)
        warn(f"wrote {out}: {len(suspicious)} questions")
    exit_with([problem.message for problem in report.problems])


def _print_list(table: "DataFrame", suspicious: "DataFrame", *, show_all: bool) -> None:
    n_models = table["models"].max()
    hardest = (table["right"] == 0).sum()
    say(
        f"{len(table):,} questions, up to {n_models} models each; nobody has {hardest:,} of them right.",
        f"On {len(suspicious):,} another answer leads: the responses that give it count more than those "
        "that give the truth.",
    )
    listed = suspicious if show_all else suspicious.head(_LISTED)
    if listed.empty:
        return
    rows = [_row(row) for row in listed.to_dict("records")]
    print_table("Look at these", rows, show_all=True)
    if len(listed) < len(suspicious):
        say(f"{len(suspicious) - len(listed):,} more: --all shows them.")
    say(
        "A response counts as much as its run is right on the other questions. Models share mistakes: "
        "read a question before you correct it.",
    )


def _row(row: dict[str, Any]) -> Json:
    """Return what is printed of a question."""
    return {
        "Question": row["question"],
        "Tasks": row["tasks"],
        "Truth": _short(row["truth"]),
        "Rival answer": _short(row["rival"]),
        "Distance": row["distance"] or "–",
        "Given by": f"{row['given_by']:.0f} of {row['responses']}",
        "Models": f"{row['models_giving']:.0f} of {row['models']}",
        "They count": f"{row['for_rival']:.2f}",
        "Truth counts": f"{row['for_truth']:.2f}",
        "Lead": f"{row['lead']:.2f}",
        "Right": f"{row['right']:.0%}",
        "Separates": row["separates"],
    }


def _short(text: object) -> str:
    """Return a number with six digits, or the beginning of a text."""
    try:
        return f"{float(str(text)):.6g}"
    except ValueError:
        return str(text)[:40]
