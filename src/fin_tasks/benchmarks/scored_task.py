"""Score the responses to one task's documents with the benchmark's own `score.py`, both variants side by side."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from fin_tasks.answers.cut_off import mark_reading
from fin_tasks.answers.types import Reading
from fin_tasks.judging.step import JudgeStep
from fin_tasks.sandbox import Outcome, Ran
from fin_tasks.stats.averages import Metric, average

from . import benchmark_named
from .breakdowns import Breakdowns, Values, document_values, fields_of, summarize
from .contract import Benchmark, Document
from .short_answers import text_of

VARIANTS = ("paper", "robust")

Responses = Sequence[Sequence[str]]
"""The responses to each document."""
Programs = Sequence[str | None]
"""Programs; None where a response has none."""
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
            fields = list(map(fields_of, self.readings[variant][number]))
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
    benchmark: str,
    name: str,
    docs: Sequence[Document],
    responses: Responses,
    *,
    options: Mapping[str, Any],
    run_programs: RunPrograms | None = None,
    step: JudgeStep | None = None,
    failed: Collection[int] = (),
) -> ScoredTask:
    """Score the responses to each document. Several responses count as their mean.

    `options` are the task's `dataset_kwargs`. `run_programs` runs the programs of all responses at once; it is None for
    tasks without programs. `step` asks a judge, or a model that reads answers.
    `failed` are positions of documents to which the model gave no response: `robust` leaves them unscored.
    """
    known = benchmark_named(benchmark)
    scorer: Any = known.scorer
    metrics = scorer.metrics_of(**options)
    readings: dict[str, list[list[Any]]] = {}
    values = {}
    for variant in VARIANTS:
        items: Sequence[Sequence[Any]] = responses
        if run_programs is not None:
            programs_of = partial(scorer.programs, variant=variant)
            items = with_outcomes(programs_of, docs, responses, run_programs)
        if step is not None:
            items = step.judge_responses(docs, items)
        readings[variant] = [[] for _ in docs]
        for doc, row, own_readings in zip(docs, items, readings[variant], strict=True):
            for item in row:
                reading = scorer.read(doc, item, variant=variant)
                own_readings.append(mark_reading(reading, text_of(item)))
        values[variant] = list(map(scorer.metric_values, docs, readings[variant]))
    reason = "the model gave no response"
    no_reading = Reading(variant="robust", answer=None, reason=reason, unscored=True)
    for position in failed:
        readings["robust"][position] = [no_reading]
        values["robust"][position] = {**dict.fromkeys(metrics), "unscored": 1.0}
    return ScoredTask(
        name=name,
        benchmark=known,
        docs=docs,
        responses=responses,
        readings=readings,
        values=values,
        metrics=metrics,
        judge=step.facts if step else {},
    )


def with_outcomes(
    programs_of: Callable[[Document, str], Programs],
    docs: Sequence[Document],
    responses: Responses,
    run_programs: RunPrograms,
) -> list[list[Ran]]:
    """Run the programs of all responses at once, and return each response with the outcomes of its programs."""
    programs = []
    for doc, texts in zip(docs, responses, strict=True):
        programs += [programs_of(doc, text) for text in texts]
    outcomes = iter(run_programs(list(chain.from_iterable(programs))))
    outcomes_of_responses = [tuple(islice(outcomes, len(row))) for row in programs]
    ran = map(Ran, chain.from_iterable(responses), outcomes_of_responses)
    return [list(islice(ran, len(texts))) for texts in responses]


def by_document(
    pairs: Sequence[tuple[Document, str]],
) -> tuple[list[Document], list[list[str]]]:
    """Group responses by document. Documents with the same id but different truths are different documents."""
    docs: dict[str, Document] = {}
    responses: dict[str, list[str]] = {}
    for doc, response in pairs:
        key = f"{doc['id']} {doc['ground_truth']}"
        docs.setdefault(key, doc)
        responses.setdefault(key, []).append(response)
    return list(docs.values()), list(responses.values())


def model_of(file: Path) -> str:
    """Return the name of the file, or of the folder of lm-eval's samples, where `__` stands for `/`."""
    if file.name.startswith("samples_"):
        return file.resolve().parent.name.replace("__", "/")
    return file.stem


def texts_of(output: Any) -> list[Any]:
    """Return the responses in a saved row: a text, a list whose first text counts, or lm-eval's lists of lists."""
    responses = output if isinstance(output, list) else [output]
    if responses and isinstance(responses[0], list):
        return list(chain.from_iterable(responses)) or [None]
    return responses[:1] or [None]
