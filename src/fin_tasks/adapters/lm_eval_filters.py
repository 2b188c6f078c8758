"""The filters of our tasks in lm-eval: run programs, ask a judge, read answers. Importing this registers them."""

import functools
import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lm_eval.api.filter import Filter
from lm_eval.api.registry import register_filter

from fin_tasks import sandbox
from fin_tasks.adapters.task_file import rubric_of
from fin_tasks.answers.types import Reading
from fin_tasks.benchmarks.scored_task import VARIANTS, with_outcomes
from fin_tasks.errors import SandboxError
from fin_tasks.interrupt import on_interrupt
from fin_tasks.judging.judge import JudgeModel, answer_reader_from, judge_from
from fin_tasks.judging.rubric import Rubric, load_rubric
from fin_tasks.judging.step import JudgeStep
from fin_tasks.settings import Settings

_KEPT = (
    "replies so far are kept in the cache, "
    "and the model's responses only if lm_eval runs with --use_cache"
)
_log = logging.getLogger(__name__)
Responses = Iterable[Sequence[Any]]
Docs = Sequence[Mapping[str, Any]]


def filter_list(
    reader: Callable[..., Any],
    programs: Callable[..., Sequence[str | None]] | None,
    judge: Mapping[str, Any] | None,
) -> list[dict[str, Any]]:
    """Return lm-eval's `filter_list` of a task: run programs or judge if it asks for that, then read."""
    pipelines = []
    for variant in VARIANTS:
        steps: list[dict[str, Any]] = []
        if programs:
            run = {"function": "fin_tasks_run_programs", "programs": programs, "variant": variant}
            steps.append(run)
        if judge:
            steps.append({"function": "fin_tasks_judge", **judge})
        steps.append({"function": "fin_tasks_read", "reader": reader, "variant": variant})
        pipelines.append({"name": variant, "filter": steps})
    return pipelines


class SampleReading(str):
    """A reading as the JSON text that lm-eval's samples hold, with the reading itself.

    lm-eval writes everything in `filtered_resps` as text; of a dict it would be Python's.
    """

    reading: Reading

    def __new__(cls, reading: Reading) -> "SampleReading":
        """Write a reading as text."""
        text = super().__new__(cls, json.dumps(reading.to_dict(), ensure_ascii=False))
        text.reading = reading
        return text

    def __getnewargs__(self) -> tuple[Reading]:  # type: ignore[override]
        """Return what `pickle` makes the text of, as processes exchange samples."""
        return (self.reading,)


@register_filter("fin_tasks_read")
class ReadResponses(Filter):  # type: ignore[misc]
    """Read the answer in every response under one variant."""

    def __init__(self, *, reader: Callable[..., Any], variant: str) -> None:
        self.reader = functools.partial(reader, variant=variant)

    def apply(self, resps: Responses, docs: Docs) -> list[list[Any]]:
        """Return a list of readings for each document."""
        return [
            [self.reader(doc, one) for one in responses]
            for responses, doc in zip(resps, docs, strict=True)
        ]


@register_filter("fin_tasks_run_programs")
class RunPrograms(Filter):  # type: ignore[misc]
    """Run the programs of all responses at once; each response becomes a `sandbox.Ran`."""

    def __init__(self, *, programs: Callable[..., Sequence[str | None]], variant: str) -> None:
        self.programs = functools.partial(programs, variant=variant)

    def apply(self, resps: Responses, docs: Docs) -> list[list[sandbox.Ran]]:
        """Return a list for each document. If the sandbox breaks, outcomes are `broken`, and nothing raises."""
        return with_outcomes(
            self.programs, docs, list(resps), lambda programs: _run_batch(tuple(programs))
        )


@functools.lru_cache(maxsize=4)  # both variants of a task often have the same programs
def _run_batch(programs: tuple[str | None, ...]) -> tuple[sandbox.Outcome, ...]:
    try:
        return tuple(sandbox.run_programs(programs, settings=Settings.from_environ()))
    except (SandboxError, OSError) as error:
        _log.error("The sandbox broke, every program of this task stays unscored: %s", error)
        return (sandbox.Outcome(status=sandbox.Status.broken, detail=str(error)),) * len(programs)


@register_filter("fin_tasks_judge")
class AskJudge(JudgeStep, Filter):  # type: ignore[misc]
    """Turn each response into a `Judged`; responses for which the step's `item` makes no item are not judged.

    Without a judge, all responses are unscored. The task makes one such filter of its step, metadata and options for
    both variants, so that the judge is asked once.
    """

    optional = False
    """Whether responses can be scored without a judge."""

    def __init__(
        self, step: Mapping[str, Any], metadata: Mapping[str, Any], options: Mapping[str, Any]
    ) -> None:
        rubric = self._rubric_from(step, metadata, options)
        super().__init__(step["item"], rubric, self._model_from(metadata))

    def _rubric_from(
        self, step: Mapping[str, Any], metadata: Mapping[str, Any], options: Mapping[str, Any]
    ) -> Rubric:
        return rubric_of(step, options, metadata)

    def _model_from(self, metadata: Mapping[str, Any]) -> JudgeModel | None:
        judge = judge_from(metadata, Settings.from_environ())
        if judge is None:
            told = "no judge is named (metadata judge_model), so responses that need one stay unscored."
            _log.warning(told)
        return judge

    def apply(self, resps: Responses, docs: Docs) -> list[list[Any]]:
        """Return a list for each document. If the judge failed too often, all are unscored, and nothing raises."""
        responses = [[_given(response) for response in of_doc] for of_doc in resps]
        if self.optional and self.judge is None:
            return responses
        with on_interrupt(_KEPT):
            return self.judge_responses(docs, responses)


class AskAnswerReader(AskJudge):
    """Ask a model for the answer in responses in which the rules find none; without a model they stay as they are."""

    optional = True

    def _rubric_from(
        self, step: Mapping[str, Any], metadata: Mapping[str, Any], options: Mapping[str, Any]
    ) -> Rubric:
        # The metadata `rubric` is one for a judge.
        return load_rubric(step["rubric"])

    def _model_from(self, metadata: Mapping[str, Any]) -> JudgeModel | None:
        return answer_reader_from(metadata, Settings.from_environ())


def _given(response: Any) -> str | sandbox.Ran:
    """Return a response, or "" for one that the model did not give."""
    return response if isinstance(response, str | sandbox.Ran) else ""
