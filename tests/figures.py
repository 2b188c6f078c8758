"""All that is known of a document: its metrics, and the figures of its parts."""

from collections.abc import Mapping, Sequence
from typing import Any

from fin_tasks.answers.types import Reading, Score
from fin_tasks.benchmarks import benchmark_named
from fin_tasks.benchmarks.scored_task import document_values


def figures_of(
    benchmark: str, doc: Mapping[str, Any], readings: Sequence[Reading]
) -> dict[str, Any]:
    known = benchmark_named(benchmark)
    metrics = known.scorer.metric_values(doc, readings)
    fields = [reading.to_dict() for reading in readings]
    return {**document_values(known, doc, fields, metrics), **metrics}


def score_with(
    scorer: Any, doc: Mapping[str, Any], response: Any, scoring: str
) -> Score:
    """Return the score of a response under one scoring."""
    score: Score = scorer.compare(doc, scorer.read(doc, response, scoring=scoring))
    return score
