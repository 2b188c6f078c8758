"""Score responses that somebody saved, for any task without a judge."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import NamedTuple

from fin_tasks.adapters.responses import Responses, TextsById, match_responses
from fin_tasks.adapters.task_file import Mapped, TaskFile
from fin_tasks.benchmarks.contract import id_of
from fin_tasks.benchmarks.scored_task import ScoredTask, score_task
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.judging.judge import answer_reader_from
from fin_tasks.sandbox import Runner, open_runner
from fin_tasks.settings import Settings

_MODEL_OPTIONS = ("judge_", "reader_")
"""Options of a model; what results say about it repeats them."""


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
    answer_reader_from(metadata, Settings.from_environ())  # a wrong option ends it before loading
    docs, provenance = task_file.load(metadata)
    answered, texts_by_doc = match_responses(task, docs, responses)
    texts, failed = _without_none(texts_by_doc)
    run = score_documents(task, answered, texts, metadata, provenance, failed=failed)
    return run._replace(scored=replace(run.scored, n_all=len(docs)))


def score_documents(
    task: str,
    docs: Sequence[Mapped],
    responses: Sequence[Sequence[str]],
    metadata: Mapped,
    provenance: Mapped,
    *,
    failed: Sequence[int] = (),
) -> SavedRun:
    """Score the responses to each document of a task; `failed` are places of documents without any."""
    task_file = TaskFile(task)
    settings = Settings.from_environ()
    reader = answer_reader_from(metadata, settings)
    with _sandbox(task_file, settings) as runner:
        scored = score_task(
            task_file.benchmark,
            task,
            docs,
            responses,
            options=task_file.options,
            run_programs=runner.run if runner else None,
            answer_reader=reader if task_file.answer_reader else None,
            failed=failed,
        )
    facts: dict[str, object] = {}
    for name, option in metadata.items():
        if not name.startswith(_MODEL_OPTIONS):
            facts[name] = option
    if runner:
        facts["sandbox"] = {"tier": runner.tier, "reason": runner.reason}
    return SavedRun(scored, provenance, facts)


def score_benchmark(
    benchmark: str,
    tasks: Sequence[str],
    responses: TextsById,
    metadata: Mapped,
) -> list[SavedRun]:
    """Score responses by id to several tasks; tasks without any response are left out.

    Raises:
        DataError: No task has a document of an id.
    """
    unused = dict(responses)
    runs = []
    for task in tasks:
        docs, _ = TaskFile(task).load(metadata)
        texts_by_id = {}
        for name in map(id_of, docs):
            if name in unused:
                texts_by_id[name] = unused.pop(name)
        if texts_by_id:
            runs.append(score_responses(task, texts_by_id, metadata))
    if unused:
        stranger = next(iter(unused))
        problem = f"expected ids of its questions, got {stranger!r:.80}"
        raise DataError(f"{benchmark}: {problem} (and {len(unused) - 1:,} other unknown ids).")
    return runs


def _sandbox(
    task_file: TaskFile,
    settings: Settings,
) -> AbstractContextManager[Runner | None]:
    if not task_file.runs_programs:
        return nullcontext()
    return open_runner(tier=settings.sandbox, workers=settings.sandbox_workers)


def _without_none(
    texts_by_doc: Sequence[Sequence[str | None]],
) -> tuple[list[list[str]], list[int]]:
    """Return texts, and the places of documents to which the model gave no response at all."""
    texts: list[list[str]] = []
    failed: list[int] = []
    for place, doc_texts in enumerate(texts_by_doc):
        if set(doc_texts) == {None}:
            failed.append(place)
        # An empty text may be marked as cut off, so it must stay the same object.
        texts.append(["" if text is None else text for text in doc_texts])
    return texts, failed
