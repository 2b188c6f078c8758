"""`fin-tasks compare`: runs, styles, knowledge, statements or variants on the same questions, row by row."""

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from fin_tasks.errors import ConfigError

from .options import meaning_of, print_table, say, tell


def compare(
    paths: list[Path],
    by: list[str] | None,
    corrected: Path | None,
    show_all: bool,
    as_json: bool,
    out: Path | None,
    variant: Literal["paper", "robust"] = "paper",
    metric: str = "",
    baseline: str = "",
) -> None:
    """Compare runs with the first one on the same rows: differences with intervals and tests, by task and group.

    --out gets compare.csv, and compare.png and compare.svg if there are differences.

    Example: fin-tasks compare results/a results/b --by capability
    """
    from fin_tasks.report import arms, memorization, read, truths
    from fin_tasks.report import compare as comparing
    from fin_tasks.report.corrections import read_corrections
    from fin_tasks.report.figures import draw_forest
    from fin_tasks.report.tables import write_csv

    columns = set(by or [])
    factor = _only(columns, comparing.FACTORS)
    group = _only(columns, comparing.GROUPS)
    arm = _only(columns, comparing.ARMS)
    if columns != {factor, group} - {""} and columns != {arm}:
        raise ConfigError(
            f"compare --by: expected arm, window, or one of {', '.join(comparing.FACTORS)} and one of "
            f"{', '.join(comparing.GROUPS)}, got {', '.join(columns)!r}."
        )
    if (metric and arm) or metric == "bias_index":
        raise ConfigError(
            "compare --metric: expected --by arm and no --metric for bias_index and what goes with it."
        )
    options = comparing.Options(
        variant=variant,
        metric=metric,
        factor=factor,
        by=group,
        baseline=baseline,
        corrections=read_corrections(corrected),
    )
    if arm:
        reports = [read(paths)]
        compared = arms.compare_arms(reports[0], variant, effects=arm == "arm")
    elif factor == "variant":
        reports = [read(paths)]
        compared = memorization.compare_variants(reports[0], options)
    elif factor == "truths":
        reports = [read(paths)]
        compared = truths.compare_truths(reports[0], variant)
    else:
        reports = [read([path]) for path in paths]
        names = map(str, paths)
        compared = comparing.compare(dict(zip(names, reports, strict=True)), options)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        write_csv(compared.lines, out / "compare.csv")
        draw_forest(compared.lines, out / "compare")
    if as_json:
        lines = json.loads(compared.lines.to_json(orient="records"))
        print(json.dumps({"variant": variant, "lines": lines, "notes": compared.notes}))
    else:
        rows = [_row(line) for line in compared.lines.to_dict("records")]
        print_table(f"Scored as `{variant}`", rows, show_all=show_all)
        say(*(f"Note: {note}" for note in compared.notes))
    tell([problem.message for report in reports for problem in report.problems])


def _only(columns: set[str], names: Iterable[str]) -> str:
    return next((name for name in names if name in columns), "")


def _row(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is printed of a line; a baseline has no difference."""
    metric = line["metric"]
    row = {
        "Task": f"{line['heading']} ({meaning_of(metric) or metric})",
        "Rows": meaning_of(f"{metric}_{line['group']}") or line["group"] or "all",
        "Run": line["run"],
        "n": line["n"],
    }
    difference = _number(line, "difference", "difference_low", "difference_high", "+")
    if "recalled" in line:
        for name in ("published", "variants", "spread", "recalled"):
            row[name.capitalize()] = _number(line, name)
        return row | {
            "Gap": _number(line, "value", "low", "high", "+"),
            "p": line["p"],
            "Difference": difference,
            "Holm": line["p_holm"],
        }
    if line["model"] not in line["run"]:
        row["Run"] = f"{line['model']}, {line['run']}"
    value = _number(line, "value", "low", "high")
    if not math.isnan(line["deviation"]):
        value += f" ± {100 * line['deviation']:.1f}"
    return row | {
        "Value": value,
        "Difference": difference,
        "p": line["p"],
        "Holm": line["p_holm"],
        "+": line["gained"],
        "−": line["lost"],
        "Pairs": line["pairs"],
        "Left out": line["left_out"],
    }


def _number(
    line: Mapping[str, Any], value: str, low: str = "", high: str = "", sign: str = ""
) -> str:
    """Return a value with its interval, shares in percent."""
    if math.isnan(line[value]):
        return "–"
    scale = 100 if line["unit"] == 1 else 1
    text = f"{scale * line[value]:{sign}.1f}"
    if not low or math.isnan(line[low]):
        return text
    return f"{text} [{scale * line[low]:{sign}.1f}…{scale * line[high]:{sign}.1f}]"
