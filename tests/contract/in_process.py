"""lm-eval in this process, with a model that answers as a function of the document says, or one on a server."""

import asyncio
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from chat_server import Served
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

from fin_tasks.benchmarks import task_folders


class Scripted(LM):
    """Answers each document with `answer(doc)`."""

    MULTIMODAL = False

    def __init__(
        self, answer: Callable[[Mapping[str, Any]], str], *, sees: bool
    ) -> None:
        super().__init__()
        self.answer, self.MULTIMODAL = answer, sees

    def generate_until(
        self, requests: Sequence[Any], disable_tqdm: bool = False
    ) -> list[str]:
        return [self.answer(request.doc) for request in requests]

    def loglikelihood(self, requests: Sequence[Any], disable_tqdm: bool = False) -> Any:
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


@lru_cache
def _manager_of(folders: tuple[str, ...], **metadata: Any) -> TaskManager:
    # Each one reads all task files.
    return TaskManager(
        metadata=metadata, include_path=list(folders), include_defaults=False
    )


def manager(*more_folders: Path, **metadata: Any) -> TaskManager:
    """Return lm-eval's manager of our tasks over the packaged sample, and of those in more folders."""
    folders = [*task_folders(), *more_folders]
    return _manager_of(tuple(map(str, folders)), **{"source": "sample", **metadata})


def run(
    *tasks: str,
    answer: Callable[[Mapping[str, Any]], str] = lambda doc: "lol",
    sees: bool = False,
    served: Served | None = None,
    model: LM | None = None,
    limit: int | None = None,
    predict_only: bool = False,
    chat: bool = False,
    confirm_run_unsafe_code: bool = True,
    **metadata: Any,
) -> dict[str, Any]:
    """Return what lm-eval returns, samples included, over the packaged sample unless `source` says otherwise."""
    server = {"model": "m", "num_concurrent": 4, "tokenized_requests": False}
    if served:
        server["base_url"] = f"{served.base_url}/chat/completions"
    found = simple_evaluate(
        model="local-chat-completions"
        if served
        else model or Scripted(answer, sees=sees),
        model_args=server if served else None,
        apply_chat_template=chat or served is not None,
        tasks=list(tasks),
        task_manager=manager(**metadata),
        limit=limit,
        log_samples=True,
        bootstrap_iters=0,
        predict_only=predict_only,
        confirm_run_unsafe_code=confirm_run_unsafe_code,
    )
    if served:
        close_event_loop()
    return dict(found or {})  # nothing on other processes than the first


def close_event_loop() -> None:
    """Close the event loop that `asyncio.run` leaves open after inspect_ai has applied nest_asyncio."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            loop = asyncio.get_event_loop()
        except RuntimeError:
            return  # `asyncio.run` has closed its loop
    if not loop.is_running():
        loop.close()
        asyncio.set_event_loop(None)


def parts_of(found: Mapping[str, Any], task: str) -> dict[str, float]:
    """Return the figures of a task's parts, named as lm-eval names metrics."""
    named = {}
    for scoring, figures in found["configs"][task]["metadata"]["breakdowns"].items():
        for name, figure in figures.items():
            named[f"{name},{scoring}"] = figure["value"]
    return named


def samples(
    found: Mapping[str, Any], task: str, scoring: str = "paper"
) -> list[dict[str, Any]]:
    return [sample for sample in found["samples"][task] if sample["filter"] == scoring]


def saved(found: dict[str, Any], folder: Path, model: str = "model") -> Path:
    """Save a run of lm-eval as its command does."""
    samples = found.pop("samples")
    tracker = EvaluationTracker(output_path=str(folder))
    tracker.general_config_tracker.model_name = model
    tracker.general_config_tracker.model_name_sanitized = model
    tracker.save_results_aggregated(
        results={"model_name": model, **found}, samples=samples
    )
    for task, task_samples in samples.items():
        tracker.save_results_samples(task_name=task, samples=task_samples)
    return folder
