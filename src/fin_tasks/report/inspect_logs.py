"""Logs of inspect_ai as what lm-eval writes: a results file for each log, and lines of samples."""

from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.scored_task import SCORINGS
from fin_tasks.errors import DataError
from fin_tasks.saved.inspect_log import inspect_for
from fin_tasks.stats.averages import over_responses

from . import Json, hash_of
from .lm_eval_results import run_of
from .model import Run

_UNREAD = {"messages", "events", "store", "attachments"}
_SERVICES = {"azure", "bedrock", "vertex"}
"""Services that stand between a provider and a model in inspect_ai's names of models."""
_DECODING = ("temperature", "max_tokens", "reasoning_effort", "reasoning_tokens")


def read_log(path: Path, name: str) -> Run:
    """Read the head of a log; logs of one run have the same id."""
    log = inspect_for(path).read_eval_log(str(path), header_only=True)
    if log.status != "success":
        raise DataError(
            f"{path}: expected a run that ended, got status {log.status}; "
            "`inspect eval-retry` ends it."
        )
    spec = log.eval
    identity = hash_of([spec.run_id, spec.model, spec.task_args])
    return run_of(identity, path, name, _content(log))


def samples_of(path: Path) -> Iterator[tuple[str, Json]]:
    """Yield a log's samples, a line for each scoring, with where they are."""
    inspect = inspect_for(path)
    samples = inspect.read_eval_log_samples(str(path), False, exclude_fields=_UNREAD)
    # The epochs of a sample follow each other. A log may be larger than the memory.
    for identity, epochs in groupby(samples, key=lambda sample: sample.id):
        scored = [sample for sample in epochs if sample.scores and not sample.error]
        where = f"{path}, sample {identity}"
        for scoring in SCORINGS if scored else ():
            yield where, _line(where, scored, scoring)


def _line(where: str, epochs: list[Any], scoring: str) -> Json:
    """Return the epochs of a sample under a scoring as a line of lm-eval's samples."""
    scores = []
    for sample in epochs:
        if scoring not in sample.scores:
            raise DataError(
                f"{where}: expected the scores {' and '.join(SCORINGS)}, got "
                f"{', '.join(sample.scores)}. `inspect score --action append` adds one."
            )
        scores.append(sample.scores[scoring].metadata)
    values = over_responses([score["values"] for score in scores])
    return {
        "doc": epochs[0].metadata,
        "resps": [[sample.output.completion for sample in epochs]],
        "filtered_resps": [[score["reading"] for score in scores]],
        "filter": scoring,
        "metrics": list(values),
        "models": [sample.output.model for sample in epochs],
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
        "configs": {
            task: {
                "metadata": _metadata(log),
                "repeats": n_epochs,
                "generation_kwargs": _decoding_options(log),
            }
        },
        "versions": {task: str(spec.task_version)},
        "n-samples": {task: {"original": n_all, "effective": n_asked}},
        "config": {"model": "inspect_ai"},
        "model_name": _model_name(spec.model),
    }


def _model_name(name: str) -> str:
    """Return the name of a model without inspect_ai's provider and the provider's service."""
    provider, _, model = name.partition("/")
    service, _, rest = model.partition("/")
    if rest and (provider == "openai-api" or service in _SERVICES):
        return rest
    return model or name


def _decoding_options(log: Any) -> Json:
    """Return the options of inspect_ai that say how responses were generated."""
    options = {}
    for config in (log.eval.model_generate_config, log.plan.config):
        for name in _DECODING:
            value = getattr(config, name, None)
            if value is not None:
                options[name] = value
    return options


def _metadata(log: Any) -> Json:
    """Return the task's metadata, with the model that judged and the tokens that were used."""
    metadata = dict(log.eval.metadata or {})
    judge = dict(metadata.pop("judge", {}))
    grader = (log.eval.model_roles or {}).get(judge.pop("role", "grader"))
    if judge and grader:
        model = grader[0].model if isinstance(grader, list) else grader.model
        metadata["judge"] = {**judge, "model": _model_name(model)}
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
