"""`fin-tasks questions`: the questions of a benchmark, measured by the runs that asked them."""

import json
from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fin_tasks.errors import ConfigError, DataError
from fin_tasks.report import Json

from .effects import print_effect_plan
from .options import (
    AsJson,
    CorrectionFile,
    DataDir,
    Metadata,
    Scoring,
    ShowAll,
    TokenPrices,
    task_options,
)
from .output import exit_with, print_table, say, warn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pandas import DataFrame

    from fin_tasks.report.model import Report
    from fin_tasks.report.questions.overview import Size
    from fin_tasks.report.questions.plan import Plan
    from fin_tasks.report.questions.strata import Narrowing, Stratum

_LISTED = 20


def questions(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RUNS...", help="Run folders or results files."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the list as a sheet for people to decide on, .xlsx or .csv.",
        ),
    ] = None,
    corrections: CorrectionFile = None,
    strata: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write a .csv by which metadata sample_strata draws sample_n questions.",
        ),
    ] = None,
    scoring: Scoring = "robust",
    show_all: ShowAll = False,
    as_json: AsJson = False,
    plan: Annotated[
        bool,
        typer.Option("--plan", help="Say how many questions show which difference."),
    ] = False,
    benchmark: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Describe a benchmark without runs; with --plan also a task.",
        ),
    ] = "",
    accuracy: Annotated[
        list[float] | None,
        typer.Option(
            help="With --plan and no runs: an accuracy from 0 to 1; give the option twice."
        ),
    ] = None,
    correlation: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            help="With --accuracy: correlation of the right answers of both models. "
            "Good models on FinanceMath have 0.3 to 0.6.",
        ),
    ] = 0.45,
    source_correlation: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            help="With --accuracy: correlation within questions of one source.",
        ),
    ] = 0.1,
    token_prices: TokenPrices = None,
    spread: Annotated[
        float,
        typer.Option(
            min=0.01,
            max=1,
            help="With --benchmark dynostock and no --accuracy: standard deviation of the change "
            "that a statement makes to a forecast.",
        ),
    ] = 0.2,
    metadata: Metadata = "{}",
    data_dir: DataDir = None,
) -> None:
    """List the questions on which good models agree on a rival of the truth; or describe a benchmark, or plan its size.

    Each response counts as much as its run is right on the other questions. Models share mistakes, so the list
    says what people should read first, not which truths are wrong.

    Example: fin-tasks questions results --out questions.xlsx

    Example: fin-tasks questions --benchmark financemath

    Example: fin-tasks questions results --strata strata.csv

    Example: fin-tasks questions results/a results/b --plan

    Example: fin-tasks questions --plan --benchmark xfinbench_calc --accuracy 0.50 --accuracy 0.55

    Example: fin-tasks questions --plan --benchmark dynostock --metadata '{"source": "sample"}'
    """
    from fin_tasks.endpoints.prices import read_prices
    from fin_tasks.report import read
    from fin_tasks.report.questions import effect_plan
    from fin_tasks.report.questions import plan as planning

    options = task_options(metadata, data_dir=data_dir)
    if benchmark and strata:
        from fin_tasks.report.questions.strata import strata_of_benchmark

        _write_strata(strata_of_benchmark(benchmark, options), strata)
        return
    if benchmark and not plan:
        _print_overview(benchmark, options, show_all=show_all, as_json=as_json)
        return
    if benchmark and token_prices:
        raise ConfigError(
            "--token-prices: expected two runs with --plan, whose tokens are known; got --benchmark."
        )
    if benchmark and effect_plan.asks_about_effects(benchmark, accuracy or []):
        of_effects = effect_plan.effect_plan(
            benchmark,
            options,
            deviation=spread,
            source_correlation=source_correlation,
        )
        print_effect_plan(of_effects, as_json=as_json)
        return
    if benchmark:
        of_task = planning.plan_of_task(
            benchmark,
            options,
            accuracy or [],
            correlation=correlation,
            source_correlation=source_correlation,
        )
        _print_plans([of_task], as_json=as_json)
        return
    if not paths:
        raise ConfigError(
            "questions: expected run folders, or --benchmark NAME; got neither."
        )
    if out:
        from fin_tasks.report.questions.sheet import check_name

        check_name(out)
    report = read(paths, corrections=corrections)
    if strata:
        from fin_tasks.report.questions.strata import strata_of_runs

        rows, narrowings = strata_of_runs(report, scoring)
        _write_strata(rows, strata)
        _print_narrowings(narrowings, as_json=as_json)
    elif plan:
        prices = read_prices(token_prices) if token_prices else None
        _print_plans(planning.plan_of_runs(report, scoring, prices), as_json=as_json)
    else:
        _list(report, out, scoring, show_all=show_all, as_json=as_json)
    exit_with([problem.message for problem in report.problems])


def _list(
    report: "Report", out: Path | None, scoring: str, *, show_all: bool, as_json: bool
) -> None:
    """Print the suspicious questions, and write them into a sheet if the user named one."""
    from fin_tasks.report.questions.sheet import write_sheet
    from fin_tasks.report.questions.table import is_suspicious, question_table

    table = question_table(report, scoring)
    suspicious = table[is_suspicious(table)]
    if as_json:
        records = table.drop(columns=["number", "examples"]).to_json(orient="records")
        print(json.dumps({"scoring": scoring, "questions": json.loads(records)}))
    else:
        _print_list(table, suspicious, show_all=show_all)
    if out:
        if suspicious.empty:
            raise DataError(
                f"--out {out}: expected a question on which a rival leads, found none."
            )
        write_sheet(report, suspicious, out, scoring)
        warn(f"wrote {out}: {len(suspicious)} questions")


