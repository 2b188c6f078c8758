"""Load the questions that a file of responses answers. Their split is found, as the file may not name it."""

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from fin_tasks.benchmarks.contract import Document
from fin_tasks.benchmarks.task_file import Mapped, TaskFile
from fin_tasks.errors import FetchError, FinTasksError

from .files import SavedRow
from .matching import Matched, match_rows
from .origin import UNKNOWN, questions_of

_log = logging.getLogger(__name__)


class Questions(NamedTuple):
    """A task with all of its documents, and what is known of them."""

    file: TaskFile
    docs: Sequence[Document]
    provenance: Mapped


def load_questions(task: TaskFile, metadata: Mapped) -> Questions:
    """Load the documents of a task."""
    docs, provenance = task.load(metadata)
    return Questions(task, docs, provenance)


def questions_in(
    task: TaskFile, rows: Sequence[SavedRow], metadata: Mapped, file: Path
) -> tuple[Questions, Mapped]:
    """Load the documents that the rows of a file answer, and return them with the options that chose them.

    Likely splits and sources are tried until one has a document of some row. If none has, the documents are those of
    the metadata.
    """
    fallback = None
    own_error: FinTasksError | None = None
    for options in _likely_options(rows, metadata, file):
        is_download = options.get("source") != "sample"
        if is_download and isinstance(own_error, FetchError):
            continue  # another split would not come either
        try:
            questions = load_questions(task, options)
        except FinTasksError as error:  # an option or a split that the benchmark lacks
            if options == metadata or isinstance(error, FetchError):
                own_error = error
            continue
        if match_rows(rows, questions.docs).rows_by_id:
            differing = []
            for name, value in options.items():
                is_usual = name == "split" and value == task.benchmark.usual_split
                if metadata.get(name) != value and not is_usual:
                    differing.append(f"{name} {value}")
            if differing:
                text = "%s: its rows are answers to the questions with %s."
                _log.warning(text, file, " and ".join(differing))
            return questions, options
        if options == metadata:
            fallback = questions, options
    if fallback is not None:
        return fallback
    assert own_error  # noqa: S101 - the metadata alone are among the options
    raise own_error


class AnsweredTask(NamedTuple):
    """A task, and the rows of a file that answer its questions."""

    questions: Questions
    matched: Matched
    options: Mapped
    """They chose the documents."""


class AnsweredTasks(NamedTuple):
    """The tasks that a file has answers to."""

    tasks: list[AnsweredTask]
    others: list[SavedRow]
    """The rows that answer no question."""
    problem: str
    """Why the questions of a task cannot be had; empty if all can."""


def answered_tasks(
    tasks: Sequence[TaskFile], rows: Sequence[SavedRow], metadata: Mapped, file: Path
) -> AnsweredTasks:
    """Find the rows of a file that answer the questions of some tasks; each row counts once.

    Raises:
        FinTasksError: The questions of no task can be had.
    """
    options = metadata
    answered: list[AnsweredTask] = []
    first_error: FinTasksError | None = None
    is_loaded = False
    rows = list(rows)
    for task in tasks:
        if not rows:
            break
        try:
            questions, options = questions_in(task, rows, options, file)
        except FetchError:
            if not answered:
                raise
            continue
        except FinTasksError as error:
            # A task's own files are missing, such as figures.
            first_error = first_error or error
            continue
        is_loaded = True
        matched = match_rows(rows, questions.docs)
        if matched.rows_by_id:
            answered.append(AnsweredTask(questions, matched, options))
            rows = matched.others
    if first_error and not is_loaded:
        raise first_error
    return AnsweredTasks(answered, rows, str(first_error or ""))


def _likely_options(
    rows: Sequence[SavedRow], metadata: Mapped, file: Path
) -> Iterator[Mapped]:
    """Yield the metadata with the split and the source that the file names, as they are, and with others."""
    origin = questions_of(file, ids=[row.id for row in rows])
    stated = {}
    has_split = bool({"split", "variants"} & metadata.keys())
    has_source = metadata.get("source", "auto") != "auto"
    if {"data_dir", "variants"} & metadata.keys():
        has_source = True
    if not has_split and origin["split"] not in (UNKNOWN, "sample"):
        stated["split"] = origin["split"]
    if not has_source and origin["source"] == "sample":
        stated["source"] = "sample"
    if stated:
        yield {**metadata, **stated}
    yield metadata
    if not has_split:
        yield {**metadata, "split": "validation"}
        yield {**metadata, "split": "test"}
    if not has_source:
        yield {**metadata, "source": "sample"}
