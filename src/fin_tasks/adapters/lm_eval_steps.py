"""Steps from responses in lm-eval to readings: run programs, ask a judge, write readings as text."""

import functools
import json
import logging
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from fin_tasks import sandbox
from fin_tasks.adapters.task_file import Mapped, rubric_of
from fin_tasks.answers.types import Reading
from fin_tasks.benchmarks.contract import Document
from fin_tasks.benchmarks.scored_task import Programs
from fin_tasks.errors import SandboxError
from fin_tasks.interrupt import on_interrupt
from fin_tasks.judging.judge import JudgeModel, answer_reader_from, judge_from
from fin_tasks.judging.rubric import Rubric, load_rubric
from fin_tasks.judging.step import JudgedResponse, JudgeStep, Response
from fin_tasks.settings import Settings

_KEPT = (
    "replies so far are kept in the cache, "
    "and the model's responses only if lm_eval runs with --use_cache"
)
_log = logging.getLogger(__name__)

Rows: TypeAlias = Iterable[Sequence[Any]]
"""The responses to each document: texts, or what an earlier step made of them."""
Docs: TypeAlias = Sequence[Document]


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


def run_programs(programs: Programs) -> Sequence[sandbox.Outcome]:
    """Run programs; if the sandbox breaks, outcomes are `broken`, and nothing raises."""
    return _outcomes(tuple(programs))


@functools.lru_cache(maxsize=4)  # both variants of a task often have the same programs
def _outcomes(programs: tuple[str | None, ...]) -> Sequence[sandbox.Outcome]:
    try:
        return sandbox.run_programs(programs, settings=Settings.from_environ())
    except (SandboxError, OSError) as error:
        _log.error("The sandbox broke, every program of this task stays unscored: %s", error)
        broken = sandbox.Outcome(
            status=sandbox.Status.broken,
            detail=str(error),
        )
        return [broken] * len(programs)


class AskJudge(JudgeStep):
    """Turn each response into a `Judged`; responses of which the step makes no item are not judged.

    Without a judge, all responses are unscored. Both variants of a task share the step, so that
    the judge is asked once.
    """

    optional = False
    """Whether responses can be scored without a judge."""

    def __init__(
        self,
        step: Mapped,
        metadata: Mapped,
        options: Mapped,
    ) -> None:
        rubric = self._rubric_from(step, metadata, options)
        judge = self._model_from(metadata)
        super().__init__(step["item"], rubric, judge)

    def _rubric_from(
        self,
        step: Mapped,
        metadata: Mapped,
        options: Mapped,
    ) -> Rubric:
        return rubric_of(step, options, metadata)

    def _model_from(self, metadata: Mapped) -> JudgeModel | None:
        judge = judge_from(metadata, Settings.from_environ())
        if judge is None:
            told = "no judge is named (metadata judge_model)"
            _log.warning("%s, so responses that need one stay unscored.", told)
        return judge

    def apply(
        self,
        resps: Rows,
        docs: Docs,
    ) -> Sequence[Sequence[Response | JudgedResponse]]:
        """Return a list for each document; if the judge fails too often, all are unscored."""
        rows = [list(map(_given, responses)) for responses in resps]
        if self.optional and self.judge is None:
            return rows
        with on_interrupt(_KEPT):
            return self.judge_responses(docs, rows)


class AskAnswerReader(AskJudge):
    """Ask a model for answers that the rules do not find; without a model, responses stay."""

    optional = True

    def _rubric_from(
        self,
        step: Mapped,
        metadata: Mapped,
        options: Mapped,
    ) -> Rubric:
        # The metadata `rubric` is one for a judge.
        return load_rubric(step["rubric"])

    def _model_from(self, metadata: Mapped) -> JudgeModel | None:
        return answer_reader_from(metadata, Settings.from_environ())


def judge_step(settings: Mapped, metadata: Mapped) -> AskJudge | None:
    """Return the step that asks a judge or a model that reads answers; None if a task has none."""
    options = settings["dataset_kwargs"]
    if settings.get("judge"):
        return AskJudge(settings["judge"], metadata, options)
    if settings.get("answer_reader"):
        return AskAnswerReader(settings["answer_reader"], metadata, options)
    return None


def _given(response: Any) -> Response:
    """Return a response, or "" for one that the model did not give."""
    return response if isinstance(response, str | sandbox.Ran) else ""
