"""What lm-eval needs from us: a task class, two filters and two aggregations.

Importing this module registers the filters, so any `!function` of a task file that names it is enough.
"""

import functools
import json
import logging
import sys
import time
from collections import UserDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal

from lm_eval import evaluator
from lm_eval.api.filter import Filter, FilterEnsemble
from lm_eval.api.registry import register_filter
from lm_eval.api.task import ConfigurableTask
from lm_eval.models.api_models import JsonChatStr
from tqdm import tqdm

from fin_tasks import sandbox
from fin_tasks.adapters.lm_eval_judge import with_judges
from fin_tasks.adapters.lm_eval_requests import usage_of, with_picture, without_pictures
from fin_tasks.errors import ConfigError, FinTasksError, SandboxError
from fin_tasks.settings import Settings
from fin_tasks.stats.averages import average, standard_error
from fin_tasks.stats.metric import Metric

__all__ = ["FinTask", "ReadResponses", "RunPrograms", "mean_scored", "stderr_scored"]

_log = logging.getLogger(__name__)
_NOT_APPLICABLE: Literal["N/A"] = "N/A"
_IN_GROUPS = ("acc", "acc_err", "score")
"""Metrics that groups average."""
_clock: dict[str, float | None] = {"start": None, "seconds": None}
"""When the last request was built, and the seconds until the first response was filtered."""


def mean_scored(values: Iterable[float | None]) -> float | str:
    """Average the documents that have a value; `N/A`, as lm-eval writes it, when none has."""
    mean = average(values)
    return mean if mean == mean else _NOT_APPLICABLE


def stderr_scored(values: Iterable[float | None]) -> float | str:
    """Return the standard error of `mean_scored`; `N/A` below two values."""
    error = standard_error(values)
    return error if error == error else _NOT_APPLICABLE


