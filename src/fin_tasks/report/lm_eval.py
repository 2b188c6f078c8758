"""Results files of lm-eval, which all our commands write too, and logs of inspect_ai: the only reader of runs."""

import hashlib
import json
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel, Field, ValidationError

from fin_tasks.errors import DataError
from fin_tasks.report import inspect_logs
from fin_tasks.report.comparable import conditions_of, settings_of, together
from fin_tasks.report.model import BENCHMARKS, Problem, Run, TaskResult, benchmark_of, texts_column
from fin_tasks.report.redact import without_secrets
from fin_tasks.report.rows import parse, printable, read_rows

_STAMP = r"\d{4}-\d\d-\d\dT[\d.+-]+"
_RESULTS = re.compile(rf"(?:results|.+(?=_))(?:_(?P<stamp>{_STAMP}))?\.json")
_SAMPLES = re.compile(rf"samples_(?P<task>.+?)(?:_(?P<stamp>{_STAMP}))?\.jsonl")
_MAX_RESULTS = 256 * 2**20
_MAX_NAME = 200
_MADE_UP = re.compile(r"[a-z0-9]{8}")  # how lm-eval names models that have no name
_HARNESSES = ("replay", "judge", "label", "VLMEvalKit", "inspect_ai")
_PARTS = ("provenance", "judge", "usage")  # of a task's metadata
_TEXT = "xfinbench_text"
_TEXT_TASKS = ("xfinbench_bool", "xfinbench_mcq", "xfinbench_calc")


class _Counts(BaseModel):
    original: int = 0
    effective: int = 0


class _Results(BaseModel):
    results: dict[str, Any]
    groups: dict[str, Any] = {}
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


def stamp(name: str) -> str | None:
    """Return the time that names of files of one run share; empty if they name none, None for other files."""
    match = _RESULTS.fullmatch(name) or _SAMPLES.fullmatch(name)
    return (match["stamp"] or "") if match else None


def read_runs(files: Sequence[tuple[Path, Path]], tables: list[pd.DataFrame], problems: list[Problem]) -> list[Run]:
    """Read runs from pairs of the folder that was given and a file; add to the tables of rows and the problems."""
    samples: dict[tuple[Path, str | None], dict[str, Path]] = defaultdict(dict)
    for _, file in files:
        if (match := _SAMPLES.fullmatch(file.name)) and benchmark_of(match["task"]):
            samples[file.parent, stamp(file.name)][match["task"]] = file
    found: dict[str, tuple[Path, Path, dict[str, Any], dict[str, Path]]] = {}
    for root, file in files:
        try:
            if file.suffix == ".eval":  # a run of inspect_ai has a log for each task
                shared, content = inspect_logs.results_of(file)
                identity = hashlib.sha256(shared.encode()).hexdigest()[:16]
                _, _, merged, own = found.setdefault(identity, (root, file, content, {}))
                own |= dict.fromkeys(content["configs"], file)
                for name in ("results", "configs", "versions", "n-samples"):
                    merged[name] |= content[name]
            elif _RESULTS.fullmatch(file.name):
                identity, content = _content(file)
                own = samples.pop((file.parent, stamp(file.name)), {}) if content else {}
                if identity in found:
                    raise DataError(f"{file}: skipped, as it is the same as {found[identity][1]}.")
                if content:
                    found[identity] = (root, file, content, own)
        except (DataError, OSError) as error:
            problems.append(Problem(str(file), str(error)))
    for own in samples.values():
        for file in own.values():
            problems.append(Problem(str(file), f"{file}: skipped, as no results file of its run can be read."))
    runs = []
    for identity, (root, file, content, own) in found.items():
        try:
            run = _run(identity, root, file, _Results.model_validate(content), own, tables, problems)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            told = f"{file}, {place:.80}: {first['msg']}, got {type(first['input']).__name__}."
            problems.append(Problem(str(file), told))
            continue
        if run.tasks:
            runs.append(run)
    return runs


def _content(file: Path) -> tuple[str, dict[str, Any]]:
    """Return a hash of a file and its results; none if it is not about our tasks."""
    if (size := file.stat().st_size) > _MAX_RESULTS:
        raise DataError(f"{file}: expected at most {_MAX_RESULTS:,} bytes, got {size:,}.")
    content = file.read_bytes()
    ours = b'"results"' in content and any(f'"{name}'.encode() in content for name in BENCHMARKS)
    return hashlib.sha256(content).hexdigest()[:16], parse(file, content) if ours else {}


def _run(
    identity: str,
    root: Path,
    file: Path,
    found: _Results,
    samples: Mapping[str, Path],
    tables: list[pd.DataFrame],
    problems: list[Problem],
) -> Run:
    tasks: list[TaskResult] = []
    for task, given in {**found.groups, **found.results}.items():
        if benchmark_of(task):
            try:
                result = _task(identity, task, given, found)
            except DataError as error:
                problems.append(Problem(str(file), f"{file}, results.{error}"))
                continue
            result = _with_rows(result, samples[task], tables, problems) if task in samples else result
            tasks += [result] if result.totals or result.samples else []
    for task in sorted(samples.keys() - found.results.keys()):
        problems.append(Problem(str(samples[task]), f"{samples[task]}: skipped, as {file.name} does not name {task}."))
    tasks += _whole_text(identity, tasks)
    for at, group in enumerate(tasks):
        if own := [one for one in tasks if one.task in group.members]:
            tasks[at] = replace(group, settings=together(own), n=sum(one.n for one in own))
    harness = f"{found.config.get('model')!s:.40}".removeprefix("fin-tasks ").replace("predict", "replay")
    told = {name: getattr(found, name) for name in ("lm_eval_version", "fin_tasks_version", "chat_template_sha")}
    told |= {name: found.config.get(name) for name in ("model", "model_args")}
    return Run(
        id=identity,
        model=_model(found),
        harness=harness if harness in _HARNESSES else "lm-eval",
        path=file,
        name=file.relative_to(root).as_posix(),
        date=_date(found.date, file),
        settings={n: json.dumps(without_secrets(one), sort_keys=True) for n, one in told.items() if one is not None},
        tasks=tuple(tasks),
    )


