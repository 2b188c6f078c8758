"""`fin-tasks label`: studies with people."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fin_tasks.cli.options import App, Source, print_table, say, show
from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    from fin_tasks.labels.filled import FilledSheets

_N_SHOWN = 20

app = App(help="Have people label rows.")


@app.command("draw")
def draw_sheets(
    study: str,
    out: Path,
    run: Path | None = None,
    n: int | None = None,
    bundle: bool = False,
    seed: int = 0,
    source: Source = "auto",
    data_dir: Path | None = None,
    split: str | None = None,
) -> None:
    """Draw rows of a run, or questions alone, into one sheet for each person.

    Example: fin-tasks label draw results/o1 --study xfinbench_calc_errors --out study/calc.xlsx
    """
    from fin_tasks.labels.draw import draw
    from fin_tasks.labels.sheet import write_sheets
    from fin_tasks.labels.study import load_study

    options = {
        "source": source,
        "data_dir": str(data_dir) if data_dir else None,
        "split": split,
    }
    drawn = draw(load_study(study), run, n=n, seed=seed, options=options)
    for path in write_sheets(drawn, out, bundle=bundle):
        print(path)
    say(
        f"fin-tasks: {len(drawn.rows)} rows; keep {out.stem}.draw.json, it holds the answers",
        error=True,
    )


@app.command("merge")
def merge_sheets(
    sheets: list[Path],
    out: Path,
    name: str = "people",
    again: Path | None = None,
) -> None:
    """Merge filled sheets into tables of votes, agreement and shares.

    The exit status is 1 if some cells cannot be used. If people answered the questions themselves,
    their answers become a run folder, which fin-tasks report reads.

    Example: fin-tasks label merge study/calc_1.xlsx study/calc_2.xlsx study/calc_3.xlsx --out study/merged
    """
    from pandas import DataFrame

    from fin_tasks.data.formulas import quote_formulas
    from fin_tasks.labels.filled import Problem
    from fin_tasks.labels.sheet import write_sheets
    from fin_tasks.labels.vote import merge, next_round

    filled = _read(sheets)
    tables = dict(merge(filled.draw, filled.values, out, name=name))
    tables["problems"] = DataFrame(filled.problems, columns=Problem._fields)
    for title, table in tables.items():
        safe_table = table.map(
            lambda cell: quote_formulas(cell) if isinstance(cell, str) else cell
        )
        safe_table.to_csv(out / f"{title}.csv", index=False)
        if title == "shares":
            table = table[table["by"] == "all"].drop(columns=["by", "part"])
        if len(table) and title not in ("labels", "problems"):
            show({title: table.head(_N_SHOWN).to_dict("records")}, as_json=False)
    if again is not None and len(tables.get("undecided", ())):
        write_sheets(next_round(filled.draw, tables["labels"]), again)
        say(f"fin-tasks: wrote sheets for a second round beside {again}", error=True)
    say(f"fin-tasks: wrote {out}", error=True)
    if filled.problems:
        raise typer.Exit(1)


@app.command("agree")
def agree(
    sheets: list[Path],
    judge: list[Path],
    out: Path | None = None,
    as_json: bool = False,
) -> None:
    """Compare judges with people who scored the same responses, and correct the judges' means.

    corrected.json gets the means that people would give; fin-tasks report and compare read it.

    Example: fin-tasks label agree study/mme_1.xlsx study/mme_2.xlsx --judge results/judged/gpt4o
    """
    from fin_tasks.labels.agree import compare, read_judged
    from fin_tasks.labels.correct import corrections_of
    from fin_tasks.labels.filled import by_draw

    studies = [_read(of_draw) for of_draw in by_draw(sheets)]
    for filled in studies:
        study = filled.draw.study
        if [question.scale is not None for question in study.questions.values()] != [
            True
        ]:
            expected = "expected a study with one question, for scores"
            raise ConfigError(f"label agree: {expected}, got {study.name}.")
    judged = read_judged(studies, judge)
    corrections = corrections_of(judged)
    tables = {"judges": compare(judged), **corrections.model_dump(mode="json")}
    if as_json:
        show(tables, as_json=True)
    else:
        for title in ("judges", "runs", "differences"):
            for row in tables[title]:
                row.pop("run", None)
                row.pop("runs", None)
            if tables[title]:
                print_table(title, tables[title])
    for problem in corrections.refused:
        say(f"fin-tasks: not corrected: {problem}", error=True)
    if corrections.runs:
        folder = out or sheets[0].parent
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "corrected.json"
        file.write_text(corrections.model_dump_json(indent=1) + "\n", encoding="utf-8")
        say(f"fin-tasks: wrote {file}", error=True)


def _read(sheets: list[Path]) -> "FilledSheets":
    """Read sheets and the draw beside them; print which cells cannot be used."""
    from fin_tasks.labels.filled import read_sheets

    filled = read_sheets(sheets)
    for problem in filled.problems[:_N_SHOWN]:
        place = f"{problem.sheet}, row {problem.line or problem.row}, {problem.column}"
        say(f"fin-tasks: {place}: {problem.message}", error=True)
    if filled.problems:
        n_problems = len(filled.problems)
        say(
            f"fin-tasks: {n_problems} problems in the sheets; such cells do not count",
            error=True,
        )
    return filled
