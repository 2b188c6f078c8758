"""Our tasks in inspect_ai, made of lm-eval's task files. Importing this module registers them."""

from inspect_ai import Task, model, task
from inspect_ai.dataset import MemoryDataset, Sample

from fin_tasks.adapters.inspect_ai_scorers import (
    GRADER,
    READER,
    SCORERS,
    role_of,
    runner,
)
from fin_tasks.adapters.task_file import Mapped, TaskFile, pictures_of, task_names
from fin_tasks.benchmarks.contract import Document, id_of
from fin_tasks.errors import ConfigError

_MODEL_OPTIONS = ("judge_", "reader_")
"""The start of lm-eval's options that name a model."""


def _task(name: str, metadata: Mapped) -> Task:
    for option in metadata:
        if option.startswith(_MODEL_OPTIONS):
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
        facts["sandbox"] = {"tier": runner().tier, "reason": runner().reason}
    step = task_file.judge_step(metadata)
    if step is not None and not provenance.get("judge_free"):
        role = role_of(task_file)
        facts["judge"] = {"role": role, "image": role == GRADER, **step.rubric.facts()}
    samples = list(map(_sample, documents))
    return Task(
        dataset=MemoryDataset(samples, name=name),
        scorer=[make_scorer(task=name, **metadata) for make_scorer in SCORERS.values()],
        config=model.GenerateConfig(
            max_tokens=settings["max_gen_toks"],
            temperature=settings.get("temperature"),
            top_p=settings.get("top_p"),
        ),
        version=str(version),
        metadata=facts,
    )


def _sample(doc: Document) -> Sample:
    text = doc["prompt"].removeprefix("<image>\n")
    pictures = [model.ContentImage(image=file) for file in pictures_of(doc)]
    messages = [
        model.ChatMessageUser(content=[*pictures, model.ContentText(text=text)])
    ]
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