def _print_overview(
    benchmark: str, options: Json, *, show_all: bool, as_json: bool
) -> None:
    """Print how many questions of which kind a benchmark asks, and which rows are left out."""
    from fin_tasks.report.questions.overview import overview_of

    overview = overview_of(benchmark, options)
    if as_json:
        print(json.dumps(asdict(overview)))
    else:
        say(f"{benchmark}, split {overview.split}:")
        rows = [_size_row(size) for size in overview.sizes]
        print_table("", rows, show_all=show_all)
        for task, reasons in overview.left_out.items():
            listed = ", ".join(f"{reason} {n}" for reason, n in reasons.items())
            say(f"{task} leaves out rows of the files: {listed}.")
    exit_with(overview.problems)


def _size_row(size: "Size") -> Json:
    """Return what is printed of a size."""
    group = f"{size.group} ({size.task})" if size.task else size.group
    unit = "" if size.unit == "n" else f" {size.unit}"
    row = {"Group": group, "Name": size.name, "Here": f"{size.value:,g}{unit}"}
    if size.printed is None:
        return row | {"Printed": "–", "Here less printed": "–", "Source": "–"}
    difference = size.value - size.printed
    return row | {
        "Printed": f"{size.printed:,g}{unit}",
        "Here less printed": f"{difference:+,.4g}" if difference else "0",
        "Source": size.source,
    }


def _print_plans(plans: "Sequence[Plan]", *, as_json: bool) -> None:
    """Print what the questions of each task show, and how many questions a difference needs."""
    from fin_tasks.report.questions.plan import rows_of_plan

    if as_json:
        print(json.dumps([plan.summary() for plan in plans]))
        return
    for plan in plans:
        first, second = plan.accuracies
        say(
            f"{plan.task}: {plan.n:,} questions from {plan.sources:,} sources; accuracies of "
            f"{first:.1%} and {second:.1%}, only one of them right on {plan.discordant:.1%}.",
            f"Questions of one source count as fewer: the design effect is {plan.design_effect:.2f}.",
            "Paired on the same questions, at a level of 5 % and with a power of 80 %:",
        )
        by_size, by_difference = rows_of_plan(plan)
        print_table("What n questions show", by_size, show_all=True)
        print_table("What a difference needs", by_difference, show_all=True)


def _write_strata(rows: "Sequence[Stratum]", path: Path) -> None:
    """Write strata into a new file, and say how many."""
    from fin_tasks.data.strata import write_strata

    write_strata(rows, path)
    n_strata = len({stratum for _, _, stratum in rows})
    warn(f"wrote {path}: {len(rows):,} questions in {n_strata} strata")


def _print_narrowings(narrowings: "Sequence[Narrowing]", *, as_json: bool) -> None:
    """Print how much narrower the interval of a sample by strata is than that of a plain one."""
    if as_json:
        print(json.dumps([asdict(narrowing) for narrowing in narrowings]))
        return
    rows = []
    for narrowing in narrowings:
        variance = narrowing.by_kind_and_difficulty
        rows.append(
            {
                "Task": narrowing.task,
                "Models": str(narrowing.models),
                "By kind": f"{narrowing.by_kind:.2f}",
                "By kind and difficulty": f"{variance:.2f}",
                "Interval": f"{narrowing.width:.0%} as wide",
                "100 questions tell as much as": f"{100 / variance:.0f} plain ones",
            }
        )
    if not rows:
        say("How much the strata narrow can be measured with runs of two models.")
        return
    print_table("Variance by strata, plain sampling = 1", rows, show_all=True)
    say("Each model was measured with the difficulty that the other models found.")


def _print_list(table: "DataFrame", suspicious: "DataFrame", *, show_all: bool) -> None:
    n_models = table["models"].max()
    hardest = (table["right"] == 0).sum()
    say(
        f"{len(table):,} questions, up to {n_models} models each; {hardest:,} have no right response.",
        f"On {len(suspicious):,} a rival of the truth leads: the responses that give it count more than those "
        "that give the truth.",
    )
    listed = suspicious if show_all else suspicious.head(_LISTED)
    if listed.empty:
        say("A rival needs two responses: name runs of several models.")
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
    counts = f"{row['for_rival']:.2f} − {row['for_truth']:.2f}"
    return {
        "Question": row["question"],
        "Truth": _short(row["truth"]),
        "Rival": _short(row["rival"]),
        "Distance": row["distance"] or "–",
        "Given by": f"{row['given_by']:.0f} of {row['responses']}",
        "Models": f"{row['models_giving']:.0f} of {row['models']}",
        "Lead": f"{row['lead']:.2f} = {counts}",
        "Right": f"{row['right']:.0%}",
        "Separates": "–" if isnan(row["separates"]) else f"{row['separates']:.2f}",
    }


def _short(text: object) -> str:
    """Return a number with six digits, or the beginning of a text."""
    try:
        return f"{float(str(text)):.6g}"
    except ValueError:
        return str(text)[:40]
