"""The table of rows of a samples file: facts of the documents, metrics, and figures of parts."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import comb

from fin_tasks.benchmarks.breakdowns import (
    Breakdowns,
    Values,
    aggregates_of,
    document_values,
    summarize,
)
from fin_tasks.benchmarks.contract import Benchmark
from fin_tasks.errors import DataError
from fin_tasks.report.model import (
    BREAKDOWNS,
    OTHER,
    WEIGHT,
    WEIGHTED,
    known_benchmarks,
    largest,
    texts_column,
)
from fin_tasks.report.redact import printable
from fin_tasks.report.samples import Sample, read_samples
from fin_tasks.stats.means import Floats

_MAX_ANSWER = 200
_MAX_REASON = 300
_MAX_FIGURES = 200  # the benchmarks have some 30
_NUMBERS = {int, float, bool, type(None)}
_NO_MEANS = ("_low", "_high", "_std")
_TEXTS = ("variant", "doc_id", "answer", "reason", "source", *BREAKDOWNS)


class SampleRows(NamedTuple):
    """The rows of samples, and the figures of parts that are not means over rows."""

    table: pd.DataFrame
    """Text columns without run and task, metrics, and figures of parts."""
    aggregates: Breakdowns


def read_rows(path: Path, benchmark: str) -> SampleRows:
    """Return the rows of a samples file."""
    return rows_of(str(path), read_samples(path), benchmark)


def rows_of(source: str, samples: Iterable[Sample], benchmark: str) -> SampleRows:
    """Return the rows of samples; `source` names their file in messages."""
    about = known_benchmarks()[benchmark]
    facts_by_id: dict[str, dict[str, str]] = {}
    texts: list[dict[str, str]] = []
    metrics: list[Mapping[str, Any]] = []
    figures: list[Values] = []
    n_scored: list[int] = []
    for sample in samples:
        if metrics and sample.metrics.keys() != metrics[0].keys():
            raise DataError(
                f"{sample.where}, metrics: expected those of the first line, {list(metrics[0])}, "
                f"got {list(sample.metrics)!r:.80}."
            )
        if sample.id not in facts_by_id:
            facts_by_id[sample.id] = _facts_of(about, sample.doc)
        readings = sample.readings
        row = {
            "variant": sample.variant,
            "doc_id": sample.id,
            "answer": _answers_text(readings),
            "reason": _first_reason(readings),
        }
        texts.append(row | facts_by_id[sample.id])
        metrics.append(sample.metrics)
        figures.append(_figures_of(about, sample, readings))
        n_scored.append(sum(reading.get("unscored") is not True for reading in readings))
    table = pd.DataFrame({name: _texts_of(texts, name) for name in _TEXTS})
    if table.empty or table.duplicated(["variant", "doc_id"]).any():
        raise DataError(
            f"{source}: expected each document once under a filter, found one twice or no row at all."
        )
    columns = _metric_columns(source, metrics, figures)
    if max(n_scored) > 1 and "acc" in columns:
        columns |= _pass_at(columns["acc"], np.array(n_scored))
    variants = [row["variant"] for row in texts]
    return SampleRows(table.assign(**columns), _aggregates(about, variants, figures))


def _facts_of(benchmark: Benchmark, doc: Mapping[str, Any]) -> dict[str, str]:
    """Return the source and the breakdowns of a document, as texts."""
    facts = {}
    source = benchmark.source_of(doc)
    if source:
        facts["source"] = printable(source)
    for column, parts in benchmark.parts_of(doc).items():
        facts[column] = printable("|".join(parts))
    return facts


def _figures_of(
    benchmark: Benchmark,
    sample: Sample,
    readings: Sequence[Mapping[str, Any]],
) -> Values:
    if benchmark is OTHER:
        return {}
    return document_values(benchmark, sample.doc, readings, sample.metrics)


def _texts_of(rows: Sequence[Mapping[str, str]], name: str) -> pd.Categorical:
    return texts_column([row.get(name) or None for row in rows])


def _answers_text(readings: Sequence[Mapping[str, Any]]) -> str:
    answers = [_answer_text(reading.get("answer")) for reading in readings]
    text = " | ".join(answer for answer in answers if answer)
    return printable(text[:_MAX_ANSWER])


def _answer_text(answer: Any) -> str:
    """Return an answer as text; equal numbers have equal texts."""
    if answer is None or answer == []:
        return ""
    if isinstance(answer, float) and answer.is_integer() and abs(answer) < 1e15:
        answer = int(answer)
    return answer if isinstance(answer, str) else json.dumps(answer)


def _first_reason(readings: Sequence[Mapping[str, Any]]) -> str:
    for reading in readings:
        reason = reading.get("reason")
        if isinstance(reason, str) and reason:
            return printable(reason[:_MAX_REASON])
    return ""


def _metric_columns(
    source: str,
    metrics: Sequence[Mapping[str, Any]],
    figures: Sequence[Values],
) -> dict[str, Floats]:
    """Return the columns of metrics and figures; a metric counts if a figure has its name."""
    names = dict.fromkeys(name for row in figures for name in row)
    if len(names) > _MAX_FIGURES:
        raise DataError(
            f"{source}: expected documents of at most {_MAX_FIGURES} parts, got {len(names)}."
        )
    values: dict[str, list[Any]] = {}
    for name in names:
        values[printable(name)] = [row.get(name) for row in figures]
    for name in metrics[0]:
        if not name.endswith(_NO_MEANS):
            values[printable(name)] = [row[name] for row in metrics]
    columns: dict[str, Floats] = {}
    for name, column in values.items():
        columns |= _metric_column(source, name, column)
    return columns


def _metric_column(source: str, name: str, values: list[Any]) -> dict[str, Floats]:
    """Return the columns of a metric; none if only the metric's own aggregation understands its values."""
    kinds = {type(value) for value in values}
    if name == WEIGHTED and list in kinds:
        return _weighted_columns(name, values)
    if kinds & {list, dict} and name not in ("acc", "score"):
        return {}
    maximum = largest(name)
    numbers = np.array([math.inf])
    if kinds <= _NUMBERS:
        numbers = np.array(values, dtype=np.float64)
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


