"""Results files of lm-eval, which all our commands write too, and logs of inspect_ai: the only reader of runs."""

import hashlib
import json
import math
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from fin_tasks.benchmarks import all_benchmarks
from fin_tasks.benchmarks.breakdowns import Breakdowns, PartValue
from fin_tasks.errors import DataError
from fin_tasks.report import inspect_logs
from fin_tasks.report.comparable import settings_of, together
from fin_tasks.report.model import Problem, Run, TaskResult, benchmark_of, texts_column
from fin_tasks.report.redact import without_secrets
from fin_tasks.report.rows import SampleRows, for_each, parse, printable, read_rows

_FILE = re.compile(r"(?:samples_(?P<task>.+)|.+)_(?P<stamp>\d{4}-\d\d-\d\dT[\d.+-]+)\.jsonl?")
_MAX_RESULTS = 256 * 2**20
_MAX_NAME = 200
_HARNESSES = ("replay", "judge", "label", "VLMEvalKit", "inspect_ai")
_PARTS = ("provenance", "judge", "usage")  # of a task's metadata


class _Part(BaseModel):
    value: float = Field(allow_inf_nan=False)
    n: int = Field(ge=0)


_BREAKDOWNS = TypeAdapter(dict[str, dict[str, _Part]])


class _Results(BaseModel):
    results: dict[str, dict[str, Any]]
    groups: dict[str, dict[str, Any]] = {}
    group_subtasks: dict[str, list[str]] = {}
    configs: dict[str, dict[str, Any]] = {}
    versions: dict[str, str | float | None] = {}
    counts: dict[str, dict[str, int]] = Field({}, alias="n-samples")
    shots: dict[str, int | str | None] = Field({}, alias="n-shot")
    config: dict[str, Any] = {}
    date: float | str | None = None
    model_name: str | None = None
    lm_eval_version: str | None = None
    fin_tasks_version: str | None = None
    system_instruction_sha: str | None = None
    chat_template_sha: str | None = None


class _Found(NamedTuple):
    """A results file with what stands in it, and the files with rows by task."""

    file: Path
    content: dict[str, Any]
    samples: dict[str, Path]


def stamp(name: str) -> str | None:
    """Return what names of files of one run share: the time, or the name of a log; None for other files."""
    match = _FILE.fullmatch(name)
    return match["stamp"] if match else name if name.endswith(".eval") else None


def read_runs(
    files: Mapping[Path, str], problems: list[Problem]
) -> tuple[list[Run], list[pd.DataFrame]]:
    """Read runs and their tables of rows from files, given with their names in reports; add to the problems."""
    samples: dict[tuple[Path, str | None], dict[str, Path]] = defaultdict(dict)
    for file in files:
        if (match := _FILE.fullmatch(file.name)) and match["task"] and file.suffix == ".jsonl":
            samples[file.parent, match["stamp"]] |= (
                {match["task"]: file} if benchmark_of(match["task"]) else {}
            )
    found: dict[str, _Found] = {}
    for file in files:
        try:
            if file.suffix == ".eval":  # a run of inspect_ai has a log for each task
                shared, content = inspect_logs.results_of(file)
                log = found.setdefault(
                    hashlib.sha256(shared.encode()).hexdigest()[:16], _Found(file, content, {})
                )
                log.samples.update(dict.fromkeys(content["configs"], file))
                for name in ("results", "configs", "versions", "n-samples"):
                    log.content[name] |= content[name]
            elif file.suffix == ".json":
                identity, content = _content(file)
                own = samples.pop((file.parent, stamp(file.name)), {}) if content else {}
                if identity in found:
                    raise DataError(
                        f"{file}: skipped, as it is the same as {found[identity].file}."
                    )
                if content:
                    found[identity] = _Found(file, content, own)
        except (DataError, OSError) as error:
            problems.append(Problem(str(file), str(error)))
    for file in (file for own in samples.values() for file in own.values()):
        problems.append(
            Problem(str(file), f"{file}: skipped, as no results file of its run can be read.")
        )
    paths = {
        path: benchmark_of(task) for one in found.values() for task, path in one.samples.items()
    }
    rows = dict(
        zip(paths, for_each(read_rows, list(paths.items()), "Reading samples"), strict=True)
    )
    runs: list[Run] = []
    tables: list[pd.DataFrame] = []
    for identity, one in found.items():
        try:
            content = _Results.model_validate(one.content)
        except ValidationError as error:
            first = error.errors()[0]
            place, kind = ".".join(map(str, first["loc"])), type(first["input"]).__name__
            problems.append(
                Problem(str(one.file), f"{one.file}, {place:.80}: {first['msg']}, got {kind}.")
            )
            continue
        tasks = _tasks(identity, one, content, rows, tables, problems)
        told = {
            name: getattr(content, name)
            for name in ("lm_eval_version", "fin_tasks_version", "chat_template_sha")
        }
        told |= {name: content.config.get(name) for name in ("model", "model_args")}
        harness = f"{told['model']!s:.40}".removeprefix("fin-tasks ").replace("predict", "replay")
        run = Run(
            id=identity,
            model=_model(content),
            harness=harness if harness in _HARNESSES else "lm-eval",
            path=one.file,
            name=files[one.file],
            date=_date(content.date, one.file),
            settings={
                n: json.dumps(without_secrets(of), sort_keys=True)
                for n, of in told.items()
                if of is not None
            },
            tasks=tuple(tasks),
        )
        runs += [run] if tasks else []
    return runs, tables


