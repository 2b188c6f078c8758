"""Score saved responses to the documents of a task, which they name by id."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from fin_tasks.answers.cut_off import FailedResponse
from fin_tasks.benchmarks.contract import Document, id_of
from fin_tasks.benchmarks.corrections import read_corrections
from fin_tasks.benchmarks.scored_task import score_task
from fin_tasks.benchmarks.task_file import Mapped, TaskFile
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.sandbox import shared_runner

from .files import SavedRow, read_saved_rows, rows_of_records, texts_of
from .json_records import leave_out
from .matching import Matched, check_rows, match_rows, others_text
from .questions import Questions, answered_tasks, load_questions, questions_in
from .run_folder import SavedRun

if TYPE_CHECKING:
    from pandas import DataFrame

Response = str | Sequence[str | None] | None
"""A response, or several to one document; None if the model gave none."""
Responses: TypeAlias = "Mapping[str, Response] | Iterable[Response] | DataFrame | Path"


def score_responses(
    task: str, responses: Responses, metadata: Mapped, *, strict: bool = False
) -> SavedRun:
    """Score the responses to a task's documents, several to a document by their mean.

    Documents without a response are left out. None is a response that the model did not give, and
    `robust` leaves it unscored. The metadata may name a model that reads answers.

    Args:
        task: Name of the task.
        responses: By id, in the order of the documents, as a table, or as a file.
        metadata: Options of the task.
        strict: Rows that do not fit are an error. Otherwise they are left out, which is logged.

    Raises:
        ConfigError: There is no such task, or it needs a judge.
        DataError: No response has the id or the question of a document, a response is no text, or
            responses without ids are fewer or more than the documents.
    """
    if isinstance(responses, Path):
        return score_file(task, responses, metadata, strict=strict)
    questions = _questions_of(task, metadata)
    rows = _rows_of(questions, responses)
    return _score_rows(questions, rows, metadata, where=task, strict=strict)


def score_file(
    task: str,
    file: Path,
    metadata: Mapped,
    *,
    columns: Mapping[str, str] | None = None,
    strict: bool = False,
) -> SavedRun:
    """Score the responses in a file; its ids, or the results file beside it, say the split if the metadata do not."""
    rows = read_saved_rows(file, columns=columns, strict=strict)
    task_file = _unjudged(task)
    task_file.model_step(metadata)  # a wrong option ends it before loading
    questions, options = questions_in(task_file, rows, metadata, file)
    return _score_rows(questions, rows, options, where=str(file), strict=strict)


def score_benchmark_file(
    benchmark: str,
    tasks: Sequence[str],
    file: Path,
    metadata: Mapped,
    *,
    columns: Mapping[str, str] | None = None,
    strict: bool = False,
) -> list[SavedRun]:
    """Score the responses to several tasks in one file; tasks without any response are left out.

    Raises:
        DataError: No task has a document of any row.
    """
    rows = read_saved_rows(file, columns=columns, strict=strict)
    answered = answered_tasks(list(map(_unjudged, tasks)), rows, metadata, file)
    others = _without_excluded(benchmark, answered.others, metadata)
    if not answered.tasks:
        raise DataError(
            f"{file}: expected ids of questions of {benchmark}, found none; the first row has "
            f"{rows[0].id or rows[0].question!r:.80}."
        )
    if others:
        message = (
            f"{file}: {len(others):,} of {len(rows):,} rows have the id of no question of {benchmark}, such as "
            f"{others[0].id or others[0].question!r:.80}, and are left out. {answered.problem}"
        )
        leave_out(message.strip(), strict=strict)
    runs = []
    for questions, matched, options in answered.tasks:
        where = f"{file}, {questions.file.name}"
        runs.append(score_matched(questions, matched, options, where, strict=strict))
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


def _questions_of(task: str, metadata: Mapped) -> Questions:
    """Load the documents of a task; raise ConfigError if the task has a judge."""
    file = _unjudged(task)
    file.model_step(metadata)  # a wrong option ends it before loading
    return load_questions(file, metadata)


def _unjudged(task: str) -> TaskFile:
    """Return a task; raise ConfigError if it has a judge."""
    file = TaskFile(task)
    if file.judge:
        raise ConfigError(
            f"{file.name}: its responses are scored by a judge. Save them as a file, and ask the judge "
            "with `fin-tasks judge`."
        )
    return file


def _score_rows(
    questions: Questions,
    rows: Sequence[SavedRow],
    metadata: Mapped,
    *,
    where: str,
    strict: bool,
) -> SavedRun:
    """Score the rows that answer a document; say what is left out."""
    task = questions.file.name
    rows = _without_excluded(questions.file.benchmark.name, rows, metadata)
    if not rows:
        raise DataError(f"{task}: expected at least one response, got none.")
    matched = match_rows(rows, questions.docs)
    if not matched.rows_by_id:
        raise DataError(
            f"{task}: expected ids of its documents, such as {id_of(questions.docs[0])!r}, found none; "
            f"the first row has {rows[0].id or rows[0].question!r:.80}."
        )
    if matched.others:
        text = others_text(matched.others, len(rows), questions.file, metadata)
        leave_out(f"{where}: {text}", strict=strict)
    return score_matched(questions, matched, metadata, where, strict=strict)


def score_matched(
    questions: Questions,
    matched: Matched,
    metadata: Mapped,
    where: str,
    *,
    strict: bool,
) -> SavedRun:
    """Score the documents that have a response."""
    for message in check_rows(matched, questions.docs, questions.file.benchmark, where):
        leave_out(message, strict=strict)
    docs: list[Document] = []
    responses = []
    for doc in questions.docs:
        texts = matched.texts_by_id.get(id_of(doc))
        if texts is None:
            continue
        docs.append(doc)
        missing = FailedResponse("the model gave no response")
        # An empty text may be marked as cut off, so it must stay the same object.
        responses.append([missing if text is None else text for text in texts])
    run = score_documents(
        questions.file, docs, responses, metadata, questions.provenance
    )
    return run._replace(scored=replace(run.scored, n_all=len(questions.docs)))


def _without_excluded(
    benchmark: str, rows: Sequence[SavedRow], metadata: Mapped
) -> list[SavedRow]:
    """Return the rows of questions that the corrections in the metadata do not exclude."""
    if not metadata.get("corrections"):
        return list(rows)
    by_id = read_corrections(metadata["corrections"]).of(benchmark)
    left = []
    for row in rows:
        correction = by_id.get(row.id)
        if correction is None or not correction.exclude:
            left.append(row)
    return left


def _rows_of(questions: Questions, responses: Any) -> list[SavedRow]:
    """Return the rows of responses that are by id, in the order of the documents, or a table."""
    task = questions.file.name
    if hasattr(responses, "columns"):
        records = responses.rename(columns=str).to_dict("records")
        if not records:
            return []
        return rows_of_records(task, records, columns={}, strict=True)
    if not isinstance(responses, Mapping):
        # `list` would make a response of each letter.
        listed = [responses] if isinstance(responses, str) else list(responses)
        if len(listed) != len(questions.docs):
            raise DataError(
                f"{task}: expected a response to each of {len(questions.docs):,} documents, got "
                f"{len(listed):,}. Give them by id if some are missing."
            )
        responses = dict(zip(map(id_of, questions.docs), listed, strict=True))
    rows = []
    for name, response in responses.items():
        texts = texts_of(f"{task}, {name}", response)
        rows.append(SavedRow(str(name), texts, {}))
    return rows
