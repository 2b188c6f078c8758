"""Score responses that somebody saved, for any task without a judge."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from fin_tasks.benchmarks.contract import id_of
from fin_tasks.benchmarks.scored_task import ScoredTask, score_task
from fin_tasks.benchmarks.task_file import Mapped, TaskFile
from fin_tasks.errors import ConfigError, DataError

from .programs import run_programs, sandbox_facts
from .responses import Responses, TextsById, match_responses


class SavedRun(NamedTuple):
    """Scored responses to one task, and what results say about the task."""

    scored: ScoredTask
    provenance: Mapped
    metadata: Mapped


def score_responses(
    task: str,
    responses: Responses,
    metadata: Mapped,
) -> SavedRun:
    """Score the responses to a task's documents, several to a document by their mean.

    Documents without a response are left out. None is a response that the model did not give, and
    `robust` leaves it unscored. The metadata may name a model that reads answers.

    Raises:
        ConfigError: There is no such task, or it needs a judge.
        DataError: The responses do not fit the documents.
    """
    task_file = TaskFile(task)
    if task_file.judge:
        raise ConfigError(
            f"{task}: its responses are scored by a judge. Save them as a file, and ask the judge "
            "with `fin-tasks judge`."
        )
    task_file.model_step(metadata)  # a wrong option ends it before loading
    docs, provenance = task_file.load(metadata)
    matched = match_responses(task, docs, responses)
    run = score_documents(
        task,
        matched.docs,
        matched.texts,
        metadata,
        provenance,
        unanswered=matched.unanswered,
    )
    return run._replace(scored=replace(run.scored, n_all=len(docs)))


def score_documents(
    task: str,
    docs: Sequence[Mapped],
    responses: Sequence[Sequence[str]],
    metadata: Mapped,
    provenance: Mapped,
    *,
    unanswered: Sequence[int] = (),
) -> SavedRun:
    """Score the responses to each document of a task; `unanswered` is as in `score_task`."""
    task_file = TaskFile(task)
    # The facts of `step` repeat the options of a model.
    facts = dict(metadata)
    for name in metadata:
        if name.startswith(("judge_", "reader_")):
            del facts[name]
    if task_file.runs_programs:
        facts["sandbox"] = sandbox_facts()
    scored = score_task(
        task_file.benchmark.name,
        task,
        docs,
        responses,
        options=task_file.options,
        run_programs=run_programs if task_file.runs_programs else None,
        step=task_file.model_step(metadata),
        unanswered=unanswered,
    )
    return SavedRun(scored, provenance, facts)


def score_benchmark(
    benchmark: str,
    tasks: Sequence[str],
    responses: TextsById,
    metadata: Mapped,
) -> list[SavedRun]:
    """Score responses to several tasks, given by id; tasks without any response are left out.

    Raises:
        DataError: No task has a document of an id.
    """
    unused = dict(responses)
    runs = []
    for task in tasks:
        docs, _ = TaskFile(task).load(metadata)
        own_ids = unused.keys() & map(id_of, docs)
        texts_by_id = {name: unused.pop(name) for name in own_ids}
        if texts_by_id:
            runs.append(score_responses(task, texts_by_id, metadata))
    if unused:
        raise DataError(
            f"{benchmark}: expected ids of its questions, got {next(iter(unused))!r:.80} "
            f"(and {len(unused) - 1:,} other unknown ids)."
        )
    return runs
