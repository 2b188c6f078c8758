"""Our tasks in inspect_ai, made of lm-eval's task files. Importing this module registers them."""

import functools
import math
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
from inspect_ai import Task, model, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.event import SampleLimitEvent
from inspect_ai.log import transcript
from inspect_ai.scorer import SampleScore, Score, Target, metric, scorer
from inspect_ai.solver import TaskState

from fin_tasks import sandbox
from fin_tasks.answers.cut_off import CutOffResponse, FailedResponse, mark_response
from fin_tasks.benchmarks.contract import Document, id_of
from fin_tasks.benchmarks.scored_task import SCORINGS, read_responses
from fin_tasks.benchmarks.task_file import Mapped, TaskFile, pictures_of, task_names
from fin_tasks.data.documents import prompt_parts
from fin_tasks.endpoints.replies import ChatReply
from fin_tasks.errors import ConfigError, EndpointError
from fin_tasks.judging.item import Item, Judged, Messages
from fin_tasks.judging.judge import Asker, JudgeStep
from fin_tasks.stats.averages import over_responses, standard_error

ScoreSample = Callable[[TaskState, Target], Awaitable[Score]]

GRADER = "grader"
READER = "reader"
"""The roles of a judge and of a model that reads answers, for --model-role."""


def _role_of(task: TaskFile) -> str:
    """Return the role of the model that a task asks about responses."""
    return GRADER if task.judge else READER


# --- Judges ---


@dataclass
class _AskedStep(JudgeStep):
    """Has the judge's replies to one response already, because inspect_ai asks the judge."""

    judged: Judged | None = None

    def judge_once(self, items: Sequence[Item]) -> Sequence[Judged]:
        """Return the replies for the only item."""
        return [self.judged or Judged(item.response) for item in items]


async def _ask(
    step: JudgeStep, role: str, state: TaskState, response: str, scoring: str
) -> _AskedStep:
    """Ask the model of a role about a response, once for both scorers."""
    asked = _AskedStep(step.item, step.rubric)
    item = step.item(state.metadata, response)
    if item is None or role not in model.model_roles():
        return asked
    # `inspect score` may ask another judge, or by another rubric.
    rubric_hash = step.rubric.facts()["rubric_sha256"]
    name = f"fin_tasks {model.get_model(role=role)} {rubric_hash}"
    is_first = scoring == SCORINGS[0]
    kept = None if is_first else state.store.get(name)
    if kept:
        state.store.delete(name)
        replies = tuple(kept["replies"])
        asked.judged = Judged(response, replies, kept["error"], step.rubric)
        return asked
    reply = functools.partial(_reply, role)
    judged = await Asker(reply, step.rubric).judge(item)
    if is_first:
        state.store.set(name, {"replies": judged.replies, "error": judged.error})
    asked.judged = judged
    return asked


async def _reply(
    role: str,
    messages: Messages,
    *,
    fresh: bool,
    **options: Any,
) -> ChatReply:
    del fresh
    try:
        chat = await model.messages_from_openai(messages)
        config = model.GenerateConfig(**options)
        output = await model.get_model(role=role).generate(chat, config=config)
    except Exception as error:  # of any provider; the response is unscored
        raise EndpointError(f"{type(error).__name__}: {error}") from error
    reason = "length" if output.stop_reason == "max_tokens" else ""
    return ChatReply(text=output.completion, reason=reason)


# --- Scorers ---


def _response_of(state: TaskState) -> str:
    """Return the text of a response, marked if it was cut off, or if there is none."""
    output = state.output
    text = output.completion
    if output.empty:
        return text or _missing_response(output)
    content = output.message.content
    has_thoughts = any(isinstance(part, model.ContentReasoning) for part in content)
    if has_thoughts and not text.strip():
        return CutOffResponse(text)
    return mark_response(text, output.stop_reason)


def _missing_response(output: model.ModelOutput) -> str:
    """Return an empty response that says why a sample has no output."""
    for event in reversed(transcript().events):
        if isinstance(event, SampleLimitEvent):
            if event.type == "token":
                return CutOffResponse()
            return FailedResponse(event.message)
    return FailedResponse(output.error or "the solver gave no response")


