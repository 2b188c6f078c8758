"""Our task classes in lm-eval, and patches for two messages. `lm_eval_filters.py` has the filters."""

import base64
import functools
import hashlib
import json
import logging
import re
import sys
import time
from collections import UserList, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from lm_eval import evaluator
from lm_eval.api.filter import FilterEnsemble
from lm_eval.api.task import ConfigurableTask
from lm_eval.models.api_models import JsonChatStr

from fin_tasks import sandbox
from fin_tasks.adapters.lm_eval_breakdowns import BreakdownRows, add_breakdowns
from fin_tasks.adapters.lm_eval_cut_off import mark_full_responses, mark_readings, warning_of
from fin_tasks.adapters.lm_eval_filters import (
    AskAnswerReader,
    AskJudge,
    SampleReading,
    filter_list,
)
from fin_tasks.adapters.lm_eval_private import marking_cut_offs, model_of, token_counts
from fin_tasks.adapters.task_defaults import (
    complete,
    function_of,
    load_documents,
)
from fin_tasks.adapters.task_file import generation_kwargs, pictures_of
from fin_tasks.answers.cut_off import is_cut_off
from fin_tasks.endpoints.messages import picture_url
from fin_tasks.errors import ConfigError, FinTasksError
from fin_tasks.settings import Settings
from fin_tasks.stats.averages import Metric, average, standard_error

_IN_GROUPS = ("acc", "acc_err", "score")  # metrics that groups average
_IMAGE = "<image>\n"  # marks a picture in a prompt
_log = logging.getLogger(__name__)
_clock: dict[str, float] = {}  # `start` and `seconds` from the last request to the first response


