"""Our task classes in lm-eval, and checks before and after a run of them."""

import functools
import json
import logging
import sys
from collections import UserList, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias

from lm_eval.api.task import ConfigurableTask

from fin_tasks import sandbox
from fin_tasks.adapters.lm_eval_breakdowns import BreakdownRows, add_breakdowns
from fin_tasks.adapters.lm_eval_cut_off import mark_full_responses, warning_of
from fin_tasks.adapters.lm_eval_pictures import with_pictures, without_pictures
from fin_tasks.adapters.lm_eval_private import (
    LM,
    Instance,
    JsonChatStr,
    marking_cut_offs,
    model_of,
    token_counts,
    wrap_evaluate,
)
from fin_tasks.adapters.lm_eval_steps import SampleReading, judge_step, run_programs
from fin_tasks.adapters.lm_eval_usage import Clock, responses_of, usage_of
from fin_tasks.adapters.task_defaults import complete, function_of, load_documents
from fin_tasks.adapters.task_file import Mapped, generation_kwargs, pictures_of
from fin_tasks.answers.cut_off import is_cut_off, mark_reading
from fin_tasks.benchmarks.scored_task import VARIANTS, with_outcomes
from fin_tasks.errors import ConfigError, FinTasksError
from fin_tasks.settings import Settings
from fin_tasks.stats.averages import Metric, average, standard_error

if TYPE_CHECKING:
    from datasets import Dataset

_GROUP_METRICS = ("acc", "acc_err", "score")
"""The metrics that groups average."""
_OWN_SETTINGS = (
    "answer_reader",
    "blank_image",
    "class",
    "custom_dataset",
    "judge",
    "metrics",
    "paper_sampling",
    "programs",
    "reader",
    "vlmevalkit",
)
"""The settings of a task file that lm-eval does not know."""
_log = logging.getLogger(__name__)
_clock = Clock()

Aggregate: TypeAlias = Callable[[Sequence[Any]], float | str]
Metrics: TypeAlias = Mapping[str, bool | Metric]
Values: TypeAlias = dict[str, float | None]
Context: TypeAlias = str | JsonChatStr
"""A prompt, or the messages of a chat."""


class _Documents(UserList[Mapped]):
    """Documents as dicts: lm-eval reads each four times, and Arrow makes a new dict every time."""

    def __init__(self, dataset: "Dataset") -> None:
        super().__init__(dataset.to_list())
        self.features = dataset.features


