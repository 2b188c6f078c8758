"""Our tasks in inspect_ai, made of lm-eval's task files. Importing this module registers them."""

from inspect_ai import Task, model, task
from inspect_ai.dataset import MemoryDataset, Sample

from fin_tasks.adapters.inspect_ai_scorers import GRADER, READER, SCORERS, model_step, runner
from fin_tasks.adapters.task_file import (
    Mapped,
    TaskFile,
    generation_kwargs,
    pictures_of,
    task_names,
)
from fin_tasks.benchmarks.contract import Document
from fin_tasks.errors import ConfigError

_ROLES = {"judge_": GRADER, "reader_": READER}
"""The role of a model for --model-role, by the start of lm-eval's options that name it."""
_SCORER_OPTIONS = ("rubric", "source", "data_dir")


def _task(name: str, metadata: Mapped) -> Task:
    _refuse_models(metadata)
    task_file = TaskFile(name)
    documents, provenance = task_file.load(metadata)
    settings = generation_kwargs(task_file.config, metadata)
    facts = {"version": task_file.version, **metadata, "provenance": provenance}
    if task_file.runs_programs:
        # A sandbox that cannot start is an error before the model answers.
        facts["sandbox"] = {"tier": runner().tier, "reason": runner().reason}
    step = model_step(task_file, metadata)
    if step is not None and not provenance.get("judge_free"):
        facts["judge"] = step.facts()
    options = {option: metadata[option] for option in _SCORER_OPTIONS if option in metadata}
    samples = list(map(_sample, documents))
    return Task(
        dataset=MemoryDataset(samples, name=name),
        scorer=[make_scorer(task=name, **options) for make_scorer in SCORERS.values()],
        config=model.GenerateConfig(
            max_tokens=settings["max_gen_toks"],
            temperature=settings.get("temperature"),
            top_p=settings.get("top_p"),
        ),
        version=str(task_file.version),
        metadata=facts,
    )


def _refuse_models(metadata: Mapped) -> None:
    for option in metadata:
        for prefix, role in _ROLES.items():
            if option.startswith(prefix):
                raise ConfigError(
                    f"-T {option}: expected no model here. Name it with --model-role {role}=MODEL."
                )


def _sample(doc: Document) -> Sample:
    text = doc["prompt"].removeprefix("<image>\n")
    content: str | list[model.Content] = text
    pictures = [model.ContentImage(image=file) for file in pictures_of(doc)]
    if pictures:
        content = [*pictures, model.ContentText(text=text)]
    messages = [model.ChatMessageUser(content=content)]
    if doc.get("system"):
        messages.insert(0, model.ChatMessageSystem(content=doc["system"]))
    return Sample(
        id=doc.get("id", doc.get("question_id")),
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
