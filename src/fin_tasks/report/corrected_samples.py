"""Samples under corrections of questions: excluded ones leave, and others are scored by their new truth."""

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from fin_tasks.answers.types import Reading
from fin_tasks.benchmarks.contract import ReadingFields
from fin_tasks.benchmarks.corrections import Correction, Corrections, with_truth
from fin_tasks.errors import DataError, first_problem

from .model import KNOWN_BENCHMARKS, TaskResult
from .samples import Sample

if TYPE_CHECKING:
    from .rows import SampleRows

CORRECTIONS = "corrections.sha256"
"""The setting that keeps results under other corrections apart."""

_JUDGED = "exclude: true, as a judge scored the responses with the published truth"


class Corrector:
    """Corrects the samples of one benchmark, and notes which corrections it applied."""

    def __init__(self, benchmark: str, task: str, corrections: Corrections) -> None:
        self._by_id = corrections.of(benchmark, task)
        self._scorer: Any = KNOWN_BENCHMARKS[benchmark].scorer if self._by_id else None
        self._facts_of = corrections.facts
        self.benchmark = benchmark
        self._applied: dict[str, Correction] = {}
        self.published: list[Sample] = []
        """The samples that were left out or scored again, as they were."""

    def correct(self, samples: Iterable[Sample]) -> Iterator[Sample]:
        """Yield samples without excluded questions, and with the metrics under new truths."""
        for sample in samples:
            correction = self._by_id.get(sample.id)
            if correction is None:
                yield sample
                continue
            self._applied[sample.id] = correction
            self.published.append(sample)
            if not correction.exclude:
                yield _rescored(self._scorer, sample, correction)

    @property
    def facts(self) -> dict[str, str]:
        """What results say of the corrections; empty if none was applied."""
        if not self._applied:
            return {}
        return self._facts_of(self.benchmark, self._applied.values())

    @property
    def n_excluded(self) -> int:
        """How many questions left."""
        return sum(correction.exclude for correction in self._applied.values())


def _rescored(scorer: Any, sample: Sample, correction: Correction) -> Sample:
    """Return a sample with the new truth and the metrics under it."""
    if "acc" not in sample.metrics or not hasattr(scorer, "metric_values"):
        question = f"{correction.benchmark} {correction.id}"
        raise DataError(
            f"{sample.where}: expected as correction of {question} {_JUDGED}."
        )
    doc = with_truth(sample.doc, correction)
    readings = [_reading_of(scorer, record, sample) for record in sample.readings]
    values = scorer.metric_values(doc, readings)
    metrics = {**sample.metrics}
    for name in metrics:
        metrics[name] = values.get(name)
    line = {**sample.line, "doc": doc, **metrics}
    return sample._replace(doc=doc, metrics=metrics, line=line)


def _reading_of(scorer: Any, record: ReadingFields, sample: Sample) -> Reading:
    """Return a reading from its fields in a samples file."""
    kind = getattr(scorer, "READING", Reading)
    names = _names(kind)
    if not names <= record.keys():
        kind = Reading
    values = {name: record[name] for name in _names(kind) & record.keys()}
    if "units" in record:
        values["answer"] = {
            "value": record.get("answer"),
            "values": record["units"],
            "step": record.get("step"),
        }
    try:
        reading: Reading = _adapter(kind).validate_python(values)
    except ValidationError as error:
        problem = first_problem(error)
        raise DataError(
            f"{sample.where}: expected a reading, got {problem}."
        ) from error
    return reading


@cache
def _names(kind: type[Reading]) -> frozenset[str]:
    return frozenset(field.name for field in fields(kind))


@cache
def _adapter(kind: type[Reading]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def corrector_of(result: TaskResult, corrections: Corrections | None) -> Corrector:
    """Return the corrector for a result; without corrections it changes nothing."""
    return Corrector(result.benchmark, result.task, corrections or Corrections({}))


def corrected_result(result: TaskResult, rows: "SampleRows") -> TaskResult:
    """Return a result with corrected rows: what its results file claims is about others."""
    facts = dict(rows.corrections)
    earlier = result.settings.get(CORRECTIONS)
    if earlier:
        facts["sha256"] = f"{earlier}, {facts['sha256']}"
    return replace(
        without_claims(result),
        n=0,
        n_all=max(0, result.n_all - rows.n_excluded),
        settings={**result.settings, CORRECTIONS: facts["sha256"]},
        provenance={**result.provenance, "corrections": facts},
    )


def without_claims(result: TaskResult) -> TaskResult:
    """Return a result with the names of the metrics in its results file, without their values."""
    totals = {}
    for scoring, values in result.totals.items():
        totals[scoring] = dict.fromkeys(values)
    return replace(result, totals=totals, breakdowns={})