class FinTask(ConfigurableTask):  # type: ignore[misc]
    """A task of ours in lm-eval, with what lm-eval's own task class lacks.

    `metrics` names the metrics of the task's options; None leaves a document out of a mean.
    `paper_sampling` replaces generation settings if the metadata says `sampling: paper`. `reader`,
    `programs`, and `judge` or `answer_reader` say what becomes of a response, under `paper` and
    `robust`. Provenance, sandbox tier, judge and token counts go into `configs.<task>.metadata` of
    the results file.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        settings = complete(config)
        metadata = dict(settings["metadata"])
        options = settings["dataset_kwargs"]
        metrics_of: Callable[..., Metrics] = function_of(settings["metrics"])
        metrics = metrics_of(**options)
        self.breakdowns = BreakdownRows(settings["task"])
        self.lm: LM = None
        self.tells_cut_offs = False
        self._predicts_only = False
        self._with_stderr = [name for name in metrics if not isinstance(metrics[name], Metric)]
        self._read = function_of(settings["reader"])
        self._programs_of = function_of(settings.get("programs"))
        # Errors come before the model answers.
        judge = judge_step(settings, metadata)
        self._judge = judge
        if settings.get("unsafe_code"):
            metadata["sandbox"] = _require_sandbox()
        load = function_of(settings["custom_dataset"])
        split, documents = load_documents(settings["task"], load, options, metadata)
        self._documents = _Documents(documents)
        provenance = json.loads(documents.info.description)
        metadata["provenance"] = provenance
        if judge is not None and judge.facts and not provenance.get("judge_free"):
            metadata["judge"] = judge.facts
        changes: dict[str, Any] = {
            "metadata": metadata,
            "test_split": split,
            # lm-eval keeps a question out of its own examples only if their split is named.
            "fewshot_split": split,
            "metric_list": _metric_list(metrics),
            "process_results": function_of(settings["process_results"]),
            "generation_kwargs": generation_kwargs(settings, metadata),
        }
        if "system" not in documents.features:
            changes["description"] = ""  # lm-eval would take the name for the text
        if metadata.get("blank_image") and not settings.get("doc_to_image"):
            changes["doc_to_image"] = settings.get("blank_image")
        known = {name: settings[name] for name in settings if name not in _OWN_SETTINGS}
        super().__init__(config=known | changes)

    def download(self, *args: object, **kwargs: object) -> None:
        """Hand the documents to lm-eval, which would download them here."""
        del args, kwargs
        self.dataset = {self.config.test_split: self._documents}

    def fewshot_docs(self) -> list[Mapped]:
        """Return the documents that may serve as examples: those with a right answer to show."""
        return [doc for doc in self._documents if doc.get("target")]

    def fewshot_context(
        self,
        doc: Mapped,
        num_fewshot: int,
        *args: object,
        **kwargs: object,
    ) -> Context:
        """Build the prompt; base models get system message, question and cue, in this order."""
        context: Context = super().fewshot_context(doc, num_fewshot, *args, **kwargs)
        chat = kwargs.get("apply_chat_template") and kwargs.get("chat_template")
        if chat or not isinstance(context, str):
            return context
        system = doc.get("system", "")
        cue = doc.get("cue", "")
        if system and context.startswith(system):
            question = context.removeprefix(system)
            context = f"{system}\n\n{question}"
        return f"{context}\n\n{cue}" if cue else context

    def construct_requests(
        self,
        doc: Mapped,
        ctx: Context,
        **kwargs: object,
    ) -> Instance:
        """Build the request with its pictures.

        lm-eval gives an API pictures only if the first question of the run has one.
        """
        request = super().construct_requests(doc, ctx, **kwargs)
        if isinstance(ctx, JsonChatStr) and len(request.arguments) > 2:
            chat = with_pictures(ctx, pictures_of(doc))
            request.arguments = (chat, request.arguments[1])
        return request

    def build_all_requests(self, **kwargs: object) -> None:
        """Build the requests of this process."""
        super().build_all_requests(**kwargs)
        self.breakdowns.by_variant.clear()
        _clock.start()

    def apply_filters(self) -> None:
        """Count tokens, replace pictures in requests by their hash, then read the responses."""
        # The model has answered all tasks when the first one is read.
        seconds = _clock.stop()
        for request in self.instances:
            chat, *others = request.args
            if isinstance(chat, JsonChatStr):
                request.arguments = (without_pictures(chat), *others)
        response_tokens = token_counts(self.lm, responses_of(self.instances))
        usage = usage_of(self.instances, self.lm, response_tokens)
        usage["seconds_of_all_tasks"] = seconds
        if self.config.doc_to_image is not None:
            usage["estimated"] = True  # pictures are not counted
        self.config.metadata["usage"] = usage
        self.config.metadata["cut_off"] = self._mark_cut_offs(response_tokens)
        if self._predicts_only:
            for request in self.instances:
                request.filtered_resps["none"] = request.resps
            return
        for variant in VARIANTS:
            self._read_responses(variant)

    def _read_responses(self, variant: str) -> None:
        """Run programs or ask a judge, if the task asks for that, then read."""
        docs = [request.doc for request in self.instances]
        rows: Any = [request.resps for request in self.instances]
        if self._programs_of is not None:
            programs_of = functools.partial(self._programs_of, variant=variant)
            rows = with_outcomes(programs_of, docs, rows, run_programs)
        if self._judge is not None:
            rows = self._judge.apply(rows, docs)
        for request, items in zip(self.instances, rows, strict=True):
            readings = []
            for item, response in zip(items, request.resps, strict=True):
                reading = self._read(request.doc, item, variant=variant)
                if response is not None:
                    reading = mark_reading(reading, response)
                readings.append(SampleReading(reading))
            request.filtered_resps[variant] = readings

    def _mark_cut_offs(self, response_tokens: Sequence[int] | None) -> dict[str, object]:
        """Mark cut-off responses where the model does not; return the limit and who tells."""
        told_by = "text"
        if self.tells_cut_offs:
            told_by = "model"
        elif response_tokens is not None:
            told_by = "tokens"
            mark_full_responses(self.instances, response_tokens)
        return {"limit": self.config.generation_kwargs["max_gen_toks"], "told_by": told_by}

    def override_metric(self, metric_name: str) -> None:
        """Run no program and ask no judge under `--predict_only`, for which lm-eval calls this."""
        super().override_metric(metric_name)
        self._predicts_only = True

    def process_results(self, doc: Mapped, results: Sequence[Any]) -> Values:
        """Compare what was read in one document's responses with the truth."""
        if self._predicts_only:
            return {"bypass": None, "cut_off": average(map(is_cut_off, results[0]))}
        readings = [text.reading for text in results[0]]
        values: Values = self.config.process_results(doc, readings)
        self.breakdowns.add(doc, readings, values)
        # lm-eval knows no standard error of our means, but takes any metric of this name for one.
        stderrs = {f"{name}_stderr": values[name] for name in self._with_stderr}
        return values | stderrs


