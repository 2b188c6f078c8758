"""Score saved responses to the documents of a task, which they name by id."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from fin_tasks.answers.cut_off import FailedResponse
from fin_tasks.benchmarks.contract import Document, id_of
from fin_tasks.benchmarks.corrections import read_corrections
from fin_tasks.benchmarks.scored_task import score_task
from fin_tasks.benchmarks.task_file import Mapped, TaskFile
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.sandbox import shared_runner

from .files import Texts, texts_of
from .run_folder import SavedRun

if TYPE_CHECKING:
    from pandas import DataFrame

Response = str | Sequence[str | None] | None
"""A response, or several to one document; None if the model gave none."""
Responses: TypeAlias = "Mapping[str, Response] | Iterable[Response] | DataFrame"


class _Asked(NamedTuple):
    """A task with all of its documents, and what is known of them."""

    file: TaskFile
    docs: Sequence[Document]
    provenance: Mapped


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
        DataError: There is no response, a response has an unknown id or is no text, or responses
            without ids are fewer or more than the documents.
    """
    asked = _ask(task, metadata)
    texts_by_id = _left(
        asked.file.benchmark.name, _texts_by_id(asked, responses), metadata
    )
    if not texts_by_id:
        raise DataError(f"{task}: expected at least one response, got none.")
    unknown_ids = texts_by_id.keys() - set(map(id_of, asked.docs))
    if unknown_ids:
        first = next(name for name in texts_by_id if name in unknown_ids)
        raise DataError(
            f"{task}: expected ids of its documents, such as {id_of(asked.docs[0])!r}; no document "
            f"has the id {first!r:.80} (and {len(unknown_ids) - 1:,} other ids)."
        )
    return _score(asked, texts_by_id, metadata)


def score_benchmark(
    benchmark: str,
    tasks: Sequence[str],
    texts_by_id: Mapping[str, Texts],
    metadata: Mapped,
) -> list[SavedRun]:
    """Score the responses to several tasks; tasks without any response are left out.

    Raises:
        DataError: No task has a document of an id.
    """
    unused = dict(_left(benchmark, texts_by_id, metadata))
    runs = []
    for task in tasks:
        asked = _ask(task, metadata)
        own_ids = unused.keys() & set(map(id_of, asked.docs))
        if own_ids:
            own_texts = {name: unused.pop(name) for name in own_ids}
            runs.append(_score(asked, own_texts, metadata))
    if unused:
        raise DataError(
            f"{benchmark}: expected ids of its questions, got {next(iter(unused))!r:.80} "
            f"(and {len(unused) - 1:,} other unknown ids)."
        )
    return runs


def score_documents(
    task: TaskFile,
    docs: Sequence[Document],
    responses: Sequence[Sequence[str]],
    metadata: Mapped,
    provenance: Mapped,
) -> SavedRun:
    """Score the responses to each of some documents."""
    # What results say of a model that reads answers repeats the options that name it.
    facts = dict(metadata)
    for name in metadata:
        if name.startswith(("judge_", "reader_")):
            del facts[name]
    if task.runs_programs:
        facts["sandbox"] = shared_runner().facts
    scored = score_task(task, docs, responses, step=task.model_step(metadata))
    return SavedRun(scored, provenance, facts)


def _ask(task: str, metadata: Mapped) -> _Asked:
    """Load the documents of a task without a judge."""
    task_file = TaskFile(task)
    if task_file.judge:
        raise ConfigError(
            f"{task}: its responses are scored by a judge. Save them as a file, and ask the judge "
            "with `fin-tasks judge`."
        )
    task_file.model_step(metadata)  # a wrong option ends it before loading
    docs, provenance = task_file.load(metadata)
    return _Asked(task_file, docs, provenance)


def _score(
    asked: _Asked, texts_by_id: Mapping[str, Texts], metadata: Mapped
) -> SavedRun:
    """Score the documents that have a response."""
    docs: list[Document] = []
    responses = []
    for doc in asked.docs:
        texts = texts_by_id.get(id_of(doc))
        if texts is None:
            continue
        docs.append(doc)
        missing = FailedResponse("the model gave no response")
        # An empty text may be marked as cut off, so it must stay the same object.
        responses.append([missing if text is None else text for text in texts])
    run = score_documents(asked.file, docs, responses, metadata, asked.provenance)
    return run._replace(scored=replace(run.scored, n_all=len(asked.docs)))


def _left(
    benchmark: str, texts_by_id: Mapping[str, Texts], metadata: Mapped
) -> Mapping[str, Texts]:
    """Return the responses to questions that the corrections in the metadata do not exclude."""
    if not metadata.get("corrections"):
        return texts_by_id
    by_id = read_corrections(metadata["corrections"]).of(benchmark)
    left = {}
    for name, texts in texts_by_id.items():
        correction = by_id.get(name)
        if correction is None or not correction.exclude:
            left[name] = texts
    return left


def _texts_by_id(asked: _Asked, responses: Any) -> dict[str, Texts]:
    """Return responses by id, which are by id, in the order of the documents, or a table."""
    task = asked.file.name
    texts_by_id: dict[str, Texts] = {}
    for row in _rows_of(asked, responses):
        row_id = str(row["id"])
        texts = texts_of(f"{task}, {row_id}", row["response"], row.get("finish_reason"))
        texts_by_id.setdefault(row_id, []).extend(texts)
    return texts_by_id


def _rows_of(asked: _Asked, responses: Any) -> Sequence[Mapped]:
    """Return rows with `id` and `response`, and `finish_reason` if a table has it."""
    task = asked.file.name
    if hasattr(responses, "columns"):
        names = list(map(str, responses.columns))
        if not {"id", "response"} <= set(names):
            raise DataError(
                f"{task}: expected a table with the columns id and response, got {', '.join(names)}."
            )
        return list(responses.to_dict("records"))
    if not isinstance(responses, Mapping):
        # `list` would make a response of each letter.
        listed = [responses] if isinstance(responses, str) else list(responses)
        if len(listed) != len(asked.docs):
            raise DataError(
                f"{task}: expected a response to each of {len(asked.docs):,} documents, got "
                f"{len(listed):,}. Give them by id if some are missing."
            )
        responses = dict(zip(map(id_of, asked.docs), listed, strict=True))
    return [{"id": name, "response": response} for name, response in responses.items()]
