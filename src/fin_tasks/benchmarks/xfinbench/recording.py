"""Saved responses for `fin-tasks replay`: lm-eval's samples, or a table with id, ground_truth and model_response."""

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, InstanceOf

from fin_tasks.answers.cut_off import mark_response
from fin_tasks.data.locate import locate
from fin_tasks.data.tables import read_csv, read_json
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

from ..contract import Document
from ..recordings import texts_of
from ..request import rows_of
from ..short_answers_paper import MARKER
from .document import TASKS, Mode, Subset, Task
from .rows import SPLITS, Row, as_text, read_rows
from .truth import parse_truth

_COLUMNS = ("id", "ground_truth", "model_response")
_TRUTHS: Mapping[Task, str] = {
    "bool": "1 or 0",
    "mcq": "a letter",
    "calcu": "a number, and no true or false as answer",
}
_FIELDS = {"question", "choices", "capabilities", "has_table", "figure"}
_log = logging.getLogger(__name__)


class _SavedRow(Row):
    """A row of a file; lm-eval's samples and the authors' tables name some columns in their own way."""

    # The type of a text says that it was cut off, and pydantic would make a plain text of it.
    responses: Annotated[
        list[Annotated[InstanceOf[str], BeforeValidator(as_text)]],
        BeforeValidator(texts_of),
    ] = Field(validation_alias="model_response")
    """A lost response counts as an empty one."""
    finish_reason: Any = None


def task_of(docs: Sequence[Document], mode: str) -> str:
    """Return the task that asks all of these documents; `mcq` stands for choices with figures and without."""
    subsets = {doc["subset"] for doc in docs}
    subset = subsets.pop() if len(subsets) == 1 else "mcq"
    return f"xfinbench_{subset}" if mode == "cot" else f"xfinbench_{subset}_{mode}"


def read(
    path: Path,
    *,
    task: str,
    mode: Mode = "cot",
    data_dir: Path | None = None,
) -> list[tuple[Document, str]]:
    """Return document and response of each row of a task; the data folder adds what the file lacks, by id."""
    if mode == "pot" and task != "calc":
        raise ConfigError(
            f"replay xfinbench: expected mode cot or da for {task}, got pot."
        )
    file_task = TASKS[task]
    rows = rows_of(_SavedRow, path, _records_of(path))
    own_rows = [row for row in rows if row.task in ("", task, file_task)]
    n_others = len(rows) - len(own_rows)
    if n_others:
        text = "%s: %d of %d rows are of other tasks and are left out."
        _log.warning(text, path, n_others, len(rows))
    known_rows = _known_rows(data_dir, file_task)
    pairs = []
    n_unfit = 0
    for row in own_rows:
        known_row = known_rows.get(row.id)
        doc = _document(row, known_row, file_task, mode)
        is_other_task = known_row is not None and known_row.task != file_task
        for response in row.responses:
            n_unfit += is_other_task or not _fits(doc, response)
            pairs.append((doc, mark_response(response, row.finish_reason)))
    if not pairs or n_unfit > len(pairs) / 2:
        raise DataError(
            f"{path}: expected as truths of {task} questions {_TRUTHS[file_task]}, got {n_unfit} of "
            f"{len(pairs)} rows with others, and {n_others} of other tasks. Is the task right?"
        )
    return pairs


def _records_of(path: Path) -> Iterable[Mapping[str, Any]]:
    if path.suffix.lower() != ".csv":
        return read_json(path, _COLUMNS, aliases={"model_response": "output"})
    records = read_csv(path, _COLUMNS)
    for record in records:
        if record.surplus > 0:
            raise DataError(
                f"{path}, line {record.line}: expected as many cells as columns, got more. Quote cells."
            )
    return [record.cells for record in records]


def _known_rows(data_dir: Path | None, task: Task) -> dict[str, Row]:
    """Return the benchmark's own rows by id: of the sample, those of the task, and the user's."""
    rows = {row.id: row for row in _rows_of("sample") if row.task == task}
    own_rows = []
    with suppress(ConfigError):  # no folder
        own_rows = _rows_of("data_dir", data_dir)
    if data_dir and not own_rows:
        raise DataError(
            f"--data-dir {data_dir}: expected test_set.csv or validation_set.csv of XFinBench, found none."
        )
    return rows | {row.id: row for row in own_rows}


def _rows_of(source: str, data_dir: Path | None = None) -> list[Row]:
    files = locate(
        "xfinbench",
        list(SPLITS.values()),
        source=source,
        data_dir=data_dir,
        settings=Settings.from_environ(),
        sample=Path(__file__).with_name("sample"),
        optional=True,
    ).files
    return list(chain.from_iterable(map(read_rows, files.values())))


def _document(row: Row, known_row: Row | None, task: Task, mode: Mode) -> Document:
    """Return a document; what the benchmark's own row says of the question counts first."""
    question = known_row or row
    truth = row.ground_truth
    if parse_truth(task, truth).value == parse_truth(task, question.ground_truth).value:
        # A recording may write it with other decimals, which say how exact an answer must be.
        truth = question.ground_truth
    subset: Subset = "calc" if task == "calcu" else task
    if task == "mcq" and question.figure:
        subset = "mcq_visual"
    return question.model_dump(include=_FIELDS) | {
        "id": row.id,
        "task": task,
        "subset": subset,
        "mode": mode,
        "ground_truth": truth,
    }


def _fits(doc: Document, response: str) -> bool:
    """Return whether a truth can be one of this task; 1 and 0 may also be true and false."""
    truth = parse_truth(doc["task"], doc["ground_truth"])
    if doc["task"] != "calcu" or truth.value not in (0, 1):
        return not truth.flaw
    _, _, answer = response.rpartition(MARKER)
    return re.search(r"\b(?:true|false)\b", answer, re.IGNORECASE) is None
