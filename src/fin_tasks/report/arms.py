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
from fin_tasks.report.model import Report, Run, TaskResult, headline


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
        lines += _effect_lines(experiment, contrasts, variant)
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
    for run, result, family in _sized_results(report, benchmark):
        rows = report.rows_of(result, variant)
        if rows.empty:
            continue
        mode = conditions_of(result).mode
        key = (run.model, family, mode if mode == "text" else "image")
        settings = {
            name: value
            for name, value in result.settings.items()
            if name not in experiment.SETTINGS_OF_ARMS
        }
        asked = replace(result, task="", settings=settings)
        differing = differences(asked, first_by_key.setdefault(key, asked))
        if differing:
            reason = "; ".join(differing)
            notes[f"{', '.join(key)}: runs that differ are not compared; {reason}."] = None
        group = dict(zip(experiment.GROUP, (*key, setting_id(asked)[:6]), strict=False))
        is_anonymized = result.settings.get("anonymize") is True
        tables.append(rows.assign(**group, anonymized=is_anonymized))
    if not tables:
        raise DataError(
            f"compare: expected rows of {benchmark.title}'s arms under {variant}, found none."
        )
    table = pd.concat(tables).reindex(columns=list(experiment.COLUMNS)).dropna(subset=["window"])
    types = {"arm": str, "doc_id": str, "ticker": str, "window": int}
    return table.astype(types), list(notes)


def _sized_results(report: Report, benchmark: Benchmark) -> Iterator[tuple[Run, TaskResult, str]]:
    """Yield the results of one window size each, with their family, by date."""
    for run in sorted(report.runs, key=lambda run: run.date):
        for result in run.tasks:
            if result.benchmark == benchmark.name and not result.members:
                conditions = conditions_of(result)
                task = task_of(benchmark.name, conditions, "", headline(result))
                if task.family:
                    yield run, result, task.family


def _value_lines(experiment: Any, arms: pd.DataFrame, variant: str) -> Iterator[Line]:
    headings = _headings(experiment, arms)
    for measure in experiment.MEASURES:
        for heading, row in zip(headings, arms.to_dict("records"), strict=True):
            yield Line(
                heading=heading,
                metric=measure,
                variant=variant,
                by="window",
                group=str(row["window"]),
                run=row["arm"],
                unit=1.0,
                n=row["n"],
                value=row[measure],
                deviation=row.get(f"{measure}_std", math.nan),
                low=row.get(f"{measure}_low", math.nan),
                high=row.get(f"{measure}_high", math.nan),
            )


def _effect_lines(experiment: Any, contrasts: pd.DataFrame, variant: str) -> Iterator[Line]:
    if contrasts.empty:
        return
    headings = _headings(experiment, contrasts)
    for heading, row in zip(headings, contrasts.to_dict("records"), strict=True):
        yield Line(
            heading=heading,
            metric=row["metric"],
            variant=variant,
            by="window",
            group=str(row["window"]),
            run=row["contrast"],
            against=row["against"],
            test="McNemar",
            unit=1.0,
            n=row["pairs"],
            pairs=row["pairs"],
            left_out=row["left_out"],
            difference=row["difference"],
            difference_low=row["difference_low"],
            difference_high=row["difference_high"],
            p=row["p"],
            p_holm=row["p_holm"],
        )


def _headings(experiment: Any, table: pd.DataFrame) -> "pd.Series[str]":
    others = [name for name in experiment.GROUP if name != "bias"]
    return table["bias"] + ", " + experiment.names_of(table, others)