class ConversationTask(FinTask):
    """A task whose documents are turns of conversations, asked with the model's own answers before.

    Documents have `index` (of the conversation) and `turn` (from 1). lm-eval sends the first turns;
    the others follow, one round per turn, before the responses are read.
    """

    _is_asked = False

    @property
    def instances(self) -> list[Instance]:
        """The requests: first turns for lm-eval to send, all of them once they were sent."""
        requests: list[Instance] = super().instances
        if self._is_asked:
            return requests
        return [request for request in requests if request.doc["turn"] == 1]

    def build_all_requests(self, **kwargs: Any) -> None:
        """Build the requests of all turns."""
        n_processes = kwargs["world_size"]
        if n_processes > 1:
            raise ConfigError(
                f"{self.config.task}: expected one process, got {n_processes}: the turns of a "
                "conversation follow each other. Run it without `accelerate launch`, or put the "
                "model on a server."
            )
        self._is_asked = False
        self._template = kwargs["chat_template"] if kwargs["apply_chat_template"] else None
        self._instruction = kwargs["system_instruction"]
        super().build_all_requests(**kwargs)

    def apply_filters(self) -> None:
        """Ask the later turns, then read the responses to all."""
        self._is_asked = True
        conversations: dict[str, list[Instance]] = defaultdict(list)
        for request in self.instances:
            conversation = conversations[request.doc["index"]]
            conversation.append(request)
            if request.doc["turn"] != len(conversation):
                raise ConfigError(
                    f"{self.config.task}: expected whole conversations, got a part of one in "
                    "--samples."
                )
        most_turns = max(map(len, conversations.values()))
        for n_turns in range(2, most_turns + 1):
            longer = [turns for turns in conversations.values() if len(turns) >= n_turns]
            self._ask([turns[:n_turns] for turns in longer])
        super().apply_filters()

    def _ask(self, conversations: Iterable[list[Instance]]) -> None:
        """Ask the last turn of each conversation; the turns before have responses."""
        sent = []
        owners = []
        for *before, request in conversations:
            for repeat in range(request.repeats):
                context = self._context(before, repeat, request.doc)
                metadata = request.metadata
                again = self.construct_requests(request.doc, context, metadata=metadata)
                request.arguments = again.arguments
                sent.append(again)
                owners.append(request)
        responses = self.lm.generate_until(sent)
        for request, response in zip(owners, responses, strict=True):
            request.resps.append(response)

    def _context(
        self,
        before: Iterable[Instance],
        repeat: int,
        doc: Mapped,
    ) -> Context:
        transcript = ""
        messages = []
        if self._instruction:
            messages.append({"role": "system", "content": self._instruction})
        for request in before:
            question = request.doc["prompt"]
            answer = request.resps[repeat] or ""
            messages.append({"role": "user", "content": question})
            messages.append({"role": "assistant", "content": answer})
            transcript += f"{question}\n\n{doc['cue']} {answer}\n\n"
        if self._template is None:  # a base model goes on with a transcript
            return f"{transcript}{doc['prompt']}\n\n{doc['cue']}".rstrip()
        messages.append({"role": "user", "content": doc["prompt"]})
        context: Context = self._template(messages)
        return context