def _weighted_columns(name: str, values: Sequence[Any]) -> dict[str, Floats]:
    """Return the index of each document and its weight, from its shares of responses.

    The shares are those of right, led and otherwise wrong responses; the index is led among wrong.
    """
    shares = [value if isinstance(value, list) else [0.0, 0.0] for value in values]
    wrong = np.array([math.fsum(document[1:]) for document in shares]).round(12)
    led = np.array([document[1] for document in shares], dtype=np.float64)
    index = np.full(len(led), np.nan)
    np.divide(led, wrong, out=index, where=wrong > 0)
    return {name: index, WEIGHT: wrong}


def _pass_at(acc: Floats, n_scored: Any) -> dict[str, Floats]:
    """Return pass@k for k = 2, 4, ... and all responses, without bias, and the deviation among a question's responses.

    Source: Chen et al. (2021), Evaluating Large Language Models Trained on Code, section 2.1.
    """
    maximum = int(n_scored.max())
    n_right = np.rint(acc * n_scored)
    n_right[np.abs(n_right - acc * n_scored) > 1e-6] = np.nan
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


def _aggregates(
    benchmark: Benchmark,
    variants: Sequence[str],
    rows: Sequence[Values],
) -> Breakdowns:
    """Return by variant the figures that are not means over rows."""
    if benchmark is OTHER:
        return {}
    names = aggregates_of(benchmark)
    rows_by_variant: dict[str, list[Values]] = defaultdict(list)
    if names:
        for variant, row in zip(variants, rows, strict=True):
            rows_by_variant[variant].append({name: row[name] for name in names if name in row})
    return {
        variant: summarize(benchmark, variant_rows)
        for variant, variant_rows in rows_by_variant.items()
    }
