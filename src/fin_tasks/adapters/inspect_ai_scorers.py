"""The scorers of our tasks in inspect_ai, `paper` and `robust`, and the metrics that it shows."""

import functools
import math
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pkgutil import resolve_name
from typing import NamedTuple

import anyio
from inspect_ai import model
from inspect_ai.scorer import SampleScore, Score, Target, metric, scorer
from inspect_ai.solver import TaskState

from fin_tasks import sandbox
from fin_tasks.adapters.task_file import Mapped, TaskFile, rubric_of
from fin_tasks.answers.cut_off import CutOffResponse, mark_reading, mark_response
from fin_tasks.answers.types import Reading
from fin_tasks.benchmarks.breakdowns import fields_of
from fin_tasks.benchmarks.contract import Document
from fin_tasks.benchmarks.final_answer import RUBRIC
from fin_tasks.benchmarks.scored_task import VARIANTS
from fin_tasks.judging.item import Item, Judged, Reply, no_response
from fin_tasks.judging.rubric import Rubric, load_rubric
from fin_tasks.settings import Settings
from fin_tasks.stats.averages import Metric, average, over_responses, standard_error

ScoreSample = Callable[[TaskState, Target], Awaitable[Score]]

GRADER = "grader"
READER = "reader"
"""The roles of a judge and of a model that reads answers, for --model-role."""

_judged: dict[str, Judged] = {}
"""What the first scorer asked for the second, by the sample's uuid."""


class ModelStep(NamedTuple):
    """How a task asks a model about responses."""

    role: str
    rubric: Rubric
    item: Callable[[Document, str], Item | None]

    def is_asked(self) -> bool:
        """Return whether a model is asked: a judge is needed, a model that reads answers is not."""
        return self.role == GRADER or self.role in model.model_roles()

    def facts(self) -> dict[str, object]:
        """Return what results say about the step."""
        return {
            "role": self.role,
            "rubric": self.rubric.label,
            "rubric_sha256": self.rubric.sha256,
            "image": self.role == GRADER,
            "temperatures": list(self.rubric.temperatures),
            "max_tokens": self.rubric.max_tokens,
        }


def model_step(task: TaskFile, metadata: Mapped) -> ModelStep | None:
    """Return how a task asks a model about responses; None if it asks none."""
    if task.judge:
        rubric = rubric_of(task.judge, task.options, metadata)
        item = resolve_name(task.judge["item"])
        return ModelStep(GRADER, rubric, item)
    if task.answer_reader:
        item = resolve_name(task.answer_reader["item"])
        return ModelStep(READER, load_rubric(RUBRIC), item)
    return None


@functools.cache
def runner() -> sandbox.Runner:
    """Return the sandbox of this process."""
    settings = Settings.from_environ()
    return sandbox.open_runner(tier=settings.sandbox, workers=settings.sandbox_workers)


def _scorer(variant: str) -> Callable[..., ScoreSample]:
    def make(task: str, **metadata: object) -> ScoreSample:
        task_file = TaskFile(task)
        step = model_step(task_file, metadata)

        async def score(state: TaskState, target: Target) -> Score:
            del target
            response = _response_of(state.output)
            item: str | sandbox.Ran | Judged = response
            has_result = False
            if task_file.runs_programs:
                item = await _run_programs(task_file, state.metadata, response, variant)
                has_result = bool(item.outcomes)
            if step and step.is_asked() and not has_result:
                item = await _judge(step, state, response, variant)
            reading = task_file.rules.read(state.metadata, item, variant=variant)
            role = step.role if step else ""
            return _score(task_file, state.metadata, mark_reading(reading, response), role)

        return score

    return make


async def _run_programs(
    task: TaskFile,
    doc: Document,
    response: str,
    variant: str,
) -> sandbox.Ran:
    programs = tuple(task.rules.programs(doc, response, variant=variant))
    outcomes = await anyio.to_thread.run_sync(runner().run, programs)
    return sandbox.Ran(response, tuple(outcomes))


async def _judge(
    step: ModelStep,
    state: TaskState,
    response: str,
    variant: str,
) -> Judged:
    """Ask the model once for both variants."""
    judged = _judged.pop(state.uuid, None)
    if judged is None:
        item = step.item(state.metadata, response)
        judged = replace(await _ask(step, item, response), rubric=step.rubric)
    if variant == VARIANTS[0]:
        _judged[state.uuid] = judged
    return judged


