"""Our task class in lm-eval: requests with pictures, and responses as readings."""

import json
import logging
from collections import UserList, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeAlias

from lm_eval.api.task import ConfigurableTask

from fin_tasks.answers.cut_off import is_cut_off
from fin_tasks.answers.types import Reading
from fin_tasks.benchmarks.breakdowns import Values, document_values
from fin_tasks.benchmarks.scored_task import VARIANTS, read_responses
from fin_tasks.benchmarks.task_file import Mapped, TaskFile, pictures_of
from fin_tasks.interrupt import on_interrupt
from fin_tasks.sandbox import run_programs, shared_runner
from fin_tasks.stats.averages import Metric, average, standard_error

from .lm_eval_pictures import with_pictures, without_pictures
from .lm_eval_private import LM, Instance, JsonChatStr, token_counts
from .lm_eval_tokens import Clock, mark_full_responses, responses_of, usage_of

if TYPE_CHECKING:
    from datasets import Dataset

_GROUP_METRICS = ("acc", "acc_err", "score")
"""The metrics that groups average."""
_OWN_SETTINGS = (
    "answer_reader",
    "blank_image",
    "class",
    "judge",
    "paper_sampling",
    "vlmevalkit",
)
"""The settings of a task file that lm-eval does not know."""
_KEPT = "replies so far are in the cache; responses are kept only by --use_cache"
_log = logging.getLogger(__name__)
_clock = Clock()

Aggregate = Callable[[Sequence[Any]], float | str]
Context: TypeAlias = str | JsonChatStr
"""A prompt, or the messages of a chat."""


class SampleReading(str):
    """A reading as the JSON text that lm-eval's samples hold, with the reading itself.

    lm-eval writes everything in `filtered_resps` as text; of a dict it would be Python's.
    """

    reading: Reading

    def __new__(cls, reading: Reading) -> "SampleReading":
        """Write a reading as text."""
        fields = json.dumps(reading.to_dict(), ensure_ascii=False)
        text = super().__new__(cls, fields)
        text.reading = reading
        return text

    def __getnewargs__(self) -> tuple[Reading]:  # type: ignore[override]
        """Return what `pickle` makes the text of, as processes exchange samples."""
        return (self.reading,)


class _Documents(UserList[Mapped]):
    """Documents as dicts: lm-eval reads each four times, and Arrow makes a new dict every time."""

    def __init__(self, dataset: "Dataset") -> None:
        super().__init__(dataset.to_list())
        self.features = dataset.features


