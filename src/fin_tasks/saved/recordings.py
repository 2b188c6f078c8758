"""Files in which authors saved responses together with the questions and truths.

The truths of a benchmark's own files count. Those in such a file count only where these cannot be had.
"""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple

from fin_tasks.benchmarks import financemath, financereasoning, xfinbench
from fin_tasks.benchmarks.contract import Document, id_of
from fin_tasks.benchmarks.corrections import corrected_documents
from fin_tasks.benchmarks.financemath import data as financemath_data
from fin_tasks.benchmarks.financereasoning import data as financereasoning_data
from fin_tasks.benchmarks.request import MARKER, rows_of
from fin_tasks.benchmarks.task_file import Mapped, TaskFile
from fin_tasks.benchmarks.xfinbench.rows import (
    SPLITS,
    TASKS,
    Mode,
    Row,
    Subset,
    Task,
    parse_truth,
    read_rows,
)
from fin_tasks.data.locate import locate
from fin_tasks.errors import ConfigError, DataError, FetchError
from fin_tasks.settings import Settings

from .columns import Json
from .files import SavedRow, read_saved_rows
from .origin import questions_of
from .run_folder import Fields, SavedRun
from .scoring import score_benchmark_file, score_documents

_XFINBENCH_TRUTHS: dict[Task, str] = {
    "bool": "1 or 0",
    "mcq": "a letter",
    "calcu": "a number, and no true or false as answer",
}
_QUESTION_FIELDS = {"question", "choices", "capabilities", "has_table", "figure"}
_log = logging.getLogger(__name__)

Names = Mapping[str, str]
"""A file's names of our columns."""


class Recording(NamedTuple):
    """The questions in a file with the responses to each, and the task that asks them."""

    file: Path
    task: str
    docs: list[Document]
    responses: list[list[str]]
    facts: Fields
    """How the model was asked, and the version of the scorer."""


def score_authors_file(
    benchmark: str,
    tasks: Sequence[str],
    file: Path,
    metadata: Mapped,
    *,
    read: Callable[[Path, Names], Recording] | None,
    columns: Names,
    strict: bool = False,
) -> list[SavedRun]:
    """Score the responses in a file by the benchmark's own truths.

    If the benchmark's files cannot be downloaded, the truths in the file count, which is logged.

    Args:
        benchmark: Name of the benchmark.
        tasks: The tasks that the file may have responses to.
        file: The file.
        metadata: Options of the tasks.
        read: Reads the questions and truths in the file; None if they are never used.
        columns: The file's names of our columns.
        strict: Rows that do not fit, and files that cannot be downloaded, are an error.
    """
    try:
        return score_benchmark_file(
            benchmark, tasks, file, metadata, columns=columns, strict=strict
        )
    except FetchError as error:
        if strict or read is None:
            raise
        text = "%s: scored by the truths in the file, as the benchmark's own cannot be had (%s)"
        _log.warning(text, file, error)
    return [score_recording(read(file, columns), metadata)]


def score_recording(recording: Recording, metadata: Mapped) -> SavedRun:
    """Score the responses in a file by the truths in it."""
    if metadata.get("corrections"):
        recording = _corrected(recording, metadata["corrections"])
    questions = questions_of(recording.file, ids=map(id_of, recording.docs))
    return score_documents(
        TaskFile(recording.task),
        recording.docs,
        recording.responses,
        metadata,
        {**recording.facts, **questions},
    )


def _corrected(recording: Recording, path: str) -> Recording:
    """Return a recording without the questions that a file of corrections excludes, and with its truths."""
    benchmark = TaskFile(recording.task).benchmark.name
    docs, facts = corrected_documents(benchmark, recording.docs, path)
    left_ids = set(map(id_of, docs))
    responses = []
    for doc, texts in zip(recording.docs, recording.responses, strict=True):
        if id_of(doc) in left_ids:
            responses.append(texts)
    return recording._replace(
        docs=docs, responses=responses, facts={**recording.facts, "corrections": facts}
    )


def read_financemath(
    path: Path, columns: Names | None = None, *, mode: Literal["cot", "pot"]
) -> Recording:
    """Read FinanceMath's questions and the responses to them."""
    rows = read_saved_rows(path, columns=columns)
    records = [_record_of(row, "question_id") for row in rows]
    questions = rows_of(financemath_data.Row, path, records)
    docs = []
    for question in questions:
        doc = financemath_data.document_of(question, mode)
        tables = question.tables or []
        # The page shows the question whole.
        prompt = "\n\n".join([*tables, question.question])
        asked = {"question": question.question, "tables": tables, "prompt": prompt}
        docs.append({"id": question.question_id, **asked, **doc})
    task = "financemath" if mode == "cot" else "financemath_pot"
    facts = {"mode": mode, "scorer": financemath.VERSION}
    return _recording(path, task, docs, rows, facts)


def read_financereasoning(
    path: Path, columns: Names | None = None, *, mode: Literal["cot", "pot"]
) -> Recording:
    """Read FinanceReasoning's questions, all of one level, and the responses to them."""
    rows = read_saved_rows(path, columns=columns)
    records = [{"level": "hard", **_record_of(row, "question_id")} for row in rows]
    questions = rows_of(financereasoning_data.Row, path, records)
    docs = []
    for question in questions:
        prompt = "\n\n".join(filter(None, [question.context, question.question]))
        doc = financereasoning_data.document_of(question, mode)
        docs.append({**doc, "prompt": prompt})
    level = questions[0].level
    suffix = "_pot" if mode == "pot" else ""
    facts = {"mode": mode, "level": level, "scorer": financereasoning.VERSION}
    return _recording(path, f"financereasoning_{level}{suffix}", docs, rows, facts)


