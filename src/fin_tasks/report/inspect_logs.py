"""Logs of inspect_ai as what lm-eval writes: one results file for the tasks of a run, and lines of samples."""

import importlib
import json
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError
from fin_tasks.stats.averages import over_responses

_UNREAD = {"messages", "events", "store", "attachments"}
_BROKEN = (
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)


def results_of(path: Path) -> Any:
    """Read the head of a log: a text that logs of a run share, and lm-eval's results file; or DataError."""
    with _inspect_for(path) as inspect:
        return _results(inspect.read_eval_log(str(path), header_only=True))


def samples_of(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a log's samples, a line of lm-eval's samples file for each variant, with where they are; or DataError."""
    found: dict[Any, list[Any]] = {}
    with _inspect_for(path) as inspect:
        for one in inspect.read_eval_log_samples(str(path), False, exclude_fields=_UNREAD):
            found.setdefault(one.id, []).append(one) if one.scores and one.error is None else None
        for identity, several in found.items():
            told = {
                "doc": several[0].metadata,
                "resps": [[one.output.completion for one in several]],
            }
            for variant in ("paper", "robust"):
                scores = [one.scores[variant].metadata for one in several]
                values = over_responses([one["values"] for one in scores])
                read = {
                    "filtered_resps": [[one["reading"] for one in scores]],
                    "metrics": list(values),
                }
                yield f"{path}, sample {identity}", {**told, **read, "filter": variant, **values}


def _results(log: Any) -> tuple[str, dict[str, Any]]:
    spec, task, epochs = log.eval, log.eval.task.rpartition("/")[2], log.eval.config.epochs or 1
    if log.status != "success":
        raise ValueError(
            f"a run that did not end (status {log.status}; `inspect eval-retry` ends it)"
        )
    totals: dict[str, Any] = {}
    for score in log.results.scores:
        for name, metric in score.metrics.items():
            is_known = metric.value == metric.value
            totals[_total_name(score, name)] = metric.value if is_known else None
    metadata = dict(spec.metadata or {})
    judge = dict(metadata.pop("judge", {}))
    grader = (spec.model_roles or {}).get(judge.pop("role", "grader"))
    used = log.stats.model_usage.get(spec.model)
    if judge and grader:
        named = grader[0].model if isinstance(grader, list) else grader.model
        metadata["judge"] = {**judge, "model": named.partition("/")[2] or named}
    if used:
        begun, ended = (
            datetime.fromisoformat(one) for one in (log.stats.started_at, log.stats.completed_at)
        )
        spent = {
            "prompt_tokens": used.input_tokens,
            "response_tokens": used.output_tokens,
            "estimated": False,
        }
        metadata["usage"] = {**spent, "seconds": (ended - begun).total_seconds()}
    metadata["cut_off"] = {"limit": log.plan.config.max_tokens, "told_by": "model"}
    asked = log.results.completed_samples // epochs
    return json.dumps([spec.run_id, spec.model, spec.task_args], sort_keys=True, default=str), {
        "results": {task: totals},
        "configs": {task: {"metadata": metadata, "repeats": epochs}},
        "versions": {task: str(spec.task_version)},
        "n-samples": {
            task: {"original": max(spec.dataset.samples or 0, asked), "effective": asked}
        },
        "config": {"model": "inspect_ai"},
        "date": datetime.fromisoformat(spec.created).timestamp(),
        "model_name": spec.model.partition("/")[2] or spec.model,
    }


def _total_name(score: Any, metric: str) -> str:
    """Return lm-eval's name of a metric in a log.

    Logs of version 0.2 have a score for each metric, such as `acc,paper`, with mean and stderr.
    """
    if metric == "mean":
        return str(score.name)
    if metric == "stderr":
        return str(score.name).replace(",", "_stderr,")
    return f"{metric},{score.scorer}"


@contextmanager
def _inspect_for(path: Path) -> Iterator[Any]:
    try:
        yield importlib.import_module("inspect_ai.log")
    except ImportError as error:
        raise DataError(
            f'{path}: reading it needs inspect_ai. Run `pip install "fin-tasks[inspect]"`.'
        ) from error
    except _BROKEN as error:
        raise DataError(
            f"{path}: expected a log of our tasks in inspect_ai, got {error!s:.200}."
        ) from error