def _metric_list(metrics: Metrics) -> list[dict[str, object]]:
    """Return how lm-eval averages the metrics, each mean with its standard error."""
    entries = []
    for name, metric in metrics.items():
        if isinstance(metric, Metric):
            entries.append(_entry(name, metric.aggregate, metric.higher_is_better))
            continue
        # In a group lm-eval calculates with means: the text "N/A" would end the run, NaN does not.
        mean = average if name in _GROUP_METRICS else _shown(average)
        entries.append(_entry(name, mean, metric))
        entries.append(_entry(f"{name}_stderr", _shown(standard_error), False))
    return entries


def _entry(
    name: str,
    aggregate: Aggregate,
    higher_is_better: bool | None,
) -> dict[str, object]:
    return {
        "metric": name,
        "aggregation": aggregate,
        "higher_is_better": higher_is_better,
    }


def _shown(aggregate: Callable[[Sequence[Any]], float]) -> Aggregate:
    def aggregate_or_text(values: Sequence[Any]) -> float | str:
        value = aggregate(values)
        return value if value == value else "N/A"

    return aggregate_or_text


def _require_sandbox() -> dict[str, str]:
    settings = Settings.from_environ()
    workers = settings.sandbox_workers
    with sandbox.open_runner(tier=settings.sandbox, workers=workers) as runner:
        return {"tier": runner.tier, "reason": runner.reason}


def _evaluate_with_checks(
    evaluate: Callable[..., Any],
    lm: LM,
    task_dict: Mapping[str, Any],
    *args: object,
    **kwargs: object,
) -> Any:
    """Check our tasks before the run, give them the model, and warn of cut-off responses."""
    tasks = task_dict.get("tasks", {})
    own_tasks = {name: task for name, task in tasks.items() if isinstance(task, FinTask)}
    if not own_tasks:
        return evaluate(lm, task_dict, *args, **kwargs)
    _refuse_pictures(lm, own_tasks)
    with marking_cut_offs(lm) as tells:
        for task in own_tasks.values():
            task.lm = lm
            # A cache of earlier runs may hold responses without the mark.
            task.tells_cut_offs = tells and lm is model_of(lm)
        results = evaluate(lm, task_dict, *args, **kwargs)
    rows_by_task = {}
    for name, task in own_tasks.items():
        rows_by_task[name] = dict(task.breakdowns.by_variant)
    add_breakdowns(lm, rows_by_task, results)
    # Only the first of several processes has results.
    warning = warning_of(results, own_tasks) if results else ""
    if warning:
        _log.warning("fin-tasks: %s", warning)
    return results


def _refuse_pictures(lm: LM, tasks: Mapping[str, FinTask]) -> None:
    """Refuse figure questions for text models in a sentence that helps."""
    if getattr(lm, "MULTIMODAL", False):
        return
    with_pictures = [name for name, task in tasks.items() if task.config.doc_to_image]
    if with_pictures:
        raise ConfigError(
            f"{', '.join(with_pictures)}: these tasks show pictures, and this model takes text "
            "only. Take a text task, as xfinbench_text or dynostock_text, or a model that sees: "
            "hf-multimodal, vllm-vlm, or an API model with --apply_chat_template."
        )


_usual_excepthook = sys.excepthook


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