def _content(file: Path) -> tuple[str, dict[str, Any]]:
    """Return a hash of a file and its results; none if it is not about our tasks."""
    if (size := file.stat().st_size) > _MAX_RESULTS:
        raise DataError(f"{file}: expected at most {_MAX_RESULTS:,} bytes, got {size:,}.")
    content = file.read_bytes()
    ours = b'"results"' in content and any(
        f'"{name}'.encode() in content for name in all_benchmarks()
    )
    return hashlib.sha256(content).hexdigest()[:16], parse(file, content) if ours else {}


def _tasks(
    run: str,
    own: _Found,
    content: _Results,
    rows: Mapping[Path, SampleRows | str],
    tables: list[pd.DataFrame],
    problems: list[Problem],
) -> list[TaskResult]:
    tasks: list[TaskResult] = []
    for task, given in {**content.groups, **content.results}.items():
        if benchmark_of(task):
            try:
                result = _task(run, task, given, content)
            except DataError as error:
                problems.append(Problem(str(own.file), f"{own.file}, results.{error}"))
                continue
            if path := own.samples.get(task):
                result = _with_rows(result, path, rows[path], tables, problems)
            tasks += [result] if result.totals or result.samples else []
    for task in sorted(own.samples.keys() - content.results.keys()):
        file = own.samples[task]
        problems.append(
            Problem(str(file), f"{file}: skipped, as {own.file.name} does not name {task}.")
        )
    for at, group in enumerate(tasks):
        if members := [one for one in tasks if one.task in group.members]:
            tasks[at] = replace(group, settings=together(members), n=sum(one.n for one in members))
    return tasks