async def _ask(step: ModelStep, item: Item | None, response: str) -> Judged:
    """Ask the model until a reply can be read, at most as often as the rubric says."""
    if item is None or no_response(response) or step.role not in model.model_roles():
        return Judged(response)
    replies: list[Reply] = []
    reason = ""
    try:
        messages = await model.messages_from_openai(step.rubric.messages(item))
        for temperature in step.rubric.temperatures:
            text = await _reply(step, messages, temperature)
            replies.append(Reply(text=text, temperature=temperature))
            if step.rubric.accepts(text):
                break
        else:
            reason = f"none of {len(replies)} replies of the judge could be read"
    except Exception as error:  # noqa: BLE001 - of any provider; the response is unscored
        reason = f"{type(error).__name__}: {error}"
    return Judged(response, tuple(replies), reason)


async def _reply(
    step: ModelStep,
    messages: Sequence[model.ChatMessage],
    temperature: float,
) -> str:
    """Ask once, and again with room for reasoning if the limit of tokens left no reply."""
    text = ""
    asked = model.get_model(role=step.role)
    for limit in (step.rubric.max_tokens, step.rubric.reasoning_max_tokens):
        config = model.GenerateConfig(temperature=temperature, max_tokens=limit)
        output = await asked.generate(messages, config=config)
        text = output.completion
        if text.strip() or output.stop_reason != "max_tokens":
            break
    return text


def _response_of(output: model.ModelOutput) -> str:
    """Return the text of a response, marked if it was cut off or if nothing follows its reasoning."""
    text: str = output.completion
    content = output.message.content if output.choices else ""
    parts = [] if isinstance(content, str) else content
    has_thoughts = any(isinstance(part, model.ContentReasoning) for part in parts)
    if has_thoughts and not text.strip():
        return CutOffResponse(text)
    return mark_response(text, output.stop_reason)


def _score(task: TaskFile, doc: Document, reading: Reading, role: str) -> Score:
    values = task.rules.metric_values(doc, [reading])
    numbers = {}
    for name, value in values.items():
        if not isinstance(value, list):
            numbers[name] = math.nan if value is None else value
    # inspect_ai's word for why a response is unscored.
    failure = None
    if reading.unscored:
        by_model = role == GRADER or reading.by == "model"
        failure = "grader_failed" if by_model else "scoring_failed"
    fields = fields_of(reading)
    answer = fields["answer"]
    return Score(
        value=numbers,
        answer=None if answer is None else str(answer),
        explanation=task.rules.compare(doc, reading).reason,
        reason=failure,
        metadata={"task": task.name, "reading": fields, "values": values},
    )


def _metrics_of(scores: list[SampleScore]) -> Mapping[str, float]:
    """Return the metrics of a task that have a value, the headline first with its standard error."""
    values_by_sample: dict[object, list[Mapped]] = defaultdict(list)
    task = ""
    for sample_score in scores:
        facts = sample_score.score.metadata or {}
        task = facts["task"]
        values_by_sample[sample_score.sample_id].append(facts["values"])
    if not task:
        return {}
    rows = list(map(over_responses, values_by_sample.values()))
    task_file = TaskFile(task)
    totals: dict[str, float | str] = {}
    for name, metric_type in task_file.rules.metrics_of(**task_file.options).items():
        column = [row[name] for row in rows]
        is_headline = not totals
        if isinstance(metric_type, Metric):
            totals[name] = metric_type.aggregate(column)
        else:
            totals[name] = average(column)
        if is_headline:
            totals[f"{name}_stderr"] = standard_error(column)
    known: dict[str, float] = {}
    for name, total in totals.items():
        if not isinstance(total, str) and not math.isnan(total):
            known[name] = total
    return known


_METRICS = [metric(name="values", scores="unreduced")(lambda: _metrics_of)()]


def _register(variant: str) -> Callable[..., ScoreSample]:
    decorate = scorer(metrics=_METRICS, name=variant)
    registered: Callable[..., ScoreSample] = decorate(_scorer(variant))
    return registered


SCORERS = {variant: _register(variant) for variant in VARIANTS}
"""The function that makes the scorer of a task, by variant."""
