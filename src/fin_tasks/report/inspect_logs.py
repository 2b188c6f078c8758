"""Logs of inspect_ai as what lm-eval writes: one results file for the tasks of a run, and lines of samples."""

import importlib
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError
from fin_tasks.stats.averages import over_responses

__all__ = ["results_of", "samples_of"]

_UNREAD = {"messages", "events", "store", "attachments"}


def results_of(path: Path) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Read the head of a log: what the logs of a run share, and the log as lm-eval's results file.

    Raises:
        DataError: inspect_ai is not installed, or the log is damaged or of a run that did not end.
    """
    log = next(_reading(path, lambda inspect: iter([inspect.read_eval_log(str(path), header_only=True)])))
    spec, task = log.eval, log.eval.task.rpartition("/")[2]
    if log.status != "success" or log.results is None:
        raise DataError(f"{path}: expected a run that ended, got the status {log.status}. Run `inspect eval-retry`.")
    totals: dict[str, Any] = {}
    for one in log.results.scores:
        for name, found in one.metrics.items():
            metric = {"mean": one.name, "stderr": f"{one.name}_stderr"}.get(name, name)
            totals[f"{metric},{one.scorer}"] = found.value if found.value == found.value else None
    metadata, grader, used = dict(spec.metadata or {}), (spec.model_roles or {}).get("grader"), log.stats.model_usage
    judge = metadata.pop("judge", None)
    if judge and grader:
        metadata["judge"] = {**judge, "model": grader.model.partition("/")[2]}
    if tokens := used.get(spec.model):
        begun, ended = (datetime.fromisoformat(one) for one in (log.stats.started_at, log.stats.completed_at))
        spent = {"prompt_tokens": tokens.input_tokens, "response_tokens": tokens.output_tokens, "estimated": False}
        metadata["usage"] = {**spent, "seconds_of_all_tasks": (ended - begun).total_seconds()}
    epochs = spec.config.epochs or 1
    asked = log.results.completed_samples // epochs
    return (spec.run_id, spec.model, json.dumps(spec.task_args, sort_keys=True, default=str)), {
        "results": {task: totals},
        "configs": {task: {"metadata": metadata, "repeats": epochs}},
        "versions": {task: str(spec.task_version)},
        "n-samples": {task: {"original": max(spec.dataset.samples or 0, asked), "effective": asked}},
        "higher_is_better": {task: metadata.pop("metrics", {})},
        "config": {"model": "inspect_ai"},
        "date": datetime.fromisoformat(spec.created).timestamp(),
        "model_name": spec.model.partition("/")[2] or spec.model,
    }


def samples_of(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a log's samples as lines of lm-eval's samples file, a document and a variant each, with where they are."""
    found: dict[Any, list[Any]] = {}
    for one in _reading(path, lambda inspect: inspect.read_eval_log_samples(str(path), False, exclude_fields=_UNREAD)):
        if one.error is None and one.scores:
            found.setdefault(one.id, []).append(one)
    for identity, several in found.items():
        for variant in several[0].scores:
            scores = [one.scores[variant] for one in several if variant in one.scores]
            if not all(score.metadata and "values" in score.metadata for score in scores):
                continue  # a scorer that the user added
            values = over_responses([score.metadata["values"] for score in scores])
            yield (
                f"{path}, sample {identity}",
                {
                    "doc": several[0].metadata,
                    "target": several[0].target,
                    "resps": [[one.output.completion for one in several]],
                    "filtered_resps": [[score.metadata["reading"] for score in scores]],
                    "filter": variant,
                    "metrics": list(values),
                    **values,
                },
            )


def _reading(path: Path, read: Callable[[Any], Iterator[Any]]) -> Iterator[Any]:
    try:
        inspect = importlib.import_module("inspect_ai.log")
    except ImportError as error:
        raise DataError(f'{path}: reading it needs inspect_ai. Run `pip install "fin-tasks[inspect]"`.') from error
    try:
        yield from read(inspect)
    except (OSError, ValueError, KeyError, IndexError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(
            f"{path}: expected a log of inspect_ai, got {type(error).__name__}: {str(error)[:200]}"
        ) from error
