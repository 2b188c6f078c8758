"""Figures of parts of a task, such as its capabilities, and of how its programs ended.

These figures are not metrics of the harness. Reports compute them from the samples: from a document,
its metrics and the readings of its responses. Results files hold the figures too, because some users
keep no samples.

A benchmark computes its own figures in `score.py`, in `breakdown_values(doc, readings, metrics)`. The
samples may come from a stranger, so this function must accept any value in a document or reading.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from fin_tasks.sandbox import failure_shares
from fin_tasks.stats.averages import average, average_or_none, over_responses

from .contract import Benchmark, Document, ReadingFields

Values = dict[str, Any]
"""Figures of one document by name. A figure that does not apply is None or missing."""
Aggregate = Callable[[Sequence[Any]], float]
"""Makes a figure of a task from the known values of its documents."""


class PartValue(TypedDict):
    """A figure of a task, and how many documents it is over."""

    value: float
    n: int


Breakdowns = Mapping[str, Mapping[str, PartValue]]
"""The figures of a task by variant and name."""

_RECALL_TOLERANCE = 0.002
"""An answer this near to the published truth is taken from it: the truth of a variant is 1 % away or more."""


def document_values(
    benchmark: Benchmark,
    doc: Document,
    readings: Sequence[ReadingFields],
    metrics: Mapping[str, Any],
) -> Values:
    """Return the figures of one document under one variant."""
    scorer = benchmark.scorer
    # The share of each reason why a program gave no value.
    statuses = [reading.get("status") for reading in readings]
    shares = [failure_shares(status) for status in statuses if isinstance(status, str)]
    values = over_responses(shares) if shares else {}
    if not values and hasattr(scorer, "reader_item"):
        values["read_by_model"] = average_or_none(map(_is_read_by_model, readings))
    values |= _recalled_values(doc, readings)
    if hasattr(scorer, "breakdown_values"):
        values |= scorer.breakdown_values(doc, readings, metrics)
    return values


def _is_read_by_model(reading: ReadingFields) -> bool:
    return reading.get("by") == "model" and reading.get("unscored") is not True


def _recalled_values(
    doc: Mapping[str, Any], readings: Sequence[ReadingFields]
) -> Values:
    """Return the share of responses that answer a variant of a question with the published truth."""
    published: Any = doc.get("published_truth")
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
    aggregates = aggregates_of(benchmark)
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


def aggregates_of(benchmark: Benchmark) -> Mapping[str, Aggregate]:
    """Return the functions for those figures of a benchmark that are not means over documents."""
    aggregates: Mapping[str, Aggregate] = getattr(
        benchmark.scorer, "BREAKDOWN_AGGREGATES", {}
    )
    return aggregates
