"""Score the responses to one task's documents with the benchmark's own `score.py`, both variants side by side."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from fin_tasks import sandbox
from fin_tasks.answers.cut_off import mark_reading
from fin_tasks.answers.types import Reading
from fin_tasks.benchmarks import benchmark_named, benchmark_of
from fin_tasks.benchmarks.breakdowns import (
    Breakdowns,
    Values,
    document_values,
    fields_of,
    summarize,
)
from fin_tasks.benchmarks.final_answer import READ_BY_MODEL, RUBRIC
from fin_tasks.judging.item import Judged
from fin_tasks.judging.judge import JudgeModel
from fin_tasks.judging.rubric import load_rubric
from fin_tasks.judging.step import JudgeStep
from fin_tasks.stats.averages import Metric, average, standard_error

VARIANTS = ("paper", "robust")

RunPrograms = Callable[[Sequence[str | None]], Sequence[sandbox.Outcome]]


@dataclass(frozen=True, kw_only=True)
class ScoredTask:
    """Documents and responses of one task with readings and metric values, by variant and document."""

    name: str
    docs: Sequence[Mapping[str, Any]]
    responses: Sequence[Sequence[str]]
    readings: Mapping[str, Sequence[Sequence[Any]]]
    values: Mapping[str, Sequence[Mapping[str, Any]]]
    metrics: Mapping[str, bool | Metric]
    judge: Mapping[str, Any] = field(default_factory=dict)
    """What results say about the model that read answers; empty without one."""
    n_all: int = 0
    """How many documents the task has; 0 if all of them are here."""

    def totals(self) -> dict[str, Any]:
        """Return metrics as lm-eval names them, `acc,paper` and `acc_stderr,paper`; None if nothing is scored."""
        found: dict[str, Any] = {}
        for variant, rows in self.values.items():
            for name, metric in self.metrics.items():
                column = [row[name] for row in rows]
                own = metric if isinstance(metric, Metric) else None
                found[f"{name},{variant}"] = _number(
                    own.aggregate(column) if own else average(column)
                )
                found[f"{name}_stderr,{variant}"] = None if own else _number(standard_error(column))
        return found

    def breakdown_rows(self, variant: str) -> list[Values]:
        """Return the figures of each document that are no metrics, such as those of its parts."""
        benchmark = benchmark_of(self.name)
        if benchmark is None:
            return []
        rows = []
        documents = zip(self.docs, self.readings[variant], self.values[variant], strict=True)
        for doc, readings, values in documents:
            fields = [fields_of(reading) for reading in readings]
            rows.append(document_values(benchmark, doc, fields, values))
        return rows

    def breakdowns(self) -> Breakdowns:
        """Return the figures of the parts of the task, by variant and name."""
        benchmark = benchmark_of(self.name)
        if benchmark is None:
            return {}
        parts = {}
        for variant in self.values:
            parts[variant] = summarize(benchmark, self.breakdown_rows(variant))
        return parts

    def reader_facts(self) -> dict[str, Any]:
        """Return which model read answers, and what share of the responses; empty without such a model."""
        if not self.judge:
            return {}
        shares = [row.get(READ_BY_MODEL) for row in self.breakdown_rows("robust")]
        return {"reader": self.judge["model"], READ_BY_MODEL: _number(average(shares))}


def score_task(
    benchmark: str,
    name: str,
    docs: Sequence[Mapping[str, Any]],
    responses: Sequence[Sequence[str]],
    *,
    options: Mapping[str, Any],
    run_programs: RunPrograms | None = None,
    answer_reader: JudgeModel | None = None,
    failed: Collection[int] = (),
) -> ScoredTask:
    """Score the responses to each document. Several responses count as their mean.

    `options` are the task's `dataset_kwargs`. `run_programs` runs the programs of all responses at once; it is None for
    tasks without programs. `answer_reader` is a model that reads responses in which the rules find no answer.
    `failed` are positions of documents to which the model gave no response: `robust` leaves them unscored.
    """
    scorer: Any = benchmark_named(benchmark).scorer
    metrics = scorer.metrics_of(**options)
    lost = Reading(
        variant="robust", answer=None, reason="the model gave no response", unscored=True
    )
    readings: dict[str, list[list[Any]]] = {variant: [] for variant in VARIANTS}
    values: dict[str, list[Mapping[str, Any]]] = {variant: [] for variant in VARIANTS}
    judge_facts: Mapping[str, Any] = {}
    step: JudgeStep | None = None
    if answer_reader is not None:
        step = JudgeStep(scorer.reader_item, load_rubric(RUBRIC), answer_reader)
        judge_facts = step.facts
    for variant in VARIANTS:
        given: Sequence[Sequence[Any]] = responses
        if run_programs is not None:
            given = ran(partial(scorer.programs, variant=variant), docs, responses, run_programs)
        if step is not None:
            given = step.judge_responses(docs, given)
        for place, (doc, texts) in enumerate(zip(docs, given, strict=True)):
            if variant == "robust" and place in failed:
                readings[variant].append([lost])
                values[variant].append({**dict.fromkeys(metrics), "unscored": 1.0})
                continue
            read = []
            for text in texts:
                reading = scorer.read(doc, text, variant=variant)
                read.append(mark_reading(reading, _text_of(text)))
            readings[variant].append(read)
            values[variant].append(scorer.metric_values(doc, read))
    return ScoredTask(
        name=name,
        docs=docs,
        responses=responses,
        readings=readings,
        values=values,
        metrics=metrics,
        judge=judge_facts,
    )


def by_document(
    pairs: Sequence[tuple[Mapping[str, Any], str]],
) -> tuple[list[Mapping[str, Any]], list[list[str]]]:
    """Group responses by document. Documents with the same id but different truths are different documents."""
    docs: dict[tuple[str, str], Mapping[str, Any]] = {}
    responses: dict[tuple[str, str], list[str]] = {}
    for doc, response in pairs:
        key = (str(doc["id"]), str(doc["ground_truth"]))
        docs.setdefault(key, doc)
        responses.setdefault(key, []).append(response)
    return list(docs.values()), list(responses.values())


def model_of(file: Path) -> str:
    """Return the name of the file, or of the folder of lm-eval's samples, where `__` stands for `/`."""
    if file.name.startswith("samples_"):
        return file.resolve().parent.name.replace("__", "/")
    return file.stem


def texts_of(output: Any) -> list[str | None]:
    """Return the responses in a saved row: a text, a list whose first text counts, or lm-eval's lists of lists."""
    listed = output if isinstance(output, list) else [output]
    if listed and isinstance(listed[0], list):
        return [text for several in listed for text in several] or [None]
    return listed[:1] or [None]


def _text_of(response: str | sandbox.Ran | Judged) -> str:
    """Return the text of a response, of one whose programs ran, or of one that was judged."""
    return response if isinstance(response, str) else response.response


def ran(
    programs: Callable[[Mapping[str, Any], str], Sequence[str | None]],
    docs: Sequence[Mapping[str, Any]],
    responses: Sequence[Sequence[str]],
    run_programs: RunPrograms,
) -> list[list[sandbox.Ran]]:
    """Run the programs of all responses at once, and return each response with the outcomes of its programs."""
    nested = [
        [(text, tuple(programs(doc, text))) for text in texts]
        for doc, texts in zip(docs, responses, strict=True)
    ]
    outcomes = iter(
        run_programs([program for of_doc in nested for _, several in of_doc for program in several])
    )
    return [
        [sandbox.Ran(text, tuple(next(outcomes) for _ in several)) for text, several in of]
        for of in nested
    ]


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and value == value else None
