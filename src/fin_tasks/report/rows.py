"""The table of rows of a samples file: facts of the documents, metrics, and figures of parts."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pandas import Categorical, DataFrame
from scipy.special import comb

from fin_tasks.benchmarks.contract import Benchmark
from fin_tasks.benchmarks.corrections import Corrections
from fin_tasks.benchmarks.scored_task import (
    Breakdowns,
    Values,
    document_values,
    summarize,
)
from fin_tasks.errors import DataError
from fin_tasks.stats.means import Floats

from . import Json
from .corrected_samples import Corrector, corrector_of
from .model import (
    BREAKDOWNS,
    KNOWN_BENCHMARKS,
    NO_MEANS,
    OTHER,
    WEIGHT,
    WEIGHTED,
    TaskResult,
    largest,
    texts_column,
)
from .redact import printable
from .samples import Sample, read_samples

_MAX_ANSWER = 200
_MAX_REASON = 300
_NUMBERS = {int, float, bool, type(None)}
_TEXTS = ("scoring", "doc_id", "truth", "answer", "reason", "source", *BREAKDOWNS)

Readings = Sequence[Json]


class SampleRows(NamedTuple):
    """The rows of samples, and the figures of parts that are not means over rows."""

    table: DataFrame
    """Text columns without run and task, metrics, and figures of parts."""
    aggregates: Breakdowns
    not_shown: DataError | None = None
    """Why the page cannot show the samples."""
    corrections: Mapping[str, str] = {}
    """What results say of corrections that were applied."""
    n_excluded: int = 0
    """Questions that corrections excluded."""
    published: DataFrame | None = None
    """The rows of questions that were excluded or corrected, as published."""


class _Document(NamedTuple):
    """A document, and the texts of its rows, which several scorings share."""

    doc: Json
    facts: dict[str, str]


def read_rows(
    path: Path, result: TaskResult, corrections: Corrections | None = None
) -> SampleRows:
    """Return the rows of the samples file of a result."""
    corrector = corrector_of(result, corrections)
    samples = corrector.correct(read_samples(path))
    rows = rows_of(str(path), samples, result.benchmark)
    return with_corrections(rows, corrector, path)


def with_corrections(rows: SampleRows, corrector: Corrector, path: Path) -> SampleRows:
    """Return rows with what a corrector did to them."""
    if not corrector.published:
        return rows
    return rows._replace(
        corrections=corrector.facts,
        n_excluded=corrector.n_excluded,
        published=rows_of(str(path), corrector.published, corrector.benchmark).table,
    )


def rows_of(source: str, samples: Iterable[Sample], benchmark_name: str) -> SampleRows:
    """Return the rows of samples; `source` names their file in messages."""
    benchmark = KNOWN_BENCHMARKS[benchmark_name]
    is_ours = benchmark is not OTHER
    documents: dict[str, _Document] = {}
    texts = []
    values = []
    n_scored = []
    aggregate_names = (
        list(getattr(benchmark.scorer, "BREAKDOWN_AGGREGATES", ())) if is_ours else []
    )
    aggregated_by_scoring = defaultdict[str, list[Values]](list)
    for sample in samples:
        readings = sample.readings
        figures = sample.metrics
        if is_ours:
            parts = document_values(benchmark, sample.doc, readings, sample.metrics)
            figures = {**parts, **sample.metrics}
            aggregated = {name: figures.get(name) for name in aggregate_names}
            aggregated_by_scoring[sample.scoring].append(aggregated)
        document = documents.get(sample.id)
        if document is None or document.doc != sample.doc:
            document = _Document(sample.doc, _facts_of(benchmark, sample.doc))
            documents[sample.id] = document
        texts.append({**document.facts, **_texts_of(sample, readings)})
        values.append(figures)
        n_scored.append(
            sum(reading.get("unscored") is not True for reading in readings)
        )
    _check_rows(source, texts)
    metrics = _metrics_of(source, values)
    if max(n_scored) > 1 and "acc" in metrics:
        metrics |= _pass_at(metrics["acc"], np.array(n_scored))
    aggregates = {}
    for scoring, rows in aggregated_by_scoring.items():
        aggregates[scoring] = summarize(benchmark, rows)
    table = DataFrame({**_text_columns(texts), **metrics})
    return SampleRows(table, aggregates)


def _check_rows(source: str, texts: Sequence[Mapping[str, str]]) -> None:
    """Raise DataError if there is no row, or if a scoring has two rows of a document."""
    names = {(row["scoring"], row["doc_id"]) for row in texts}
    if not names or len(names) < len(texts):
        raise DataError(
            f"{source}: expected each document once under a filter, "
            "found one twice or no row at all."
        )


def _metrics_of(source: str, values: Sequence[Values]) -> dict[str, Floats]:
    """Return the columns of the metrics of all rows, and of the figures of parts."""
    metrics: dict[str, Floats] = {}
    for name in dict.fromkeys(chain.from_iterable(values)):
        column = [figures.get(name) for figures in values]
        metrics |= _metric_columns(source, printable(name), column)
    return metrics


def _facts_of(benchmark: Benchmark, doc: Json) -> dict[str, str]:
    """Return the texts of a row that the document alone decides, its breakdowns among them."""
    facts = {
        "truth": _value_text(benchmark.truth_of(doc))[:_MAX_ANSWER],
        "source": str(doc.get("published_id") or benchmark.source_of(doc)),
    }
    for column, parts in benchmark.groups_of(doc).items():
        facts[column] = "|".join(parts)
    return {name: printable(text) for name, text in facts.items()}


def _texts_of(sample: Sample, readings: Readings) -> dict[str, str]:
    """Return the texts of a row that the responses decide, and what names it."""
    reasons = filter(None, [reading.get("reason") for reading in readings])
    return {
        "scoring": sample.scoring,
        "doc_id": sample.id,
        "answer": printable(_answer_text(readings)[:_MAX_ANSWER]),
        "reason": printable(str(next(reasons, ""))[:_MAX_REASON]),
    }


def _text_columns(texts: Sequence[Mapping[str, str]]) -> dict[str, Categorical]:
    """Return the text columns of rows; an empty text is missing."""
    filled = set[str]().union(*texts)
    nothing = texts_column([None]).repeat(len(texts))
    columns = {}
    for name in _TEXTS:
        columns[name] = nothing
        if name in filled:
            columns[name] = texts_column([row.get(name) or None for row in texts])
    return columns


def _answer_text(readings: Readings) -> str:
    """Return the answers as text; equal numbers have equal texts."""
    texts = [_value_text(reading.get("answer")) for reading in readings]
    return " | ".join(filter(None, texts))


def _value_text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.15g}"
    if value in (None, [], ""):
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _metric_columns(source: str, name: str, values: list[Any]) -> dict[str, Floats]:
    """Return the columns of a metric. Values that only its own aggregation understands have no column."""
    kinds = set(map(type, values))
    if name == WEIGHTED and list in kinds:
        return _weighted_columns(values)
    is_aggregated = bool(kinds & {list, dict}) and name not in ("acc", "score")
    if is_aggregated or name.endswith(NO_MEANS):
        return {}
    maximum = largest(name)
    # Texts and the like are refused below, as infinity is.
    numbers = np.array(values if kinds <= _NUMBERS else [math.inf], dtype=np.float64)
    is_wrong = np.isinf(numbers) | (numbers > maximum)
    if math.isfinite(maximum):
        is_wrong |= numbers < 0
    if is_wrong.any():
        raise DataError(
            f"{source}, {name:.80}: expected null or numbers from 0 to {maximum:g}, "
            f"got {str(values)[:80]}."
        )
    if name == WEIGHTED:
        return {name: numbers, WEIGHT: (~np.isnan(numbers)).astype(float)}
    return {name: numbers}


def _weighted_columns(values: Sequence[Any]) -> dict[str, Floats]:
    """Return the index of each document and its weight, from its shares of responses.

    The shares are those of right, led and otherwise wrong responses. The index is the share of led ones among all wrong
    ones.
    """
    shares = np.array(
        [value if isinstance(value, list) else [0, 0, 0] for value in values], float
    )
    led = shares[:, 1]
    wrong = (led + shares[:, 2]).round(12)
    with np.errstate(divide="ignore", invalid="ignore"):
        return {WEIGHTED: np.where(wrong > 0, led / wrong, np.nan), WEIGHT: wrong}


def _pass_at(acc: Floats, n_scored: Any) -> dict[str, Floats]:
    """Return pass@k for k = 2, 4, ... and all responses, without bias, and the deviation among a question's responses.

    Source: Chen et al. (2021), Evaluating Large Language Models Trained on Code, section 2.1.
    """
    maximum = int(n_scored.max())
    n_right = (acc * n_scored).round(6)
    n_right[n_right % 1 > 0] = np.nan
    powers = [2**power for power in range(1, maximum.bit_length())]
    columns = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for k in sorted({*powers, maximum}):
            value = 1 - comb(n_scored - n_right, k) / comb(n_scored, k)
            is_unknown = (n_scored < k) | np.isnan(n_right)
            columns[f"pass@{k}"] = np.where(is_unknown, np.nan, value)
        n_pairs = n_scored * (n_scored - 1.0)
        columns["spread"] = np.sqrt(n_right * (n_scored - n_right) / n_pairs)
    return columns
