"""Results under two truths: those of their benchmark, and those of another that has the same questions."""

from collections.abc import Mapping
from typing import Any

from pandas import DataFrame

from fin_tasks.errors import DataError

from .compare import Comparisons, Line, measured, with_difference
from .model import KNOWN_BENCHMARKS, Report, TaskResult
from .samples import read_samples

_OWN = "own truths"


def compare_truths(report: Report, variant: str) -> Comparisons:
    """Return two lines for each result, and a note for each model whose rank changes."""
    lines = []
    for benchmark in KNOWN_BENCHMARKS.values():
        data = benchmark.module("data")
        if not hasattr(data, "other_truths"):
            continue
        truths_by_benchmark = data.other_truths()
        for run, result in report.results:
            truths = truths_by_benchmark.get(result.benchmark)
            if truths and result.samples:
                line = Line(
                    heading=result.task,
                    metric="acc",
                    variant=variant,
                    group=f"{benchmark.title}'s truths",
                    run=run.model,
                )
                lines += _lines_of(report, result, line, truths)
    if not lines:
        raise DataError(
            "compare: expected results with samples of a benchmark with other truths, got none."
        )
    table = DataFrame(lines)
    return Comparisons(table, _notes_on_ranks(table))


def _lines_of(
    report: Report,
    result: TaskResult,
    line: Line,
    truths: Mapping[str, float],
) -> list[Line]:
    """Add values to a line that names the other truths; return it behind a line for the benchmark's own truths."""
    scorer: Any = KNOWN_BENCHMARKS[result.benchmark].scorer
    values = {}
    for sample in read_samples(result.samples):
        is_read = all("answer" in reading for reading in sample.readings)
        if sample.variant == line.variant and sample.id in truths and is_read:
            values[sample.id] = scorer.accuracy_under(
                sample.doc, sample.readings, truths[sample.id]
            )
    rows = report.rows_of(result, line.variant)
    rows = rows[rows["doc_id"].isin(list(values))]
    other_rows = rows.assign(acc=rows["doc_id"].astype(str).map(values).astype(float))
    other = with_difference(measured(line, other_rows), _OWN, rows, other_rows)
    return [measured(line._replace(group=_OWN), rows), other]


def _notes_on_ranks(lines: DataFrame) -> list[str]:
    """Say which models' ranks change; the last run of a model counts."""
    lines = lines.drop_duplicates(["heading", "group", "run"], keep="last")
    values = lines.groupby(["heading", "group"])["value"]
    lines = lines.assign(rank=values.rank(ascending=False, method="min"))
    notes = []
    for (task, model), ranks in lines.groupby(["heading", "run"], sort=False):
        if ranks["rank"].nunique() > 1:
            places = [f"{line.rank:.0f} by {line.group}" for line in ranks.itertuples()]
            notes.append(f"{task}: the rank of {model} is {', '.join(places)}.")
    return notes or ["No model's rank changes."]
