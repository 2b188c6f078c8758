"""Our tasks in inspect_ai, made of lm-eval's task files. Importing this module registers them."""

import functools
import math
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from pkgutil import resolve_name
from typing import Any, Literal

import anyio
from inspect_ai import Task, model, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import SampleScore, Score, Target, mean, metric, scorer, stderr
from inspect_ai.solver import TaskState

from fin_tasks import sandbox
from fin_tasks.adapters.task_file import (
    TaskFile,
    generation_kwargs,
    pictures_of,
    rubric_of,
    task_names,
)
from fin_tasks.answers.cut_off import CutOffResponse, mark_reading, mark_response
from fin_tasks.answers.types import Reading
from fin_tasks.benchmarks.final_answer import RUBRIC
from fin_tasks.benchmarks.scored_task import VARIANTS
from fin_tasks.errors import ConfigError
from fin_tasks.judging.item import Item, Judged, Reply, no_response
from fin_tasks.judging.rubric import Rubric, load_rubric
from fin_tasks.settings import Settings
from fin_tasks.stats.averages import Metric, over_responses

_GRADER = "grader"
_READER = "reader"
"""The roles of a judge and of a model that reads answers, for --model-role."""
_judged: dict[str, Judged] = {}  # by the sample's uuid: what the first scorer asked for the second


_spec = functools.cache(TaskFile)


@functools.cache
def _own_metrics(task: str) -> dict[str, Metric]:
    metrics = _spec(task).rules.metrics_of(**_spec(task).options)
    return {
        name: one for name, one in metrics.items() if isinstance(one, Metric)
    }  # no means over documents


@functools.cache
def _runner() -> sandbox.Runner:
    settings = Settings.from_environ()
    return sandbox.open_runner(tier=settings.sandbox, workers=settings.sandbox_workers)


def _task(name: str, metadata: Mapping[str, Any]) -> Task:
    spec = _spec(name)
    for prefix, role in (("judge_", "grader"), ("reader_", "reader")):
        if keys := [key for key in metadata if key.startswith(prefix)]:
            told = f"expected no model here. Name it with --model-role {role}=MODEL."
            raise ConfigError(f"-T {keys[0]}: {told}")
    documents, provenance = spec.load(metadata)
    asked = generation_kwargs(spec.config, metadata)
    facts = {"version": spec.version, **metadata, "provenance": provenance}
    if spec.runs_programs:
        facts["sandbox"] = {
            "tier": _runner().tier,
            "reason": _runner().reason,
        }  # found out before the model answers
    step, role = _step_of(spec)
    if step:
        rubric = _rubric_of(spec, metadata)
        facts["judge"] = {
            "role": role,
            "rubric": rubric.label,
            "rubric_sha256": rubric.sha256,
            "image": role == _GRADER,
            "temperatures": list(rubric.temperatures),
            "max_tokens": rubric.max_tokens,
        }
    named = {key: metadata[key] for key in ("rubric", "source", "data_dir") if key in metadata}
    return Task(
        dataset=MemoryDataset([_sample(doc) for doc in documents], name=name),
        scorer=[_SCORERS[variant](task=name, **named) for variant in VARIANTS],
        config=model.GenerateConfig(
            max_tokens=asked["max_gen_toks"],
            temperature=asked.get("temperature"),
            top_p=asked.get("top_p"),
        ),
        version=str(facts["version"]),
        metadata=facts,
    )


def _sample(doc: Mapping[str, Any]) -> Sample:
    system = [model.ChatMessageSystem(content=doc["system"])] if doc.get("system") else []
    pictures = [model.ContentImage(image=file) for file in pictures_of(doc)]
    text = doc["prompt"].removeprefix("<image>\n")
    question = [*pictures, model.ContentText(text=text)] if pictures else text
    identity, target = doc.get("id", doc.get("question_id")), str(doc.get("target") or "")
    return Sample(
        id=identity,
        input=[*system, model.ChatMessageUser(content=question)],
        target=target,
        metadata=doc,
    )


