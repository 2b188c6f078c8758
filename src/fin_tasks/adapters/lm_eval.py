"""Our task classes for lm-eval's task files, and checks before and after a run of them."""

import logging
import sys
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from fin_tasks.benchmarks.breakdowns import summarize
from fin_tasks.benchmarks.task_file import Mapped
from fin_tasks.errors import ConfigError, FinTasksError

from .lm_eval_conversations import ConversationTask as ConversationTask
from .lm_eval_private import LM, marking_cut_offs, model_of, wrap_evaluate
from .lm_eval_task import FinTask as FinTask
from .lm_eval_tokens import warning_of

_log = logging.getLogger(__name__)
_usual_excepthook = sys.excepthook


def _evaluate_with_checks(
    evaluate: Callable[..., Any],
    lm: LM,
    task_dict: Mapped,
    *args: object,
    **kwargs: object,
) -> Any:
    """Check our tasks before the run, give them the model, and warn of cut-off responses."""
    tasks = task_dict.get("tasks", {})
    own_tasks = {
        name: task for name, task in tasks.items() if isinstance(task, FinTask)
    }
    if not own_tasks:
        return evaluate(lm, task_dict, *args, **kwargs)
    with_pictures = [
        name for name, task in own_tasks.items() if task.config.doc_to_image
    ]
    if with_pictures and not getattr(lm, "MULTIMODAL", False):
        raise ConfigError(
            f"{', '.join(with_pictures)}: these tasks show pictures, and this model takes text "
            "only. Take a text task, as xfinbench_text or dynostock_text, or a model that sees: "
            "hf-multimodal, vllm-vlm, or an API model with --apply_chat_template."
        )
    with marking_cut_offs(lm) as tells:
        for task in own_tasks.values():
            task.lm = lm
            # A cache of earlier runs may hold responses without the mark.
            task.tells_cut_offs = tells and lm is model_of(lm)
        results = evaluate(lm, task_dict, *args, **kwargs)
    _add_breakdowns(lm, own_tasks, results)
    # Only the first of several processes has results.
    warning = results and warning_of(results, own_tasks)
    if warning:
        _log.warning("fin-tasks: %s", warning)
    return results


def _add_breakdowns(
    lm: LM,
    tasks: Mapping[str, FinTask],
    results: Mapped | None,
) -> None:
    """Write the figures of parts of each task, from all processes, into its results."""
    figures = {name: dict(task.figures) for name, task in tasks.items()}
    processes = [figures]
    if getattr(lm, "world_size", 1) > 1:
        processes = lm.gather_object(figures, dst=0)
    if results is None:
        return
    for name, task in tasks.items():
        breakdowns = {}
        for variant in figures[name]:
            rows = []
            for process in processes:
                rows += process[name][variant]
            breakdowns[variant] = summarize(task.file.benchmark, rows)
        results["configs"][name]["metadata"]["breakdowns"] = breakdowns


def _show_error(
    kind: type[BaseException],
    error: BaseException,
    trace: TracebackType | None,
) -> None:
    if isinstance(error, FinTasksError):
        print(f"fin-tasks: error: {error}", file=sys.stderr)
    else:
        _usual_excepthook(kind, error, trace)


wrap_evaluate(_evaluate_with_checks)
sys.excepthook = _show_error
