"""The rows of a samples file, as lm-eval writes it and logs of inspect_ai hold them: the only reader."""

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
import orjson
import pandas as pd
from scipy.special import comb
from tqdm import tqdm

from fin_tasks.benchmarks import benchmark_named
from fin_tasks.benchmarks.breakdowns import (
    Breakdowns,
    Values,
    aggregates_of,
    document_values,
    summarize,
)
from fin_tasks.benchmarks.contract import Benchmark
from fin_tasks.errors import DataError
from fin_tasks.interrupt import start_workers
from fin_tasks.report import inspect_logs
from fin_tasks.report.model import BREAKDOWNS, WEIGHT, largest, texts_column

_MANY, _PROCESSES = 16, 4  # fewer files are done before other processes have started
_MAX_LINE = 64 * 2**20
_MAX_ANSWER, _MAX_REASON = 200, 300
_MOST_FIGURES = 200  # the benchmarks have some 30
_ONCE = (b'"filter":', b'"acc":', b'"score":')  # more keys would double the time of reading
_NUMBERS = {int, float, bool, type(None)}
_NO_MEANS = ("_stderr", "_low", "_high", "_std")


def for_each(
    function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], name: str
) -> list[Any]:
    """Return what a function says of each file, which is its first argument, or as a text what is wrong with the file.

    Many files are shared among processes, with a progress bar.
    """
    many = len(calls) > _MANY
    shown = tqdm(calls, name, unit="file", disable=None if many else True)
    jobs = min(_PROCESSES, joblib.cpu_count()) if many else 1
    with joblib.Parallel(n_jobs=jobs) as parallel:
        if many:
            start_workers(parallel)
        return list(parallel(joblib.delayed(_said)(function, call) for call in shown))


def _said(function: Callable[..., Any], call: tuple[Any, ...]) -> Any:
    try:
        return function(*call)
    except DataError as error:
        return str(error)
    except (RecursionError, OverflowError):
        return f"{call[0]}: expected JSON as lm-eval writes it, got values that are nested too deeply, or huge."


def read_samples(path: Path | None) -> Iterator[dict[str, Any]]:
    """Yield the lines of a samples file, nothing if there is none; DataError if it cannot be read."""
    return (sample for _, sample in _lines(path)) if path else iter(())


class SampleRows(NamedTuple):
    """The rows of samples, and the figures of parts that are not means over rows."""

    table: pd.DataFrame
    """Text columns without run and task, metrics, and figures of parts."""
    aggregates: Breakdowns


def read_rows(path: Path, benchmark: str) -> SampleRows:
    """Return the rows of a samples file."""
    return rows_of(str(path), _lines(path, once=_ONCE), benchmark)


