"""Results files of lm-eval, which all our commands write too: what they say of a run and its tasks."""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, Field, FiniteFloat, TypeAdapter, ValidationError

from fin_tasks.errors import DataError, first_problem
from fin_tasks.report.conditions import settings_of
from fin_tasks.report.model import Run, TaskResult, benchmark_of
from fin_tasks.report.redact import printable, without_secrets

_MAX_BYTES = 256 * 2**20
_MAX_NAME = 200
_FEW_ROWS = 0.98  # of the questions; a run over fewer has another setting
_HARNESSES = ("replay", "judge", "label", "VLMEvalKit", "inspect_ai")
_SETTINGS = {"lm_eval_version", "fin_tasks_version", "chat_template_sha"}
_NO_VALUE = (None, "N/A", "", " ")
_UNPRINTED = re.compile(r"[\x00-\x1f\x7f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_CLOCK = re.compile(r"(\d{4}-\d\d-\d\dT\d\d)[-:](\d\d)[-:](\d\d)")
_NUMBER = TypeAdapter(FiniteFloat)

_Count = Annotated[int, Field(ge=0, le=10**12)]


class _Part(BaseModel):
    value: FiniteFloat
    n: _Count


class _Metadata(BaseModel):
    provenance: dict[str, Any] = {}
    judge: dict[str, Any] = {}
    usage: dict[str, Any] = {}
    breakdowns: dict[str, dict[str, _Part]] = {}


class _Config(BaseModel):
    metadata: dict[str, Any] | None = None
    repeats: Any = 1


class _Counts(BaseModel):
    effective: _Count = 0
    original: _Count = 0


class _Results(BaseModel):
    """What we read of a results file."""

    results: dict[str, dict[str, Any]]
    groups: dict[str, dict[str, Any]] = {}
    group_subtasks: dict[str, list[str]] = {}
    configs: dict[str, _Config] = {}
    versions: dict[str, str | float | None] = {}
    counts: dict[str, _Counts] = Field({}, alias="n-samples")
    shots: dict[str, int | str | None] = Field({}, alias="n-shot")
    config: dict[str, Any] = {}
    model_name: str | None = None
    lm_eval_version: str | None = None
    fin_tasks_version: str | None = None
    system_instruction_sha: str | None = None
    chat_template_sha: str | None = None


class ReadRun(NamedTuple):
    """A run, and what is wrong with tasks that it lacks."""

    run: Run
    problems: list[str]


def read_results(path: Path, name: str) -> ReadRun:
    """Read a results file; `name` is its path in reports."""
    size = path.stat().st_size
    if size > _MAX_BYTES:
        raise DataError(f"{path}: expected at most {_MAX_BYTES:,} bytes, got {size:,}.")
    text = path.read_bytes()
    identity = hashlib.sha256(text).hexdigest()[:16]
    return run_of(identity, path, name, json.loads(text))


def run_of(identity: str, path: Path, name: str, parsed: Any) -> ReadRun:
    """Read the content of a results file, or of a log that was turned into one."""
    content = _Results.model_validate(parsed)
    settings = {name: content.config.get(name) for name in ("model", "model_args")}
    settings |= content.model_dump(include=_SETTINGS)
    kind = str(settings["model"] or "unknown")
    harness = kind.removeprefix("fin-tasks ").replace("predict", "replay")
    # lm-eval makes up a name for `dummy`.
    model = kind if kind == "dummy" else content.model_name or kind
    clock = _CLOCK.search(path.name)
    run = Run(
        id=identity,
        model=_UNPRINTED.sub("�", without_secrets(model))[:_MAX_NAME],
        harness=harness if harness in _HARNESSES else "lm-eval",
        path=path,
        name=printable(name),
        date=":".join(clock.groups()) if clock else "",
        settings=without_secrets(
            {key: value for key, value in settings.items() if value}
        ),
    )
    tasks = []
    problems = []
    for task, values in {**content.groups, **content.results}.items():
        try:
            tasks.append(_task_result(run, task, values, content))
        except ValidationError as error:
            problems.append(f"{path}, results.{task}: {first_problem(error)}.")
    return ReadRun(replace(run, tasks=tuple(tasks)), problems)


def _task_result(
    run: Run, name: str, values: Mapping[str, Any], content: _Results
) -> TaskResult:
    counts = content.counts.get(name, _Counts())
    config = content.configs.get(name, _Config())
    metadata = without_secrets(config.metadata or {})
    task = printable(name)[:_MAX_NAME]
    chosen = content.config.get("samples")
    version = str(content.versions.get(name) or "").removesuffix(".0")
    is_short = counts.effective < _FEW_ROWS * counts.original
    settings = settings_of(
        metadata,
        version=version or None,
        rows=counts.effective if is_short else None,
        samples=chosen.get(name) if isinstance(chosen, dict) else None,
        fewshot=content.shots.get(name) or None,
        system=content.system_instruction_sha,
        repeats=None if config.repeats == 1 else config.repeats,
    )
    samples = run.path
    if samples.suffix == ".json":
        stem = samples.stem.replace("results", f"samples_{task}", 1)
        samples = samples.parent / f"{stem}.jsonl"
    return TaskResult(
        run=run.id,
        benchmark=benchmark_of(task).name,
        task=task,
        n=counts.effective,
        n_all=counts.original,
        totals=_totals(values),
        settings=settings,
        metadata=metadata,
        samples=samples,
        members=tuple(map(printable, content.group_subtasks.get(name, ()))),
        **_Metadata.model_validate(metadata).model_dump(),
    )


def _totals(values: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    totals = defaultdict[str, dict[str, float | None]](dict)
    for key, value in values.items():
        metric, comma, variant = printable(key).partition(",")
        if comma and not metric.endswith("_stderr"):
            is_known = value not in _NO_VALUE and value == value
            number = _NUMBER.validate_python(value) if is_known else None
            totals[variant][metric] = number
    return dict(totals)
