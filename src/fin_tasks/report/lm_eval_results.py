"""lm-eval's results files, field by field: what they claim for each task and group of ours."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError
from fin_tasks.report.estimates import largest, unit_of
from fin_tasks.report.json_fields import MAX_METRICS, name_of
from fin_tasks.report.model_names import model_of
from fin_tasks.report.redaction import without_secrets
from fin_tasks.report.runs import MAX_RESULTS, benchmark_of
from fin_tasks.report.samples import json_of

__all__ = ["Claim", "ResultsFile", "TaskClaims", "read_results"]

_NOT_APPLICABLE = ("N/A", "", " ")
_NO_METRICS = frozenset({"alias", "name", "sample_len", " "})
"""All that lm-eval writes of a group that averages nothing."""
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Claim:
    """What the file says of one metric; None where it says that there is nothing to say."""

    value: float | None
    stderr: float | None


@dataclass(frozen=True, kw_only=True)
class TaskClaims:
    """What the file says of one task or group.

    Attributes:
        task: Its name.
        variants: Filter to metric to claim, bounds of intervals among the metrics.
        higher_is_better: Metric to whether more of it is better.
        rows: Documents that were asked, 0 where the file does not say.
        of: Documents there were to ask, likewise.
        version: Of the task, as text; empty where the file does not say.
        members: The tasks of a group; empty for a task.
    """

    task: str
    variants: Mapping[str, Mapping[str, Claim]]
    higher_is_better: Mapping[str, bool | None]
    rows: int
    of: int
    version: str
    members: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ResultsFile:
    """A results file.

    Attributes:
        raw: The file as it is, with secrets.
        model: The model's name.
        date: When the run was, in ISO form; empty where the file does not say.
        tasks: Those of our tasks and groups that could be read.
        problems: What is wrong with the others, by task.
        others: How many tasks of others there are.
    """

    raw: Mapping[str, Any]
    model: str
    date: str
    tasks: tuple[TaskClaims, ...]
    problems: Mapping[str, str]
    others: int


def read_results(path: Path, content: bytes) -> ResultsFile:
    """Read a results file.

    Args:
        path: Names it in messages.
        content: Its bytes, see `MAX_RESULTS`.

    Raises:
        DataError: It is not what lm-eval writes. What is wrong with one task alone is among the problems.
    """
    if len(content) > MAX_RESULTS:
        raise DataError(f"{path}: expected at most {MAX_RESULTS:,} bytes, got {len(content):,}.")
    try:
        raw = json_of(content)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: expected lm-eval's results as JSON, got {content[:60]!r} ({error}).") from error
    if not isinstance(raw, dict):
        raise DataError(f"{path}: expected an object, got {type(raw).__name__}.")
    results = _objects(path, raw, "results", required=True)
    # groups stand among the results too, but where a group's table was asked for alone
    results |= {name: group for name, group in _objects(path, raw, "groups").items() if name not in results}
    tasks: list[TaskClaims] = []
    problems: dict[str, str] = {}
    titles = [name for name, values in results.items() if _is_title(name, values, raw)]
    ours = [name for name in results if benchmark_of(name) and name not in titles]
    for task in ours:
        try:
            tasks.append(_claims(path, raw, task, results[task]))
        except DataError as error:
            problems[task] = str(error)
    model = name_of(f"{path}, model_name", model_of(raw))
    return ResultsFile(
        raw=raw,
        model=without_secrets(model),
        date=_date(raw.get("date")),
        tasks=tuple(tasks),
        problems=problems,
        others=len(results) - len(ours) - len(titles),
    )


def _is_title(name: str, values: Any, raw: Mapping[str, Any]) -> bool:
    """Tell a group that averages nothing and only stands above its tasks."""
    if not isinstance(values, dict):
        return False
    if values and values.keys() <= _NO_METRICS:  # files that were cut to their results do not say what is a group
        return True
    groups = raw.get("group_subtasks")
    is_group = isinstance(groups, dict) and name in groups
    return is_group and not any("," in key for key in values)


def _claims(path: Path, raw: Mapping[str, Any], task: str, values: Any) -> TaskClaims:
    where = f"{path}, results.{task:.80}"
    name_of(where, task)
    if not isinstance(values, dict):
        raise DataError(f"{where}: expected an object, got {type(values).__name__}.")
    benchmark = benchmark_of(task)
    variants: dict[str, dict[str, Claim]] = {}
    for key, value in values.items():
        metric, comma, variant = key.partition(",")
        if not comma or metric.endswith("_stderr"):
            continue
        name_of(f"{where}, {key[:40]}", key)
        most = largest(unit_of(benchmark, metric))
        number = _number(f"{where}.{key}", value, most=most)
        stderr = _number(f"{where}.{metric}_stderr,{variant}", values.get(f"{metric}_stderr,{variant}"), most=math.inf)
        variants.setdefault(variant, {})[metric] = Claim(number, stderr)
    if (metrics := sum(map(len, variants.values()))) > MAX_METRICS:
        raise DataError(f"{where}: expected at most {MAX_METRICS:,} metrics, got {metrics:,}.")
    if not variants:
        raise DataError(f"{where}: expected metrics such as 'acc,paper', got {sorted(values)[:5]!r:.80}.")
    counts = _objects(path, raw, "n-samples").get(task)
    counts = counts if isinstance(counts, dict) else {}
    members = _objects(path, raw, "group_subtasks").get(task) or []
    if not isinstance(members, list) or not all(isinstance(name, str) for name in members):
        raise DataError(f"{path}, group_subtasks.{task}: expected a list of tasks, got {members!r:.80}.")
    version = _objects(path, raw, "versions").get(task)
    return TaskClaims(
        task=task,
        variants=variants,
        higher_is_better=_directions(path, raw, task),
        rows=_count(f"{path}, n-samples.{task}.effective", counts.get("effective", values.get("sample_len"))),
        of=_count(f"{path}, n-samples.{task}.original", counts.get("original")),
        version=_version(version),
        members=tuple(members),
    )


def _number(where: str, value: Any, *, most: float) -> float | None:
    if value is None or value in _NOT_APPLICABLE or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise DataError(f"{where}: expected a number or 'N/A', got {value!r:.80}.")
    if not -_ROUNDING <= value <= most + _ROUNDING or math.isinf(value):
        raise DataError(f"{where}: expected a number from 0 to {most:g}, got {value!r:.80}.")
    return min(max(float(value), 0.0), most)


def _count(where: str, value: Any) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        raise DataError(f"{where}: expected a whole number, got {value!r:.80}.")
    return value


def _version(value: Any) -> str:
    if isinstance(value, (int, float)):
        return f"{value:g}" if value == value // 1 else str(value)
    try:  # of groups it is text
        return f"{float(value):g}"
    except (TypeError, ValueError):
        return str(value)[:40] if isinstance(value, str) else ""


def _directions(path: Path, raw: Mapping[str, Any], task: str) -> dict[str, bool | None]:
    directions = _objects(path, raw, "higher_is_better").get(task)
    directions = directions if isinstance(directions, dict) else {}
    return {name: value for name, value in directions.items() if value is None or isinstance(value, bool)}


def _objects(path: Path, raw: Mapping[str, Any], name: str, *, required: bool = False) -> dict[str, Any]:
    value = raw.get(name)
    if value is None and not required:
        return {}
    if not isinstance(value, dict):
        raise DataError(f"{path}, {name}: expected an object, got {type(value).__name__}.")
    return dict(value)


def _date(value: Any) -> str:
    """Read a time, which lm-eval writes as seconds, and people as ISO text."""
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value.removesuffix("Z")).replace(tzinfo=None).isoformat()
        except ValueError:
            return ""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ""
    try:
        return datetime.fromtimestamp(value, timezone.utc).replace(microsecond=0, tzinfo=None).isoformat()
    except (OverflowError, OSError, ValueError):
        return ""
