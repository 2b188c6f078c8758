"""Logs of inspect_ai as what lm-eval writes: a results file for each log, and lines of samples."""

import importlib
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.scored_task import VARIANTS
from fin_tasks.errors import DataError
from fin_tasks.stats.averages import over_responses

from . import Json, hash_of
from .lm_eval_results import run_of
from .model import Run

_UNREAD = {"messages", "events", "store", "attachments"}
_MAX_PART = 64 * 2**20  # bytes of the head of a log, and of a sample


def read_log(path: Path, name: str) -> Run:
    """Read the head of a log; logs of one run have the same id."""
    log = _inspect_for(path).read_eval_log(str(path), header_only=True)
    if log.status != "success":
        raise DataError(
            f"{path}: expected a run that ended, got status {log.status}; "
            "`inspect eval-retry` ends it."
        )
    spec = log.eval
    identity = hash_of([spec.run_id, spec.model, spec.task_args])
    return run_of(identity, path, name, _content(log))


def samples_of(path: Path) -> Iterator[tuple[str, Json]]:
    """Yield a log's samples, a line for each variant, with where they are."""
    epochs_by_id = defaultdict[Any, list[Any]](list)
    inspect = _inspect_for(path)
    for sample in inspect.read_eval_log_samples(
        str(path), False, exclude_fields=_UNREAD
    ):
        if sample.scores and sample.error is None:
            epochs_by_id[sample.id].append(sample)
    for identity, epochs in epochs_by_id.items():
        for variant in VARIANTS:
            yield f"{path}, sample {identity}", _line(epochs, variant)


def _line(epochs: list[Any], variant: str) -> Json:
    scores = [sample.scores[variant].metadata for sample in epochs]
    values = over_responses([score["values"] for score in scores])
    return {
        "doc": epochs[0].metadata,
        "resps": [[sample.output.completion for sample in epochs]],
        "filtered_resps": [[score["reading"] for score in scores]],
        "filter": variant,
        "metrics": list(values),
        **values,
    }


def _content(log: Any) -> Json:
    """Return the head of a log as lm-eval's results file."""
    spec = log.eval
    task = spec.task.rpartition("/")[2]
    n_epochs = spec.config.epochs or 1
    n_asked = log.results.completed_samples // n_epochs
    n_all = max(spec.dataset.samples or 0, n_asked)
    totals = {}
    for score in log.results.scores:
        for name, metric in score.metrics.items():
            totals[f"{name},{score.scorer}"] = metric.value
    return {
        "results": {task: totals},
        "configs": {task: {"metadata": _metadata(log), "repeats": n_epochs}},
        "versions": {task: str(spec.task_version)},
        "n-samples": {task: {"original": n_all, "effective": n_asked}},
        "config": {"model": "inspect_ai"},
        "model_name": spec.model.partition("/")[2] or spec.model,
    }


def _metadata(log: Any) -> Json:
    metadata = dict(log.eval.metadata or {})
    judge = dict(metadata.pop("judge", {}))
    grader = (log.eval.model_roles or {}).get(judge.pop("role", "grader"))
    if judge and grader:
        model = grader[0].model if isinstance(grader, list) else grader.model
        metadata["judge"] = {**judge, "model": model.partition("/")[2] or model}
    usage = log.stats.model_usage.get(log.eval.model)
    if usage:
        started = datetime.fromisoformat(log.stats.started_at)
        completed = datetime.fromisoformat(log.stats.completed_at)
        metadata["usage"] = {
            "prompt_tokens": usage.input_tokens,
            "response_tokens": usage.output_tokens,
            "estimated": False,
            "seconds": (completed - started).total_seconds(),
        }
    return metadata


def _inspect_for(path: Path) -> Any:
    """Return inspect_ai's module of logs, unless a part of the log is huge once it is unpacked."""
    try:
        module = importlib.import_module("inspect_ai.log")
    except ImportError as error:
        raise DataError(
            f'{path}: a log of inspect_ai; `pip install "fin-tasks[inspect]"` brings what reads it.'
        ) from error
    with zipfile.ZipFile(path) as archive:
        for part in archive.infolist():
            if part.file_size > _MAX_PART:
                raise DataError(
                    f"{path}: expected parts of at most {_MAX_PART:,} bytes, "
                    f"got {part.filename:.80} of {part.file_size:,} bytes."
                )
    return module