def read_xfinbench(
    path: Path,
    columns: Names | None = None,
    *,
    task: Literal["bool", "mcq", "calc"],
    mode: Mode = "cot",
    data_dir: Path | None = None,
) -> Recording:
    """Read XFinBench's questions of one kind and the responses to them.

    The benchmark's own files, in the data folder too, add by id what the file lacks.
    """
    if mode == "pot" and task != "calc":
        raise ConfigError(
            f"replay xfinbench: expected mode cot or da for {task}, got pot."
        )
    file_task = TASKS[task]
    all_rows = read_saved_rows(path, columns=columns)
    records = [_record_of(row, "id") for row in all_rows]
    questions = rows_of(Row, path, records)
    known_questions = _known_questions(data_dir, file_task)
    rows = []
    docs = []
    n_unfit = 0
    for row, question in zip(all_rows, questions, strict=True):
        if question.task not in ("", task, file_task):
            continue
        known = known_questions.get(question.id)
        doc = _xfinbench_document(question, known, file_task, mode)
        rows.append(row)
        docs.append(doc)
        if (known and known.task != file_task) or not _fits(doc, row):
            n_unfit += 1
    n_others = len(all_rows) - len(rows)
    if n_others:
        text = "%s: %d of %d rows are of other tasks and are left out."
        _log.warning(text, path, n_others, len(all_rows))
    if not rows or n_unfit > len(rows) / 2:
        raise DataError(
            f"{path}: expected as truths of {task} questions {_XFINBENCH_TRUTHS[file_task]}, got "
            f"{n_unfit} of {len(rows)} rows with others, and {n_others} of other tasks. "
            "Is the task right?"
        )
    subsets = {doc["subset"] for doc in docs}
    # The task `mcq` stands for questions with figures and without.
    subset = subsets.pop() if len(subsets) == 1 else "mcq"
    name = f"xfinbench_{subset}" if mode == "cot" else f"xfinbench_{subset}_{mode}"
    facts = {"style": {"mode": mode}, "scorer": xfinbench.VERSION}
    return _recording(path, name, docs, rows, facts)


def _record_of(row: SavedRow, id_name: str) -> Json:
    """Return what a file says of a question, under the names of the benchmark."""
    record = {**row.fields, id_name: row.id}
    if row.truth is not None:
        record["ground_truth"] = row.truth
    if row.question:
        record["question"] = row.question
    return record


def _recording(
    file: Path,
    task: str,
    docs: Sequence[Document],
    rows: Sequence[SavedRow],
    facts: Fields,
) -> Recording:
    """Group responses by document. Documents with the same id but different truths are different documents."""
    docs_by_key: dict[str, Document] = {}
    responses: dict[str, list[str]] = {}
    for doc, row in zip(docs, rows, strict=True):
        key = f"{doc['id']} {doc['ground_truth']}"
        docs_by_key.setdefault(key, doc)
        responses.setdefault(key, []).extend(_responses_of(row))
    return Recording(
        file, task, list(docs_by_key.values()), list(responses.values()), facts
    )


def _responses_of(row: SavedRow) -> list[str]:
    """Return the responses that count; a missing one counts as an empty one.

    The authors write a list of responses and score the first. lm-eval's samples hold several.
    """
    texts = row.texts if row.is_sample else row.texts[:1]
    # An empty text may be marked as cut off, so it must stay the same object.
    return ["" if text is None else text for text in texts]


def _known_questions(data_dir: Path | None, task: Task) -> dict[str, Row]:
    """Return the benchmark's own questions by id: of the sample, those of the task, and the user's."""
    sample = {row.id: row for row in _questions_of("sample") if row.task == task}
    own_questions = []
    with suppress(ConfigError):  # no folder
        own_questions = _questions_of("data_dir", data_dir)
    if data_dir and not own_questions:
        raise DataError(
            f"--data-dir {data_dir}: expected test_set.csv or validation_set.csv of XFinBench, found none."
        )
    return sample | {row.id: row for row in own_questions}


def _questions_of(source: str, data_dir: Path | None = None) -> list[Row]:
    files = locate(
        "xfinbench",
        list(SPLITS.values()),
        source=source,
        data_dir=data_dir,
        settings=Settings.from_environ(),
        sample=Path(xfinbench.__file__).with_name("sample"),
        optional=True,
    ).files
    return list(chain.from_iterable(map(read_rows, files.values())))


def _xfinbench_document(
    saved: Row, known: Row | None, task: Task, mode: Mode
) -> Document:
    """Return a document; what the benchmark's own row says of the question counts first."""
    question = known or saved
    truth = saved.ground_truth
    if parse_truth(task, truth).value == parse_truth(task, question.ground_truth).value:
        # A recording may write it with other decimals, which say how exact an answer must be.
        truth = question.ground_truth
    subset: Subset = "calc" if task == "calcu" else task
    if task == "mcq" and question.figure:
        subset = "mcq_visual"
    return question.model_dump(include=_QUESTION_FIELDS) | {
        "id": saved.id,
        "task": task,
        "subset": subset,
        "mode": mode,
        "ground_truth": truth,
    }


def _fits(doc: Document, row: SavedRow) -> bool:
    """Return whether a truth can be one of this task; 1 and 0 may also be true and false."""
    truth = parse_truth(doc["task"], doc["ground_truth"])
    if doc["task"] != "calcu" or truth.value not in (0, 1):
        return not truth.flaw
    for response in _responses_of(row):
        _, _, answer = response.rpartition(MARKER)
        if re.search(r"\b(?:true|false)\b", answer, re.IGNORECASE):
            return False
    return True
