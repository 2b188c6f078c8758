"""What lm-eval needs from us: a task class, filters and two aggregations.

Importing this module registers the filters, so any `!function` of a task file that names it is enough.
"""

import base64
import hashlib
import json
import logging
from collections import UserDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lm_eval.api.filter import Filter, FilterEnsemble
from lm_eval.api.registry import register_filter
from lm_eval.api.task import ConfigurableTask
from lm_eval.models.api_models import JsonChatStr, create_image_prompt
from tqdm import tqdm

from fin_tasks import sandbox
from fin_tasks.adapters.lm_eval_judge import with_judge
from fin_tasks.adapters.lm_eval_rubric import with_rubric_judge
from fin_tasks.endpoints.pictures import Picture
from fin_tasks.errors import ConfigError, EndpointError, SandboxError
from fin_tasks.settings import Settings
from fin_tasks.stats.averages import average, standard_error
from fin_tasks.stats.metric import Metric

if TYPE_CHECKING:
    from datasets import Dataset

__all__ = ["FinTask", "RunDocPrograms", "RunPrograms", "ScoreResponses", "mean_scored", "stderr_scored"]

_log = logging.getLogger(__name__)
_NOT_APPLICABLE: Literal["N/A"] = "N/A"
_IMAGE_MARK = "<image>\n"
_IN_GROUPS = ("acc", "acc_err", "score")
"""Metrics that groups average."""


def mean_scored(values: Iterable[float | None]) -> float | str:
    """Average the documents that have a value; `N/A`, as lm-eval writes it, when none has."""
    mean = average(values)
    return mean if mean == mean else _NOT_APPLICABLE


def stderr_scored(values: Iterable[float | None]) -> float | str:
    """Standard error of `mean_scored`; `N/A` below two values."""
    error = standard_error(values)
    return error if error == error else _NOT_APPLICABLE


