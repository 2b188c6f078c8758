"""`fin-tasks label`: studies with people, and labels by a model."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from fin_tasks.cli.options import DataDir, Json, NewFolder, Seed, Source, show
from fin_tasks.cli.xfinbench import label_math
from fin_tasks.errors import ConfigError

_SHOWN = 20
Sheets = Annotated[
    list[Path], typer.Argument(metavar="SHEET...", help="Filled sheets, one for each person.")
]

app = typer.Typer(no_args_is_help=True, help="Have people or a model label rows.")
app.command("math")(label_math)


@app.command("draw")
def draw_sheets(
    study: Annotated[
        str,
        typer.Option(metavar="NAME|YAML", help="A study of docs/labels.md, or a file of yours."),
    ],
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="Name of the sheets, .xlsx or .csv; _1, _2 ... is added."
        ),
    ],
    run: Annotated[
        Path | None, typer.Argument(metavar="RUN", help="Run folder, if people see responses.")
    ] = None,
    n: Annotated[int | None, typer.Option(min=1, help="Rows.", show_default="the study's")] = None,
    seed: Seed = 0,
    source: Source = "auto",
    data_dir: DataDir = None,
    split: Annotated[
        str | None, typer.Option(help="Split of the questions: test or validation.")
    ] = None,
) -> None:
    """Draw rows of a run, or questions alone, into one sheet for each person.

    Example: fin-tasks label draw results/o1 --study xfinbench_calc_errors --out study/calc.xlsx
    """
    from fin_tasks.labels.draw import draw, load_study
    from fin_tasks.labels.sheet import write_sheets

    found = load_study(study)
    options = {"source": source, "data_dir": str(data_dir) if data_dir else None, "split": split}
    drawn = draw(found, run, n=n, seed=seed, options=options)
    for path in write_sheets(drawn, out):
        print(path)
    print(
        f"fin-tasks: {len(drawn.rows)} rows; keep {out.stem}.draw.json, it holds the answers",
        file=sys.stderr,
    )


@app.command("merge")
def merge_sheets(
    sheets: Sheets,
    out: NewFolder,
    name: Annotated[
        str, typer.Option(help="Name of the people in reports, if they answered questions.")
    ] = "people",
) -> None:
    """Merge filled sheets into tables of votes, agreement and shares. Ends with 1 if some cells cannot be used.

    If people answered the questions themselves, their answers become a run folder, which fin-tasks report reads.

    Example: fin-tasks label merge study/calc_1.xlsx study/calc_2.xlsx study/calc_3.xlsx --out study/merged
    """
    from fin_tasks.labels.vote import merge

    drawn, values, problems = _read(sheets)
    for title, table in {**merge(drawn, values, out, name=name), "problems": problems}.items():
        table.to_csv(out / f"{title}.csv", index=False)
        if len(table) and title not in ("labels", "problems"):
            rows = (
                table[table["by"] == "all"].drop(columns=["by", "part"])
                if title == "shares"
                else table
            )
            show({title: rows.head(_SHOWN).to_dict("records")}, as_json=False)
    print(f"fin-tasks: wrote {out}", file=sys.stderr)
    if len(problems):
        raise typer.Exit(1)


@app.command("agree")
def agree(
    sheets: Sheets,
    judge: Annotated[
        list[Path],
        typer.Option(metavar="FILE", help="samples_*.jsonl of a judged task; repeatable."),
    ],
    as_json: Json = False,
) -> None:
    """Compare judges with people who scored the same responses: rank correlation and mean absolute difference.

    Example: fin-tasks label agree study/mme_1.xlsx study/mme_2.xlsx --judge results/gpt/samples_mme_finance_en.jsonl
    """
    from fin_tasks.labels.agree import compare

    drawn, values, _ = _read(sheets)
    if [bool(one.scale) for one in drawn.study.questions.values()] != [True]:
        raise ConfigError(
            f"label agree: expected a study with one question, for scores, got {drawn.study.name}."
        )
    show({"judges": {str(path): compare(drawn, values, path) for path in judge}}, as_json=as_json)


def _read(sheets: list[Path]) -> tuple[Any, Any, Any]:
    """Read sheets and the draw beside them; print which cells cannot be used."""
    from fin_tasks.labels.draw import Draw
    from fin_tasks.labels.sheet import read_sheets

    beside = sorted({path for one in sheets for path in one.parent.glob("*.draw.json")})
    if len(beside) != 1:
        raise ConfigError(
            f"label: expected one .draw.json beside the sheets, got {len(beside)}. Move the others away."
        )
    try:
        drawn = Draw.model_validate_json(beside[0].read_bytes())
    except ValueError as error:
        raise ConfigError(
            f"{beside[0]}: expected the file that `fin-tasks label draw` wrote, got {error}."
        ) from error
    values, problems = read_sheets(drawn, sheets)
    for one in problems.head(_SHOWN).itertuples():
        print(
            f"fin-tasks: {one.sheet}, row {one.line or one.row}, {one.column}: {one.message}",
            file=sys.stderr,
        )
    if len(problems):
        print(
            f"fin-tasks: {len(problems)} problems in the sheets; such cells are not counted",
            file=sys.stderr,
        )
    return drawn, values, problems
