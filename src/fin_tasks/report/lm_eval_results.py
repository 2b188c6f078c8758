"""Results files of lm-eval, which all our commands write too: what they say of each task."""

import hashlib
import re
import sys
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from fin_tasks.benchmarks.breakdowns import Breakdowns, PartValue
from fin_tasks.errors import DataError
from fin_tasks.report.conditions import settings_of, shared_settings
from fin_tasks.report.model import OTHER, Run, Settings, TaskResult, benchmark_of
from fin_tasks.report.redact import printable, without_secrets
from fin_tasks.report.strict_json import parse

_MAX_BYTES = 256 * 2**20
_MAX_NAME = 200
_MAX_COUNT = 10**12
_FEW_ROWS = 0.98  # of the questions; a run over fewer has another setting
_HARNESSES = ("replay", "judge", "label", "VLMEvalKit", "inspect_ai")
_NO_VALUE = (None, "N/A", "", " ")
_UNPRINTED = re.compile(r"[\x00-\x1f\x7f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_CLOCK = re.compile(r"(\d{4}-\d\d-\d\dT\d\d)[-:](\d\d)[-:](\d\d)")


class _Part(BaseModel):
    value: float = Field(allow_inf_nan=False)
    n: int = Field(ge=0, le=_MAX_COUNT)


_BREAKDOWNS = TypeAdapter(dict[str, dict[str, _Part]])


class _Counts(BaseModel):
    effective: int = Field(default=0, ge=0, le=_MAX_COUNT)
    original: int = Field(default=0, ge=0, le=_MAX_COUNT)


class Results(BaseModel):
    """What we read of a results file."""

    results: dict[str, dict[str, Any]]
    groups: dict[str, dict[str, Any]] = {}
    group_subtasks: dict[str, list[str]] = {}
    configs: dict[str, dict[str, Any]] = {}
    versions: dict[str, str | float | None] = {}
    counts: dict[str, _Counts] = Field({}, alias="n-samples")
    shots: dict[str, int | str | None] = Field({}, alias="n-shot")
    config: dict[str, Any] = {}
    date: float | str | None = None
    model_name: str | None = None
    lm_eval_version: str | None = None
    fin_tasks_version: str | None = None
    system_instruction_sha: str | None = None
    chat_template_sha: str | None = None


@dataclass(frozen=True)
class ResultsFile:
    """A results file, or several logs of one run."""

    id: str
    """A hash that copies of the file, or the logs of the run, share."""
    path: Path
    content: Results
    samples: dict[str, Path] = field(default_factory=dict)
    """The files with rows, by task."""

    def add(self, other: "ResultsFile") -> None:
        """Add another log of the same run."""
        self.samples.update(other.samples)
        for name in ("results", "configs", "versions", "counts"):
            getattr(self.content, name).update(getattr(other.content, name))


def read_results(path: Path) -> ResultsFile | None:
    """Read a results file; None if the file holds something else."""
    size = path.stat().st_size
    if size > _MAX_BYTES:
        raise DataError(f"{path}: expected at most {_MAX_BYTES:,} bytes, got {size:,}.")
    content = path.read_bytes()
    if b'"results"' not in content and not path.name.startswith("results_"):
        return None
    identity = hashlib.sha256(content).hexdigest()[:16]
    return ResultsFile(identity, path, results_of(path, parse(path, content)))


def results_of(path: Path, content: Any) -> Results:
    """Check the content of a results file; or DataError."""
    try:
        return Results.model_validate(content)
    except ValidationError as error:
        raise DataError(f"{path}, {_first_error(error)}") from error


def _first_error(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place:.80}: {first['msg']}, got {type(first['input']).__name__}."


def run_of(file: ResultsFile, name: str) -> Run:
    """Return the run of a results file, without its tasks; `name` is its path in reports."""
    content = file.content
    settings = {
        "lm_eval_version": content.lm_eval_version,
        "fin_tasks_version": content.fin_tasks_version,
        "chat_template_sha": content.chat_template_sha,
        "model": content.config.get("model"),
        "model_args": content.config.get("model_args"),
    }
    known = {name: value for name, value in settings.items() if value is not None}
    kind = str(content.config.get("model") or "unknown")
    harness = kind[:40].removeprefix("fin-tasks ").replace("predict", "replay")
    # lm-eval makes up a name for `dummy`.
    model = kind if kind == "dummy" else content.model_name or kind
    return Run(
        id=file.id,
        model=_UNPRINTED.sub("�", without_secrets(model))[:_MAX_NAME],
        harness=harness if harness in _HARNESSES else "lm-eval",
        path=file.path,
        name=printable(name),
        date=_date(content.date, file.path),
        settings=without_secrets(known),
    )


def _date(value: float | str | None, path: Path) -> str:
    if isinstance(value, float) and 0 < value < 1e11:
        return datetime.fromtimestamp(value, UTC).isoformat(timespec="seconds")
    clock = _CLOCK.search(path.name)
    return f"{clock[1]}:{clock[2]}:{clock[3]}" if clock else ""


def task_results(file: ResultsFile) -> list[TaskResult | DataError]:
    """Return what a results file says of each task, or what is wrong with it."""
    content = file.content
    results: list[TaskResult | DataError] = []
    for task, values in {**content.groups, **content.results}.items():
        try:
            results.append(_task_result(file.id, task, values, content))
        except DataError as error:
            results.append(DataError(printable(f"{file.path}, results.{error}")))
    return results


def with_members(results: list[TaskResult]) -> list[TaskResult]:
    """Return the results, those of groups with the settings and questions of their tasks."""
    completed = []
    for result in results:
        members = [other for other in results if other.task in result.members]
        if members:
            n = sum(member.n for member in members)
            result = replace(result, settings=shared_settings(members), n=n)
        completed.append(result)
    return completed


def _task_result(run: str, name: str, values: Mapping[str, Any], content: Results) -> TaskResult:
    """Return what the results file says of a task; a group that averages nothing has no totals."""
    totals = _totals(name, values)
    members = tuple(map(printable, content.group_subtasks.get(name, ())))
    if not totals and not members:
        raise DataError(
            f"{name}: expected metrics such as 'acc,paper', got {list(values)[:5]!r:.80}."
        )
    counts = content.counts.get(name, _Counts())
    metadata = content.configs.get(name, {}).get("metadata")
    metadata = without_secrets(metadata) if isinstance(metadata, dict) else {}
    task = printable(name)[:_MAX_NAME]
    return TaskResult(
        run=run,
        benchmark=benchmark_of(task).name,
        task=task,
        n=counts.effective,
        n_all=counts.original,
        totals=totals,
        settings=_settings(name, metadata, content, counts),
        breakdowns=_breakdowns(name, metadata),
        metadata=metadata,
        members=members,
        provenance=_mapping(metadata, "provenance"),
        judge=_mapping(metadata, "judge"),
        usage=_mapping(metadata, "usage"),
    )


def _mapping(metadata: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = metadata.get(name)
    return value if isinstance(value, dict) else {}


def _totals(task: str, values: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    totals = defaultdict[str, dict[str, float | None]](dict)
    for key, value in values.items():
        metric, comma, variant = printable(key).partition(",")
        if not comma or metric.endswith("_stderr"):
            continue
        if value in _NO_VALUE or value != value:
            totals[variant][metric] = None
        elif _is_number(value):
            totals[variant][metric] = float(value)
        else:
            raise DataError(
                f"{task}.{key:.80}: expected a finite number or N/A, got {value!r:.80}."
            )
    return dict(totals)


def _is_number(value: Any) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return abs(value) <= sys.float_info.max


def _settings(
    task: str,
    metadata: Mapping[str, Any],
    content: Results,
    counts: _Counts,
) -> Settings:
    version = str(content.versions.get(task) or "").removesuffix(".0")
    chosen = content.config.get("samples")
    repeats = content.configs.get(task, {}).get("repeats")
    is_short = counts.effective < _FEW_ROWS * counts.original
    return settings_of(
        metadata,
        version=version or None,
        rows=counts.effective if is_short else None,
        samples=chosen.get(task) if isinstance(chosen, dict) else None,
        fewshot=content.shots.get(task) or None,
        system=content.system_instruction_sha,
        repeats=None if repeats == 1 else repeats,
    )


def _breakdowns(task: str, metadata: Mapping[str, Any]) -> Breakdowns:
    """Return the figures of parts that the task's metadata claims; or DataError."""
    try:
        claims = _BREAKDOWNS.validate_python(metadata.get("breakdowns", {}))
    except ValidationError as error:
        if benchmark_of(task) is OTHER:
            return {}
        message = f"{task}: metadata.breakdowns.{_first_error(error)}"
        raise DataError(message) from error
    breakdowns: dict[str, dict[str, PartValue]] = {}
    for variant, parts in claims.items():
        breakdowns[variant] = {}
        for name, part in parts.items():
            breakdowns[variant][name] = {"value": part.value, "n": part.n}
    return breakdowns
