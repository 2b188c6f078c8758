"""`fin-tasks compare`: runs, styles, knowledge or statements on the same questions, row by row."""

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from fin_tasks.cli.options import print_table, say, tell
from fin_tasks.errors import ConfigError

_VARIANT = "variant"
_TRUTHS = "truths"


def compare(
    paths: list[Path],
    variant: Literal["paper", "robust"] = "paper",
    metric: str = "",
    by: list[str] | None = None,
    baseline: str = "",
    corrected: Path | None = None,
    show_all: bool = False,
    as_json: bool = False,
    out: Path | None = None,
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
    factor = _only(columns, [*comparing.FACTORS, _VARIANT, _TRUTHS])
    group = _only(columns, comparing.GROUPS)
    arm = _only(columns, comparing.ARMS)
    if columns != {factor, group} - {""} and columns != {arm}:
        factors = ", ".join([*comparing.FACTORS, _VARIANT, _TRUTHS])
        raise ConfigError(
            f"compare --by: expected arm, window, or one of {factors} and one of "
            f"{', '.join(comparing.GROUPS)}, got {', '.join(by or [])!r}."
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
    if factor == _VARIANT:
        reports = {"": read(paths)}
        compared = memorization.compare_variants(reports[""], options)
    elif factor == _TRUTHS:
        reports = {"": read(paths)}
        compared = truths.compare_truths(reports[""], variant)
    elif arm:
        reports = {"": read(paths)}
        benchmark = arms.benchmark_with_arms(reports[""])
        compared = arms.compare_arms(
            reports[""], benchmark, variant=variant, effects=arm == "arm"
        )
    else:
        reports = {str(path): read([path]) for path in paths}
        compared = comparing.compare(reports, options)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        write_csv(compared.lines, out / "compare.csv")
        draw_forest(compared.lines, out / "compare", title="Differences")
    if as_json:
        lines = json.loads(compared.lines.to_json(orient="records"))
        print(json.dumps({"variant": variant, "lines": lines, "notes": compared.notes}))
    elif factor == _VARIANT:
        rows = [_gap_row(line) for line in compared.lines.to_dict("records")]
        print_table(f"Scored as `{variant}`", rows, show_all=show_all)
        say(*(f"Note: {note}" for note in compared.notes))
    else:
        lines = compared.lines.astype({"gained": float, "lost": float})
        if arm:  # the effects first
            lines = lines.sort_values(
                "against", key=lambda runs: runs == "", kind="stable"
            )
        rows = [_row(line) for line in lines.to_dict("records")]
        print_table(f"Scored as `{variant}`", rows, show_all=show_all)
        say(*(f"Note: {note}" for note in compared.notes))
    tell(
        [problem.message for report in reports.values() for problem in report.problems]
    )


def _only(columns: set[str], names: Iterable[str]) -> str:
    return next((name for name in names if name in columns), "")


def _row(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is printed of a line; a baseline has no difference."""
    value = _number(line, "", "value", "low", "high")
    if not math.isnan(line["deviation"]):
        value += f" ± {100 * line['deviation']:.1f}"
    run = line["run"]
    if line["model"] not in run:
        run = f"{line['model']}, {run}"
    return {
        "Task": f"{line['heading']} ({line['metric']})",
        "Rows": line["group"] or "all",
        "Run": run,
        "n": line["n"],
        "Value": value,
        "Difference": _number(
            line, "+", "difference", "difference_low", "difference_high"
        ),
        "p": line["p"],
        "Holm": line["p_holm"],
        "+": line["gained"],
        "−": line["lost"],
        "Pairs": line["pairs"],
        "Left out": line["left_out"],
    }


def _gap_row(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is printed of a memorization gap."""
    return {
        "Task": line["heading"],
        "Rows": line["group"] or "all",
        "Model": line["run"],
        "Questions": line["n"],
        "Published": _number(line, "", "published"),
        "Variants": _number(line, "", "variants"),
        "Gap": _number(line, "+", "value", "low", "high"),
        "p": line["p"],
        "Spread": _number(line, "", "spread"),
        "Recalled": _number(line, "", "recalled"),
        "Difference": _number(
            line, "+", "difference", "difference_low", "difference_high"
        ),
        "Holm": line["p_holm"],
    }


def _number(
    line: Mapping[str, Any], sign: str, value: str, low: str = "", high: str = ""
) -> str:
    if math.isnan(line[value]):
        return "–"
    scale = 100 if line["unit"] == 1 else 1
    text = f"{scale * line[value]:{sign}.1f}"
    if not low or math.isnan(line[low]):
        return text
    return f"{text} [{scale * line[low]:{sign}.1f}…{scale * line[high]:{sign}.1f}]"
