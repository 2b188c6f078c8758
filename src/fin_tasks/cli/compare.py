"""`fin-tasks compare`: runs, styles, knowledge or statements on the same questions, row by row."""

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fin_tasks.cli.options import print_table, say, tell
from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    from pandas import DataFrame


def compare(
    paths: list[Path],
    variant: Literal["paper", "robust"] = "paper",
    metric: str = "",
    by: list[str] | None = None,
    baseline: str = "",
    as_json: bool = False,
    out: Path | None = None,
) -> None:
    """Compare runs with the first one on the same rows: differences with intervals and tests, by task and group.

    --out gets compare.csv, and compare.png and compare.svg if there are differences.

    Example: fin-tasks compare results/a results/b --by capability
    """
    from fin_tasks.report import arms, read
    from fin_tasks.report import compare as comparing
    from fin_tasks.report.figures import draw_forest
    from fin_tasks.report.tables import write_csv

    columns = set(by or [])
    factor = _only(columns, comparing.FACTORS)
    group = _only(columns, comparing.GROUPS)
    arm = _only(columns, comparing.ARMS)
    if columns != {factor, group} - {""} and columns != {arm}:
        raise ConfigError(
            f"compare --by: expected arm, window, or one of {', '.join(comparing.FACTORS)} and one of "
            f"{', '.join(comparing.GROUPS)}, got {', '.join(by or [])!r}."
        )
    if (metric and arm) or metric == "bias_index":
        raise ConfigError(
            "compare --metric: expected --by arm and no --metric for bias_index and what goes with it."
        )
    if arm:
        reports = {"": read(paths)}
        benchmark = arms.benchmark_with_arms(reports[""])
        compared = arms.compare_arms(reports[""], benchmark, variant=variant, effects=arm == "arm")
    else:
        reports = {str(path): read([path]) for path in paths}
        options = comparing.Options(
            variant=variant,
            metric=metric,
            factor=factor,
            by=group,
            baseline=baseline,
        )
        compared = comparing.compare(reports, options)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        write_csv(compared.lines, out / "compare.csv")
        draw_forest(compared.lines, out / "compare", title="Differences")
    if as_json:
        lines = json.loads(compared.lines.to_json(orient="records"))
        print(json.dumps({"variant": variant, "lines": lines, "notes": compared.notes}))
    else:
        if arm:
            _print_arms(compared.lines, variant)
        else:
            _print_comparisons(compared.lines, has_models=bool(factor))
        say(*(f"Note: {note}" for note in compared.notes))
    tell([problem.message for report in reports.values() for problem in report.problems])


def _only(columns: set[str], names: Iterable[str]) -> str:
    return next((name for name in names if name in columns), "")


def _print_comparisons(lines: "DataFrame", *, has_models: bool) -> None:
    """Print a table for each task and metric, groups of rows one after the other."""
    for (heading, metric, variant), heading_lines in lines.groupby(
        ["heading", "metric", "variant"], sort=False
    ):
        has_differences = heading_lines["against"].any()
        rows = []
        for _, group_lines in heading_lines.groupby("group", sort=False):
            for line in group_lines.to_dict("records"):
                row = {"Rows": line["group"] or "all"}
                if has_models:
                    row["Model"] = line["model"]
                row |= {"Run": line["run"], "n": line["n"], "Value": _value(line)}
                if has_differences:
                    row |= _difference_cells(line)
                rows.append(row)
        print_table(f"{heading} ({metric}, {variant})", rows)


def _difference_cells(line: Mapping[str, Any]) -> dict[str, Any]:
    cells = {
        "Difference": _difference(line),
        "p": line["p"],
        "Holm": line["p_holm"],
        "+": line["gained"],
        "−": line["lost"],
        "Left out": line["left_out"],
    }
    return cells if line["against"] else dict.fromkeys(cells, "")


def _print_arms(lines: "DataFrame", variant: str) -> None:
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
    effects = [_effect_cells(line) for line in lines[is_effect].to_dict("records")]
    if effects:
        print_table(f"Effects ({variant})", effects)


def _effect_cells(line: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "Setting": line["heading"],
        "Effect": line["run"],
        "Measure": line["metric"],
        "Reports": line["group"],
        "Difference": _difference(line),
        "Pairs": line["pairs"],
        "Left out": line["left_out"],
        "p": line["p"],
        "Holm": line["p_holm"],
    }


def _value(line: Mapping[str, Any]) -> str:
    text = _number(line, "value", "low", "high", "")
    if math.isnan(line["deviation"]):
        return text
    return f"{text} ± {100 * line['deviation']:.1f}"


def _difference(line: Mapping[str, Any]) -> str:
    return _number(line, "difference", "difference_low", "difference_high", "+")


def _number(line: Mapping[str, Any], value: str, low: str, high: str, sign: str) -> str:
    if math.isnan(line[value]):
        return "–"
    scale = 100 if line["unit"] == 1 else 1
    text = f"{scale * line[value]:{sign}.1f}"
    if math.isnan(line[low]):
        return text
    return f"{text} [{scale * line[low]:{sign}.1f}…{scale * line[high]:{sign}.1f}]"
