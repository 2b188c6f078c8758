"""What each row scored, from the items files that VLMEvalKit's data sets of ours and `fin-tasks judge` write."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fin_tasks.benchmarks.mme_finance.score import CATEGORIES
from fin_tasks.errors import DataError
from fin_tasks.report.entry import Scores
from fin_tasks.report.estimates import largest, unit_of
from fin_tasks.report.json_fields import MAX_METRICS, name_of, number
from fin_tasks.report.row_scores import BIAS_INDEX, FileScores
from fin_tasks.report.samples import lines_of, sample_of, spelled_out

__all__ = ["SCALE", "VARIANTS", "followed_signal", "read_items", "read_judged"]

VARIANTS = ("paper", "robust")
SCALE = (0.0, 5.0)
"""Of the rubrics of MME-Finance."""

_FAILURES = (None, "response", "judge", "reply")

Values = Mapping[str, float | None]


@dataclass(frozen=True, kw_only=True)
class _Row:
    id: str
    source: str
    values: Mapping[str, Values]


def read_items(path: Path, benchmark: str) -> FileScores:
    """Read the items of a data set that needs no judge.

    Args:
        path: An `_items.jsonl`; every line has `index`, and under each variant `answer`, `correct` and, where this
            package is new enough, `metrics`.
        benchmark: Whose it is.

    Raises:
        DataError: The file cannot be read, or a line is none; the message names file, line and field.
    """

    def row(where: str, item: Mapping[str, Any]) -> Mapping[str, Values]:
        return {variant: _answered(f"{where}, {variant}", item.get(variant), benchmark) for variant in VARIANTS}

    return _read(path, row)


def read_judged(path: Path, *, scale: tuple[float, float] = SCALE) -> FileScores:
    """Read judged items: `paper` counts what could not be scored as 0, `robust` leaves it out.

    Args:
        path: An `_items.jsonl` of MME-Finance, or what `fin-tasks judge --items` wrote; every line has `index`,
            `score`, `failed`, `category`, `image_type` and `image_style`.
        scale: The rubric's lowest and highest score.

    Raises:
        DataError: As `read_items`.
    """

    def row(where: str, item: Mapping[str, Any]) -> Mapping[str, Values]:
        return _judged(where, item, scale)

    return _read(path, row)


def _read(path: Path, values_of: Callable[[str, Mapping[str, Any]], Mapping[str, Values]]) -> FileScores:
    digest = hashlib.sha256()
    rows: dict[str, _Row] = {}
    for where, line, item in _lines(path):
        digest.update(line)
        index = item.get("index")
        if isinstance(index, bool) or not isinstance(index, (str, int)) or index == "":
            raise DataError(f"{where}, index: expected a text or whole number, got {index!r:.80}.")
        name = spelled_out(str(index))
        if name in rows:
            raise DataError(f"{where}, index: expected each row once, got {name!r:.80} twice.")
        source = item.get("source")
        shared = spelled_out(source) if isinstance(source, str) and source else name
        rows[name] = _Row(id=name, source=shared, values=values_of(where, item))
    if not rows:
        raise DataError(f"{path}: expected at least one row, found none.")
    return FileScores(variants=_columns(list(rows.values())), digest=digest.hexdigest())


def _lines(path: Path) -> Iterator[tuple[str, bytes, dict[str, Any]]]:
    for at, line in lines_of(path):
        where = f"{path}, line {at}"
        yield where, line, sample_of(where, line)


def _columns(rows: list[_Row]) -> dict[str, Scores]:
    ids, clusters = tuple(row.id for row in rows), tuple(row.source for row in rows)
    shared = clusters if len(set(clusters)) < len(clusters) else None
    found = {}
    for variant in VARIANTS:
        columns: dict[str, list[float]] = defaultdict(lambda: [np.nan] * len(rows))
        named: Counter[str] = Counter()
        for place, row in enumerate(rows):
            named.update(row.values[variant].keys())
            for metric, value in row.values[variant].items():
                columns[metric][place] = np.nan if value is None else value
        values: dict[str, Any] = {
            metric: np.array(column, dtype=np.float64)
            for metric, column in columns.items()
            if named[metric] == len(rows) or not np.isnan(column).all()
            # what is left are metrics that are no means, such as a calibration error: rows with something for their
            # aggregation leave them out, all others have null
        }
        found[variant] = Scores(ids=ids, clusters=shared, values=values)
    return found


def _answered(where: str, answer: Any, benchmark: str) -> Values:
    if not isinstance(answer, dict):
        raise DataError(f"{where}: expected an object, got {answer!r:.80}.")
    metrics = answer.get("metrics")
    if metrics is None:  # written before rows told their metrics
        correct = answer.get("correct")
        if correct is not None and not isinstance(correct, bool):
            raise DataError(f"{where}, correct: expected true, false or null, got {correct!r:.80}.")
        return {"acc": None if correct is None else float(correct), "unscored": float(correct is None)}
    if not isinstance(metrics, dict) or "acc" not in metrics:
        raise DataError(f"{where}, metrics: expected an object with acc, got {metrics!r:.80}.")
    if len(metrics) > MAX_METRICS:
        raise DataError(f"{where}, metrics: expected at most {MAX_METRICS:,}, got {len(metrics):,}.")
    # beside the metrics, which have no number for it
    followed = {BIAS_INDEX: followed_signal(answer)} if benchmark == "dynostock" else {}
    numbers = {
        name_of(f"{where}, a name in metrics", name): number(
            f"{where}, metrics.{name:.80}", value, most=largest(unit_of(benchmark, name))
        )
        for name, value in metrics.items()
        if name not in followed
    }
    # where no answer is wrong the index is no mean over rows
    return {**numbers, **{name: value for name, value in followed.items() if value is not None}}


def followed_signal(answer: Mapping[str, Any]) -> float | None:
    """Say of a wrong answer whether it follows the signal; None of all others.

    Args:
        answer: What an item of DynoStock tells under a variant.

    Example:
        >>> followed_signal({"correct": False, "led": True}), followed_signal({"correct": True, "led": False})
        (1.0, None)
    """
    biased = answer.get("wrong_by_bias", answer.get("led"))
    return float(biased) if answer.get("correct") is False and isinstance(biased, bool) else None


def _judged(where: str, item: Mapping[str, Any], scale: tuple[float, float]) -> Mapping[str, Values]:
    lowest, highest = scale
    failed, category = item.get("failed"), item.get("category")
    score = number(f"{where}, score", item.get("score"), least=lowest, most=highest)
    if failed not in _FAILURES:
        raise DataError(f"{where}, failed: expected response, judge, reply or null, got {failed!r:.80}.")
    percent = None if score is None else 100 * (score - lowest) / (highest - lowest)
    names = ["score"]
    if isinstance(category, str) and category in CATEGORIES:
        names.append(f"score_{CATEGORIES[category].short}")
    for field, ours in (("image_type", str), ("image_style", str)):
        if isinstance(text := item.get(field), str) and text:
            names.append(f"score_{field.removeprefix('image_')}_{ours(text).replace(' ', '_')}")
    told = {
        "no_response": float(failed == "response"),
        "judge_error": None if failed == "response" else float(failed in ("judge", "reply")),
    }
    counted = {"paper": 0.0 if percent is None and failed else percent, "robust": percent}
    return {
        variant: {**dict.fromkeys(names, value), **told, "unscored": float(value is None)}
        for variant, value in counted.items()
    }
