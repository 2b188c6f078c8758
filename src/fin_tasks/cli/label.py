"""`fin-tasks label`: studies with people, and labels by a model."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from fin_tasks.cli.options import DataDir, Json, NewFolder, Source, print_table, sub_commands
from fin_tasks.cli.xfinbench import label_math
from fin_tasks.errors import ConfigError

__all__ = ["app"]

_SHOWN = 20
Sheets = Annotated[list[Path], typer.Argument(metavar="SHEET...", help="Filled sheets, one a person.")]
Drawn = Annotated[Path | None, typer.Option("--draw", help="The .draw.json file, if it is not beside the sheets.")]

app = sub_commands("Studies with people: draw rows into sheets, merge filled sheets, compare judges with people.")
app.command("math")(label_math)


@app.command("draw", epilog="Example: fin-tasks label draw results/o1 --study xfinbench_calc_errors --out calc.xlsx")
def draw_sheets(
    study: Annotated[str, typer.Option(help="A packaged study, or a YAML file; see docs/labels.md.")],
    out: Annotated[Path, typer.Option(metavar="SHEET", help="Name of the sheets, .xlsx or .csv; _1, _2 ... is added.")],
    run: Annotated[Path | None, typer.Argument(metavar="[RUN]", help="Run folder; documents alone without it.")] = None,
    n: Annotated[int | None, typer.Option(min=1, help="Rows, else the study's number.")] = None,
    seed: Annotated[int, typer.Option(help="Decides the draw.")] = 0,
    source: Source = "auto",
    data_dir: DataDir = None,
    split: Annotated[str | None, typer.Option(help="Of documents: test or validation.")] = None,
) -> None:
    """Draw rows of a run, or documents, into a sheet for each person."""
    from fin_tasks.labels.draw import draw
    from fin_tasks.labels.sheet import write_sheets
    from fin_tasks.labels.study import load_study

    found = load_study(study)
    options = {"source": source, "data_dir": str(data_dir) if data_dir else None, "split": split}
    drawn = draw(found, run, n=n, seed=seed, options=options)
    for path in write_sheets(drawn, out):
        print(path)
    print(f"fin-tasks: {len(drawn.rows)} rows; keep {out.stem}.draw.json, it holds the answers", file=sys.stderr)


@app.command("merge", epilog="Example: fin-tasks label merge study/calc_*.xlsx --out study/merged")
def merge_sheets(
    sheets: Sheets,
    out: NewFolder,
    draw: Drawn = None,
    name: Annotated[str, typer.Option(help="How reports call people whose answers are scored.")] = "people",
    as_json: Json = False,
) -> None:
    """Merge filled sheets: votes, agreement, shares; people's own answers become a run folder for fin-tasks report.

    Ends with 1 if cells or rows of the sheets cannot be used; the others are merged.
    """
    from fin_tasks.labels.vote import merge

    drawn, cells, people, problems = _read(sheets, draw)
    found = {**merge(drawn, cells, people, out, name=name), "problems": problems}
    for title, table in found.items():
        table.to_csv(out / f"{title}.csv", index=False)
    if as_json:
        print(json.dumps({title: json.loads(table.to_json(orient="records")) for title, table in found.items()}))
    else:
        for title, table in found.items():
            rows = table[table["by"] == "all"].drop(columns=["by", "part"]) if title == "shares" else table
            if len(rows) and title not in ("labels", "problems"):
                texts = rows.head(_SHOWN).map(lambda one: f"{one:.3g}" if isinstance(one, float) else str(one))
                print_table(title, list(texts.columns), texts.to_numpy().tolist())
        print(f"fin-tasks: wrote {out}", file=sys.stderr)
    if len(problems):
        raise typer.Exit(1)


@app.command(
    "agree", epilog="Example: fin-tasks label agree mme_*.xlsx --judge results/gpt/samples_mme_finance_en.jsonl"
)
def agree(
    sheets: Sheets,
    judge: Annotated[list[Path], typer.Option(metavar="FILE", help="samples_*.jsonl of a judged task.")],
    draw: Drawn = None,
    as_json: Json = False,
) -> None:
    """Compare judges with people who scored the same responses: rank correlation and mean absolute difference."""
    from fin_tasks.benchmarks.mme_finance.score import CATEGORIES
    from fin_tasks.judging.agreement import combine, compare

    drawn, cells, _, _ = _read(sheets, draw)
    column = next((name for name, one in drawn.study.questions.items() if one.scale), None)
    if column is None:
        raise ConfigError(f"label agree: expected a study with scores, got {drawn.study.name}.")
    people = {row.doc_id: list(map(float, cells[row.id][column].values())) for row in drawn.rows}
    responses = {row.doc_id: row.response for row in drawn.rows}
    kinds = {name: "subjective" if one.kind == "subjective" else "objective" for name, one in CATEGORIES.items()}
    groups = {row.doc_id: kinds.get(row.facts.get("category", [""])[0], "") for row in drawn.rows}
    found = {str(path): compare(path, people, responses, groups) for path in judge}
    review = [name for name, scores in people.items() if scores and combine(scores)[1]]
    if as_json:
        print(json.dumps({"review": review, "judges": found}))
        return
    names = ("n", "spearman", "low", "high", "mean_absolute_difference", "bias")
    for path, of in found.items():
        rows = [[group, *("–" if one[n] is None else f"{one[n]:.3g}" for n in names)] for group, one in of.items()]
        print_table(path, ("responses", *names), rows)
    print(f"{len(review)} responses need review, as scores have a variance above 2: {', '.join(review[:_SHOWN])}")


def _read(sheets: list[Path], draw: Path | None) -> tuple[Any, Any, list[str], Any]:
    """Read sheets and their draw; print what is wrong with them."""
    from fin_tasks.labels.draw import load_draw
    from fin_tasks.labels.sheet import read_sheets

    beside = [draw] if draw else sorted({path for one in sheets for path in one.parent.glob("*.draw.json")})
    if len(beside) != 1:
        raise ConfigError(f"label: expected one .draw.json beside the sheets, got {len(beside)}. Name it with --draw.")
    drawn = load_draw(beside[0])
    cells, people, problems = read_sheets(drawn, sheets)
    for one in problems.head(_SHOWN).itertuples():
        print(f"fin-tasks: {one.sheet}, row {one.line or one.row}, {one.column}: {one.message}", file=sys.stderr)
    if len(problems):
        print(f"fin-tasks: {len(problems)} problems in the sheets; such cells are not counted", file=sys.stderr)
    return drawn, cells, people, problems