def rows_of(
    source: str, lines: Iterable[tuple[str, Mapping[str, Any]]], benchmark: str
) -> SampleRows:
    """Return the rows of samples, each given with where it is."""
    texts: dict[str, list[str | None]] = {
        name: [] for name in ("variant", "doc_id", "answer", "reason")
    }
    values: dict[str, list[Any]] = {}
    facts: dict[str, dict[str, str]] = {}
    metrics: list[str] = []
    figures: list[Values] = []
    scored: list[int] = []  # responses of each row
    about = benchmark_named(benchmark)
    for where, sample in lines:
        variant, doc, names = sample.get("filter"), sample.get("doc"), sample.get("metrics")
        if not isinstance(variant, str) or not isinstance(doc, dict):
            raise DataError(
                f"{where}: expected a filter and a doc, got {variant!r:.40} and {doc!r:.40}."
            )
        given = doc.get("id", doc.get("question_id"))
        if not isinstance(given, str | int) or given == "":
            raise DataError(
                f"{where}, doc.id: expected a text or a whole number, got {given!r:.80}."
            )
        if names != metrics:
            if not isinstance(names, list) or not names or metrics:
                raise DataError(
                    f"{where}, metrics: expected the names of {metrics or 'metrics'}, got {names!r:.80}."
                )
            metrics = names
            values = {str(name): [] for name in names if not str(name).endswith(_NO_MEANS)}
        try:
            for name, column in values.items():
                column.append(sample[name])
        except KeyError as error:
            raise DataError(f"{where}: expected a value of {name:.80}, found none.") from error
        identity = printable(str(given))
        if identity not in facts:
            facts[identity] = _facts_of(benchmark, doc)
        readings = readings_of(sample.get("filtered_resps"))
        own = {name: sample[name] for name in values}
        figures.append(document_values(about, doc, readings, own))
        scored.append(sum(one.get("unscored") is not True for one in readings))
        answer = " | ".join(filter(None, (_answer_text(one.get("answer")) for one in readings)))
        reason = next(
            (why for one in readings if isinstance(why := one.get("reason"), str) and why), ""
        )
        texts["variant"].append(variant)
        texts["doc_id"].append(identity)
        texts["answer"].append(printable(answer[:_MAX_ANSWER]) or None)
        texts["reason"].append(printable(reason[:_MAX_REASON]) or None)
    for name in ("source", *BREAKDOWNS):
        texts[name] = [facts[str(one)].get(name) for one in texts["doc_id"]]
    rows = pd.DataFrame({name: texts_column(column) for name, column in texts.items()})
    if rows.empty or rows.duplicated(["variant", "doc_id"]).any():
        raise DataError(
            f"{source}: expected each document once under a filter, found one twice or no row at all."
        )
    found: dict[str, Any] = {}
    for name, column in (_figure_columns(source, figures) | values).items():
        found |= _metric(source, name, column)
    if max(scored) > 1 and "acc" in found:
        found |= _pass_at(found["acc"], np.array(scored))
    aggregates = _aggregates(about, texts["variant"], figures)
    return SampleRows(rows.assign(**found), aggregates)


def _figure_columns(source: str, rows: Sequence[Values]) -> dict[str, list[Any]]:
    """Return the figures of all rows by name; a missing one is None."""
    names = dict.fromkeys(name for row in rows for name in row)
    if len(names) > _MOST_FIGURES:
        raise DataError(
            f"{source}: expected documents of at most {_MOST_FIGURES} parts, got {len(names)}."
        )
    return {printable(name): [row.get(name) for row in rows] for name in names}


def _aggregates(
    benchmark: Benchmark, variants: Sequence[str | None], rows: Sequence[Values]
) -> Breakdowns:
    """Return by variant the figures that are not means over rows."""
    names = aggregates_of(benchmark)
    rows_by_variant: dict[str, list[Values]] = defaultdict(list)
    if names:
        for variant, row in zip(variants, rows, strict=True):
            own = {name: row[name] for name in names if name in row}
            rows_by_variant[str(variant)].append(own)
    return {variant: summarize(benchmark, own) for variant, own in rows_by_variant.items()}


def prompt_of(sample: Mapping[str, Any]) -> str | None:
    """Return all texts that were sent for a sample, a chat's messages joined; None if the file has no prompts."""
    arguments = sample.get("arguments")
    first = arguments.get("gen_args_0") if isinstance(arguments, dict) else None
    sent = first.get("arg_0") if isinstance(first, dict) else None
    return None if arguments is None else "\n".join(_texts(sent))


def _texts(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, str) and value.startswith("[{"):  # a chat's messages as JSON
        with suppress(ValueError):
            value = json.loads(value)
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _texts(one, key)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one, name)
    elif name not in ("role", "type") and not re.match(
        r"data:image/[\w.+-]+;(sha256|base64),[\w+/=]*$", str(value)
    ):
        yield str(value)


def readings_of(value: Any) -> list[dict[str, Any]]:
    """Return what was read in each response, from objects or their JSON text in nested lists; empty if not readable."""
    readings = []
    for one in flat(value):
        if isinstance(one, str) and one[:1] == "{":
            try:
                one = orjson.loads(one)
            except orjson.JSONDecodeError:
                with suppress(ValueError, RecursionError):  # NaN is no JSON, but Python writes it
                    one = json.loads(one)
        readings.append(one if isinstance(one, dict) else {})
    return readings


def flat(value: Any) -> list[Any]:
    """Return the values in nested lists, the first thousand of each list."""
    return (
        [one for inner in value[:1000] for one in flat(inner)]
        if isinstance(value, list)
        else [value]
    )


