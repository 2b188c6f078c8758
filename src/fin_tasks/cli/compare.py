"""`fin-tasks compare`: runs, styles or knowledge on the same questions, row by row."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fin_tasks.cli.arms import compare_windows
from fin_tasks.cli.options import Items, Json, print_table
from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    from fin_tasks.report.compare import Comparisons

__all__ = ["compare", "make_folder", "tell"]

_VARIANTS = ("paper", "robust")
_HOW_TO_READ = """\
Value: over the rows that the run has scored (n), in percent or points, with the 95 % interval. Difference: against the
first line, over the rows that both have scored, with the interval of its test. + and −: rows whose value went up and
down. p: McNemar's exact test; a t test if values are not 0 or 1 or rows share a source. Holm: p corrected over the
tasks; over the groups apart from these. Left out: rows that only one run was asked + rows that only one has scored."""


def compare(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATHS...", help="Run folders or results files: each run is compared with the first one."
        ),
    ],
    variant: Annotated[str, typer.Option(help="Scores to compare: paper or robust.")] = "paper",
    metric: Annotated[
        str, typer.Option(help="A metric of the tasks; by default score for MME-Finance, else acc.")
    ] = "",
    by: Annotated[
        list[str] | None,
        typer.Option(
            help="style or knowledge: compare one model's results that differ in it. capability, topic, part, "
            "category, image_type, image_style, math_types, ticker, task: also compare groups of rows. arm, window: "
            "effects of DynoStock's statements, and its bias by window size. May be given twice."
        ),
    ] = None,
    baseline: Annotated[str, typer.Option(help="The run, style or knowledge to compare with.")] = "",
    as_json: Json = False,
    items: Items = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write compare.csv, compare.png and compare.svg here.")
    ] = None,
) -> None:
    """Compare runs on the same rows: differences with intervals and tests, by task and group."""
    from fin_tasks.report import compare as comparing
    from fin_tasks.report import read
    from fin_tasks.report.figures import draw_forest
    from fin_tasks.report.tables import write_csv

    if variant not in _VARIANTS:
        raise ConfigError(f"compare --variant: expected {' or '.join(_VARIANTS)}, got {variant!r}.")
    wanted = by or []
    known = (*comparing.FACTORS, *comparing.GROUPS, "arm", "window")
    factors, groups = ([one for one in wanted if one in of] for of in (comparing.FACTORS, comparing.GROUPS))
    if len(factors) > 1 or len(groups) > 1 or set(wanted) - set(known):
        raise ConfigError(
            f"compare --by: expected style or knowledge, and one of {', '.join(known[2:])}, got {', '.join(wanted)!r}."
        )
    make_folder(out)
    if windows := [one for one in wanted if one in ("arm", "window")]:
        report = read(paths)
        compare_windows(report, by=windows[0], variant=variant, out=out, as_json=as_json)
        tell([problem.message for problem in report.problems])
        return
    reports = {str(path): read([path]) for path in paths}
    factor = factors[0] if factors else ""
    group = groups[0] if groups else "task" if factor else ""
    found = comparing.compare(reports, variant=variant, metric=metric, factor=factor, by=group, baseline=baseline)
    if items is not None:
        found.items.to_json(items, orient="records", lines=True)
    if out is not None:
        write_csv(found.lines, out / "compare.csv")
        draw_forest(found.lines[found.lines["pairs"] > 0], out / "compare", title="Differences")
    if as_json:
        lines, terms = (json.loads(table.to_json(orient="records")) for table in (found.lines, found.terms))
        print(json.dumps({"variant": variant, "lines": lines, "terms": terms, "notes": found.notes}))
    else:
        _show(found)
    tell([problem.message for report in reports.values() for problem in report.problems])


def make_folder(folder: Path | None) -> None:
    """Find out before the work that a folder cannot be made."""
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"--out {folder}: expected a folder to write to, got {error.strerror}.") from error


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
        order = {group: place for place, group in enumerate(dict.fromkeys(lines["group"]))}
        lines = lines.sort_values("group", key=lambda of, order=order: of.map(order), kind="stable")
        title = f"{heading} ({metric}, {variant})"
        print_table(title, columns, [_cells(one) for one in lines.to_dict("records")])
    if len(found.terms):
        rows = [
            [one["knowledge"], one["task"], str(one["n"])]
            + [f"{100 * one[name]:.1f}" for name in ("hit_rate", "recall", "mrr", "ndcg")]
            for one in found.terms.to_dict("records")
        ]
        names = ("Knowledge", "Task", "n", "Any gold term found", "Recall", "MRR", "nDCG")
        print_table("Gold terms among those retrieved, percent", names, rows)
    print(_HOW_TO_READ)
    for note in found.notes:
        print(escape(f"Note: {note}"))


def _cells(one: dict[str, Any]) -> list[str]:
    scale = 100 if one["unit"] == 1 else 1
    shown = [
        _number(one[n], one[low], one[high], scale, sign)
        for n, low, high, sign in (
            ("value", "low", "high", ""),
            ("difference", "difference_low", "difference_high", "+"),
        )
    ]
    cells = [one["group"] or "all", one["run"], str(one["n"]), shown[0]]
    if not one["against"]:
        return [*cells, "", "", "", "", "", ""]
    tests = ["–" if p != p else f"{p:.3f}" if p >= 0.001 else "<0.001" for p in (one["p"], one["p_holm"])]
    left = f"{one['unasked']} + {one['left_out']}"
    return [*cells, shown[1], *tests, str(one["gained"]), str(one["lost"]), left]


def _number(value: float, low: float, high: float, scale: float, sign: str) -> str:
    if value != value:
        return "–"
    bounds = f" [{scale * low:{sign}.1f}…{scale * high:{sign}.1f}]" if low == low else ""
    return f"{scale * value:{sign}.1f}{bounds}"
