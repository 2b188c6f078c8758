"""Our tasks in inspect_ai, made of lm-eval's task files. Importing this module registers them."""

import functools
import json
import math
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

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
from fin_tasks.benchmarks.scored_task import VARIANTS
from fin_tasks.errors import ConfigError
from fin_tasks.judging.item import Item, Judged, Reply, no_response
from fin_tasks.judging.rubric import Rubric
from fin_tasks.settings import Settings
from fin_tasks.stats.averages import Metric, over_responses

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
    if judge := [key for key in metadata if key.startswith("judge_")]:
        raise ConfigError(
            f"-T {judge[0]}: expected no judge here. Name it with --model-role grader=MODEL."
        )
    documents, provenance = spec.load(metadata)
    asked = generation_kwargs(spec.config, metadata)
    facts = {"version": spec.version, **metadata, "provenance": provenance}
    if spec.runs_programs:
        facts["sandbox"] = {
            "tier": _runner().tier,
            "reason": _runner().reason,
        }  # found out before the model answers
    if spec.judge:
        rubric = rubric_of(spec.judge, spec.options, metadata)
        told = {"rubric": rubric.label, "rubric_sha256": rubric.sha256, "image": True}
        facts["judge"] = {
            **told,
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
        rubric = rubric_of(spec.judge, spec.options, metadata) if spec.judge else None

        async def score(state: TaskState, _: Target) -> Score:
            doc, response = state.metadata, state.output.completion
            given: Any = response
            if spec.runs_programs:
                programs = tuple(spec.rules.programs(doc, response, variant=variant))
                given = sandbox.Ran(
                    response, tuple(await anyio.to_thread.run_sync(_runner().run, programs))
                )
            elif (
                spec.judge
                and rubric
                and ("grader" in model.model_roles() or not spec.judge.get("optional"))
            ):
                given = _judged.pop(state.uuid, None) or await _ask(
                    rubric, spec.rules.judge_item(doc, response), response
                )
                if variant == VARIANTS[0]:
                    _judged[state.uuid] = given
            reading = spec.rules.read(doc, given, variant=variant)
            values, told = spec.rules.metric_values(doc, [reading]), json.loads(str(reading))
            return Score(
                value={
                    f"{n},{variant}": math.nan if v is None else v
                    for n, v in values.items()
                    if n not in own
                },
                answer=None if told["answer"] is None else str(told["answer"]),
                explanation=spec.rules.compare(doc, reading).reason,
                reason=("grader_failed" if spec.judge else "scoring_failed")
                if reading.unscored
                else None,
                metadata={"task": task, "reading": told, "values": values},
            )

        return score

    return make


async def _ask(rubric: Rubric, item: Item | None, response: str) -> Judged:
    """Ask the model of the role `grader` until a reply can be read, at most as often as the rubric says."""
    if item is None or no_response(response) or "grader" not in model.model_roles():
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
                output = await model.get_model(role="grader").generate(messages, config=config)
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