def _scorer(variant: str) -> Callable[..., Callable[[TaskState, Target], Awaitable[Score]]]:
    def make(task: str, **metadata: Any) -> Callable[[TaskState, Target], Awaitable[Score]]:
        spec, own = _spec(task), _own_metrics(task)
        step, role = _step_of(spec)
        rubric = _rubric_of(spec, metadata) if step else None

        async def score(state: TaskState, _: Target) -> Score:
            doc = state.metadata
            response = _response_of(state.output)
            given: Any = response
            if spec.runs_programs:
                programs = tuple(spec.rules.programs(doc, response, variant=variant))
                given = sandbox.Ran(
                    response, tuple(await anyio.to_thread.run_sync(_runner().run, programs))
                )
            has_result = isinstance(given, sandbox.Ran) and bool(given.outcomes)
            # A judge is needed, a model that reads answers is not.
            is_judged = role == _GRADER or role in model.model_roles()
            if step and rubric and not has_result and is_judged:
                item = resolve_name(step["item"])(doc, response)
                given = _judged.pop(state.uuid, None) or await _ask(rubric, item, response, role)
                if variant == VARIANTS[0]:
                    _judged[state.uuid] = given
            reading = mark_reading(spec.rules.read(doc, given, variant=variant), response)
            values, told = spec.rules.metric_values(doc, [reading]), reading.to_dict()
            return Score(
                value={
                    f"{n},{variant}": math.nan if v is None else v
                    for n, v in values.items()
                    if n not in own
                },
                answer=None if told["answer"] is None else str(told["answer"]),
                explanation=spec.rules.compare(doc, reading).reason,
                reason=_failure_of(reading, role) if reading.unscored else None,
                metadata={"task": task, "reading": told, "values": values},
            )

        return score

    return make


def _step_of(spec: TaskFile) -> tuple[Mapping[str, Any] | None, str]:
    """Return the task's step that asks a model about responses, and the role of that model for --model-role."""
    if spec.judge:
        return spec.judge, _GRADER
    return spec.answer_reader, _READER


def _rubric_of(spec: TaskFile, metadata: Mapping[str, Any]) -> Rubric:
    if spec.judge:
        return rubric_of(spec.judge, spec.options, metadata)
    return load_rubric(RUBRIC)


def _failure_of(reading: Reading, role: str) -> Literal["grader_failed", "scoring_failed"]:
    """Return inspect_ai's word for why a response is unscored."""
    by_model = role == _GRADER or reading.by == "model"
    return "grader_failed" if by_model else "scoring_failed"


def _response_of(output: model.ModelOutput) -> str:
    """Return the text of a response, marked if it was cut off or if nothing follows its reasoning."""
    text = output.completion
    content = output.message.content if output.choices else ""
    parts = [] if isinstance(content, str) else content
    has_thoughts = any(isinstance(part, model.ContentReasoning) for part in parts)
    if has_thoughts and not text.strip():
        return CutOffResponse(text)
    return mark_response(text, output.stop_reason)


async def _ask(rubric: Rubric, item: Item | None, response: str, role: str) -> Judged:
    """Ask the model of a role until a reply can be read, at most as often as the rubric says."""
    if item is None or no_response(response) or role not in model.model_roles():
        return Judged(response)
    replies: list[Reply] = []
    try:
        messages = await model.messages_from_openai(rubric.messages(item))
        for temperature in rubric.temperatures:
            for limit in (
                rubric.max_tokens,
                rubric.reasoning_max_tokens,
            ):  # a judge that thinks needs more
                config = model.GenerateConfig(temperature=temperature, max_tokens=limit)
                output = await model.get_model(role=role).generate(messages, config=config)
                if output.completion.strip() or output.stop_reason != "max_tokens":
                    break
            replies.append(Reply(text=output.completion, temperature=temperature))
            if rubric.accepts(output.completion):
                return Judged(response, tuple(replies))
    except Exception as error:  # noqa: BLE001 - of any provider; the response is unscored, and the run goes on
        return Judged(response, tuple(replies), f"{type(error).__name__}: {error}")
    return Judged(
        response, tuple(replies), f"none of {len(replies)} replies of the judge could be read"
    )


def _aggregates(scores: list[SampleScore]) -> Mapping[str, float]:
    task, values = "", defaultdict[Any, list[Any]](list)
    for one in scores:
        facts = one.score.metadata or {}
        task = facts["task"]
        values[one.sample_id].append(facts["values"])
    rows = [over_responses(of) for of in values.values()]
    metrics = _own_metrics(task) if task else {}
    found = {name: one.aggregate([row[name] for row in rows]) for name, one in metrics.items()}
    return {name: math.nan if isinstance(value, str) else value for name, value in found.items()}


_METRICS = [
    {"*": [mean(), stderr()]},
    metric(name="aggregates", scores="unreduced")(lambda: _aggregates)(),
]
_SCORERS = {
    variant: scorer(metrics=_METRICS, name=variant)(_scorer(variant)) for variant in VARIANTS
}


def _register(name: str) -> None:
    def make(**metadata: Any) -> Task:
        return _task(name, {key: value for key, value in metadata.items() if key != "model"})

    task(name=name)(make)


for _name in task_names():
    if not _spec(_name).is_conversation:
        _register(_name)
