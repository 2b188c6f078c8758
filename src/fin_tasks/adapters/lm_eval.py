"""Our tasks in lm-eval: two filters that read answers, and a task class that keeps the books.

Scores come from the filters and from the `process_results` of a task file alone. The class notes what
results should say of a run, and marks responses that were cut off.
"""

import json
import logging
import time
from collections import UserList, defaultdict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeAlias

from lm_eval.api.filter import Filter
from lm_eval.api.registry import register_filter
from lm_eval.api.task import ConfigurableTask

from fin_tasks.answers.cut_off import CutOffResponse, FailedResponse
from fin_tasks.answers.text import is_cut_off
from fin_tasks.benchmarks import benchmark_named
from fin_tasks.benchmarks.contract import id_of
from fin_tasks.benchmarks.scored_task import (
    SampleReading,
    Values,
    document_values,
    read_responses,
    summarize,
)
from fin_tasks.benchmarks.task_file import Mapped, TaskFile, pictures_of
from fin_tasks.data.documents import hash_of
from fin_tasks.errors import FinTasksError
from fin_tasks.interrupt import on_interrupt
from fin_tasks.sandbox import shared_runner
from fin_tasks.settings import Settings
from fin_tasks.stats.averages import average

from .lm_eval_pictures import with_pictures, without_pictures
from .lm_eval_private import (
    ASK,
    LM,
    CachingLM,
    Instance,
    JsonChatStr,
    forget_failures,
    marking_cut_offs,
    token_counts,
    true_in_all_processes,
)

if TYPE_CHECKING:
    from fin_tasks.judging.judge import JudgeStep

_FULL_SHARE = 0.99
"""The share of the limit from which a response is full: counted again, it may have a few tokens less."""
_MOST_CUT_OFF = 0.02
"""A larger share of cut-off responses is a warning."""
_ROOM_TO_THINK = 16_384
"""Tokens that suffice for most answers of models that reason."""
_CHARACTERS_PER_TOKEN = 4
_KEPT = "replies so far are in the cache; responses are kept only by --use_cache"
_log = logging.getLogger(__name__)

Context: TypeAlias = str | JsonChatStr
"""A prompt, or the messages of a chat."""


# --- Filters ---


class _Reader(Filter):  # type: ignore[misc]
    """Reads the answers in all responses of a task, once its programs ran and its judge was asked.

    Args:
        benchmark: Name of the benchmark whose `score.py` reads.
        judge: The rubric by which a judge scores responses, if one does.
        answer_reader: Whether a model may read the answers that the rules do not find.
        step: Asks the model that the metadata of a task name; `FinTask` hands it over. Without it,
            the environment names the judge, and no model reads answers.
    """

    scoring = ""

    def __init__(
        self,
        *,
        benchmark: str,
        judge: str = "",
        answer_reader: bool = False,
        step: "JudgeStep | None" = None,
    ) -> None:
        scorer: Any = benchmark_named(benchmark).scorer
        self.scorer = scorer
        self.step = step
        del answer_reader
        if judge and step is None:
            from fin_tasks.judging.judge import JudgeStep, judge_from
            from fin_tasks.judging.rubric import load_rubric

            model = judge_from({}, Settings.from_environ())
            self.step = JudgeStep(scorer.judge_item, load_rubric(judge), model)

    def apply(
        self, resps: Sequence[Sequence[str | None]], docs: Sequence[Mapped]
    ) -> list[list[SampleReading]]:
        """Return the readings of each document's responses."""
        responses = []
        for texts in resps:
            # An empty text may be marked as cut off, so it must stay the same object.
            responses.append(["" if text is None else text for text in texts])
        try:
            rows = read_responses(
                self.scorer, self.scoring, docs, responses, step=self.step
            )
        except Exception as error:
            # lm-eval keeps nothing of a run whose filter raises.
            raise FinTasksError(
                f"scoring failed: {error!r}. The responses are kept in "
                f"{_keep(docs, responses)}: score them with `fin-tasks replay task`."
            ) from error
        return [list(map(SampleReading, row)) for row in rows]