class FinTask(ConfigurableTask):  # type: ignore[misc]
    """A YAML task of ours in lm-eval, with what lm-eval's own task class lacks.

    `metrics` names the metrics of the task's options; None leaves a document out of a mean. `paper_sampling` replaces
    generation settings if the metadata says `sampling: paper`. `reader`, `programs`, and `judge` or `answer_reader`
    say what becomes of a response, under `paper` and `robust`.
    Provenance, sandbox tier, judge and token counts go into `configs.<task>.metadata` of the results file.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        config = complete({name: value for name, value in config.items() if name != "class"})
        for name in ("custom_dataset", "process_results"):
            config[name] = function_of(config[name])
        metadata, options = dict(config["metadata"]), config["dataset_kwargs"]
        metrics: dict[str, bool | Metric] = function_of(config.pop("metrics"))(**options)
        config["metric_list"] = [
            entry for name, metric in metrics.items() for entry in _declare(name, metric)
        ]
        self._with_stderr = [name for name, one in metrics.items() if not isinstance(one, Metric)]
        self.breakdowns = BreakdownRows(config["task"])
        self._lm: Any = None
        self._tells_cut_offs = False
        draw_blank = config.pop("blank_image", None)
        if metadata.get("blank_image") and config.get("doc_to_image") is None:
            config["doc_to_image"] = draw_blank
        config["generation_kwargs"] = generation_kwargs(config, metadata)
        config.pop("paper_sampling", None)
        config.pop("vlmevalkit", None)
        judge = config.pop("judge", None)
        answer_reader = config.pop("answer_reader", None)
        reader = function_of(config.pop("reader"))
        programs = config.pop("programs", None)
        config["filter_list"] = filter_list(reader, programs, judge or answer_reader)
        # Errors come before the model answers.
        self._judge: AskJudge | None = None
        if judge:
            self._judge = AskJudge(judge, metadata, options)
        elif answer_reader:
            self._judge = AskAnswerReader(answer_reader, metadata, options)
        if config.get("unsafe_code"):
            metadata["sandbox"] = _require_sandbox()
        super().__init__(config={**config, "metadata": metadata})
        judge_free = self.config.metadata["provenance"].get("judge_free", False)
        if self._judge and self._judge.facts and not judge_free:
            self.config.metadata["judge"] = self._judge.facts
        for pipeline in self._filters:
            pipeline.filters = [
                (lambda: self._judge) if make.func is AskJudge else make
                for make in pipeline.filters
            ]

    def download(self, dataset_kwargs: dict[str, Any] | None = None, **_: Any) -> None:
        """Load the documents and record where they come from."""
        load, metadata = self.config.custom_dataset, self.config.metadata
        split, documents = load_documents(self.config.task, load, dataset_kwargs or {}, metadata)
        if "system" not in documents.features:
            self.config.description = None  # lm-eval would take the name for the text
        # As dicts: lm-eval goes over the documents four times, and Arrow makes each dict anew every time.
        self.dataset = {split: UserList(documents.to_list())}
        self.dataset[split].features = documents.features  # type: ignore[attr-defined]
        self.config.test_split = split
        self.config.metadata = {**metadata, "provenance": json.loads(documents.info.description)}

    def fewshot_docs(self) -> list[dict[str, Any]]:
        """Return the documents that may serve as examples: those with a right answer to show."""
        # lm-eval keeps the question out of its own examples only if their split is named
        self.fewshot_cfg.split = self.config.test_split
        return [doc for doc in super().fewshot_docs() if doc.get("target")]

    def fewshot_context(
        self, doc: dict[str, Any], num_fewshot: int, *args: Any, **kwargs: Any
    ) -> Any:
        """Build the prompt; base models get system message, question and cue, joined by blank lines."""
        context = super().fewshot_context(doc, num_fewshot, *args, **kwargs)
        chat = kwargs.get("apply_chat_template") and kwargs.get("chat_template")
        if chat or not isinstance(context, str):
            return context
        system, cue = doc.get("system", ""), doc.get("cue", "")
        if system and context.startswith(system):
            context = f"{system}\n\n{context[len(system) :]}"
        return f"{context}\n\n{cue}" if cue else context

    def construct_requests(self, doc: dict[str, Any], ctx: Any, **kwargs: Any) -> Any:
        """Build the request; lm-eval gives an API pictures only if the first question of the run has one, so we do."""
        request = super().construct_requests(doc, ctx, **kwargs)
        if isinstance(ctx, JsonChatStr) and len(request.arguments) > 2:
            request.arguments = (_with_pictures(ctx, pictures_of(doc)), request.arguments[1])
        return request

    def build_all_requests(self, *, world_size: int | None = None, **kwargs: Any) -> None:
        """Build the requests of this process, one of `world_size`."""
        super().build_all_requests(world_size=world_size, **kwargs)
        self.breakdowns.rows.clear()
        _clock.clear()
        _clock["start"] = time.monotonic()

    def apply_filters(self) -> Any:
        """Count tokens, replace pictures in requests by their hash, then filter the responses.

        The readings say which responses were cut off.
        """
        # the model has answered all tasks when the first one is filtered
        seconds = _clock.setdefault("seconds", round(time.monotonic() - _clock["start"], 3))
        for request in self.instances:
            request.arguments = _without_pictures(request.arguments)
        responses = [text or "" for request in self.instances for text in request.resps]
        response_tokens = token_counts(self._lm, responses)
        usage = _usage_of(self.instances, self._lm, response_tokens)
        usage["seconds_of_all_tasks"] = seconds
        if self.config.doc_to_image is not None:
            usage["estimated"] = True  # pictures are not counted
        facts = {"usage": usage, "cut_off": self._mark_cut_offs(response_tokens)}
        self.config.metadata = {**self.config.metadata, **facts}
        filtered = super().apply_filters()
        mark_readings(self.instances)
        return filtered

    def _mark_cut_offs(self, response_tokens: Sequence[int] | None) -> dict[str, Any]:
        """Mark cut-off responses where the model does not; return the limit and who tells."""
        told_by = "text"
        if self._tells_cut_offs:
            told_by = "model"
        elif response_tokens is not None:
            told_by = "tokens"
            mark_full_responses(self.instances, response_tokens)
        return {"limit": self.config.generation_kwargs["max_gen_toks"], "told_by": told_by}

    def override_metric(self, metric_name: str) -> None:
        """Run no program and ask no judge under `--predict_only`, for which lm-eval calls this."""
        super().override_metric(metric_name)
        self._filters = [FilterEnsemble(name="none", filters=[])]
        self._with_stderr = []
        unscored = dict.fromkeys(self._metric_fn_list)

        def only_cut_offs(_: Any, responses: Sequence[str]) -> dict[str, float | None]:
            return {**unscored, "cut_off": average(map(is_cut_off, responses))}

        self.config.process_results = only_cut_offs

    def process_results(
        self, doc: dict[str, Any], results: Sequence[Any]
    ) -> dict[str, float | None]:
        """Compare what was read in one document's responses with the truth."""
        readings = []
        for reading in results[0]:
            readings.append(reading.reading if isinstance(reading, SampleReading) else reading)
        values: dict[str, float | None] = self.config.process_results(doc, readings)
        self.breakdowns.add(doc, readings, values)
        # lm-eval knows no standard error of our aggregations, but takes any metric of this name for one
        return {**values, **{f"{name}_stderr": values[name] for name in self._with_stderr}}