class FinTask(ConfigurableTask):  # type: ignore[misc]
    """A task of ours in lm-eval: an ordinary YAML task with nine additions.

    - `metrics: !function ...` names the metrics from the task's `dataset_kwargs`, so that they are declared beside the
      code that computes them. Documents may report None for a metric; means and standard errors leave it out. A
      metric that is no mean comes as a `Metric` with its own aggregation.
    - The provenance of the documents (prompts, data, versions) goes into the results file, under
      `configs.<task>.metadata.provenance`.
    - Without a chat template the system message, the question and a cue for base models are joined by blank lines.
    - Pictures for an API are put into the message, see `construct_requests`, and leave it once it is answered, see
      `apply_filters`; where `picture_file` names the field of a
      document that holds the picture's path, the file goes as it is.
    - A filter `fin_tasks_judge` is told the judge that the metadata names, see `lm_eval_judge`.
    - A filter `fin_tasks_rubric_judge` is told the judge that the metadata or the environment names, see
      `lm_eval_rubric`; who that was goes into the results file, under `configs.<task>.metadata.judge`.
    - Under `--predict_only` no filter is run: no program, no judge.
    - `blank_image: !function ...` draws a picture for text questions when the metadata asks for one.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        config = dict(config)
        config.pop("class", None)
        name_metrics = config.pop("metrics")
        draw_blank = config.pop("blank_image", None)
        self._picture_file: str | None = config.pop("picture_file", None)
        options = config.get("dataset_kwargs") or {}
        metrics: dict[str, bool | Metric] = name_metrics(**options)
        config["metric_list"] = [entry for name, metric in metrics.items() for entry in _declare(name, metric)]
        self._with_stderr = [
            name for name, metric in metrics.items() if not isinstance(metric, Metric) or metric.stderr is not None
        ]
        if (config.get("metadata") or {}).get("blank_image") and config.get("doc_to_image") is None:
            config["doc_to_image"] = draw_blank
        said = config.get("metadata") or {}
        pipelines = with_judge(config["filter_list"], said)
        config["filter_list"], self._judging = with_rubric_judge(pipelines, said, task=config["task"], options=options)
        if config.get("unsafe_code"):
            # The tier is part of what was measured: a tier that refuses more runs fewer programs.
            config["metadata"] = {**(config.get("metadata") or {}), "sandbox": _require_sandbox(config["task"])}
        super().__init__(config=config)
        if self._judging is not None:
            self._judging.check(self.test_docs())
            # What is written to the results file: the judging itself holds addresses, which are nobody's business.
            self.config.filter_list = pipelines
            self.config.metadata = {**self.config.metadata, "judge": self._judging.facts}

    def download(self, dataset_kwargs: dict[str, Any] | None = None, **_: Any) -> None:
        """Load the documents and record where they come from."""
        metadata = dict(self.config.metadata or {})
        options = dict(dataset_kwargs or {})
        if twice := sorted(metadata.keys() & options.keys()):
            raise ConfigError(
                f"{self.config.task}: metadata sets {', '.join(twice)}, which this task fixes. Choose the task with "
                "the value you want (`lm_eval ls tasks` lists them)."
            )
        ((split, documents),) = self.config.custom_dataset(**metadata, **options).items()
        self.dataset = {split: _Documents(documents)}
        self.config.test_split = split
        provenance = json.loads(documents.info.description)
        self.config.metadata = {**metadata, "provenance": provenance}

    def fewshot_docs(self) -> list[dict[str, Any]]:
        """Return the documents that may serve as examples: those with a right answer to show."""
        # lm-eval leaves the document that is asked out of its own examples only where their split is named
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

        lm-eval sends all questions of a run to an API in one batch and attaches pictures only when the first question
        has one, so in a run of text and figure questions the pictures would be left out without a word.
        """
        request = super().construct_requests(doc, ctx, **kwargs)
        if self.config.doc_to_image is None or not isinstance(ctx, JsonChatStr):
            return request
        messages = json.loads(ctx.prompt)
        messages[-1]["content"] = messages[-1]["content"].replace(_IMAGE_MARK, "", 1)
        file = _inlined(doc[self._picture_file]) if self._picture_file else None
        if file is None:
            messages = create_image_prompt(self.doc_to_image(doc), messages)
        else:
            messages[-1]["content"] = [file, {"type": "text", "text": messages[-1]["content"]}]
        request.arguments = (JsonChatStr(json.dumps(messages)), request.arguments[1])
        return request

    def build_all_requests(self, *, world_size: int | None = None, **kwargs: Any) -> None:
        """Build the requests of this process, one of `world_size`."""
        if self._judging is not None:
            self._judging.alone = (world_size or 1) == 1
        super().build_all_requests(world_size=world_size, **kwargs)

    def apply_filters(self) -> Any:
        """Filter the responses; of pictures in the requests, which are answered by now, only the hash is kept.

        lm-eval writes each request into the samples file under every filter, and holds all of them until then.
        """
        for request in self.instances:
            request.arguments = _without_pictures(request.arguments)
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
        """Turn one document's scored responses into metrics.

        lm-eval gives up on the standard error of any aggregation it does not know ("N/A"), and takes whatever metric
        carries the name `<metric>_stderr` afterwards. So every metric is reported a second time under that name.
        """
        (answers,) = results
        values: dict[str, float | None] = self.config.process_results(doc, answers)
        return {**values, **{f"{name}_stderr": values[name] for name in self._with_stderr}}


def _inlined(path: str) -> dict[str, Any] | None:
    """A picture as part of a message; None where its format is not one that chat models take as it is.

    lm-eval would write each picture anew as PNG: for a photograph that takes seconds and ten times the bytes, which it
    keeps in memory for all questions of a run.
    """
    try:
        address = Picture(Path(path)).data_address()
    except EndpointError:
        return None
    return {"type": "image_url", "image_url": {"url": address, "detail": "auto"}}


def _without_pictures(arguments: Any) -> Any:
    """Put a hash in place of each picture in a message for an API; other requests stay as they are."""
    if not isinstance(arguments, tuple) or not isinstance(arguments[0], JsonChatStr):
        return arguments
    messages = json.loads(arguments[0].prompt)
    for message in messages:
        for part in message["content"] if isinstance(message.get("content"), list) else ():
            kind, _, data = part.get("image_url", {}).get("url", "").partition(";base64,")
            if data:
                part["image_url"]["url"] = f"{kind};sha256,{hashlib.sha256(base64.b64decode(data)).hexdigest()}"
    return (JsonChatStr(json.dumps(messages)), *arguments[1:])


class _Documents(list[dict[str, Any]]):
    """A data set's rows as dicts, made once: lm-eval goes over them four times, and Arrow makes them anew each time."""

    def __init__(self, dataset: "Dataset") -> None:
        super().__init__(dataset.to_list())
        self.features = dataset.features


