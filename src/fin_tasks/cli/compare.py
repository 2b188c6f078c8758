"""`fin-tasks compare`: runs, styles, knowledge, statements or variants on the same questions, row by row."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fin_tasks.errors import ConfigError
from fin_tasks.report import Json

from .effects import show_effects
from .options import AsJson, Corrected, CorrectionFile, Out, ShowAll
from .output import exit_with, meaning_of, print_table, say, warn

if TYPE_CHECKING:
    from fin_tasks.report.compare import Comparisons, Options
    from fin_tasks.report.model import Report


def compare(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATHS...", help="Run folders or results files."),
    ],
    by: Annotated[
        list[str] | None,
        typer.Option(
            help="What one model's results differ in: style, mode, scoring, judge, limit, temperature, knowledge, "
            "variant, corrections, arm, window, statement or mitigation; or groups of rows: capability, topic, ... "
            "Repeatable."
        ),
    ] = None,
    corrected: Corrected = None,
    corrections: CorrectionFile = None,
    show_all: ShowAll = False,
    as_json: AsJson = False,
    out: Out = None,
    scoring: Annotated[
        Literal["paper", "robust"], typer.Option(help="The scores to compare.")
    ] = "paper",
    metric: Annotated[
        str, typer.Option(help="The metric to compare. Default: score or acc.")
    ] = "",
    baseline: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What all others are compared with: a run, a style or knowledge as the tables "
            "name it. Default: the first run, cot, or none.",
        ),
    ] = "",
    beside: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="MODEL",
            help="Take only this one of the recorded models in PATHS, such as financemath:gpt-4o, or nearest: "
            "the three above and below. Repeatable.",
        ),
    ] = None,
) -> None:
    """Compare runs with the first one on the same rows: differences with intervals and tests, by task and group.

    --out gets compare.csv, compare.tex for LaTeX, and a figure for each task with differences, as PDF and PNG.

    Example: fin-tasks compare results/a results/b --by capability

    Example: fin-tasks compare results --with nearest
    """
    from fin_tasks.report import compare as comparing
    from fin_tasks.report import read
    from fin_tasks.report.comparison_files import write_comparison
    from fin_tasks.report.corrections import read_corrections
    from fin_tasks.report.factors import FACTORS

    columns = set(by or [])
    factor = _chosen(columns, FACTORS)
    group = _chosen(columns, comparing.GROUPS)
    arm = _chosen(columns, comparing.ARMS)
    effect = _chosen(columns, comparing.EFFECTS)
    if effect and columns == {effect} and not metric:
        report = read(paths, corrections=corrections)
        show_effects(
            report, scoring, by=effect, as_json=as_json, show_all=show_all, out=out
        )
        exit_with([problem.message for problem in report.problems])
        return
    if columns != {factor, group} - {""} and columns != {arm}:
        raise ConfigError(
            "compare --by: expected arm, window, statement, mitigation, or one of "
            f"{', '.join(FACTORS)} and one of {', '.join(comparing.GROUPS)}, got {', '.join(columns)!r}."
        )
    if (metric and arm) or metric == "bias_index":
        raise ConfigError(
            "compare --metric: expected --by arm and no --metric for bias_index and what goes with it."
        )
    if factor == "corrections" and not corrections:
        raise ConfigError("compare --by corrections: expected --corrections FILE too.")
    options = comparing.Options(
        scoring=scoring,
        metric=metric,
        factor=factor,
        by=group,
        baseline=baseline,
        corrections=read_corrections(corrected),
    )
    reports = _read(paths, options, arm, corrections, beside or [])
    compared = _compared(reports, options, arm)
    if out:
        for file in write_comparison(compared, out):
            warn(f"wrote {file}")
    _print(compared, options, as_json=as_json, show_all=show_all)
    problems = chain.from_iterable(report.problems for report in reports.values())
    exit_with([problem.message for problem in problems])


def _read(
    paths: Sequence[Path],
    options: "Options",
    arm: str,
    corrections: Path | None,
    beside: Sequence[str],
) -> "dict[str, Report]":
    """Return what is compared by name: one report of all paths, or two for corrections, or one for each path."""
    from fin_tasks.report import read
    from fin_tasks.report.recorded import keep_beside

    if arm or options.factor == "variant":
        return {"": read(paths, corrections=corrections)}
    if options.factor == "corrections":
        corrected = read(paths, corrections=corrections)
        return {"published": read(paths), "corrected": corrected}
    reports = {str(path): read(path, corrections=corrections) for path in paths}
    return keep_beside(reports, beside, options.scoring) if beside else reports


def _compared(
    reports: "Mapping[str, Report]", options: "Options", arm: str
) -> "Comparisons":
    from fin_tasks.report import arms, memorization
    from fin_tasks.report.compare import compare

    if arm:
        return arms.compare_arms(reports[""], options.scoring, effects=arm == "arm")
    if options.factor == "variant":
        return memorization.compare_variants(reports[""], options)
    return compare(reports, options)


def _print(
    compared: "Comparisons", options: "Options", *, as_json: bool, show_all: bool
) -> None:
    scorings = [options.scoring]
    if as_json:
        lines = json.loads(compared.lines.to_json(orient="records"))
        result = {"scoring": scorings[0], "lines": lines, "notes": compared.notes}
        print(json.dumps(result))
        return
    if options.factor == "scoring":
        scorings = compared.lines["scoring"].unique().tolist()
    lines = compared.lines.to_dict("records")
    say(f"Scored as {' and '.join(f'`{name}`' for name in scorings)}:")
    print_table("", list(map(_row, lines)), show_all=show_all)
    for line in lines:
        _say_smallest(line)
    say(*(f"Note: {note}" for note in compared.notes))


def _chosen(columns: set[str], names: Iterable[str]) -> str:
    """Return the name that the user chose; empty if it is none of these."""
    return next((name for name in names if name in columns), "")


def _row(line: Json) -> Json:
    """Return what is printed of a line; a baseline has no difference."""
    metric = line["metric"]
    rows = meaning_of(f"{metric}_{line['group']}") or line["group"]
    names = [line.get("model"), line["run"], rows]
    row = {
        "": f"{line['heading']} ({meaning_of(metric) or metric})",
        "Run": ", ".join(filter(None, names)),
        "n": line["n"],
    }
    difference = _number(line, "difference", "difference_low", "difference_high", "+")
    if "recalled" in line:
        for name in ("published", "variants", "spread", "recalled"):
            row[name.capitalize()] = _number(line, name)
        return row | {
            "Gap": _number(line, "value", "low", "high", "+"),
            "p": _p_text(line["p"]),
            "Difference": difference,
            "Holm": _p_text(line["p_holm"]),
        }
    value = _number(line, "value", "low", "high")
    if not math.isnan(line["deviation"]):
        value += f" ± {100 * line['deviation']:.1f}"
    return row | {
        "Value": value,
        "Difference": difference,
        "p": _p_text(line["p"]),
        "Holm": _p_text(line["p_holm"]),
        "+": line["gained"],
        "−": line["lost"],
        "Pairs": line["pairs"],
        "Left out": line["left_out"],
    }


def _say_smallest(line: Json) -> None:
    """Say which difference the pairs of a line over all rows could have shown."""
    if line["group"] or math.isnan(line.get("detectable", math.nan)):
        return
    run = ", ".join(filter(None, [line["task"], line["model"], line["run"]]))
    smallest = _number(line, "detectable")
    say(
        f"{run}: {line['pairs']} pairs show differences from {smallest} on (power 80 %)."
    )


def _number(
    line: Json, value: str, low: str = "", high: str = "", sign: str = ""
) -> str:
    """Return a value with its interval, shares in percent."""
    if math.isnan(line[value]):
        return "–"
    scale = 100 if line["unit"] == 1 else 1
    text = f"{scale * line[value]:{sign}.1f}"
    if not low or math.isnan(line[low]):
        return text
    return f"{text} [{scale * line[low]:{sign}.1f}…{scale * line[high]:{sign}.1f}]"


def _p_text(p: float) -> str:
    if math.isnan(p):
        return "–"
    return "<0.001" if p < 0.001 else f"{p:.3f}"