class ConversationTask(FinTask):
    """A task whose documents are turns of conversations, each asked with the model's own answers to the turns before.

    Documents have `index` (of the conversation) and `turn` (from 1). lm-eval sends the first turns; the others follow,
    one round per turn, before the responses are filtered.
    """

    def build_all_requests(self, *, world_size: int | None = None, **kwargs: Any) -> None:
        """Build the requests of all turns, and leave only first turns to lm-eval."""
        if (world_size or 1) > 1:
            raise ConfigError(
                f"{self.config.task}: expected one process, got {world_size}: the turns of a conversation follow each "
                "other. Run it without `accelerate launch`, or put the model on a server."
            )
        self._template = kwargs.get("chat_template") if kwargs.get("apply_chat_template") else None
        self._instruction = kwargs.get("system_instruction")
        super().build_all_requests(world_size=world_size, **kwargs)
        self._all: list[Any] = list(self.instances)
        self._instances = [request for request in self._all if request.doc["turn"] == 1]

    def apply_filters(self) -> Any:
        """Ask the later turns, then filter the responses to all."""
        conversations: dict[str, list[Any]] = defaultdict(list)
        for request in self._all:
            conversations[request.doc["index"]].append(request)
            if request.doc["turn"] != len(conversations[request.doc["index"]]):
                raise ConfigError(
                    f"{self.config.task}: expected whole conversations, got a part of one in --samples."
                )
        for turns in range(2, 1 + max(map(len, conversations.values()))):
            self._ask(
                [several[:turns] for several in conversations.values() if len(several) >= turns]
            )
        self._instances = self._all
        return super().apply_filters()

    def _ask(self, conversations: list[list[Any]]) -> None:
        """Ask the last turn of each conversation; the turns before have responses."""
        asked = []
        for *before, request in conversations:
            for repeat in range(request.repeats):
                said = [(each.doc["prompt"], each.resps[repeat] or "") for each in before]
                context = self._context(said, request.doc)
                asked.append(
                    self.construct_requests(request.doc, context, metadata=request.metadata)
                )
            request.arguments = asked[-1].arguments
        responses = iter(self._lm.generate_until(asked))
        for *_, request in conversations:
            request.resps += [next(responses) for _ in range(request.repeats)]

    def _context(self, said: list[tuple[str, str]], doc: dict[str, Any]) -> Any:
        if self._template is None:  # a base model goes on with a transcript
            turns = "".join(f"{question}\n\n{doc['cue']} {answer}\n\n" for question, answer in said)
            return f"{turns}{doc['prompt']}\n\n{doc['cue']}".rstrip()
        messages = [{"role": "system", "content": self._instruction}] if self._instruction else []
        for question, answer in said:
            messages += [
                {"role": "user", "content": question},
                {"role": "assistant", "content": answer},
            ]
        return self._template([*messages, {"role": "user", "content": doc["prompt"]}])


def _declare(name: str, metric: bool | Metric) -> list[dict[str, Any]]:
    if isinstance(metric, Metric):
        entries = [(name, metric.aggregate, metric.higher_is_better)]
    else:
        # lm-eval multiplies these into group averages: the text "N/A" would end the run there, NaN does not.
        mean = average if name in _IN_GROUPS else lambda values: _or_not_applicable(average(values))
        stderr = lambda values: _or_not_applicable(standard_error(values))  # noqa: E731
        entries = [(name, mean, metric), (f"{name}_stderr", stderr, False)]
    return [
        {"metric": m, "aggregation": how, "higher_is_better": better} for m, how, better in entries
    ]


def _or_not_applicable(value: float) -> float | str:
    return value if value == value else "N/A"


