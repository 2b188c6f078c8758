"""`fin-tasks compare`: runs, styles, knowledge or statements on the same questions, row by row."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from fin_tasks.cli.options import Json, Out, print_table, say, tell
from fin_tasks.errors import ConfigError


def compare(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATHS...", help="Run folders or results files.")
    ],
    variant: Annotated[
        Literal["paper", "robust"], typer.Option(help="The scores to compare.")
    ] = "paper",
    metric: Annotated[str, typer.Option(help="Metric, by default score or acc.")] = "",
    by: Annotated[
        list[str] | None,
        typer.Option(
            help="style, knowledge, arm or window; or groups of rows: capability, topic, ... Repeatable."
        ),
    ] = None,
    as_json: Json = False,
    out: Out = None,
) -> None:
    """Compare runs with the first one on the same rows: differences with intervals and tests, by task and group.

    --out gets compare.csv, compare.png and compare.svg.

    Example: fin-tasks compare results/a results/b --by capability
    """
    from fin_tasks.report import compare as comparing
    from fin_tasks.report import read
    from fin_tasks.report.figures import draw_forest
    from fin_tasks.report.tables import write_csv

    wanted = set(by or [])
    factor, group, statements = (
        next(iter(wanted & set(names)), "")
        for names in (comparing.FACTORS, comparing.GROUPS, comparing.STATEMENTS)
    )
    if wanted != {factor, group} - {""} and wanted != {statements}:
        raise ConfigError(
            f"compare --by: expected arm, window, or one of {', '.join(comparing.FACTORS)} and one of "
            f"{', '.join(comparing.GROUPS)}, got {', '.join(by or [])!r}."
        )
    if (metric and statements) or metric == "bias_index":
        raise ConfigError(
            "compare --metric: expected --by arm and no --metric for bias_index and what goes with it."
        )
    if statements:
        reports = {"": read(paths)}
        found = comparing.compare_statements(
            reports[""], variant=variant, effects=statements == "arm"
        )
    else:
        reports = {str(path): read([path]) for path in paths}
        found = comparing.compare(reports, variant=variant, metric=metric, factor=factor, by=group)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        write_csv(found.lines, out / "compare.csv")
        draw_forest(found.lines[found.lines["pairs"] > 0], out / "compare", title="Differences")
    if as_json:
        lines = json.loads(found.lines.to_json(orient="records"))
        print(json.dumps({"variant": variant, "lines": lines, "notes": found.notes}))
    elif statements:
        _print_statements(found.lines, variant)
        say(*(f"Note: {note}" for note in found.notes))
    else:
        for (heading, named, _), lines in found.lines.groupby(
            ["heading", "metric", "variant"], sort=False
        ):
            _print_lines(f"{heading} ({named}, {variant})", lines)
        say(*(f"Note: {note}" for note in found.notes))
    tell([problem.message for report in reports.values() for problem in report.problems])


def _print_lines(title: str, lines: Any) -> None:
    rows = []
    for one in [
        one
        for _, of_group in lines.groupby("group", sort=False)
        for one in of_group.to_dict("records")
    ]:
        value = _value(one)
        row = {"Rows": one["group"] or "all", "Run": one["run"], "n": one["n"], "Value": value}
        if lines["against"].any():
            told = {
                "Difference": _number(one, "difference", "difference_low", "difference_high", "+")
            }
            told |= {"p": one["p"], "Holm": one["p_holm"]}
            told |= {"+": one["gained"], "−": one["lost"], "Left out": one["left_out"]}
            row |= told if one["against"] else dict.fromkeys(told, "")
        rows.append(row)
    print_table(title, rows)


def _print_statements(lines: Any, variant: str) -> None:
    """Print a table of all values, with a column for each measure, and a table of all effects."""
    is_effect = lines["against"] != ""
    rows = []
    for (setting, arm, size), size_lines in lines[~is_effect].groupby(
        ["heading", "run", "group"], sort=False
    ):
        row = {"Setting": setting, "Arm": arm, "Reports": size}
        for line in size_lines.to_dict("records"):
            row["n"] = line["n"]
            row[line["metric"]] = _value(line)
        rows.append(row)
    print_table(f"Values ({variant})", rows)
    effects = []
    for line in lines[is_effect].to_dict("records"):
        difference = _number(line, "difference", "difference_low", "difference_high", "+")
        effects.append(
            {
                "Setting": line["heading"],
                "Effect": line["run"],
                "Measure": line["metric"],
                "Reports": line["group"],
                "Difference": difference,
                "Pairs": line["pairs"],
                "Left out": line["left_out"],
                "p": line["p"],
                "Holm": line["p_holm"],
            }
        )
    if effects:
        print_table(f"Effects ({variant})", effects)


def _value(line: Any) -> str:
    value = _number(line, "value", "low", "high", "")
    if line["deviation"] == line["deviation"]:
        return f"{value} ± {100 * line['deviation']:.1f}"
    return value


def _number(line: Any, value: str, low: str, high: str, sign: str) -> str:
    scale = 100 if line["unit"] == 1 else 1
    if line[value] != line[value]:
        return "–"
    bounds = (
        f" [{scale * line[low]:{sign}.1f}…{scale * line[high]:{sign}.1f}]"
        if line[low] == line[low]
        else ""
    )
    return f"{scale * line[value]:{sign}.1f}{bounds}"
