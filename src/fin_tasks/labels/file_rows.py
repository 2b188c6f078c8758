"""Questions of a study with the responses in a file, for people who have no run folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fin_tasks.benchmarks.contract import id_of
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.errors import DataError, FinTasksError
from fin_tasks.saved.files import read_saved_rows
from fin_tasks.saved.json_records import leave_out
from fin_tasks.saved.matching import check_rows, match_rows
from fin_tasks.saved.questions import questions_in
from fin_tasks.saved.scoring import score_matched


class AnsweredTask(NamedTuple):
    """What a file has of a task."""

    task: str
    options: Mapping[str, Any]
    """They choose the documents that its ids name."""
    responses: dict[str, str]
    """The first response to each document, by its id."""
    scores: dict[str, float | None]
    """The value of the headline by id; empty if a judge scores the task."""


def answered_tasks(
    path: Path,
    tasks: Sequence[str],
    options: Mapping[str, Any],
    *,
    columns: Mapping[str, str],
    strict: bool,
) -> list[AnsweredTask]:
    """Return the tasks that a file has responses to; rows of no task are left out, which is logged."""
    rows = read_saved_rows(path, columns=columns, strict=strict)
    n_rows = len(rows)
    answered = []
    problem = (
        f"{path}: expected ids of questions of {', '.join(tasks)}, "
        f"got {rows[0].id or rows[0].question!r:.80}."
    )
    for task in tasks:
        try:
            questions, chosen = questions_in(TaskFile(task), rows, options, path)
        except FinTasksError as error:  # its files are not here
            problem = str(error)
            continue
        matched = match_rows(rows, questions.docs)
        if not matched.rows_by_id:
            continue
        rows = matched.others
        scores = {}
        if questions.file.judge:
            for message in check_rows(
                matched, questions.docs, questions.file.benchmark, str(path)
            ):
                leave_out(message, strict=strict)
        else:
            scored = score_matched(
                questions, matched, chosen, str(path), strict=strict
            ).scored
            metric = questions.file.benchmark.headline(list(scored.metrics))
            for doc, values in zip(scored.docs, scored.values["paper"], strict=True):
                scores[id_of(doc)] = values.get(metric)
        responses = {
            name: texts[0] or "" for name, texts in matched.texts_by_id.items()
        }
        answered.append(AnsweredTask(task, chosen, responses, scores))
    if not answered:
        raise DataError(problem)
    if rows:
        leave_out(
            f"{path}: {len(rows):,} of {n_rows:,} rows are of no task of the study and are left out.",
            strict=strict,
        )
    return answered