def _with_pictures(chat: JsonChatStr, files: Sequence[str]) -> JsonChatStr:
    """Put picture files where the messages have `<image>` marks; lm-eval would write them anew as PNG, much larger."""
    messages = json.loads(chat.prompt)
    left = [
        {"type": "image_url", "image_url": {"url": picture_url(Path(file)), "detail": "auto"}}
        for file in files
    ]
    for message in reversed(
        messages
    ):  # from the end, as examples before the question show no picture
        first, *texts = message["content"].split(_IMAGE)
        parts: list[Any] = []
        for text in reversed(texts):
            parts = [*([left.pop()] if left else []), {"type": "text", "text": text}, *parts]
        if texts:
            parts = [{"type": "text", "text": first}, *parts]
            message["content"] = [part for part in parts if part.get("text", part)]
    return JsonChatStr(json.dumps(messages))


def _without_pictures(arguments: Any) -> Any:
    """Put a hash in place of each picture: lm-eval writes every request into the samples file once per filter."""
    if not isinstance(arguments, tuple) or not isinstance(arguments[0], JsonChatStr):
        return arguments

    def sha256(match: re.Match[str]) -> str:
        digest = hashlib.sha256(base64.b64decode(match[2])).hexdigest()
        return f"{match[1]};sha256,{digest}"

    # no text of a message matches, because JSON escapes its quotation marks
    return (
        JsonChatStr(re.sub(r'("url": "data:[^"]*);base64,([^"]+)', sha256, arguments[0].prompt)),
        *arguments[1:],
    )


def _usage_of(
    requests: Sequence[Any], lm: Any, response_tokens: Sequence[int] | None
) -> dict[str, Any]:
    """Count `prompt_tokens` and `response_tokens`, pictures left out.

    `estimated` is true if the model has no tokenizer: the counts are then characters divided by four. It is also true
    if several processes ask: each is taken to use as many tokens as this one.
    """
    prompts: list[str] = []
    responses: list[str] = []
    for request in requests:
        prompt = getattr(request.args[0], "prompt", request.args[0])
        prompts += [prompt] * len(request.resps)
        responses += [response or "" for response in request.resps]
    prompt_tokens = token_counts(lm, prompts)
    n_processes = getattr(lm, "world_size", 1)
    is_estimated = n_processes > 1
    if prompt_tokens is None or response_tokens is None:
        is_estimated = True
        prompt_tokens = [sum(map(len, prompts)) // 4]
        response_tokens = [sum(map(len, responses)) // 4]
    return {
        "prompt_tokens": n_processes * sum(prompt_tokens),
        "response_tokens": n_processes * sum(response_tokens),
        "estimated": is_estimated,
    }


def _require_sandbox() -> dict[str, str]:
    settings = Settings.from_environ()
    with sandbox.open_runner(tier=settings.sandbox, workers=settings.sandbox_workers) as runner:
        return {"tier": runner.tier, "reason": runner.reason}


_evaluate, _excepthook = evaluator.evaluate, sys.excepthook


@functools.wraps(_evaluate)
def _evaluate_with_checks(lm: Any, task_dict: Any, *args: Any, **kwargs: Any) -> Any:
    """Check our tasks before the run, give them the model, and warn of cut-off responses at the end."""
    loaded = task_dict.get("tasks", {}) if isinstance(task_dict, Mapping) else {}
    ours = {name: task for name, task in loaded.items() if isinstance(task, FinTask)}
    if not ours:
        return _evaluate(lm, task_dict, *args, **kwargs)
    _refuse_pictures(lm, ours)
    with marking_cut_offs(lm) as is_told:
        for task in ours.values():
            task._lm = lm
            # A cache of earlier runs may hold responses without the mark.
            task._tells_cut_offs = is_told and lm is model_of(lm)
        results = _evaluate(lm, task_dict, *args, **kwargs)
    add_breakdowns(lm, {name: task.breakdowns for name, task in ours.items()}, results)
    # Only the first of several processes has results.
    warning = warning_of(results, ours) if results is not None else ""
    if warning:
        _log.warning("fin-tasks: %s", warning)
    return results


def _refuse_pictures(lm: Any, tasks: Mapping[str, FinTask]) -> None:
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


def _show_error(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    ours = isinstance(error, FinTasksError)
    print(f"fin-tasks: error: {error}", file=sys.stderr) if ours else _excepthook(
        kind, error, trace
    )


evaluator.evaluate = _evaluate_with_checks
sys.excepthook = _show_error
