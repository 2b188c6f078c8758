"""Results for other people's collections: records of Every Eval Ever."""

import json
import math
import re
import time
import uuid
from pathlib import Path
from typing import Any

from fin_tasks.data.pins import find_pins
from fin_tasks.report.conditions import CONDITIONS, setting_text
from fin_tasks.report.leaderboard_model import BoardRun, BoardTask, Entry, Leaderboard
from fin_tasks.report.model import known_benchmarks, largest, metric_of

_UNKNOWN = {"deployment_type": "unknown", "model_availability": "unknown"}
_SOURCE = {
    "source_name": "fin-tasks",
    "source_type": "evaluation_run",
    "source_organization_name": "unknown",
    "evaluator_relationship": "other",
}


def write_records(board: Leaderboard, out: Path) -> None:
    """Write the measured values of a leaderboard that have a direction, a record for each run and benchmark."""
    tasks = {task.id: task for task in board.tasks}
    runs = {run.id: run for run in board.runs if run.source != "published"}
    records: dict[tuple[str, str], dict[str, Any]] = {}
    for entry in board.entries:
        has_direction = metric_of(entry.metric).higher_is_better is not None
        if entry.run in runs and entry.value is not None and has_direction:
            run = runs[entry.run]
            task = tasks[entry.task]
            key = (run.path, task.benchmark)
            if key not in records:
                records[key] = _record(run, task.benchmark)
            records[key]["evaluation_results"].append(_result(entry, task, run))
    for (_, benchmark), record in records.items():
        folder = out / benchmark
        for part in record["model_info"]["id"].split("/", 1):
            folder /= re.sub(r"[^\w.-]+", "_", part).strip(".") or "unknown"
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(record, indent=2, allow_nan=False) + "\n"
        (folder / f"{uuid.uuid4()}.json").write_text(text, encoding="utf-8")


def _record(run: BoardRun, benchmark: str) -> dict[str, Any]:
    now = str(int(time.time()))
    name = run.model if "/" in run.model else f"unknown/{run.model}"
    version = setting_text(run.provenance.get("lm_eval_version", "unknown"))
    return {
        "schema_version": "0.3.0",
        "source_metadata": _SOURCE,
        "evaluation_id": f"{benchmark}/{name}/{now}",
        "evaluation_timestamp": run.date or None,
        "retrieved_timestamp": now,
        "eval_library": {
            "name": run.source.replace("lm-eval", "lm_eval"),
            "version": version,
        },
        "model_info": _model_info(run.model, name),
        "evaluation_results": [],
    }


def _model_info(name: str, identity: str) -> dict[str, Any]:
    return {"name": name, "id": identity, "additional_details": _UNKNOWN}


def _result(entry: Entry, task: BoardTask, run: BoardRun) -> dict[str, Any]:
    details = {name: getattr(task, name) for name in ("variant", *CONDITIONS[1:])}
    uncertainty: dict[str, Any] = {"num_samples": entry.n}
    if entry.low is not None:
        uncertainty["confidence_interval"] = {
            "lower": entry.low,
            "upper": entry.high,
            "confidence_level": 0.95,
            "method": entry.method,
        }
    pins = find_pins(task.benchmark)
    source: dict[str, Any] = {"source_type": "other"}
    if pins is not None:
        source = {"source_type": "url", "url": [pins.homepage]}
    return {
        "evaluation_result_id": f"{run.task}/{task.variant}/{entry.metric}",
        "evaluation_name": run.task,
        "source_data": {
            **source,
            "dataset_name": known_benchmarks()[task.benchmark].title,
        },
        "metric_config": _metric_config(entry.metric, run),
        "score_details": {
            "score": entry.value,
            "details": {**details, "unscored": str(entry.unscored)},
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
        rubric = run.provenance.get("judge.rubric")
        sha256 = run.provenance.get("judge.rubric_sha256")
        config["llm_scoring"] = {
            "judges": [{"model_info": _model_info(name, name)}],
            "input_prompt": f"rubric {rubric}, sha256 {sha256}",
        }
    return config
