"""Score the responses to a task's documents with the benchmark's own `score.py`, by both scorings.

lm-eval's filters call `read_responses`, and its `process_results` takes what they return. Who has
saved responses calls `score_task`, which does both.

Figures of parts of a task, such as its capabilities, and of how its programs ended are not metrics of the
harness: reports compute them from the samples, from a document, its metrics and the readings of its responses.
Results files hold them too, because some users keep no samples. A benchmark has its own figures in
`breakdown_values(doc, readings, metrics)` of `score.py`; samples may come from a stranger, so this function
must accept any value in a document or reading. A task's figure is the mean of those of its documents;
`BREAKDOWN_AGGREGATES` has functions by name for figures that are no means, such as a calibration error.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypedDict

from fin_tasks.answers.cut_off import FailedResponse
from fin_tasks.answers.text import is_cut_off
from fin_tasks.answers.types import Reading
from fin_tasks.sandbox import REASONS, Ran, Status, run_programs
from fin_tasks.stats.averages import Metric, average, average_or_none, over_responses

from .contract import Benchmark, Document, ReadingFields
from .task_file import TaskFile

if TYPE_CHECKING:
    from fin_tasks.judging.judge import JudgeStep

SCORINGS = ("paper", "robust")
_PROGRAM_MODES = ("pot", "code")
"""How documents are asked whose responses hold programs."""

Values = dict[str, Any]
"""Figures of one document by name. A figure that does not apply is None or missing."""


class PartValue(TypedDict):
    """A figure of a task, and how many documents it is over."""

    value: float
    n: int


Breakdowns = Mapping[str, Mapping[str, PartValue]]
"""The figures of a task by scoring and name."""

_RECALL_TOLERANCE = 0.002
"""An answer this near to the published truth is taken from it: the truth of a variant is 1 % away or more."""

Responses = Sequence[Sequence[str]]
"""The responses to each document."""


class SampleReading(str):
    """A reading as the JSON text that lm-eval's samples hold, with the reading itself.

    lm-eval writes everything in `filtered_resps` as text; of a dict it would be Python's.
    """

    reading: Reading

    def __new__(cls, reading: Reading) -> "SampleReading":
        """Write a reading as text."""
        fields = json.dumps(reading.to_dict(), ensure_ascii=False)
        text = super().__new__(cls, fields)
        text.reading = reading
        return text

    def __getnewargs__(self) -> tuple[Reading]:  # type: ignore[override]
        """Return what `pickle` makes the text of, as processes exchange samples."""
        return (self.reading,)


@dataclass(frozen=True, kw_only=True)
class ScoredTask:
    """Documents and responses of one task with readings and metric values, by scoring and document."""

    name: str
    benchmark: Benchmark
    docs: Sequence[Document]
    responses: Responses
    readings: Mapping[str, Sequence[Sequence[Any]]]
    values: Mapping[str, Sequence[Mapping[str, Any]]]
    metrics: Mapping[str, Metric]
    judge: Mapping[str, Any] = field(default_factory=dict)
    """What results say about the model that read answers; empty without one."""
    n_all: int = 0
    """How many documents the task has; 0 if all of them are here."""

    def totals(self) -> Values:
        """Return metrics as lm-eval names them, such as `acc,paper`; None if nothing is scored."""
        totals = {}
        for scoring, rows in self.values.items():
            for name, metric in self.metrics.items():
                total = metric.aggregate([row[name] for row in rows])
                is_known = isinstance(total, int | float) and not math.isnan(total)
                totals[f"{name},{scoring}"] = total if is_known else None
        return totals

    def breakdown_rows(self, scoring: str) -> list[Values]:
        """Return the figures of each document that are no metrics, such as those of its parts."""
        rows = []
        for number, doc in enumerate(self.docs):
            fields = [reading.to_dict() for reading in self.readings[scoring][number]]
            values = self.values[scoring][number]
            rows.append(document_values(self.benchmark, doc, fields, values))
        return rows

    def breakdowns(self) -> Breakdowns:
        """Return the figures of the parts of the task, by scoring and name."""
        return {
            scoring: summarize(self.benchmark, self.breakdown_rows(scoring))
            for scoring in self.values
        }


def score_task(
    task: TaskFile,
    docs: Sequence[Document],
    responses: Responses,
    *,
    step: "JudgeStep | None" = None,
) -> ScoredTask:
    """Score the responses to each document; several responses count as their mean.

    `step` asks a judge, or a model that reads answers.
    """
    readings = {}
    values = {}
    for scoring in SCORINGS:
        rows = read_responses(task.scorer, scoring, docs, responses, step=step)
        readings[scoring] = rows
        values[scoring] = list(map(task.scorer.metric_values, docs, rows))
    return ScoredTask(
        name=task.name,
        benchmark=task.benchmark,
        docs=docs,
        responses=responses,
        readings=readings,
        values=values,
        metrics=task.metrics,
        judge=step.facts if step else {},
    )


def read_responses(
    scorer: Any,
    scoring: str,
    docs: Sequence[Document],
    responses: Responses,
    *,
    step: "JudgeStep | None" = None,
) -> list[list[Reading]]:
    """Read the responses to each document, once their programs ran and a model was asked about them."""
    items: Sequence[Sequence[Any]] = responses
    # Documents of one's own may not say how they are asked.
    modes = {doc.get("mode", "pot") for doc in docs}
    if hasattr(scorer, "programs") and not modes.isdisjoint(_PROGRAM_MODES):
        items = _with_outcomes(scorer, scoring, docs, responses)
    if step is not None:
        items = step.judge_responses(docs, items)
    rows = []
    for doc, items_of_doc in zip(docs, items, strict=True):
        row = []
        for item in items_of_doc:
            text = item if isinstance(item, str) else item.response
            reading = scorer.read(doc, item, scoring=scoring)
            if is_cut_off(text):
                reading = replace(reading, cut_off=True)
            if isinstance(text, FailedResponse) and scoring == "robust":
                reading = replace(
                    reading, answer=None, reason=text.reason, unscored=True
                )
            row.append(reading)
        rows.append(row)
    return rows


def _with_outcomes(
    scorer: Any, scoring: str, docs: Sequence[Document], responses: Responses
) -> list[list[Any]]:
    """Run the programs in all responses at once; a response with programs gets their outcomes."""
    programs: list[str | None] = []
    n_programs = []
    for doc, texts in zip(docs, responses, strict=True):
        for text in texts:
            programs_of_text = scorer.programs(doc, text, scoring=scoring)
            programs += programs_of_text
            n_programs.append(len(programs_of_text))
    outcomes = iter(run_programs(programs) if programs else ())
    counts = iter(n_programs)
    rows = []
    for texts in responses:
        row: list[Any] = []
        for text in texts:
            n = next(counts)
            row.append(Ran(text, tuple(islice(outcomes, n))) if n else text)
        rows.append(row)
    return rows


def document_values(
    benchmark: Benchmark,
    doc: Document,
    readings: Sequence[ReadingFields],
    metrics: Mapping[str, Any],
) -> Values:
    """Return the figures of one document under one scoring."""
    scorer = benchmark.scorer
    # The share of each reason why a program gave no value.
    shares: list[dict[str, float | None]] = []
    for reading in readings:
        status = reading.get("status")
        if status == Status.broken:
            shares.append(dict.fromkeys(REASONS))
        elif isinstance(status, str):
            shares.append({reason: float(status == reason) for reason in REASONS})
    values = over_responses(shares) if shares else {}
    if not values and hasattr(scorer, "reader_item"):
        by_model = [
            reading.get("by") == "model" and reading.get("unscored") is not True
            for reading in readings
        ]
        values["read_by_model"] = average(by_model) if by_model else None
    if doc.get("published_truth") is not None:
        values |= _recalled_values(doc["published_truth"], readings)
    if hasattr(scorer, "breakdown_values"):
        values |= scorer.breakdown_values(doc, readings, metrics)
    return values


def _recalled_values(published: Any, readings: Sequence[ReadingFields]) -> Values:
    """Return the share of responses that answer a variant of a question with the published truth."""
    if not _is_number(published):
        return {}
    margin = abs(published) * _RECALL_TOLERANCE
    shares = []
    for reading in readings:
        units = reading.get("units")
        answers = [reading.get("answer"), *(units if isinstance(units, list) else ())]
        distances = [abs(answer - published) for answer in filter(_is_number, answers)]
        shares.append(float(min(distances, default=math.inf) <= margin))
    return {"recalled": average_or_none(shares)}


def _is_number(value: Any) -> bool:
    # Python cannot calculate with a float and an integer that no float can hold.
    return isinstance(value, int | float) and abs(value) < 1e300


def summarize(benchmark: Benchmark, rows: Sequence[Values]) -> dict[str, PartValue]:
    """Return the figures of a task from those of its documents; figures without a value are left out."""
    aggregates = getattr(benchmark.scorer, "BREAKDOWN_AGGREGATES", {})
    names = dict.fromkeys(name for row in rows for name in row)
    parts: dict[str, PartValue] = {}
    for name in names:
        known = [row[name] for row in rows if row.get(name) is not None]
        if not known:
            continue
        value = aggregates.get(name, average)(known)
        if not math.isnan(value):
            parts[name] = {"value": value, "n": len(known)}
    return parts