class FinTask(ConfigurableTask):  # type: ignore[misc]
    """A task of ours in lm-eval, with what lm-eval's own task class lacks.

    What becomes of a response under `paper` and `robust` is decided by the benchmark's scorer, and
    by a judge or a model that reads answers. Provenance, sandbox tier, judge and token counts go
    into `configs.<task>.metadata` of the results file.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        file = TaskFile(config["task"], config)
        metadata = dict(file.config["metadata"])
        metrics = file.scorer.metrics_of(**file.options)
        self.file = file
        self.lm: LM = None
        self.tells_cut_offs = False
        self.figures: dict[str, list[Values]] = defaultdict(list)
        self._predicts_only = False
        self._with_stderr = [
            name for name in metrics if not isinstance(metrics[name], Metric)
        ]
        # Errors come before the model answers.
        self._step = file.model_step(metadata)
        if file.runs_programs:
            metadata["sandbox"] = shared_runner().facts
        split, documents = file.load_split(metadata)
        self._documents = _Documents(documents)
        provenance = json.loads(documents.info.description)
        metadata["provenance"] = provenance
        if self._step:
            if self._step.judge:
                metadata["judge"] = self._step.facts
            else:
                _log.warning(
                    "no judge is named (metadata judge_model or FIN_TASKS_JUDGE_MODEL), so "
                    "responses that need one stay unscored."
                )
        settings = {
            **file.config,
            "metadata": metadata,
            "test_split": split,
            # lm-eval keeps a question out of its own examples only if their split is named.
            "fewshot_split": split,
            "metric_list": _metric_list(metrics),
            "generation_kwargs": file.generation_kwargs(metadata),
            # Without it, lm-eval looks for each metric on a hub.
            "process_results": file.scorer.metric_values,
        }
        if "system" not in documents.features:
            settings["description"] = ""  # lm-eval would take the name for the text
        if metadata.get("blank_image"):
            settings.setdefault("doc_to_image", settings.get("blank_image"))
        for name in _OWN_SETTINGS:
            settings.pop(name, None)
        super().__init__(config=settings)

    def download(
        self,
        *_: object,
        **__: object,
    ) -> None:
        """Hand the documents to lm-eval, which would download them here."""
        self.dataset = {self.config.test_split: self._documents}

    def fewshot_docs(self) -> list[Mapped]:
        """Return the documents that may serve as examples: those with a right answer to show."""
        return [doc for doc in self._documents if doc.get("target")]

    def fewshot_context(
        self,
        doc: Mapped,
        *args: object,
        **kwargs: object,
    ) -> Context:
        """Build the prompt; base models get system message, question and cue, in this order."""
        context = super().fewshot_context(doc, *args, **kwargs)
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
        self.figures.clear()
        _clock.start()

    def apply_filters(self) -> None:
        """Replace pictures in requests by their hash, count tokens, then read the responses."""
        # The model has answered all tasks when the first one is read.
        seconds = _clock.stop()
        for request in self.instances:
            chat, *others = request.args
            if isinstance(chat, JsonChatStr):
                request.arguments = (without_pictures(chat), *others)
        self._count_tokens(seconds)
        if self._predicts_only:
            for request in self.instances:
                request.filtered_resps["none"] = request.resps
            return
        for variant in VARIANTS:
            self._read_responses(variant)

    def _count_tokens(self, seconds: float) -> None:
        """Note tokens and seconds in the metadata; mark the responses that reach the limit of tokens."""
        response_tokens = token_counts(self.lm, responses_of(self.instances))
        usage = usage_of(self.instances, self.lm, response_tokens)
        usage["seconds_of_all_tasks"] = seconds
        if self.config.doc_to_image:
            usage["estimated"] = True  # pictures are not counted
        self.config.metadata["usage"] = usage
        told_by = "model" if self.tells_cut_offs else "text"
        if response_tokens is not None and not self.tells_cut_offs:
            told_by = "tokens"
            mark_full_responses(self.instances, response_tokens)
        limit = self.config.generation_kwargs["max_gen_toks"]
        self.config.metadata["cut_off"] = {"limit": limit, "told_by": told_by}

    def _read_responses(self, variant: str) -> None:
        """Run programs and ask a judge, if the task asks for that, then read."""
        docs = []
        responses = []
        for request in self.instances:
            docs.append(request.doc)
            # An empty text may be marked as cut off, so it must stay the same object.
            texts = ["" if text is None else text for text in request.resps]
            responses.append(texts)
        interruptible = on_interrupt(_KEPT) if self._step else nullcontext()
        with interruptible:
            readings = read_responses(
                self.file.scorer,
                variant,
                docs,
                responses,
                run_programs=run_programs if self.file.runs_programs else None,
                step=self._step,
            )
        for request, row in zip(self.instances, readings, strict=True):
            request.filtered_resps[variant] = list(map(SampleReading, row))

    def override_metric(self, metric_name: str) -> None:
        """Run no program and ask no judge under `--predict_only`, for which lm-eval calls this."""
        super().override_metric(metric_name)
        self._predicts_only = True

    def process_results(
        self,
        doc: Mapped,
        results: Sequence[Any],
    ) -> Values:
        """Compare what was read in one document's responses with the truth."""
        if self._predicts_only:
            return {"bypass": None, "cut_off": average(map(is_cut_off, results[0]))}
        readings = [text.reading for text in results[0]]
        values = self.file.scorer.metric_values(doc, readings)
        fields = [reading.to_dict() for reading in readings]
        self.figures[readings[0].variant].append(
            document_values(self.file.benchmark, doc, fields, values)
        )
        # lm-eval knows no standard error of our means, but takes any metric of this name for one.
        stderrs = {f"{name}_stderr": values[name] for name in self._with_stderr}
        return {**values, **stderrs}


def _metric_list(metrics: Mapping[str, bool | Metric]) -> list[dict[str, object]]:
    """Return how lm-eval averages the metrics, each mean with its standard error."""
    entries = []
    for name, metric in metrics.items():
        if isinstance(metric, Metric):
            entries.append((name, metric.aggregate, metric.higher_is_better))
            continue
        # In a group lm-eval calculates with means: the text "N/A" would end the run, NaN does not.
        mean = average if name in _GROUP_METRICS else _shown(average)
        entries.append((name, mean, metric))
        entries.append((f"{name}_stderr", _shown(standard_error), False))
    keys = ("metric", "aggregation", "higher_is_better")
    return [dict(zip(keys, entry, strict=True)) for entry in entries]


def _shown(aggregate: Callable[[Sequence[Any]], float]) -> Aggregate:
    def aggregate_or_text(values: Sequence[Any]) -> float | str:
        value = aggregate(values)
        return value if value == value else "N/A"

    return aggregate_or_text
