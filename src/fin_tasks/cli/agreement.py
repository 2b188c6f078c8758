"""`fin-tasks agreement`: how well judges agree with people."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from fin_tasks.cli.options import Json

__all__ = ["agreement"]


def agreement(
    human: Annotated[
        Path, typer.Argument(metavar="HUMAN", help="A table with index and a column of scores per person.")
    ],
    judges: Annotated[list[Path], typer.Argument(metavar="JUDGE...", help="samples_*.jsonl of judged tasks.")],
    annotators: Annotated[str, typer.Option(help="The people's columns, with commas between; all if not given.")] = "",
    leave_out_review: Annotated[
        bool, typer.Option("--leave-out-review", help="Skip responses that need review.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare judges with people: rank correlation and mean absolute difference.

    Example: fin-tasks agreement people.csv results/gpt/samples_mme_finance_en_*.jsonl
    """
    from rich.console import Console
    from rich.table import Table

    from fin_tasks.benchmarks.mme_finance.score import CATEGORIES
    from fin_tasks.judging.agreement import by_group, combine, read_judge, read_people

    scored = {i: combine(of) for i, of in read_people(human, [n for n in annotators.split(",") if n]).items()}
    review = [index for index, (_, far) in scored.items() if far]
    people = {index: score for index, (score, far) in scored.items() if not (far and leave_out_review)}
    kinds = {name: "subjective" if one.kind == "subjective" else "objective" for name, one in CATEGORIES.items()}
    found = {str(path): by_group(people, read_judge(path), kinds) for path in judges}
    if as_json:
        numbers = {name: {group: asdict(one) for group, one in of.items()} for name, of in found.items()}
        print(json.dumps({"n": len(people), "review": review, "judges": numbers}))
        return
    table = Table("judge", "responses", "n", "Spearman", "mean absolute difference", "bias")
    for name, of in found.items():
        for group, one in of.items():
            shown = ["–" if x is None else f"{x:.2f}" for x in (one.spearman, one.mean_absolute_difference, one.bias)]
            if one.low is not None:
                shown[0] += f" [{one.low:.2f}, {one.high:.2f}]"
            table.add_row(Path(name).name, group, str(one.n), *shown)
    Console(highlight=False).print(table)
    print(f"{len(review)} responses need review, as people's scores have a variance above 2: {', '.join(review[:20])}")