def parse(where: str | Path, content: bytes) -> Any:
    """Parse JSON that holds no key twice; raise DataError for all else."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise DataError(
                f"{where}: expected each key once, got one twice in {str(pairs)[:80]!r}."
            )
        return found

    try:
        return json.loads(content, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{where}: expected JSON, got {content[:40]!r} ({error}). Was the file cut?"
        ) from error


def printable(text: str) -> str:
    """Return text that files can hold: without halves of characters."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _lines(path: Path, once: Sequence[bytes] = ()) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield where each sample is, and the sample; refuse lines that hold one of the keys `once` twice."""
    if path.suffix == ".eval":
        yield from inspect_logs.samples_of(path)
        return
    try:
        with path.open("rb", buffering=2**20) as file:
            for number, line in enumerate(iter(lambda: file.readline(_MAX_LINE), b""), 1):
                where = f"{path}, line {number}"
                if not line.strip():
                    continue
                try:
                    # orjson refuses NaN, which lm-eval's files may hold, and accepts keys that stand twice
                    twice = any(line.count(key) > 1 for key in once)
                    found = parse(where, line) if twice else orjson.loads(line)
                except orjson.JSONDecodeError:
                    found = parse(where, line)
                if not isinstance(found, dict):
                    raise DataError(f"{where}: expected an object, got {line[:40]!r}.")
                yield where, found
    except OSError as error:
        raise DataError(
            f"{path}: expected a readable file, got {error.strerror or error}."
        ) from error


def _pass_at(acc: Any, scored: Any) -> dict[str, Any]:
    """Return pass@k for k = 2, 4, ... and all responses, without bias, and the deviation among a question's responses.

    Source: Chen et al. (2021), Evaluating Large Language Models Trained on Code, section 2.1.
    """
    most, right = int(scored.max()), np.rint(acc * scored)
    right[np.abs(right - acc * scored) > 1e-6] = np.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        found = {
            f"pass@{k}": np.where(
                (scored < k) | np.isnan(right),
                np.nan,
                1 - comb(scored - right, k) / comb(scored, k),
            )
            for k in sorted({most, *(2**power for power in range(1, most.bit_length()))})
        }
        return {**found, "spread": np.sqrt(right * (scored - right) / (scored * (scored - 1.0)))}


def _metric(source: str, name: str, values: list[Any]) -> dict[str, Any]:
    """Return the columns of a metric; none if only the metric's own aggregation understands its values."""
    kinds = set(map(type, values))
    if name == "bias_index" and list in kinds:
        # shares of right, led and otherwise wrong responses; the index is led among wrong
        wrong = np.array(
            [math.fsum(one[1:]) if isinstance(one, list) else 0.0 for one in values]
        ).round(12)
        led = np.array(
            [one[1] if isinstance(one, list) else 0.0 for one in values], dtype=np.float64
        )
        return {
            name: np.divide(led, wrong, out=np.full(len(led), np.nan), where=wrong > 0),
            WEIGHT: wrong,
        }
    if kinds & {list, dict} and name not in ("acc", "score"):
        return {}
    most = largest(name)
    numbers = np.array(values, dtype=np.float64) if kinds <= _NUMBERS else np.array([math.inf])
    if ((numbers < 0) | (numbers > most) | np.isinf(numbers)).any():
        raise DataError(
            f"{source}, {name:.80}: expected null or numbers from 0 to {most:g}, got {str(values)[:80]}."
        )
    return {name: numbers} | (
        {WEIGHT: (~np.isnan(numbers)).astype(float)} if name == "bias_index" else {}
    )


def _answer_text(answer: Any) -> str:
    """Return an answer as text; equal numbers have equal texts."""
    if answer is None or answer == []:
        return ""
    if isinstance(answer, float) and answer.is_integer() and abs(answer) < 1e15:
        answer = int(answer)
    return answer if isinstance(answer, str) else json.dumps(answer)


def _facts_of(benchmark: str, doc: Mapping[str, Any]) -> dict[str, str]:
    """Return the source and the breakdowns of a document, as texts."""
    own = benchmark_named(benchmark)
    facts = {}
    source = own.source_of(doc)
    if source:
        facts["source"] = printable(source)
    for column, parts in own.parts_of(doc).items():
        facts[column] = printable("|".join(parts))
    return facts
