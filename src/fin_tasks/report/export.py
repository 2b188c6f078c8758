"""Results for other people's collections: records of Every Eval Ever."""

import json
import math
import re
import time
import uuid
from pathlib import Path

from . import Json
from .conditions import CONDITIONS, setting_text
from .leaderboard_model import BoardRun, BoardTask, Entry, Leaderboard
from .model import KNOWN_BENCHMARKS, largest

_TEMPLATE = Path(__file__).with_name("every_eval_ever.json")
_CONDITIONS = {*CONDITIONS[1:], "variant"}


def write_records(board: Leaderboard, out: Path) -> None:
    """Write the measured values that have a direction, a record for each run and benchmark."""
    tasks = {task.id: task for task in board.tasks}
    runs = {run.id: run for run in board.runs if run.source != "published"}
    records: dict[tuple[str, str], Json] = {}
    for entry in board.entries:
        run = runs.get(entry.run)
        higher_is_better = board.metrics[entry.metric].higher_is_better
        if run and entry.value is not None and higher_is_better is not None:
            task = tasks[entry.task]
            record = _record(run, task.benchmark)
            record = records.setdefault((run.path, task.benchmark), record)
            result = _result(entry, task, run, lower_is_better=not higher_is_better)
            record["evaluation_results"].append(result)
    for (_, benchmark), record in records.items():
        folder = out / benchmark
        for part in record["model_info"]["id"].split("/", 1):
            folder /= re.sub(r"[^\w.-]+", "_", part).strip(".") or "unknown"
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(record, indent=2, allow_nan=False) + "\n"
        (folder / f"{uuid.uuid4()}.json").write_text(text, "utf-8")


def _record(run: BoardRun, benchmark: str) -> Json:
    now = str(int(time.time()))
    name = run.model if "/" in run.model else f"unknown/{run.model}"
    record: Json = json.loads(_TEMPLATE.read_bytes())
    record["model_info"] |= {"name": run.model, "id": name}
    return record | {
        "evaluation_id": f"{benchmark}/{name}/{now}",
        "evaluation_timestamp": run.date or None,
        "retrieved_timestamp": now,
        "eval_library": {
            "name": run.source.replace("lm-eval", "lm_eval"),
            "version": setting_text(run.provenance.get("lm_eval_version", "unknown")),
        },
    }


def _result(
    entry: Entry,
    task: BoardTask,
    run: BoardRun,
    *,
    lower_is_better: bool,
) -> Json:
    maximum = largest(entry.metric)
    uncertainty: Json = {"num_samples": entry.n}
    if entry.low is not None:
        uncertainty["confidence_interval"] = {
            "lower": entry.low,
            "upper": entry.high,
            "confidence_level": 0.95,
            "method": entry.method,
        }
    return {
        "evaluation_result_id": f"{run.task}/{task.variant}/{entry.metric}",
        "evaluation_name": run.task,
        "source_data": {
            "source_type": "other",
            "dataset_name": KNOWN_BENCHMARKS[task.benchmark].title,
        },
        "metric_config": {
            "metric_id": entry.metric,
            "lower_is_better": lower_is_better,
            "score_type": "continuous",
            "min_score": 0,
            "max_score": "Infinity" if math.isinf(maximum) else maximum,
        },
        "score_details": {
            "score": entry.value,
            "details": {
                **task.model_dump(include=_CONDITIONS),
                "judge": entry.judge,
                "unscored": str(entry.unscored),
            },
            "uncertainty": uncertainty,
        },
    }
