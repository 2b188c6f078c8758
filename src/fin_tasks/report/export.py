"""Results for other people's collections: records of Every Eval Ever, and a model card's `.eval_results`."""

import hashlib
import json
import math
import re
import time
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import yaml

from fin_tasks.data.pins import find_pins
from fin_tasks.errors import ConfigError
from fin_tasks.report.conditions import setting_text as text_of
from fin_tasks.report.model import known_benchmarks, largest
from fin_tasks.report.values import CONDITIONS

_SCHEMA = "0.3.0"  # of every_eval_ever
_UNKNOWN = {"deployment_type": "unknown", "model_availability": "unknown"}


def export(
    kind: Literal["every-eval-ever", "model-card"], board: Mapping[str, Any], out: Path
) -> list[str]:
    """Write the measured values of a leaderboard below a folder, and return what is left out."""
    tasks, runs = ({one["id"]: one for one in board[name]} for name in ("tasks", "runs"))
    found: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(
        list
    )  # by results file and benchmark
    for entry in sorted(board["entries"], key=lambda one: str(runs[one["run"]]["date"])):
        task, run, up = (
            tasks[entry["task"]],
            runs[entry["run"]],
            board["metrics"][entry["metric"]]["higher_is_better"],
        )
        if run["source"] != "published" and entry["value"] is not None and up is not None:
            found[run["path"], task["benchmark"]].append(
                {**entry, "task": task, "run": run, "higher_is_better": up}
            )
    if kind == "model-card":
        models = sorted({run["model"] for run in runs.values() if run["source"] != "published"})
        if len(models) > 1:
            told = f"expected runs of one model, got {len(models)}: {', '.join(models)}."
            raise ConfigError(f"--export model-card: {told}")
        return _card(found, out)
    for (_, benchmark), entries in found.items():
        _record(benchmark, entries, out)
    return []


def _record(benchmark: str, entries: Sequence[Mapping[str, Any]], out: Path) -> None:
    now = str(int(time.time()))
    run = entries[0]["run"]
    name = run["model"] if "/" in run["model"] else f"unknown/{run['model']}"
    version = (
        text_of(run["provenance"].get("lm_eval_version", "unknown"))
        if run["source"] == "lm-eval"
        else "unknown"
    )
    source = {
        "source_name": "fin-tasks",
        "source_type": "evaluation_run",
        "source_organization_name": "unknown",
    }
    record = {
        "schema_version": _SCHEMA,
        "evaluation_id": f"{benchmark}/{name}/{now}",
        "evaluation_timestamp": run["date"] or None,
        "retrieved_timestamp": now,
        "source_metadata": {**source, "evaluator_relationship": "other"},
        "eval_library": {"name": run["source"].replace("lm-eval", "lm_eval"), "version": version},
        "model_info": {"name": run["model"], "id": name, "additional_details": _UNKNOWN},
        "evaluation_results": [_result(entry) for entry in entries],
    }
    digest = hashlib.sha256(f"{run['id']} {benchmark}".encode()).digest()
    safe = [re.sub(r"[^\w.-]+", "_", part).strip(". ") or "unknown" for part in name.split("/", 1)]
    file = out.joinpath("data", benchmark, *safe, f"{uuid.UUID(bytes=digest[:16], version=4)}.json")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def _result(entry: Mapping[str, Any]) -> dict[str, Any]:
    task, run, pins = entry["task"], entry["run"], find_pins(entry["task"]["benchmark"])
    settings = {name: text_of(value) for name, value in run["provenance"].items()}
    home: dict[str, Any] = {"source_type": "other"}
    if pins is not None:
        home = {"source_type": "url", "url": [pins.homepage]}
    if pins is not None and pins.host == "hub":
        home = {"source_type": "hf_dataset", "hf_repo": pins.repo}
    most = largest(entry["metric"])
    metric: dict[str, Any] = {
        "metric_id": entry["metric"],
        "lower_is_better": not entry["higher_is_better"],
    }
    metric |= {
        "score_type": "continuous",
        "min_score": 0,
        "max_score": "Infinity" if math.isinf(most) else most,
    }
    if judge := settings.get("judge.model"):
        asked = {"name": judge, "id": judge, "additional_details": _UNKNOWN}
        rubric = (
            f"rubric {settings.get('judge.rubric')}, sha256 {settings.get('judge.rubric_sha256')}"
        )
        metric["llm_scoring"] = {"judges": [{"model_info": asked}], "input_prompt": rubric}
    uncertainty: dict[str, Any] = {"num_samples": entry["n"]}
    if entry["low"] is not None:
        bounds = {"lower": entry["low"], "upper": entry["high"]}
        uncertainty["confidence_interval"] = {
            **bounds,
            "confidence_level": 0.95,
            "method": entry["method"],
        }
    details = {name: task[name] for name in (*CONDITIONS[1:], "variant") if task[name]}
    details["unscored"] = str(entry["unscored"])
    if entry["cut_off"]:
        details["cut_off"] = str(entry["cut_off"]["share"])
        details["value_if_finished_right"] = str(entry["cut_off"]["upper"])
    data = {name: value for name, value in settings.items() if name.startswith("data.")}
    return {
        "evaluation_result_id": f"{run['task']}/{task['variant']}/{entry['metric']}",
        "evaluation_name": run["task"],
        "source_data": {
            **home,
            "dataset_name": known_benchmarks()[task["benchmark"]].title,
            "additional_details": data,
        },
        "metric_config": metric,
        "score_details": {"score": entry["value"], "details": details, "uncertainty": uncertainty},
    }


def _card(found: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]], out: Path) -> list[str]:
    """Write the headlines of `robust`, the newest of each; the format knows data sets of the hub only."""
    left_out: set[str] = set()
    told: dict[str, dict[str, Any]] = defaultdict(dict)
    for (_, benchmark), entries in found.items():
        pins = find_pins(benchmark)
        if pins is None or pins.host != "hub":
            left_out.add(
                f"{known_benchmarks()[benchmark].title} is left out of the model card, as it is no data set of the hub."
            )
            continue
        for entry in entries:
            task, run = entry["task"], entry["run"]
            if entry["metric"] == task["headline"] and task["variant"] == "robust":
                said = [f"{name} {task[name]}" for name in CONDITIONS[1:] if task[name]]
                told[benchmark][task["id"]] = {
                    "dataset": {"id": pins.repo, "task_id": run["task"]},
                    "value": entry["value"],
                    "notes": ", ".join(["fin-tasks, robust", *said, *entry["notes"]]),
                    **({"date": run["date"]} if run["date"] else {}),
                }
    (out / ".eval_results").mkdir(parents=True, exist_ok=True)
    for benchmark, own in told.items():
        text = yaml.safe_dump(list(own.values()), sort_keys=False)
        (out / ".eval_results" / f"{benchmark}.yaml").write_text(text, encoding="utf-8")
    return sorted(left_out)