class _Scored(UserDict[str, Any]):
    """A scored answer that lm-eval, which writes `str` of it into the samples file, writes as JSON.

    No `dict`: for models that take pictures lm-eval copies every dict of the samples into a plain one.
    """

    def __str__(self) -> str:
        return json.dumps(self.data, ensure_ascii=False)


def _declare(name: str, metric: bool | Metric) -> list[dict[str, Any]]:
    if isinstance(metric, Metric):
        declared = [{"metric": name, "aggregation": metric.aggregate, "higher_is_better": metric.higher_is_better}]
        if metric.stderr is not None:
            declared += [{"metric": f"{name}_stderr", "aggregation": metric.stderr, "higher_is_better": False}]
        return declared
    # lm-eval multiplies these into group averages, where the string "N/A" would end the run: NaN does not.
    mean = average if name in _IN_GROUPS else mean_scored
    return [
        {"metric": name, "aggregation": mean, "higher_is_better": metric},
        {"metric": f"{name}_stderr", "aggregation": stderr_scored, "higher_is_better": False},
    ]


def _require_sandbox(task: str) -> dict[str, str]:
    """Fail before the model answers anything, not after; return the tier that will run the programs, and why."""
    try:
        with _open_runner() as runner:
            return {"tier": runner.tier, "reason": runner.reason}
    except SandboxError as error:
        raise SandboxError(
            f"{task}: this task runs programs the model writes, and no sandbox works here. {error}"
        ) from error


@register_filter("fin_tasks_score")
class ScoreResponses(Filter):  # type: ignore[misc]
    """Score every response of a task under one variant."""

    def __init__(self, *, scorer: Callable[..., Mapping[str, Any]], variant: str) -> None:
        self.scorer = scorer
        self.variant = variant

    def apply(self, resps: Iterable[Sequence[Any]], docs: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
        """Return one list of scored answers per document."""
        return [
            [_Scored(self.scorer(doc, response, variant=self.variant)) for response in responses]
            for responses, doc in zip(resps, docs, strict=True)
        ]


@register_filter("fin_tasks_run_programs")
class RunPrograms(Filter):  # type: ignore[misc]
    """Run the program in every response, all of a task at once."""

    def __init__(self, *, extract: Callable[[str], str | None]) -> None:
        self.extract = extract

    def apply(self, resps: Iterable[Sequence[str]], docs: Sequence[Mapping[str, Any]]) -> list[list[sandbox.Outcome]]:
        """Return one list of outcomes per document. A sandbox that breaks leaves outcomes `broken`, never raises."""
        nested = [list(responses) for responses in resps]
        outcomes = iter(_run_batch(tuple(self.extract(response) for responses in nested for response in responses)))
        return [[next(outcomes) for _ in responses] for responses in nested]


@register_filter("fin_tasks_run_doc_programs")
class RunDocPrograms(Filter):  # type: ignore[misc]
    """Run programs made from document and response, such as one to score and one to compare it with."""

    def __init__(self, *, programs: Callable[[Mapping[str, Any], str], Sequence[str | None]]) -> None:
        self.programs = programs

    def apply(
        self, resps: Iterable[Sequence[str]], docs: Sequence[Mapping[str, Any]]
    ) -> list[list[tuple[str, tuple[sandbox.Outcome, ...]]]]:
        """Return each response with the outcomes of its programs, one list per document. As `RunPrograms` otherwise."""
        nested = [
            [(response, tuple(self.programs(doc, response))) for response in responses]
            for responses, doc in zip(resps, docs, strict=True)
        ]
        everything = tuple(program for made in nested for _, programs in made for program in programs)
        outcomes = iter(_run_batch(everything))
        return [[(response, tuple(next(outcomes) for _ in programs)) for response, programs in made] for made in nested]


@lru_cache(maxsize=4)
def _run_batch(programs: tuple[str | None, ...]) -> tuple[sandbox.Outcome, ...]:
    # The filters of one task ask for the same batch under each variant; the programs run once.
    with tqdm(total=len(programs), desc="Running programs", unit="program") as bar:

        def advance(done: int) -> None:
            bar.update(done - bar.n)

        try:
            with _open_runner() as runner:
                return tuple(runner.run(programs, on_done=advance))
        except SandboxError as error:
            _log.error("The sandbox broke, every program of this task stays unscored: %s", error)
            return (sandbox.Outcome(status=sandbox.Status.broken, detail=str(error)),) * len(programs)


def _open_runner() -> sandbox.Runner:
    settings = Settings.from_environ()
    return sandbox.open_runner(tier=settings.sandbox, workers=settings.sandbox_workers)