class FinTask(ConfigurableTask):  # type: ignore[misc]
    """A YAML task of ours in lm-eval, with what lm-eval's own task class lacks.

    - `metrics: !function ...` names the metrics; a document may report None for one, which means leave out.
    - Provenance, sandbox tier, judge and token counts go into the results file, under `configs.<task>.metadata`.
    - `paper_sampling` replaces generation settings if the metadata says `sampling: paper`.
    - Base models get system message, question and cue joined by blank lines.
    - API models get the picture of each document: `picture_file` names the field with its path.
    - Under `--predict_only` no program runs and no judge is asked.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        config = {name: value for name, value in config.items() if name != "class"}
        metadata: dict[str, Any] = dict(config.get("metadata") or {})
        options = config.get("dataset_kwargs") or {}
        metrics: dict[str, bool | Metric] = config.pop("metrics")(**options)
        draw_blank, paper_sampling = config.pop("blank_image", None), config.pop("paper_sampling", None)
        self._picture_file: str | None = config.pop("picture_file", None)
        self._lm: Any = None
        config["metric_list"] = [entry for name, metric in metrics.items() for entry in _declare(name, metric)]
        self._with_stderr = [name for name, one in metrics.items() if not isinstance(one, Metric) or one.stderr]
        if metadata.get("blank_image") and config.get("doc_to_image") is None:
            config["doc_to_image"] = draw_blank
        config["generation_kwargs"] = _sampling(config, metadata.get("sampling", "greedy"), paper_sampling)
        pipelines = config["filter_list"]
        config["filter_list"], self._judging = with_judges(pipelines, metadata, task=config["task"], options=options)
        if config.get("unsafe_code"):
            config["metadata"] = {**metadata, "sandbox": _require_sandbox(config["task"])}
        super().__init__(config=config)
        if self._judging is not None:
            self._judging.check(self.test_docs())
            self.config.filter_list = pipelines  # written to the results file: without the judge's address
            self.config.metadata = {**self.config.metadata, "judge": self._judging.facts}

    def download(self, dataset_kwargs: dict[str, Any] | None = None, **_: Any) -> None:
        """Load the documents and record where they come from."""
        metadata, options = dict(self.config.metadata or {}), dict(dataset_kwargs or {})
        if twice := sorted(metadata.keys() & options.keys()):
            raise ConfigError(
                f"{self.config.task}: metadata sets {', '.join(twice)}, which this task fixes. Choose the task with "
                "the value you want (`lm_eval ls tasks` lists them)."
            )
        ((split, documents),) = self.config.custom_dataset(**metadata, **options).items()
        # As dicts: lm-eval goes over the documents four times, and Arrow makes each dict anew every time.
        rows = _Documents(documents.to_list())
        rows.features = documents.features
        self.dataset = {split: rows}
        self.config.test_split = split
        self.config.metadata = {**metadata, "provenance": json.loads(documents.info.description)}

    def fewshot_docs(self) -> list[dict[str, Any]]:
        """Return the documents that may serve as examples: those with a right answer to show."""
        # lm-eval keeps the question out of its own examples only if their split is named
        self.fewshot_cfg.split = self.config.test_split
        return [doc for doc in super().fewshot_docs() if doc.get("target")]

    def fewshot_context(self, doc: dict[str, Any], num_fewshot: int, *args: Any, **kwargs: Any) -> Any:
        """Build the prompt; see the class for what a base model gets."""
        context = super().fewshot_context(doc, num_fewshot, *args, **kwargs)
        chat = kwargs.get("apply_chat_template") and kwargs.get("chat_template")
        if chat or not isinstance(context, str):
            return context
        system, cue = doc.get("system", ""), doc.get("cue", "")
        if system and context.startswith(system):
            context = f"{system}\n\n{context[len(system) :]}"
        return f"{context}\n\n{cue}" if cue else context

    def construct_requests(self, doc: dict[str, Any], ctx: Any, **kwargs: Any) -> Any:
        """Build the request; for an API the picture goes into the message.

        lm-eval attaches pictures for an API only if the first question of the whole run has one.
        """
        request = super().construct_requests(doc, ctx, **kwargs)
        if self.config.doc_to_image is not None and isinstance(ctx, JsonChatStr):
            file = doc[self._picture_file] if self._picture_file else None
            request.arguments = (with_picture(ctx, file, lambda: self.doc_to_image(doc)), request.arguments[1])
        return request

    def build_all_requests(self, *, world_size: int | None = None, **kwargs: Any) -> None:
        """Build the requests of this process, one of `world_size`."""
        if self._judging is not None:
            self._judging.alone = (world_size or 1) == 1
        super().build_all_requests(world_size=world_size, **kwargs)
        _clock.update(start=time.monotonic(), seconds=None)

    def apply_filters(self) -> Any:
        """Count tokens, replace pictures in requests by their hash, then filter the responses."""
        if _clock["seconds"] is None:  # the model has answered all tasks when the first one is filtered
            _clock["seconds"] = round(time.monotonic() - (_clock["start"] or 0.0), 3)
        for request in self.instances:
            request.arguments = without_pictures(request.arguments)
        usage = {**usage_of(self.instances, self._lm), "seconds_of_all_tasks": _clock["seconds"]}
        self.config.metadata = {**(self.config.metadata or {}), "usage": usage}
        return super().apply_filters()

    def override_metric(self, metric_name: str) -> None:
        """Leave responses as they are: lm-eval calls this for `--predict_only`, and runs the filters all the same."""
        super().override_metric(metric_name)
        self._filters = [FilterEnsemble(name="none", filters=[])]
        self._with_stderr = []
        self.config.process_results = lambda *_: dict.fromkeys(self._metric_fn_list)
        if self._judging is not None:
            _log.warning("%s: no judge is asked. %s", self.config.task, self._judging.later)

    def process_results(self, doc: dict[str, Any], results: Sequence[Any]) -> dict[str, float | None]:
        """Compare what was read in one document's responses with the truth.

        lm-eval gives no standard error for aggregations it does not know, but takes any metric `<metric>_stderr`.
        """
        (readings,) = results
        values: dict[str, float | None] = self.config.process_results(doc, readings)
        return {**values, **{f"{name}_stderr": values[name] for name in self._with_stderr}}


class _Documents(list[dict[str, Any]]):
    features: Any = None


class _Scored(UserDict[str, Any]):
    """A reading that is a dict, as JSON in the samples file. For models with pictures lm-eval would copy a dict."""

    def __str__(self) -> str:
        return json.dumps(self.data, ensure_ascii=False)


def _declare(name: str, metric: bool | Metric) -> list[dict[str, Any]]:
    if isinstance(metric, Metric):
        entries = [(name, metric.aggregate, metric.higher_is_better)]
        entries += [(f"{name}_stderr", metric.stderr, False)] if metric.stderr else []
    else:
        # lm-eval multiplies these into group averages: the text "N/A" would end the run there, NaN does not.
        mean = average if name in _IN_GROUPS else mean_scored
        entries = [(name, mean, metric), (f"{name}_stderr", stderr_scored, False)]
    return [{"metric": m, "aggregation": how, "higher_is_better": better} for m, how, better in entries]


def _sampling(config: Mapping[str, Any], named: str, paper: Mapping[str, Any] | None) -> dict[str, Any]:
    if named not in ("greedy", "paper"):
        raise ConfigError(f"metadata sampling: expected greedy or paper, got {named!r}.")
    if named == "paper" and paper is None:
        raise ConfigError(f"metadata sampling: the paper of {config['task']} names no settings. Leave `sampling` out.")
    return {**config["generation_kwargs"], **(paper or {} if named == "paper" else {})}


def _require_sandbox(task: str) -> dict[str, str]:
    """Fail before the model answers anything; the tier is part of what is measured."""
    settings = Settings.from_environ()
    try:
        with sandbox.open_runner(tier=settings.sandbox, workers=settings.sandbox_workers) as runner:
            return {"tier": runner.tier, "reason": runner.reason}
    except SandboxError as error:
        raise SandboxError(
            f"{task}: this task runs programs the model writes, and no sandbox works here. {error}"
        ) from error


@register_filter("fin_tasks_read")
class ReadResponses(Filter):  # type: ignore[misc]
    """Read the answer in every response under one variant."""

    def __init__(self, *, reader: Callable[..., Any], variant: str) -> None:
        self.reader = reader
        self.variant = variant

    def apply(self, resps: Iterable[Sequence[Any]], docs: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
        """Return one list of readings per document."""
        read = [
            [self.reader(doc, response, variant=self.variant) for response in responses]
            for responses, doc in zip(resps, docs, strict=True)
        ]
        return [[_Scored(one) if isinstance(one, Mapping) else one for one in of_doc] for of_doc in read]


@register_filter("fin_tasks_run_programs")
class RunPrograms(Filter):  # type: ignore[misc]
    """Run the programs of every response, all of a task at once; each response becomes a `sandbox.Ran`."""

    def __init__(self, *, programs: Callable[..., Sequence[str | None]], variant: str) -> None:
        self.programs = programs
        self.variant = variant

    def apply(self, resps: Iterable[Sequence[str]], docs: Sequence[Mapping[str, Any]]) -> list[list[sandbox.Ran]]:
        """Return one list per document. A sandbox that breaks leaves outcomes `broken` and never raises."""
        nested = [
            [(response, tuple(self.programs(doc, response, variant=self.variant))) for response in responses]
            for responses, doc in zip(resps, docs, strict=True)
        ]
        outcomes = iter(_run_batch(tuple(text for made in nested for _, texts in made for text in texts)))
        return [[sandbox.Ran(response, tuple(next(outcomes) for _ in texts)) for response, texts in m] for m in nested]


@functools.lru_cache(maxsize=4)
def _run_batch(programs: tuple[str | None, ...]) -> tuple[sandbox.Outcome, ...]:
    # Both variants of a task may ask for the same batch; it runs once.
    with tqdm(total=len(programs), desc="Running programs", unit="program") as bar:

        def advance(done: int) -> None:
            bar.update(done - bar.n)

        try:
            return tuple(sandbox.run_programs(programs, settings=Settings.from_environ(), on_done=advance))
        except SandboxError as error:
            _log.error("The sandbox broke, every program of this task stays unscored: %s", error)
            return (sandbox.Outcome(status=sandbox.Status.broken, detail=str(error)),) * len(programs)


def _wrap_evaluate() -> None:
    """Refuse figure questions for text models in a sentence that helps, and let tasks count with the tokenizer."""
    evaluate = evaluator.evaluate
    if hasattr(evaluate, "fin_tasks"):
        return

    @functools.wraps(evaluate)
    def with_our_checks(lm: Any, task_dict: Any, *args: Any, **kwargs: Any) -> Any:
        loaded = task_dict.get("tasks", {}) if isinstance(task_dict, Mapping) else {}
        ours = {name: task for name, task in loaded.items() if isinstance(task, FinTask)}
        blind = [name for name, task in ours.items() if _sees(task) and not _sees(lm)]
        if blind:
            raise ConfigError(
                f"{', '.join(blind)}: these tasks show pictures, and this model type takes text only. Take a text task "
                "(`xfinbench_text` instead of `xfinbench`, `dynostock_text` instead of `dynostock`), or a model type "
                "that sees: hf-multimodal, vllm-vlm, or an API model with --apply_chat_template."
            )
        for task in ours.values():
            task._lm = lm
        return evaluate(lm, task_dict, *args, **kwargs)

    with_our_checks.fin_tasks = True  # type: ignore[attr-defined]
    evaluator.evaluate = with_our_checks


def _sees(task_or_model: Any) -> bool:
    return bool(getattr(task_or_model, "MULTIMODAL", False))


def _show_our_errors_in_one_sentence() -> None:
    show = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, FinTasksError):
            print(f"fin-tasks: error: {error}", file=sys.stderr)
        else:
            show(kind, error, trace)

    sys.excepthook = hook


_wrap_evaluate()
_show_our_errors_in_one_sentence()
