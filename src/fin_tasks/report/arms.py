"""The arms of a benchmark's experiment, such as DynoStock's statements, compared on the same documents."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from fin_tasks.benchmarks import all_benchmarks
from fin_tasks.benchmarks.contract import Benchmark
from fin_tasks.errors import DataError
from fin_tasks.report.compare import Comparisons, Line
from fin_tasks.report.conditions import conditions_of, differences, setting_id
from fin_tasks.report.entries import task_of
from fin_tasks.report.model import Report, TaskResult

_EFFECT = [
    "metric",
    "against",
    "pairs",
    "left_out",
    "difference",
    "difference_low",
    "difference_high",
    "p",
    "p_holm",
]
"""Columns that an effect and a line of a comparison have in common."""


def benchmark_with_arms(report: Report) -> Benchmark:
    """Return the benchmark of these runs that compares arms; or DataError."""
    names = {result.benchmark for run in report.runs for result in run.tasks}
    for benchmark in all_benchmarks().values():
        if benchmark.name in names and benchmark.module("experiment") is not None:
            return benchmark
    raise DataError(
        "compare: expected runs of a benchmark with arms, such as DynoStock, found none."
    )


def compare_arms(
    report: Report,
    benchmark: Benchmark,
    *,
    variant: str = "paper",
    effects: bool = True,
) -> Comparisons:
    """Return measures by arm and window size, and with `effects` the differences between arms.

    Lines have the window size as group; `mean` is the mean over sizes.
    """
    experiment = benchmark.module("experiment")
    rows, notes = arm_rows(report, benchmark, variant=variant)
    lines = list(_value_lines(experiment, experiment.by_window(rows), variant))
    if effects:
        contrasts, more_notes = experiment.compare_arms(rows)
        notes += more_notes
        for line, row in _lines_of(experiment, contrasts, variant):
            effect = {name: row[name] for name in _EFFECT}
            lines.append(
                replace(line, run=row["contrast"], n=row["pairs"], test="McNemar", **effect)
            )
    return Comparisons.of(lines, notes)


def arm_rows(
    report: Report,
    benchmark: Benchmark,
    *,
    variant: str,
) -> tuple[pd.DataFrame, list[str]]:
    """Return rows with the columns of the experiment, newest run last, and notes; or DataError without rows."""
    experiment = benchmark.module("experiment")
    tables: list[pd.DataFrame] = []
    first_by_key: dict[tuple[str, ...], TaskResult] = {}
    notes: dict[str, None] = {}
    results = [(run, result) for run in report.runs for result in run.tasks]
    for run, result in sorted(results, key=lambda pair: pair[0].date):
        conditions = conditions_of(result)
        family = task_of(result.benchmark, conditions, variant, "").family
        rows = report.rows_of(result, variant)
        if result.benchmark != benchmark.name or not family or rows.empty:
            continue
        mode = "text" if conditions.mode == "text" else "image"
        key = (run.model, family, mode)
        settings = dict(result.settings)
        for name in experiment.SETTINGS_OF_ARMS:
            settings.pop(name, None)
        asked = replace(result, task="", settings=settings)
        differing = "; ".join(differences(asked, first_by_key.setdefault(key, asked)))
        if differing:
            notes[f"{', '.join(key)}: runs that differ are not compared; {differing}."] = None
        rows = rows.assign(
            model=run.model,
            bias=family,
            mode=mode,
            setting=setting_id(asked)[:6],
            anonymized=result.settings.get("anonymize") is True,
        )
        tables.append(rows)
    if not tables:
        raise DataError(
            f"compare: expected rows of {benchmark.title}'s arms under {variant}, found none."
        )
    table = pd.concat(tables).reindex(columns=list(experiment.COLUMNS)).dropna(subset=["window"])
    types = {"arm": str, "doc_id": str, "ticker": str, "window": int}
    return table.astype(types), list(notes)


def _value_lines(experiment: Any, arms: pd.DataFrame, variant: str) -> Iterator[Line]:
    for measure in experiment.MEASURES:
        for line, row in _lines_of(experiment, arms, variant):
            yield replace(
                line,
                metric=measure,
                run=row["arm"],
                n=row["n"],
                value=row[measure],
                deviation=row.get(f"{measure}_std", math.nan),
                low=row.get(f"{measure}_low", math.nan),
                high=row.get(f"{measure}_high", math.nan),
            )


def _lines_of(
    experiment: Any,
    table: pd.DataFrame,
    variant: str,
) -> Iterator[tuple[Line, dict[str, Any]]]:
    """Yield each row of a table of the experiment, with what all lines have in common."""
    if table.empty:
        return
    others = [name for name in experiment.GROUP if name != "bias"]
    headings = table["bias"] + ", " + experiment.names_of(table, others)
    for heading, row in zip(headings, table.to_dict("records"), strict=True):
        line = Line(
            heading=heading,
            metric="",
            variant=variant,
            by="window",
            group=str(row["window"]),
            run="",
            unit=1.0,
            n=0,
        )
        yield line, {str(name): fact for name, fact in row.items()}