def _score(
    file: TaskFile,
    doc: Mapped,
    reading: Any,
) -> Score:
    values = file.scorer.metric_values(doc, [reading])
    numbers = {}
    for name, value in values.items():
        if not isinstance(value, list):
            numbers[name] = math.nan if value is None else value
    fields = reading.to_dict()
    answer = fields["answer"]
    return Score(
        value=numbers,
        answer=None if answer is None else str(answer),
        explanation=file.scorer.compare(doc, reading).reason,
        metadata={"task": file.name, "reading": fields, "values": values},
    )


def _metrics_of(scores: list[SampleScore]) -> Mapping[str, float]:
    """Return the metrics of a task that have a value, the headline first with its standard error."""
    values_by_sample = defaultdict(list)
    file = None
    for sample_score in scores:
        facts = sample_score.score.metadata
        file = TaskFile(facts["task"])
        values_by_sample[sample_score.sample_id].append(facts["values"])
    if file is None:
        return {}
    rows = list(map(over_responses, values_by_sample.values()))
    totals: dict[str, Any] = {}
    for name, definition in file.metrics.items():
        column = [row[name] for row in rows]
        is_headline = not totals
        totals[name] = definition.aggregate(column)
        if is_headline:
            totals[f"{name}_stderr"] = standard_error(column)
    known = {}
    for name, total in totals.items():
        if total != "N/A" and not math.isnan(total):
            known[name] = total
    return known


def _scorer_of(scoring: str) -> Any:
    def make(task: str, **metadata: object) -> ScoreSample:
        file = TaskFile(task)
        step = file.judge_step(metadata)

        async def score(state: TaskState, target: Target) -> Score:
            del target
            response = _response_of(state)
            asked = None
            if step and (file.judge or READER in model.model_roles()):
                asked = await _ask(step, _role_of(file), state, response, scoring)
            read = functools.partial(
                read_responses,
                file.scorer,
                scoring,
                [state.metadata],
                [[response]],
                step=asked,
            )
            # Programs may run for seconds.
            ((reading,),) = await anyio.to_thread.run_sync(read)
            return _score(file, state.metadata, reading)

        return score

    metrics = [metric(name="values", scores="unreduced")(lambda: _metrics_of)()]
    return scorer(metrics=metrics, name=scoring)(make)


_SCORERS = list(map(_scorer_of, SCORINGS))
"""The functions that make the scorers of a task."""


# --- Tasks ---


def _task(name: str, metadata: Mapped) -> Task:
    for option in metadata:
        if option.startswith(("judge_", "reader_")):
            raise ConfigError(
                f"-T {option}: expected no model here. Name it with --model-role {GRADER}=MODEL or "
                f"{READER}=MODEL."
            )
    task_file = TaskFile(name)
    documents, provenance = task_file.load(metadata)
    settings = task_file.generation_kwargs(metadata)
    version = task_file.benchmark.version
    facts = {"version": version, **metadata, "provenance": provenance}
    if task_file.runs_programs:
        # A sandbox that cannot start is an error before the model answers.
        facts["sandbox"] = sandbox.shared_runner().facts
    step = task_file.judge_step(metadata)
    if step:
        role = _role_of(task_file)
        facts["judge"] = {
            "role": role,
            "image": role == GRADER,
            **step.rubric.facts(),
        }
    samples = list(map(_sample, documents))
    return Task(
        dataset=MemoryDataset(samples, name=name),
        scorer=[make_scorer(task=name, **metadata) for make_scorer in _SCORERS],
        config=model.GenerateConfig(
            max_tokens=settings["max_gen_toks"],
            temperature=settings.get("temperature"),
            top_p=settings.get("top_p"),
        ),
        version=str(version),
        metadata=facts,
    )


def _sample(doc: Document) -> Sample:
    content: list[model.Content] = []
    for kind, value in prompt_parts(doc["prompt"], pictures_of(doc)):
        if kind == "image":
            content.append(model.ContentImage(image=value))
        else:
            content.append(model.ContentText(text=value))
    messages = [model.ChatMessageUser(content=content)]
    if doc.get("system"):
        messages.insert(0, model.ChatMessageSystem(content=doc["system"]))
    return Sample(
        id=id_of(doc),
        input=messages,
        target=str(doc.get("target") or ""),
        metadata=doc,
    )


def _register(name: str) -> None:
    def make(**metadata: object) -> Task:
        metadata.pop("model", None)  # inspect_ai passes the name of the model on
        return _task(name, metadata)

    task(name=name)(make)


for _name in task_names():
    if not TaskFile(_name).is_conversation:
        _register(_name)
