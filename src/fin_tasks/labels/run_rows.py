"""The questions of a run with its responses, as the run itself holds them.

The benchmark's own document adds what the run lacks, such as finance terms, only if it has the same id and asks the
same question: another version of a set, or a user's own, may have other questions under the same ids.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fin_tasks import report
from fin_tasks.benchmarks import benchmark_named
from fin_tasks.benchmarks.contract import Document
from fin_tasks.errors import DataError
from fin_tasks.report.model import TaskResult, headline
from fin_tasks.report.samples import Sample, read_samples

from .row import Row, row_of
from .study import Study

_TEXTS = ("question", "prompt")
_PICTURES = ("image_path", "image_paths", "figure_path", "chart")
"""Paths, which are another machine's in a run that was made there."""

KnownDocuments = Callable[[str], Mapping[str, Document]]
"""Returns the benchmark's own documents of a task by id; none if they cannot be loaded."""


class RunRows(NamedTuple):
    """What a run has of the tasks of a study."""

    model: str
    rows: list[Row]
    provenance: dict[str, dict[str, Any]]
    """By task."""


def rows_of_run(study: Study, path: Path, known: KnownDocuments) -> RunRows:
    """Return the questions of a run with its responses; samples without a question are left out."""
    loaded = report.read([path])
    model = loaded.runs[0].model
    rows: list[Row] = []
    provenance: dict[str, dict[str, Any]] = {}
    for run, result in loaded.results:
        if result.samples is None or result.task not in study.tasks:
            continue
        if result.task in provenance or run.model != model:
            raise DataError(
                f"{path}: expected results of one model, each task once, got more of {result.task}."
            )
        provenance[result.task] = short_provenance(result.provenance)
        rows += _rows_of_task(study, result, known(result.task))
    return RunRows(model, rows, provenance)


def short_provenance(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a draw says of the documents of a task."""
    provenance = {}
    for name in ("split", "data", "scorer"):
        if name in facts:
            provenance[name] = facts[name]
    return provenance


def _rows_of_task(
    study: Study, result: TaskResult, known: Mapping[str, Document]
) -> list[Row]:
    benchmark = benchmark_named(study.benchmark)
    metric = headline(result)
    rows: dict[str, Row] = {}
    for sample in read_samples(result.samples):
        # The lines of both scorings hold the same responses, so the first one is enough.
        has_question = any(isinstance(sample.doc.get(name), str) for name in _TEXTS)
        if sample.id in rows or not has_question:
            continue
        doc = sample.doc
        own = known.get(sample.id)
        if own is not None and _is_same_question(doc, own):
            pictures = {name: own[name] for name in _PICTURES if own.get(name)}
            doc = {**own, **doc, **pictures}
        row = row_of(benchmark, result.task, sample.id, doc, sample.where)
        row.response = response_of(sample)
        score = sample.metrics.get(metric)
        if isinstance(score, int | float):
            row.facts["response"] = ["right" if score > 0 else "wrong"]
        rows[sample.id] = row
    chosen = list(rows.values())
    if study.wrong:
        chosen = [row for row in chosen if row.facts.get("response") == ["wrong"]]
    return chosen


def _is_same_question(doc: Document, own: Document) -> bool:
    for name in _TEXTS:
        text = doc.get(name)
        own_text = own.get(name)
        if isinstance(text, str) and isinstance(own_text, str):
            return text.split() == own_text.split()
    return False


def response_of(sample: Sample) -> str:
    """Return the first response in a line of samples, empty if it has none."""
    return str(next(iter(sample.responses), ""))