def _task(run: str, task: str, given: dict[str, Any], found: _Results) -> TaskResult:
    """Return what the results file says of a task; it has no totals if it is a group that averages nothing."""
    totals = defaultdict[str, dict[str, float | None]](dict)
    for key, value in given.items():
        metric, comma, variant = key.partition(",")
        if not comma or metric.endswith("_stderr"):
            continue
        if value in (None, "N/A", "", " ") or value != value:
            totals[variant][metric] = None
        elif (
            isinstance(value, int | float) and abs(value) < math.inf and not isinstance(value, bool)
        ):
            totals[variant][metric] = float(value)
        else:
            raise DataError(
                f"{task}.{key:.80}: expected a finite number or N/A, got {value!r:.80}."
            )
    members = tuple(one for one in found.group_subtasks.get(task, ()) if benchmark_of(one))
    if not totals and not members:
        raise DataError(
            f"{task}: expected metrics such as 'acc,paper', got {list(given)[:5]!r:.80}."
        )
    config, counts = found.configs.get(task, {}), found.counts.get(task, {})
    n, n_all = counts.get("effective", 0), counts.get("original", 0)
    metadata, chosen, version = (
        config.get("metadata"),
        found.config.get("samples"),
        str(found.versions.get(task) or ""),
    )
    metadata = without_secrets(metadata) if isinstance(metadata, dict) else {}
    settings = settings_of(
        metadata,
        version=version.removesuffix(".0") or None,
        rows=n if n < 0.98 * n_all else None,
        samples=chosen.get(task) if isinstance(chosen, dict) else None,
        fewshot=found.shots.get(task) or None,
        system=found.system_instruction_sha,
        repeats=config.get("repeats") if config.get("repeats") != 1 else None,
    )
    parts: dict[str, Any] = {
        name: metadata[name] for name in _PARTS if isinstance(metadata.get(name), dict)
    }
    return TaskResult(
        run=run,
        benchmark=benchmark_of(task),
        task=task,
        n=n,
        n_all=n_all,
        totals=dict(totals),
        settings=settings,
        breakdowns=_breakdowns(task, metadata),
        metadata=metadata,
        members=members,
        **parts,
    )


def _breakdowns(task: str, metadata: Mapping[str, Any]) -> Breakdowns:
    """Return the figures of parts that the task's metadata claims; or DataError."""
    try:
        claims = _BREAKDOWNS.validate_python(metadata.get("breakdowns", {}))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise DataError(
            f"{task}: metadata.breakdowns.{place:.80}: {first['msg']}, got {first['input']!r:.80}."
        ) from error
    breakdowns: dict[str, dict[str, PartValue]] = {}
    for variant, parts in claims.items():
        breakdowns[variant] = {
            name: {"value": part.value, "n": part.n} for name, part in parts.items()
        }
    return breakdowns


def _with_rows(
    result: TaskResult,
    path: Path,
    rows: SampleRows | str,
    tables: list[pd.DataFrame],
    problems: list[Problem],
) -> TaskResult:
    if isinstance(rows, str):
        problems.append(Problem(str(path), rows))
        return result
    table = rows.table
    for name in ("run", "benchmark", "task"):
        table[name] = texts_column([getattr(result, name)] * len(table))
    tables.append(table)
    sizes = table["variant"].value_counts()
    n = result.n or int(sizes.max())
    if set(sizes) != {n}:
        problems.append(
            Problem(
                str(path), f"{path}: expected {n} rows under each variant, got {sizes.to_dict()}."
            )
        )
    return replace(
        result,
        samples=path,
        n=n,
        n_all=result.n_all or n,
        breakdowns=_with_aggregates(result.breakdowns, rows.aggregates),
    )


def _with_aggregates(claimed: Breakdowns, aggregates: Breakdowns) -> Breakdowns:
    """Return the claimed figures, and those of the samples that are not means over rows."""
    variants = dict.fromkeys([*claimed, *aggregates])
    return {name: {**aggregates.get(name, {}), **claimed.get(name, {})} for name in variants}


def _model(content: _Results) -> str:
    """Return the model's name; lm-eval makes up one for `dummy`."""
    kind = str(content.config.get("model") or "unknown")
    name = printable(str(without_secrets(kind if kind == "dummy" else content.model_name or kind)))
    return re.sub(r"[\x00-\x1f\x7f\u2028\u2029\u202a-\u202e\u2066-\u2069]", "�", name)[:_MAX_NAME]


def _date(value: float | str | None, file: Path) -> str:
    if isinstance(value, float) and 0 < value < 1e11:
        return datetime.fromtimestamp(value, timezone.utc).isoformat(timespec="seconds")
    day, _, clock = (stamp(file.name) or "").partition("T")
    return f"{day}T{clock[:8].replace('-', ':')}" if clock else ""
