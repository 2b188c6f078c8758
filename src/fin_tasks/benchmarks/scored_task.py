"""Score the responses to one task's documents with the benchmark's own `score.py`, both variants side by side."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from fin_tasks.answers.cut_off import is_cut_off
from fin_tasks.answers.types import Reading
from fin_tasks.judging.step import JudgeStep
from fin_tasks.sandbox import Outcome, Ran
from fin_tasks.stats.averages import Metric, average

from . import benchmark_named
from .breakdowns import Breakdowns, Values, document_values, summarize
from .contract import Benchmark, Document
from .short_answers import text_of

VARIANTS = ("paper", "robust")

Responses = Sequence[Sequence[str]]
"""The responses to each document."""
Programs = Sequence[str | None]
"""Programs; None stands for a program that a response should hold and does not."""
RunPrograms = Callable[[Programs], Sequence[Outcome]]


@dataclass(frozen=True, kw_only=True)
class ScoredTask:
    """Documents and responses of one task with readings and metric values, by variant and document."""

    name: str
    benchmark: Benchmark
    docs: Sequence[Document]
    responses: Responses
    readings: Mapping[str, Sequence[Sequence[Any]]]
    values: Mapping[str, Sequence[Mapping[str, Any]]]
    metrics: Mapping[str, bool | Metric]
    judge: Mapping[str, Any] = field(default_factory=dict)
    """What results say about the model that read answers; empty without one."""
    n_all: int = 0
    """How many documents the task has; 0 if all of them are here."""

    def totals(self) -> Values:
        """Return metrics as lm-eval names them, such as `acc,paper`; None if nothing is scored."""
        totals = {}
        for variant, rows in self.values.items():
            for name, metric in self.metrics.items():
                column = [row[name] for row in rows]
                aggregate = metric.aggregate if isinstance(metric, Metric) else average
                total = aggregate(column)
                is_known = isinstance(total, int | float) and not math.isnan(total)
                totals[f"{name},{variant}"] = total if is_known else None
        return totals

    def breakdown_rows(self, variant: str) -> list[Values]:
        """Return the figures of each document that are no metrics, such as those of its parts."""
        rows = []
        for number, doc in enumerate(self.docs):
            fields = [reading.to_dict() for reading in self.readings[variant][number]]
            values = self.values[variant][number]
            rows.append(document_values(self.benchmark, doc, fields, values))
        return rows

    def breakdowns(self) -> Breakdowns:
        """Return the figures of the parts of the task, by variant and name."""
        return {
            variant: summarize(self.benchmark, self.breakdown_rows(variant))
            for variant in self.values
        }


def score_task(
    benchmark_name: str,
    task: str,
    docs: Sequence[Document],
    responses: Responses,
    *,
    options: Mapping[str, Any],
    run_programs: RunPrograms | None = None,
    step: JudgeStep | None = None,
    unanswered: Collection[int] = (),
) -> ScoredTask:
    """Score the responses to each document. Several responses count as their mean.

    Args:
        benchmark_name: Name of the benchmark.
        task: Name of the task.
        docs: The documents.
        responses: The responses to each document.
        options: The task's `dataset_kwargs`.
        run_programs: Runs the programs of all responses at once; None for tasks without programs.
        step: Asks a judge, or a model that reads answers.
        unanswered: Positions of documents to which the model gave no response. `robust` leaves them
            unscored.
    """
    benchmark = benchmark_named(benchmark_name)
    scorer: Any = benchmark.scorer
    metrics = scorer.metrics_of(**options)
    readings = {}
    values = {}
    for variant in VARIANTS:
        readings[variant] = read_responses(
            scorer, variant, docs, responses, run_programs=run_programs, step=step
        )
        values[variant] = list(map(scorer.metric_values, docs, readings[variant]))
    reason = "the model gave no response"
    no_reading = Reading(variant="robust", answer=None, reason=reason, unscored=True)
    for position in unanswered:
        readings["robust"][position] = [no_reading]
        values["robust"][position] = {**dict.fromkeys(metrics), "unscored": 1.0}
    return ScoredTask(
        name=task,
        benchmark=benchmark,
        docs=docs,
        responses=responses,
        readings=readings,
        values=values,
        metrics=metrics,
        judge=step.facts if step else {},
    )


def read_responses(
    scorer: Any,
    variant: str,
    docs: Sequence[Document],
    responses: Responses,
    *,
    run_programs: RunPrograms | None,
    step: JudgeStep | None,
) -> list[list[Reading]]:
    """Read the responses to each document, once their programs ran and a model was asked about them."""
    items: Sequence[Sequence[Any]] = responses
    if run_programs is not None:
        items = _with_outcomes(scorer, variant, docs, responses, run_programs)
    if step is not None:
        items = step.judge_responses(docs, items)
    readings = []
    for doc, items_of_doc in zip(docs, items, strict=True):
        row = []
        for item in items_of_doc:
            reading = scorer.read(doc, item, variant=variant)
            row.append(replace(reading, cut_off=is_cut_off(text_of(item))))
        readings.append(row)
    return readings


def _with_outcomes(
    scorer: Any,
    variant: str,
    docs: Sequence[Document],
    responses: Responses,
    run_programs: RunPrograms,
) -> list[list[Ran]]:
    """Run the programs of all responses at once, and return each response with the outcomes of its programs."""
    programs: list[str | None] = []
    n_programs = []
    for doc, texts in zip(docs, responses, strict=True):
        for text in texts:
            programs_of_text = scorer.programs(doc, text, variant=variant)
            programs += programs_of_text
            n_programs.append(len(programs_of_text))
    counts = iter(n_programs)
    outcomes = iter(run_programs(programs))
    rows = []
    for texts in responses:
        rows.append(
            [Ran(text, tuple(islice(outcomes, next(counts)))) for text in texts]
        )
    return rows
