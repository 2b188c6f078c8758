"""`fin-tasks label`: studies with people."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fin_tasks.errors import ConfigError, DataError

from .corrections import NewFile, write_new_corrections
from .options import (
    AsJson,
    ColumnNames,
    DataDir,
    OutDir,
    Seed,
    Sheets,
    ShowAll,
    Source,
    Strict,
    task_options,
)
from .output import exit_with, print_table, show, warn

if TYPE_CHECKING:
    from fin_tasks.labels.filled import FilledSheets

app = typer.Typer(no_args_is_help=True, help="Have people label rows.")


@app.command("draw")
def draw_sheets(
    study: Annotated[
        str,
        typer.Option(
            metavar="NAME|YAML", help="A study of docs/labels.md, or a file of yours."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="Name of the sheets, .xlsx or .csv; _1, _2 ... is added.",
        ),
    ],
    run: Annotated[
        Path | None,
        typer.Argument(
            metavar="RUN|FILE",
            help="Run folder or file of responses, if people see responses.",
        ),
    ] = None,
    n: Annotated[
        int | None,
        typer.Option(min=1, help="Number of rows.", show_default="the study's"),
    ] = None,
    bundle: Annotated[
        bool,
        typer.Option(
            "--bundle", help="Copy the pictures into a folder beside the sheets."
        ),
    ] = False,
    data_dir: DataDir = None,
    split: Annotated[
        str | None,
        typer.Option(help="Split of the questions: test or validation."),
    ] = None,
    seed: Seed = 0,
    source: Source = "auto",
    columns: ColumnNames = "",
    strict: Strict = False,
) -> None:
    """Draw rows of a run, or questions alone, into one sheet for each person.

    Example: fin-tasks label draw results/o1 --study xfinbench_calc_errors --out study/calc.xlsx
    """
    from fin_tasks.labels.draw import draw
    from fin_tasks.labels.sheet import write_sheets
    from fin_tasks.labels.study import load_study
    from fin_tasks.saved.columns import read_columns

    options = task_options(source=source, data_dir=data_dir, split=split)
    drawn = draw(
        load_study(study),
        run,
        n=n,
        seed=seed,
        options=options,
        columns=read_columns(columns),
        strict=strict,
    )
    for path in write_sheets(drawn, out, bundle=bundle):
        print(path)
    warn(f"{len(drawn.rows)} rows; keep {out.stem}.draw.json, it holds the answers")


@app.command("merge")
def merge_sheets(
    sheets: Sheets,
    out: OutDir,
    again: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write sheets for a second round over undecided rows.",
        ),
    ] = None,
    name: Annotated[
        str,
        typer.Option(help="What reports call the people, if they answered questions."),
    ] = "people",
    show_all: ShowAll = False,
) -> None:
    """Merge filled sheets into tables of votes, agreement and shares.

    The exit status is 1 if some cells cannot be used. If people answered the questions themselves,
    their answers become a run folder, which fin-tasks report reads.

    Example: fin-tasks label merge study/calc_1.xlsx study/calc_2.xlsx study/calc_3.xlsx --out study/merged
    """
    from pandas import DataFrame

    from fin_tasks.labels.filled import Problem
    from fin_tasks.labels.sheet import write_sheets
    from fin_tasks.labels.vote import merge, next_round
    from fin_tasks.report.tables import write_csv

    filled = _read(sheets)
    tables = dict(merge(filled.draw, filled.values, out, name=name))
    tables["problems"] = DataFrame(filled.problems, columns=Problem._fields)
    for title, table in tables.items():
        write_csv(table, out / f"{title}.csv")
        if len(table) and title not in ("labels", "problems"):
            print_table(title, table.to_dict("records"), show_all=show_all)
    if again and len(tables.get("undecided", ())):
        write_sheets(next_round(filled.draw, tables["labels"]), again)
        warn(f"wrote sheets for a second round beside {again}")
    warn(f"wrote {out}")
    if filled.problems:
        raise typer.Exit(1)


@app.command("agree")
def agree(
    sheets: Sheets,
    judge: Annotated[
        list[Path],
        typer.Option(metavar="RUN", help="A judged run; the option may be repeated."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for corrected.json. Default: the folder of the first sheet.",
        ),
    ] = None,
    within: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            metavar="POINTS",
            help="Also say how many labels would narrow each interval to plus or minus this many points of 100.",
        ),
    ] = None,
    show_all: ShowAll = False,
    as_json: AsJson = False,
) -> None:
    """Compare judges with people who scored the same responses, and correct the judges' means.

    corrected.json gets the means that people would give; fin-tasks report and compare read it.

    Example: fin-tasks label agree study/mme_1.xlsx study/mme_2.xlsx --judge results/judged/gpt4o
    """
    from fin_tasks.labels.agree import compare, corrections_of, labels_for, read_judged
    from fin_tasks.labels.filled import group_by_draw

    studies = [_read(sheets_of_draw) for sheets_of_draw in group_by_draw(sheets)]
    for filled in studies:
        study = filled.draw.study
        scales = [question.scale for question in study.questions.values()]
        if len(scales) != 1 or None in scales:
            raise ConfigError(
                f"label agree: expected a study with one question, for scores, got {study.name}."
            )
    judged = read_judged(studies, judge)
    corrections = corrections_of(judged)
    tables = {"judges": compare(judged), **corrections.model_dump(mode="json")}
    if within:
        tables["labels needed"] = labels_for(judged, within)
    if not as_json:
        for row in [*tables["runs"], *tables["differences"]]:
            row.pop("run", None)
            row.pop("runs", None)
    show(tables, as_json, show_all)
    if corrections.runs:
        folder = out or sheets[0].parent
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "corrected.json"
        file.write_text(corrections.model_dump_json(indent=1) + "\n", "utf-8")
        warn(f"wrote {file}")


@app.command("corrections")
def make_corrections(
    sheets: Annotated[
        list[Path],
        typer.Argument(
            metavar="SHEET...",
            help="Filled sheets of `fin-tasks questions`, or of a study with scores.",
        ),
    ],
    out: NewFile,
    below: Annotated[
        float,
        typer.Option(
            help="For a study with scores: exclude questions whose mean score is below this on at least one scale."
        ),
    ] = 4.0,
) -> None:
    """Write what people decided about questions as corrections.yaml, which --corrections of other commands reads.

    In sheets of `fin-tasks questions` people decide. Sheets of a study with scores, such as xfinbench_quality,
    exclude the questions that people rated low, as XFinBench's authors do in Table 10 of their long version.

    Example: fin-tasks label corrections questions.xlsx --out corrections.yaml

    Example: fin-tasks label corrections study/quality_*.xlsx --out low.yaml
    """
    from fin_tasks.labels.corrections import corrections_of_people

    corrections, problems = corrections_of_people(sheets, below)
    if not corrections:
        raise DataError(
            "label corrections: expected decisions or low scores in the sheets, found none. "
            + " ".join(problems[:1])
        )
    write_new_corrections(corrections, out)
    exit_with(problems)


def _read(sheets: list[Path]) -> "FilledSheets":
    """Read sheets and the draw beside them; print which cells cannot be used."""
    from fin_tasks.labels.agreement import sheets_alike
    from fin_tasks.labels.filled import read_sheets

    filled = read_sheets(sheets)
    for sentence in sheets_alike(filled.values):
        warn(sentence)
    for problem in filled.problems:
        warn(str(problem))
    return filled