def _keep(docs: Sequence[Mapped], responses: Sequence[Sequence[str]]) -> str:
    """Write responses to a file as `fin-tasks replay task` reads it, and return its path."""
    folder = Settings.from_environ().cache_dir / "unscored"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"responses-{time.time_ns()}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for doc, texts in zip(docs, responses, strict=True):
            line = {"id": id_of(doc), "response": list(texts)}
            file.write(json.dumps(line) + "\n")
    return str(path)


@register_filter("fin_tasks_paper")
class PaperReader(_Reader):
    """Reads as the authors of the benchmark do, oddities included."""

    scoring = "paper"


@register_filter("fin_tasks_robust")
class RobustReader(_Reader):
    """Reads with care; what a broken sandbox, judge or request leaves open is unscored."""

    scoring = "robust"


# --- Tasks ---


class _Documents(UserList[Mapped]):
    """Documents as dicts: lm-eval reads each four times, and Arrow makes a new dict every time."""

    features: Mapped


class FinTask(ConfigurableTask):  # type: ignore[misc]
    """A task whose results say how it was asked: provenance, sandbox, judge, tokens, cut-off responses.

    They are in `configs.<task>.metadata` of the results file.
    """

    answer: Callable[[LM, Sequence[Instance]], list[str]] | None = None
    """Asks the model in the task's own way, as conversations do, in place of `generate_until`."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.file = TaskFile(config["task"], config)
        metadata = dict(config.get("metadata") or {})
        metadata.setdefault("version", self.file.benchmark.version)
        metadata["benchmark"] = self.file.benchmark.name
        # Errors come before the model answers.
        step = self.file.model_step(metadata)
        if self.file.runs_programs:
            metadata["sandbox"] = shared_runner().facts
        if step and step.judge:
            metadata["judge"] = step.facts
        elif step:
            _log.warning(
                "no judge is named (metadata judge_model or FIN_TASKS_JUDGE_MODEL), so "
                "responses that need one stay unscored."
            )
        settings = {**config, "metadata": metadata}
        if "sampling" in metadata:
            settings["generation_kwargs"] = self.file.generation_kwargs(metadata)
        settings.pop("class", None)
        if metadata.get("blank_image"):
            from fin_tasks.benchmarks.xfinbench.data import blank_image

            settings.setdefault("doc_to_image", blank_image)
        self._asks_model = step is not None and step.judge is not None
        self._predicts_only = False
        self._figures_by_scoring: dict[str, list[Values]] = defaultdict(list)
        self._unshared: dict[str, set[str]] = {}
        self._measured: set[str] = set()
        self.lm: LM = None
        self.tells_cut_offs = False
        self.seconds = 0.0
        super().__init__(config=settings)
        for ensemble in self._filters:
            for make_filter in ensemble.filters:
                if issubclass(make_filter.func, _Reader):
                    make_filter.keywords["step"] = step

    def download(self, *_: object, **__: object) -> None:
        """Load the documents once, and note their provenance."""
        dataset = self.file.load_documents(self.config.metadata)
        if "system" not in dataset.features and self.config.description == "system":
            self.config.description = ""  # lm-eval would take the name for the text
        provenance = json.loads(dataset.info.description)
        wording = [self.config.doc_to_text, self.config.description]
        if wording not in (["prompt", "system"], ["prompt", ""]):
            # Reports compare only results with the same prompts.
            texts = [str(getattr(text, "__qualname__", text)) for text in wording]
            provenance["prompts"] = {"set": "own", "sha256": hash_of(*texts)}
        self.config.metadata["provenance"] = provenance
        documents = _Documents(dataset.to_list())
        documents.features = dataset.features
        self.dataset = {self.config.test_split: documents}

    def fewshot_docs(self) -> list[Mapped]:
        """Return the documents that may serve as examples: those with a right answer to show."""
        docs = super().fewshot_docs()
        return [doc for doc in docs if doc.get("target")]

    def fewshot_context(self, doc: Mapped, *args: object, **kwargs: object) -> Context:
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
        self, doc: Mapped, ctx: Context, **kwargs: object
    ) -> Instance:
        """Build the request with its pictures, for `_ask` instead of lm-eval's `generate_until`.

        lm-eval gives an API pictures only if the first question of the run has one.
        """
        request = super().construct_requests(doc, ctx, **kwargs)
        request.request_type = ASK
        if isinstance(ctx, JsonChatStr) and len(request.arguments) > 2:
            chat = with_pictures(ctx, pictures_of(doc))
            request.arguments = (chat, request.arguments[1])
        return request

    def build_all_requests(self, **kwargs: Any) -> None:
        """Build the requests of this process."""
        super().build_all_requests(**kwargs)
        self._figures_by_scoring.clear()
        for request in self._instances:
            request.asker = self

    def apply_filters(self) -> None:
        """Replace pictures in requests by their hash, count tokens, then read the responses."""
        for request in self._instances:
            chat, *others = request.args
            if isinstance(chat, JsonChatStr):
                request.arguments = (without_pictures(chat), *others)
        self._note_tokens()
        self._warn_of_cut_offs()
        if self._predicts_only:
            for request in self._instances:
                request.filtered_resps["none"] = request.resps
            return
        with on_interrupt(_KEPT) if self._asks_model else nullcontext():
            super().apply_filters()
        self._unshared = {}
        if getattr(self.lm, "world_size", 1) > 1:
            self._find_unshared_metrics()

    def _find_unshared_metrics(self) -> None:
        """Leave out the metrics that some process has for none of its documents.

        lm-eval gathers metrics from all processes by name, and a missing name would end the run.
        """
        names = list(self.aggregation())
        for ensemble in self._filters:
            known: set[str] = set()
            for request in self._instances:
                results = [request.filtered_resps[ensemble.name]]
                known |= super().process_results(request.doc, results).keys()
            flags = [name in known for name in names]
            are_shared = true_in_all_processes(self.lm, flags)
            unshared = set()
            for name, is_shared in zip(names, are_shared, strict=True):
                if not is_shared:
                    unshared.add(name)
            self._unshared[ensemble.name] = unshared
            if unshared and self.lm.rank == 0:
                _log.warning(
                    "%s: no value of %s under %s, as a process has no document that is scored. "
                    "`fin-tasks report` computes it from the samples.",
                    self.config.task,
                    ", ".join(sorted(unshared)),
                    ensemble.name,
                )

    def _note_tokens(self) -> None:
        """Note tokens and seconds, and mark full responses if the model does not tell which were cut off.

        Each process is taken to use as many tokens as this one; pictures are not counted.
        """
        prompts = []
        texts = []
        for request in self._instances:
            prompt = getattr(request.args[0], "prompt", request.args[0])
            for response in request.resps:
                prompts.append(prompt)
                texts.append(response or "")
        limit = self.config.generation_kwargs["max_gen_toks"]
        told_by = "model" if self.tells_cut_offs else "text"
        prompt_tokens = token_counts(self.lm, prompts)
        response_tokens = token_counts(self.lm, texts)
        is_estimated = prompt_tokens is None or response_tokens is None
        if response_tokens is not None and not self.tells_cut_offs:
            told_by = "tokens"
            counts = iter(response_tokens)
            for request in self._instances:
                for number, response in enumerate(request.resps):
                    if next(counts) >= _FULL_SHARE * limit:
                        request.resps[number] = CutOffResponse(response)
        if prompt_tokens is None or response_tokens is None:
            prompt_tokens = [sum(map(len, prompts)) // _CHARACTERS_PER_TOKEN]
            response_tokens = [sum(map(len, texts)) // _CHARACTERS_PER_TOKEN]
        n_processes = getattr(self.lm, "world_size", 1)
        has_pictures = bool(self.config.doc_to_image)
        self.config.metadata["usage"] = {
            "prompt_tokens": n_processes * sum(prompt_tokens),
            "response_tokens": n_processes * sum(response_tokens),
            "estimated": is_estimated or n_processes > 1 or has_pictures,
            "seconds_of_all_tasks": self.seconds,
        }
        self.config.metadata["cut_off"] = {"limit": limit, "told_by": told_by}

    def _warn_of_cut_offs(self) -> None:
        """Warn if many responses were cut off."""
        n_responses = 0
        n_cut_off = 0
        for request in self._instances:
            for response in request.resps:
                n_responses += 1
                n_cut_off += response is not None and is_cut_off(response)
        if n_cut_off <= _MOST_CUT_OFF * n_responses:
            return
        limit = self.config.generation_kwargs["max_gen_toks"]
        _log.warning(
            "%s: %s of %s responses were cut off at %s tokens. They count as they are, most of "
            "them as wrong, so the scores are lower bounds. Run again with --gen_kwargs "
            "max_gen_toks=%d",
            self.config.task,
            f"{n_cut_off:,}",
            f"{n_responses:,}",
            f"{limit:,}",
            max(_ROOM_TO_THINK, 4 * limit),
        )

    def override_metric(self, metric_name: str) -> None:
        """Run no program and ask no judge under `--predict_only`, for which lm-eval calls this."""
        del metric_name
        self._predicts_only = True

    def process_results(self, doc: Mapped, results: Sequence[Any]) -> Values:
        """Return the metrics of the file that one document has, and note its figures of parts."""
        if self._predicts_only:
            return {"cut_off": average(map(is_cut_off, results[0]))}
        values = super().process_results(doc, results)
        self._measured |= values.keys()
        metric_names = set(self.aggregation())
        readings = [
            text.reading for text in results[0] if isinstance(text, SampleReading)
        ]
        if readings:
            fields = [reading.to_dict() for reading in readings]
            figures = document_values(self.file.benchmark, doc, fields, values)
            self._figures_by_scoring[readings[0].scoring].append(figures)
            metric_names -= self._unshared.get(readings[0].scoring, set())
        return {name: value for name, value in values.items() if name in metric_names}

    def dump_config(self) -> dict[str, Any]:
        """Return the settings for the results file, with the figures of parts.

        With several processes each has a share of the documents; reports then compute the figures
        from the samples.
        """
        if getattr(self.lm, "world_size", 1) == 1:
            self.config.metadata["breakdowns"] = {
                scoring: summarize(self.file.benchmark, rows)
                for scoring, rows in self._figures_by_scoring.items()
            }
            missing = self.aggregation().keys() - self._measured
            if missing and self._measured and not self._predicts_only:
                text = "%s: no document has a value of %s. Is the metric's name right?"
                _log.warning(text, self.config.task, ", ".join(sorted(missing)))
        config: dict[str, Any] = super().dump_config()
        return config


def _ask(lm: LM, requests: Sequence[Instance]) -> list[str]:
    """Return the model's responses to requests of our tasks, those that were cut off or failed marked as such."""
    started = time.monotonic()
    model = lm
    while isinstance(model, CachingLM):  # `--use_cache` wraps the model
        model = model.lm
    responses = [""] * len(requests)
    positions_by_conversation: dict[FinTask | None, list[int]] = {}
    for position, request in enumerate(requests):
        conversation = request.asker if request.asker.answer else None
        positions_by_conversation.setdefault(conversation, []).append(position)
    with marking_cut_offs(model) as tells_cut_offs:
        for conversation, positions in positions_by_conversation.items():
            group = [requests[position] for position in positions]
            ask = conversation.answer if conversation else None
            texts = ask(lm, group) if ask else lm.generate_until(group)
            if any(isinstance(text, FailedResponse) for text in texts):
                forget_failures(lm, group, texts)
            for position, text in zip(positions, texts, strict=True):
                responses[position] = text
    for request in requests:
        request.asker.lm = model
        # A cache of earlier runs may hold responses without the mark.
        request.asker.tells_cut_offs = tells_cut_offs and lm is model
        request.asker.seconds = round(time.monotonic() - started, 3)
    return responses


# `evaluate` calls the method of the model that a request names as its type. So nothing of lm-eval is
# replaced, and the method knows the model, which tasks never see.
for _kind in (LM, CachingLM):
    setattr(_kind, ASK, _ask)
