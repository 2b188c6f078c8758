"""Results files of lm-eval, which all our commands write too: what they say of a run and its tasks."""

import hashlib
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, FiniteFloat

from fin_tasks.errors import escape
from fin_tasks.limited_file import RESULTS_MB, read_limited_json

from . import Json
from .conditions import settings_of
from .decoding import decoding_of
from .model import KNOWN_BENCHMARKS, Run, TaskResult, benchmark_of
from .redact import printable, without_secrets

_MAX_TASKS = 1000
_MAX_NAME = 200
_MIN_ROWS = 0.98  # of the questions; a run over fewer has another setting
_HARNESSES = (
    "replay",
    "recordings",
    "judge",
    "label",
    "VLMEvalKit",
    "inspect_ai",
    "verify",
)
_SETTINGS = {"lm_eval_version", "fin_tasks_version", "chat_template_sha"}
_CLOCK = re.compile(r"(\d{4}-\d\d-\d\dT\d\d)[-:](\d\d)[-:](\d\d)")

_Count = Annotated[int, Field(ge=0, le=10**12)]


class _Part(BaseModel):
    value: FiniteFloat
    n: _Count


class _Metadata(BaseModel):
    provenance: Json = {}
    judge: Json = {}
    usage: Json = {}
    breakdowns: dict[str, dict[str, _Part]] = {}
    benchmark: str = Field(default="", exclude=True)
    """Of a task of one's own, whose name does not begin with its benchmark's."""


class _Config(BaseModel):
    metadata: _Metadata | None = None
    repeats: Any = 1
    generation_kwargs: Any = None


class _Counts(BaseModel):
    effective: _Count = 0
    original: _Count = 0


def _by_scoring(values: Json) -> dict[str, Json]:
    """Return the values of metrics by scoring; None for all that is no number, such as `N/A`."""
    totals = defaultdict[str, Json](dict)
    for name, value in values.items():
        metric, comma, scoring = printable(name).partition(",")
        if comma and not metric.endswith("_stderr"):
            is_known = isinstance(value, int | float) and value == value
            totals[scoring][metric] = value if is_known else None
    return totals


_Totals = Annotated[
    dict[str, dict[str, FiniteFloat | None]], BeforeValidator(_by_scoring)
]


class _Results(BaseModel):
    """What we read of a results file."""

    results: dict[str, _Totals] = Field(max_length=_MAX_TASKS)
    groups: dict[str, _Totals] = {}
    group_subtasks: dict[str, list[str]] = {}
    configs: dict[str, _Config] = {}
    versions: dict[str, str | float | None] = {}
    counts: dict[str, _Counts] = Field({}, alias="n-samples")
    shots: dict[str, int | str | None] = Field({}, alias="n-shot")
    config: Json = {}
    model_name: str | None = None
    lm_eval_version: str | None = None
    fin_tasks_version: str | None = None
    system_instruction_sha: str | None = None
    chat_template_sha: str | None = None


def read_results(path: Path, name: str) -> Run:
    """Read a results file; `name` is its path in reports."""
    text = read_limited_json(path, RESULTS_MB)
    identity = hashlib.sha256(text).hexdigest()[:16]
    return run_of(identity, path, name, json.loads(text))


def run_of(identity: str, path: Path, name: str, parsed: Any) -> Run:
    """Read the content of a results file, or of a log that was turned into one."""
    content = _Results.model_validate(parsed)
    settings = {name: content.config.get(name) for name in ("model", "model_args")}
    settings |= content.model_dump(include=_SETTINGS)
    model_type = str(settings["model"] or "unknown")
    # The example responses of `fin-tasks demo` are saved responses.
    harness = model_type.removeprefix("fin-tasks ").replace("demo", "replay")
    # lm-eval makes up a name for `dummy`.
    model = model_type if model_type == "dummy" else content.model_name or model_type
    clock = _CLOCK.search(path.name)
    tasks = []
    for task, values in {**content.groups, **content.results}.items():
        tasks.append(_task_result(identity, path, task, values, content))
    return Run(
        id=identity,
        model=escape(without_secrets(model))[:_MAX_NAME],
        harness=harness if harness in _HARNESSES else "lm-eval",
        path=path,
        name=printable(name),
        date=":".join(clock.groups()) if clock else "",
        settings=without_secrets(
            {key: value for key, value in settings.items() if value}
        ),
        tasks=tuple(tasks),
    )


def _task_result(
    run: str,
    path: Path,
    name: str,
    values: _Totals,
    content: _Results,
) -> TaskResult:
    """Return what a results file, or a log, says of one task."""
    counts = content.counts.get(name, _Counts())
    config = content.configs.get(name, _Config())
    named = config.metadata or _Metadata()
    metadata = without_secrets(named.model_dump())
    task = printable(name)[:_MAX_NAME]
    benchmark = KNOWN_BENCHMARKS.get(named.benchmark) or benchmark_of(task)
    drawn_rows = content.config.get("samples")
    options = config.generation_kwargs
    version = str(content.versions.get(name) or "").removesuffix(".0")
    is_short = counts.effective < _MIN_ROWS * counts.original
    settings = settings_of(
        metadata,
        version=version or None,
        rows=counts.effective if is_short else None,
        samples=drawn_rows.get(name) if isinstance(drawn_rows, dict) else None,
        fewshot=content.shots.get(name) or None,
        system=content.system_instruction_sha,
        repeats=None if config.repeats == 1 else config.repeats,
    )
    samples = path  # a log holds its samples itself
    if path.suffix == ".json":
        stem = path.stem.replace("results", f"samples_{task}", 1)
        samples = path.parent / f"{stem}.jsonl"
    return TaskResult(
        run=run,
        benchmark=benchmark.name,
        task=task,
        n=counts.effective,
        n_all=counts.original,
        totals=values,
        settings=settings,
        decoding=decoding_of(
            options if isinstance(options, dict) else {},
            content.config.get("model_args"),
        ),
        samples=samples,
        members=tuple(map(printable, content.group_subtasks.get(name, ()))),
        **metadata,
    )
