"""Results under two truths: those of their benchmark, and those of another that has the same questions."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from fin_tasks.benchmarks import all_benchmarks
from fin_tasks.errors import DataError
from fin_tasks.report.compare import Comparisons, Line, with_difference
from fin_tasks.report.model import Report, Run, TaskResult
from fin_tasks.report.samples import read_samples
from fin_tasks.report.values import value_of

_METRIC = "acc"
_OWN = "own truths"


def compare_truths(report: Report, variant: str) -> Comparisons:
    """Return two lines for each result, and a note for each model whose rank changes."""
    lines: list[Line] = []
    for benchmark in all_benchmarks().values():
        data = benchmark.module("data")
        if not hasattr(data, "other_truths"):
            continue
        truths_by_benchmark = data.other_truths()
        for run, result in report.results:
            truths = truths_by_benchmark.get(result.benchmark)
            if truths and result.samples:
                name = f"{benchmark.title}'s truths"
                lines += _lines_of(report, run, result, variant, truths, name)
    if not lines:
        raise DataError(
            "compare: expected results with samples of a benchmark with other truths, got none."
        )
    return Comparisons(pd.DataFrame(lines), _notes_on_ranks(lines))


def _lines_of(
    report: Report,
    run: Run,
    result: TaskResult,
    variant: str,
    truths: Mapping[str, float],
    name: str,
) -> list[Line]:
    scorer: Any = all_benchmarks()[result.benchmark].scorer
    values = {}
    for sample in read_samples(result.samples):
        is_read = all("answer" in reading for reading in sample.readings)
        if sample.variant == variant and sample.id in truths and is_read:
            values[sample.id] = scorer.accuracy_under(
                sample.doc, sample.readings, truths[sample.id]
            )
    rows = report.rows_of(result, variant)
    rows = rows[rows["doc_id"].isin(list(values))]
    other_rows = rows.assign(acc=rows["doc_id"].astype(str).map(values).astype(float))
    lines = []
    for group, group_rows in ((_OWN, rows), (name, other_rows)):
        value = value_of(group_rows, _METRIC)
        line = Line(
            heading=result.task,
            metric=_METRIC,
            variant=variant,
            group=group,
            run=run.model,
            unit=1.0,
            value=value.mean,
            low=value.low,
            high=value.high,
            n=value.n,
        )
        lines.append(line)
    second = with_difference(lines[1], rows, other_rows)
    return [lines[0], replace(second, against=_OWN)]


def _notes_on_ranks(lines: list[Line]) -> list[str]:
    """Say which models' ranks change."""
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    for line in lines:
        values[line.heading, line.group].append(line.value)
    ranks: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for line in lines:
        group = values[line.heading, line.group]
        n_better = sum(value > line.value for value in group)
        ranks[line.heading, line.run][line.group] = 1 + n_better
    notes = []
    for (task, model), rank_by_truths in ranks.items():
        if len(set(rank_by_truths.values())) > 1:
            places = [f"{rank} by {name}" for name, rank in rank_by_truths.items()]
            notes.append(f"{task}: the rank of {model} is {', '.join(places)}.")
    return notes or ["No model's rank changes."]
