"""`fin-tasks compare`: runs, styles, knowledge or statements on the same questions, row by row."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from fin_tasks.cli.options import Json, Out, print_table, say, tell
from fin_tasks.errors import ConfigError

_HOW_TO_READ = """\
Value: mean over the n rows that the run has scored, in percent or points, with its 95 % interval (± is the deviation
over window sizes). Difference: against the first line, over the rows that both have scored, with the interval of its
test. p: McNemar's exact test; a t test if values are not 0 or 1 or rows share a source. Holm: p corrected over the
tasks, or over the groups. + and −: rows whose value went up and down. Left out: rows that only one of the two has."""


def compare(
    paths: Annotated[list[Path], typer.Argument(metavar="PATHS...", help="Run folders or results files.")],
    variant: Annotated[Literal["paper", "robust"], typer.Option(help="The scores to compare.")] = "paper",
    metric: Annotated[str, typer.Option(help="Metric, by default score or acc.")] = "",
    by: Annotated[
        list[str] | None,
        typer.Option(help="style, knowledge, arm or window; or groups of rows: capability, topic, ... Repeatable."),
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
        next(iter(wanted & set(names)), "") for names in (comparing.FACTORS, comparing.GROUPS, ("arm", "window"))
    )
    if wanted != {factor, group} - {""} and wanted != {statements}:
        raise ConfigError(
            f"compare --by: expected arm, window, or one of {', '.join(comparing.FACTORS)} and one of "
            f"{', '.join(comparing.GROUPS)}, got {', '.join(by or [])!r}."
        )
    if metric and statements:
        raise ConfigError(f"compare --metric: expected none with --by {statements}, which shows all of its measures.")
    if statements:
        reports = {"": read(paths)}
        found = comparing.compare_statements(reports[""], variant=variant, effects=statements == "arm")
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
    else:
        for (heading, named, _), lines in found.lines.groupby(["heading", "metric", "variant"], sort=False):
            _print_lines(f"{heading} ({named}, {variant})", lines)
        print(_HOW_TO_READ)
        say(*(f"Note: {note}" for note in found.notes))
    tell([problem.message for report in reports.values() for problem in report.problems])


def _print_lines(title: str, lines: Any) -> None:
    order = list(lines["group"].unique())
    lines = lines.sort_values("group", key=lambda group: group.map(order.index), kind="stable")
    rows = []
    for one in lines.to_dict("records"):
        scale = 100 if one["unit"] == 1 else 1
        value = _number(one["value"], one["low"], one["high"], scale, "", one["deviation"])
        row = {"Rows": one["group"] or "all", "Run": one["run"], "n": one["n"], "Value": value}
        if lines["against"].any():
            row["Difference"] = _number(one["difference"], one["difference_low"], one["difference_high"], scale, "+")
            for name, p in (("p", one["p"]), ("Holm", one["p_holm"])):
                row[name] = "–" if p != p else f"{p:.3f}" if p >= 0.001 else "<0.001"
            row |= {"+": one["gained"], "−": one["lost"], "Left out": one["left_out"]}
        if not one["against"]:  # nothing to compare it with
            row |= dict.fromkeys(list(row)[4:], "")
        rows.append(row)
    print_table(title, rows)


def _number(value: float, low: float, high: float, scale: float, sign: str, deviation: float = float("nan")) -> str:
    if value != value:
        return "–"
    spread = f" ± {scale * deviation:.1f}" if deviation == deviation else ""
    bounds = f" [{scale * low:{sign}.1f}…{scale * high:{sign}.1f}]" if low == low else ""
    return f"{scale * value:{sign}.1f}{spread}{bounds}"
