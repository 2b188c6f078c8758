"""`fin-tasks compare`: runs, styles, knowledge or statements on the same questions, row by row."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fin_tasks.cli.options import Json, Out, print_table
from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    from fin_tasks.report.compare import Comparisons

__all__ = ["compare", "tell"]

_HOW_TO_READ = """\
Value: mean over the n rows that the run has scored, in percent or points, with its 95 % interval (± is the deviation
over window sizes). Difference: against the first line, over the rows that both have scored, with the interval of its
test. p: McNemar's exact test; a t test if values are not 0 or 1 or rows share a source. Holm: p corrected over the
tasks, or over the groups. + and −: rows whose value went up and down. Left out: rows that only one of the two has."""


def compare(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATHS...", help="Run folders or results files: each run is compared with the first one."
        ),
    ],
    variant: Annotated[Literal["paper", "robust"], typer.Option(help="The scores to compare.")] = "paper",
    metric: Annotated[
        str, typer.Option(help="A metric of the tasks; by default score for MME-Finance, else acc.")
    ] = "",
    by: Annotated[
        list[str] | None,
        typer.Option(
            help="style or knowledge: compare one model's results that differ in it. arm: effects of DynoStock's "
            "statements; window: its measures by window size. capability, topic, part, category, image_type, "
            "image_style, math_types, ticker: also compare groups of rows. May be given twice."
        ),
    ] = None,
    as_json: Json = False,
    out: Out = None,
) -> None:
    """Compare runs on the same rows: differences with intervals and tests, by task and group.

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
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    if statements:
        reports = {"": read(paths)}
        found = comparing.compare_statements(reports[""], variant=variant, effects=statements == "arm")
    else:
        reports = {str(path): read([path]) for path in paths}
        found = comparing.compare(reports, variant=variant, metric=metric, factor=factor, by=group)
    if out is not None:
        write_csv(found.lines, out / "compare.csv")
        draw_forest(found.lines[found.lines["pairs"] > 0], out / "compare", title="Differences")
    if as_json:
        lines = json.loads(found.lines.to_json(orient="records"))
        print(json.dumps({"variant": variant, "lines": lines, "notes": found.notes}))
    else:
        _show(found)
    tell([problem.message for report in reports.values() for problem in report.problems])


def tell(problems: Sequence[str]) -> None:
    """Name files that could not be used on stderr; exit with status 1 if there are any."""
    from fin_tasks.sandbox import escape

    for problem in problems:
        print(f"fin-tasks: error: {escape(problem)}", file=sys.stderr)
    if problems:
        raise typer.Exit(1)


def _show(found: "Comparisons") -> None:
    from fin_tasks.sandbox import escape

    columns = ("Rows", "Run", "n", "Value", "Difference", "p", "Holm", "+", "−", "Left out")
    for (heading, metric, variant), lines in found.lines.groupby(["heading", "metric", "variant"], sort=False):
        order = list(lines["group"].unique())
        lines = lines.sort_values("group", key=lambda group, order=order: group.map(order.index), kind="stable")
        width = len(columns) if lines["against"].any() else 4
        rows = [_cells(one)[:width] for one in lines.to_dict("records")]
        print_table(f"{heading} ({metric}, {variant})", columns[:width], rows)
    print(_HOW_TO_READ)
    for note in found.notes:
        print(escape(f"Note: {note}"))


def _cells(one: dict[str, Any]) -> list[str]:
    scale = 100 if one["unit"] == 1 else 1
    value = _number(one["value"], one["low"], one["high"], scale, "", one["deviation"])
    cells = [one["group"] or "all", one["run"], str(one["n"]), value]
    if not one["against"]:
        return [*cells, "", "", "", "", "", ""]
    difference = _number(one["difference"], one["difference_low"], one["difference_high"], scale, "+")
    tests = ["–" if p != p else f"{p:.3f}" if p >= 0.001 else "<0.001" for p in (one["p"], one["p_holm"])]
    counts = ["–" if one[name] is None else str(one[name]) for name in ("gained", "lost", "left_out")]
    return [*cells, difference, *tests, *counts]


def _number(value: float, low: float, high: float, scale: float, sign: str, deviation: float = float("nan")) -> str:
    if value != value:
        return "–"
    spread = f" ± {scale * deviation:.1f}" if deviation == deviation else ""
    bounds = f" [{scale * low:{sign}.1f}…{scale * high:{sign}.1f}]" if low == low else ""
    return f"{scale * value:{sign}.1f}{spread}{bounds}"
