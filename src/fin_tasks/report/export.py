"""Results for other people's collections: records of Every Eval Ever, and a model card's `.eval_results`."""

import hashlib
import json
import math
import re
import time
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from fin_tasks.data.pins import find_pins
from fin_tasks.errors import ConfigError
from fin_tasks.report.conditions import CONDITIONS, setting_text
from fin_tasks.report.leaderboard_model import BoardRun, BoardTask, Entry, Leaderboard
from fin_tasks.report.model import known_benchmarks, largest, metric_of

_SCHEMA = "0.3.0"  # of every_eval_ever
_UNKNOWN = {"deployment_type": "unknown", "model_availability": "unknown"}


@dataclass(frozen=True)
class _Measured:
    """A measured value with its task and run."""

    entry: Entry
    task: BoardTask
    run: BoardRun


ByFile = Mapping[tuple[str, str], Sequence[_Measured]]
"""Measured values by results file and benchmark."""


def export(
    kind: Literal["every-eval-ever", "model-card"],
    board: Leaderboard,
    out: Path,
) -> list[str]:
    """Write the measured values of a leaderboard below a folder, and return what is left out."""
    values = _measured(board)
    if kind == "model-card":
        models = sorted({run.model for run in board.runs if run.source != "published"})
        if len(models) > 1:
            raise ConfigError(
                "--export model-card: expected runs of one model, "
                f"got {len(models)}: {', '.join(models)}."
            )
        return _write_card(values, out)
    for (_, benchmark), values_of_file in values.items():
        _write_record(benchmark, values_of_file, out)
    return []


def _measured(board: Leaderboard) -> ByFile:
    """Return the measured values that have a direction, by the date of their runs."""
    tasks = {task.id: task for task in board.tasks}
    runs = {run.id: run for run in board.runs}
    by_file: dict[tuple[str, str], list[_Measured]] = defaultdict(list)
    for entry in sorted(board.entries, key=lambda entry: runs[entry.run].date):
        task = tasks[entry.task]
        run = runs[entry.run]
        has_direction = metric_of(entry.metric).higher_is_better is not None
        if run.source != "published" and entry.value is not None and has_direction:
            by_file[run.path, task.benchmark].append(_Measured(entry, task, run))
    return by_file


def _write_record(benchmark: str, values: Sequence[_Measured], out: Path) -> None:
    now = str(int(time.time()))
    run = values[0].run
    name = run.model if "/" in run.model else f"unknown/{run.model}"
    version = "unknown"
    if run.source == "lm-eval":
        version = setting_text(run.provenance.get("lm_eval_version", "unknown"))
    record = {
        "schema_version": _SCHEMA,
        "evaluation_id": f"{benchmark}/{name}/{now}",
        "evaluation_timestamp": run.date or None,
        "retrieved_timestamp": now,
        "source_metadata": {
            "source_name": "fin-tasks",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": run.source.replace("lm-eval", "lm_eval"), "version": version},
        "model_info": {"name": run.model, "id": name, "additional_details": _UNKNOWN},
        "evaluation_results": [_result(value) for value in values],
    }
    digest = hashlib.sha256(f"{run.id} {benchmark}".encode()).digest()
    folder = out.joinpath("data", benchmark, *(_file_name(part) for part in name.split("/", 1)))
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{uuid.UUID(bytes=digest[:16], version=4)}.json"
    file.write_text(json.dumps(record, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.-]+", "_", text).strip(". ") or "unknown"


def _result(value: _Measured) -> dict[str, Any]:
    entry = value.entry
    task = value.task
    settings = {name: setting_text(fact) for name, fact in value.run.provenance.items()}
    data = {name: text for name, text in settings.items() if name.startswith("data.")}
    return {
        "evaluation_result_id": f"{value.run.task}/{task.variant}/{entry.metric}",
        "evaluation_name": value.run.task,
        "source_data": {
            **_source(task.benchmark),
            "dataset_name": known_benchmarks()[task.benchmark].title,
            "additional_details": data,
        },
        "metric_config": _metric_config(entry.metric, settings),
        "score_details": {
            "score": entry.value,
            "details": _details(entry, task),
            "uncertainty": _uncertainty(entry),
        },
    }


def _source(benchmark: str) -> dict[str, Any]:
    pins = find_pins(benchmark)
    if pins is None:
        return {"source_type": "other"}
    if pins.host == "hub":
        return {"source_type": "hf_dataset", "hf_repo": pins.repo}
    return {"source_type": "url", "url": [pins.homepage]}


def _metric_config(metric: str, settings: Mapping[str, str]) -> dict[str, Any]:
    maximum = largest(metric)
    config: dict[str, Any] = {
        "metric_id": metric,
        "lower_is_better": not metric_of(metric).higher_is_better,
        "score_type": "continuous",
        "min_score": 0,
        "max_score": "Infinity" if math.isinf(maximum) else maximum,
    }
    judge = settings.get("judge.model")
    if judge:
        model = {"name": judge, "id": judge, "additional_details": _UNKNOWN}
        rubric = settings.get("judge.rubric")
        sha256 = settings.get("judge.rubric_sha256")
        config["llm_scoring"] = {
            "judges": [{"model_info": model}],
            "input_prompt": f"rubric {rubric}, sha256 {sha256}",
        }
    return config


def _uncertainty(entry: Entry) -> dict[str, Any]:
    uncertainty: dict[str, Any] = {"num_samples": entry.n}
    if entry.low is not None:
        uncertainty["confidence_interval"] = {
            "lower": entry.low,
            "upper": entry.high,
            "confidence_level": 0.95,
            "method": entry.method,
        }
    return uncertainty


def _details(entry: Entry, task: BoardTask) -> dict[str, str]:
    details = _conditions(task)
    details |= {"variant": task.variant, "unscored": str(entry.unscored)}
    if entry.cut_off:
        details["cut_off"] = str(entry.cut_off.share)
        details["value_if_finished_right"] = str(entry.cut_off.upper)
    return details


def _conditions(task: BoardTask) -> dict[str, str]:
    named = {name: getattr(task, name) for name in CONDITIONS[1:]}
    return {name: value for name, value in named.items() if value}


def _write_card(values: ByFile, out: Path) -> list[str]:
    """Write the headlines of `robust`, the newest of each; the format knows data sets of the hub only."""
    left_out: set[str] = set()
    results: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for (_, benchmark), values_of_file in values.items():
        pins = find_pins(benchmark)
        if pins is None or pins.host != "hub":
            title = known_benchmarks()[benchmark].title
            left_out.add(f"{title} is left out of the model card, as it is no data set of the hub.")
            continue
        for value in values_of_file:
            if value.entry.metric == value.task.headline and value.task.variant == "robust":
                results[benchmark][value.task.id] = _card_result(value, pins.repo)
    folder = out / ".eval_results"
    folder.mkdir(parents=True, exist_ok=True)
    for benchmark, by_task in results.items():
        text = yaml.safe_dump(list(by_task.values()), sort_keys=False)
        (folder / f"{benchmark}.yaml").write_text(text, encoding="utf-8")
    return sorted(left_out)


def _card_result(value: _Measured, repository: str) -> dict[str, Any]:
    conditions = [f"{name} {text}" for name, text in _conditions(value.task).items()]
    result = {
        "dataset": {"id": repository, "task_id": value.run.task},
        "value": value.entry.value,
        "notes": ", ".join(["fin-tasks, robust", *conditions, *value.entry.notes]),
    }
    if value.run.date:
        result["date"] = value.run.date
    return result
