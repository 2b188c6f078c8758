"""Results for other people's collections: records of Every Eval Ever, and a model card's `.eval_results`."""

import hashlib
import json
import math
import re
import uuid
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import yaml

from fin_tasks.data.fetch import load_pins
from fin_tasks.errors import ConfigError
from fin_tasks.report.comparable import text_of
from fin_tasks.report.model import BENCHMARKS, Report, Run, largest
from fin_tasks.report.values import Value, higher_is_better, label_of, values_of

__all__ = ["FORMATS", "export"]

FORMATS = ("every-eval-ever", "model-card")
_SCHEMA = "0.3.0"  # of every_eval_ever
_UNKNOWN = {"deployment_type": "unknown", "model_availability": "unknown"}


def export(kind: str, report: Report, out: Path) -> list[str]:
    """Write the values of runs below a folder in one of `FORMATS`, and return what is left out."""
    if kind not in FORMATS:
        raise ConfigError(f"--export: expected {' or '.join(FORMATS)}, got {kind!r}.")
    models = sorted({run.model for run in report.runs})
    if kind == "model-card" and len(models) > 1:
        raise ConfigError(f"--export model-card: expected runs of one model, got {len(models)}: {', '.join(models)}.")
    found: dict[tuple[str, str], list[Value]] = defaultdict(list)
    runs = {run.id: run for run in sorted(report.runs, key=lambda one: one.date)}
    for run in runs.values():
        for one in run.tasks:
            for variant in one.totals:
                found[run.id, one.benchmark] += values_of(report, one, variant, run=run.id, model=run.model)
    known = {key: [one for one in values if math.isfinite(one.interval.mean)] for key, values in found.items()}
    if kind == "model-card":
        return _card(runs, known, out)
    for (identity, benchmark), values in known.items():
        _record(runs[identity], benchmark, values, out, datetime.now(timezone.utc))
    return []


def _record(run: Run, benchmark: str, values: list[Value], out: Path, now: datetime) -> None:
    name, written = run.model if "/" in run.model else f"unknown/{run.model}", str(int(now.timestamp()))
    version = text_of(run.settings.get("lm_eval_version", "unknown")) if run.harness == "lm-eval" else "unknown"
    source = {"source_name": "fin-tasks", "source_type": "evaluation_run", "source_organization_name": "unknown"}
    record: dict[str, Any] = {
        "schema_version": _SCHEMA,
        "evaluation_id": f"{benchmark}/{name}/{written}",
        "retrieved_timestamp": written,
        "source_metadata": {**source, "evaluator_relationship": "other"},
        "eval_library": {"name": run.harness.replace("lm-eval", "lm_eval"), "version": version},
        "model_info": {"name": run.model, "id": name, "additional_details": _UNKNOWN},
        "evaluation_results": [one for value in values if (one := _result(value)) is not None],
        **({"evaluation_timestamp": run.date} if run.date else {}),
    }
    digest = hashlib.sha256(f"{run.id} {benchmark}".encode()).digest()
    safe = [re.sub(r"[^\w.-]+", "_", part).strip(". ") or "unknown" for part in name.split("/", 1)]
    file = out.joinpath("data", benchmark, *safe, f"{uuid.UUID(bytes=digest[:16], version=4)}.json")
    _write(file, json.dumps(record, indent=2, allow_nan=False) + "\n")


def _result(value: Value) -> dict[str, Any] | None:
    better, interval, pins = higher_is_better(value.metric, value.result), value.interval, load_pins(value.benchmark)
    if better is None or value.result is None:
        return None
    most, task, judge = largest(value.benchmark, value.metric), value.result.task, value.result.judge
    said = {name: text for name, text in value.conditions.items() if text and name != "task"}
    home: dict[str, Any] = {"source_type": "url", "url": [pins.homepage]}
    home = {"source_type": "hf_dataset", "hf_repo": pins.repo} if pins.host == "hub" else home
    origin = {name: text_of(one) for name, one in value.result.settings.items() if name.startswith("data.")}
    uncertainty: dict[str, Any] = {"num_samples": interval.n}
    if math.isfinite(interval.stderr):
        uncertainty["standard_error"] = {"value": interval.stderr, "method": "analytic"}
    if math.isfinite(interval.low + interval.high):
        bounds = {"lower": interval.low, "upper": interval.high, "confidence_level": 0.95, "method": interval.method}
        uncertainty["confidence_interval"] = bounds
    metric: dict[str, Any] = {"metric_id": value.metric, "lower_is_better": not better, "score_type": "continuous"}
    metric |= {"min_score": 0, "max_score": "Infinity" if math.isinf(most) else most}
    if judge:
        asked = {"name": str(judge.get("model")), "id": str(judge.get("model")), "additional_details": _UNKNOWN}
        rubric = f"rubric {judge.get('rubric')}, sha256 {judge.get('rubric_sha256')}"
        metric["llm_scoring"] = {"judges": [{"model_info": asked}], "input_prompt": rubric}
    details = {**said, "variant": value.variant, "headline": str(value.is_headline), "unscored": str(value.unscored)}
    return {
        "evaluation_result_id": f"{task}/{value.variant}/{value.metric}",
        "evaluation_name": task,
        "source_data": {"dataset_name": BENCHMARKS[value.benchmark], **home, "additional_details": origin},
        "metric_config": {"evaluation_description": label_of(value.metric, value.benchmark), **metric},
        "score_details": {"score": interval.mean, "details": details, "uncertainty": uncertainty},
    }


def _card(runs: Mapping[str, Run], known: Mapping[tuple[str, str], list[Value]], out: Path) -> list[str]:
    """Write the headlines of `robust`, the newest of each; the format knows data sets of the hub only."""
    try:
        from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
    except ImportError as error:
        raise ConfigError("--export model-card: run `pip install -U huggingface_hub`, as yours is too old.") from error
    left_out: set[str] = set()
    entries: dict[str, dict[str, EvalResultEntry]] = defaultdict(dict)
    for (identity, benchmark), values in known.items():
        pins = load_pins(benchmark)
        if pins.host != "hub":
            left_out.add(f"{BENCHMARKS[benchmark]} is left out of the model card, as it is no data set of the hub.")
            continue
        for one in values:
            if one.is_headline and one.variant == "robust" and one.result is not None:
                said = [f"{name} {text}" for name, text in one.conditions.items() if text and name != "task"]
                more = {"date": runs[identity].date or None, "notes": ", ".join(["fin-tasks, robust", *said])}
                entries[benchmark][one.column] = EvalResultEntry(pins.repo, one.result.task, one.interval.mean, **more)
    for benchmark, of_benchmark in entries.items():
        told = eval_result_entries_to_yaml(list(of_benchmark.values()))
        _write(out / ".eval_results" / f"{benchmark}.yaml", yaml.safe_dump(told, sort_keys=False))
    return sorted(left_out)


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
