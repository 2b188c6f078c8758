"""Results for other people's collections: records of Every Eval Ever, and a model card's `.eval_results`."""

import hashlib
import json
import math
import re
import time
import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import yaml

from fin_tasks.data.pins import find_pins
from fin_tasks.errors import ConfigError
from fin_tasks.report.conditions import CONDITIONS, setting_text
from fin_tasks.report.leaderboard_model import BoardRun, BoardTask, Entry, Leaderboard
from fin_tasks.report.model import known_benchmarks, largest, metric_of

_UNKNOWN = {"deployment_type": "unknown", "model_availability": "unknown"}
_RECORD = {
    "schema_version": "0.3.0",
    "source_metadata": {
        "source_name": "fin-tasks",
        "source_type": "evaluation_run",
        "source_organization_name": "unknown",
        "evaluator_relationship": "other",
    },
}
"""What all records of Every Eval Ever share."""


class _Measured(NamedTuple):
    """A measured value with its task and run."""

    entry: Entry
    task: BoardTask
    run: BoardRun


def export(
    kind: Literal["every-eval-ever", "model-card"],
    board: Leaderboard,
    out: Path,
) -> list[str]:
    """Write the measured values of a leaderboard below a folder, and return what is left out."""
    values = _measured(board)
    if kind == "model-card":
        return _write_card(values, out)
    records: dict[tuple[str, str], list[_Measured]] = defaultdict(list)
    for value in values:
        records[value.run.path, value.task.benchmark].append(value)
    for record in records.values():
        _write_record(record, out)
    return []


def _measured(board: Leaderboard) -> list[_Measured]:
    """Return the measured values that have a direction, by the date of their runs."""
    tasks = {task.id: task for task in board.tasks}
    runs = {run.id: run for run in board.runs if run.source != "published"}
    values = []
    for entry in board.entries:
        has_direction = metric_of(entry.metric).higher_is_better is not None
        if entry.run in runs and entry.value is not None and has_direction:
            values.append(
                _Measured(
                    entry,
                    tasks[entry.task],
                    runs[entry.run],
                )
            )
    return sorted(values, key=lambda value: value.run.date)


def _write_record(values: Sequence[_Measured], out: Path) -> None:
    now = str(int(time.time()))
    benchmark = values[0].task.benchmark
    run = values[0].run
    name = run.model if "/" in run.model else f"unknown/{run.model}"
    version = setting_text(run.provenance.get("lm_eval_version", "unknown"))
    record = {
        **_RECORD,
        "evaluation_id": f"{benchmark}/{name}/{now}",
        "evaluation_timestamp": run.date or None,
        "retrieved_timestamp": now,
        "eval_library": {
            "name": run.source.replace("lm-eval", "lm_eval"),
            "version": version,
        },
        "model_info": {
            "name": run.model,
            "id": name,
            "additional_details": _UNKNOWN,
        },
        "evaluation_results": [_result(value) for value in values],
    }
    digest = hashlib.sha256(f"{run.id} {benchmark}".encode()).digest()
    parts = [
        re.sub(
            r"[^\w.-]+",
            "_",
            part,
        ).strip(".")
        or "unknown"
        for part in name.split("/", 1)
    ]
    folder = out.joinpath("data", benchmark, *parts)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{uuid.UUID(bytes=digest[:16], version=4)}.json"
    file.write_text(
        json.dumps(
            record,
            indent=2,
            allow_nan=False,
        )
        + "\n",
        encoding="utf-8",
    )


def _result(value: _Measured) -> dict[str, Any]:
    entry = value.entry
    benchmark = value.task.benchmark
    details = {
        "variant": value.task.variant,
        "unscored": str(entry.unscored),
    }
    for name in CONDITIONS[1:]:
        details[name] = getattr(value.task, name)
    uncertainty: dict[str, Any] = {"num_samples": entry.n}
    if entry.low is not None:
        uncertainty["confidence_interval"] = {
            "lower": entry.low,
            "upper": entry.high,
            "confidence_level": 0.95,
            "method": entry.method,
        }
    source: dict[str, Any] = {"source_type": "other"}
    pins = find_pins(benchmark)
    if pins is not None:
        source = {
            "source_type": "url",
            "url": [pins.homepage],
        }
        if pins.host == "hub":
            source = {"source_type": "hf_dataset", "hf_repo": pins.repo}
    return {
        "evaluation_result_id": f"{value.run.task}/{value.task.variant}/{entry.metric}",
        "evaluation_name": value.run.task,
        "source_data": {
            **source,
            "dataset_name": known_benchmarks()[benchmark].title,
        },
        "metric_config": _metric_config(entry.metric, value.run),
        "score_details": {
            "score": entry.value,
            "details": details,
            "uncertainty": uncertainty,
        },
    }


def _metric_config(metric: str, run: BoardRun) -> dict[str, Any]:
    maximum = largest(metric)
    config: dict[str, Any] = {
        "metric_id": metric,
        "lower_is_better": not metric_of(metric).higher_is_better,
        "score_type": "continuous",
        "min_score": 0,
        "max_score": "Infinity" if math.isinf(maximum) else maximum,
    }
    judge = run.provenance.get("judge.model")
    if judge:
        name = setting_text(judge)
        model = {
            "name": name,
            "id": name,
            "additional_details": _UNKNOWN,
        }
        rubric = run.provenance.get("judge.rubric")
        sha256 = run.provenance.get("judge.rubric_sha256")
        prompt = f"rubric {rubric}, sha256 {sha256}"
        config["llm_scoring"] = {
            "judges": [{"model_info": model}],
            "input_prompt": prompt,
        }
    return config


def _write_card(values: Iterable[_Measured], out: Path) -> list[str]:
    """Write the headlines of `robust`, the newest of each; the format knows data sets of the hub only."""
    models = sorted({value.run.model for value in values})
    if len(models) > 1:
        raise ConfigError(
            f"--export model-card: expected runs of one model, got {', '.join(models)}."
        )
    left_out = set()
    results: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for entry, task, run in values:
        pins = find_pins(task.benchmark)
        if pins is None or pins.host != "hub":
            left_out.add(known_benchmarks()[task.benchmark].title)
        elif entry.metric == task.headline and task.variant == "robust":
            results[task.benchmark][task.id] = {
                "dataset": {
                    "id": pins.repo,
                    "task_id": run.task,
                },
                "value": entry.value,
                "notes": ", ".join(["fin-tasks", task.id, *entry.notes]),
                **({"date": run.date} if run.date else {}),
            }
    folder = out / ".eval_results"
    folder.mkdir(parents=True, exist_ok=True)
    for benchmark, by_task in results.items():
        text = yaml.safe_dump(list(by_task.values()), sort_keys=False)
        (folder / f"{benchmark}.yaml").write_text(text, encoding="utf-8")
    reason = "is left out of the model card, as it is no data set of the hub."
    return [f"{title} {reason}" for title in sorted(left_out)]