def _task(run: str, task: str, given: Any, found: _Results) -> TaskResult:
    """Return what the results file says of a task; it has no totals if it is a group that averages nothing."""
    totals = defaultdict[str, dict[str, float | None]](dict)
    if not isinstance(given, dict) or len(task) > _MAX_NAME:
        raise DataError(f"{task:.80}: expected an object with metrics, got {type(given).__name__}.")
    for key, value in given.items():
        metric, comma, variant = str(key).partition(",")
        if not comma or metric.endswith("_stderr"):
            continue
        if value in (None, "N/A", "", " ") or value != value:
            totals[variant][metric] = None
        elif isinstance(value, int | float) and abs(value) < math.inf and not isinstance(value, bool):
            totals[variant][metric] = float(value)
        else:
            raise DataError(f"{task}.{key:.80}: expected a finite number or N/A, got {value!r:.80}.")
    members = tuple(one for one in found.group_subtasks.get(task, ()) if benchmark_of(one))
    if not totals and not members:
        raise DataError(f"{task}: expected metrics such as 'acc,paper', got {list(given)[:5]!r:.80}.")
    config, counts = found.configs.get(task, {}), found.counts.get(task, _Counts())
    metadata, chosen, version = config.get("metadata"), found.config.get("samples"), str(found.versions.get(task) or "")
    metadata = without_secrets(metadata) if isinstance(metadata, dict) else {}
    settings = settings_of(
        metadata,
        version=version.removesuffix(".0") or None,
        rows=counts.effective if counts.effective < 0.98 * counts.original else None,
        samples=chosen.get(task) if isinstance(chosen, dict) else None,
        fewshot=found.shots.get(task) or None,
        system=found.system_instruction_sha,
        repeats=config.get("repeats") if config.get("repeats") != 1 else None,
    )
    parts: dict[str, Any] = {name: metadata[name] for name in _PARTS if isinstance(metadata.get(name), dict)}
    return TaskResult(
        run=run,
        benchmark=benchmark_of(task),
        task=task,
        n=counts.effective,
        n_all=counts.original,
        totals=dict(totals),
        settings=settings,
        metadata=metadata,
        members=members,
        **parts,
    )


def _with_rows(result: TaskResult, path: Path, tables: list[pd.DataFrame], problems: list[Problem]) -> TaskResult:
    try:
        rows, usage = read_rows(path, result.benchmark)
    except (DataError, RecursionError) as error:
        deep = f"{path}: expected JSON as lm-eval writes it, got values that are nested too deeply."
        problems.append(Problem(str(path), deep if isinstance(error, RecursionError) else str(error)))
        return result
    for name in ("run", "benchmark", "task"):
        rows[name] = texts_column([getattr(result, name)] * len(rows))
    tables.append(rows)
    sizes = rows["variant"].value_counts()
    n = result.n or int(sizes.max())
    if set(sizes) != {n}:
        problems.append(Problem(str(path), f"{path}: expected {n} rows under each variant, got {sizes.to_dict()}."))
    return replace(result, samples=path, n=n, n_all=result.n_all or n, usage=result.usage or usage)


def _whole_text(run: str, tasks: Sequence[TaskResult]) -> list[TaskResult]:
    """Return XFinBench's group of text tasks if they were asked one by one, with the same conditions."""
    own = [one for one in tasks if one.task in _TEXT_TASKS and one.samples]
    asked = {json.dumps({**conditions_of(one), "task": ""}) for one in own}
    if len(own) < len(_TEXT_TASKS) or len(asked) > 1 or any(one.task == _TEXT for one in tasks):
        return []
    return [TaskResult(run=run, benchmark="xfinbench", task=_TEXT, members=_TEXT_TASKS)]


def _model(found: _Results) -> str:
    """Return the model's name: lm-eval's, unless it made that up and an argument has a better one."""
    given, kind, arguments = found.model_name or "", found.config.get("model"), found.config.get("model_args")
    if isinstance(arguments, str):
        arguments = dict(pair.split("=", 1) for pair in arguments.split(",") if "=" in pair)
    arguments = arguments if isinstance(arguments, dict) else {}
    if not given or _MADE_UP.fullmatch(given):
        named = [arguments.get(name) for name in ("peft", "delta", "pretrained", "model", "path", "engine")]
        given = next((str(name) for name in named if name), "" if kind == "dummy" else given) or str(kind or "unknown")
    text = re.sub(r".*/site-packages/", "", printable(str(without_secrets(given))))
    return re.sub(r"[\x00-\x1f\x7f\u2028\u2029\u202a-\u202e\u2066-\u2069]", "�", text)[:_MAX_NAME]


def _date(value: float | str | None, file: Path) -> str:
    if isinstance(value, float) and 0 < value < 1e11:
        return datetime.fromtimestamp(value, timezone.utc).isoformat(timespec="seconds")
    day, _, clock = (stamp(file.name) or "").partition("T")
    return f"{day}T{clock[:8].replace('-', ':')}" if clock else ""
