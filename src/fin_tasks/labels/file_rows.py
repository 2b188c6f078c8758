"""Questions of a study with the responses in a file, for people who have no run folder."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fin_tasks.benchmarks.contract import id_of
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.errors import DataError
from fin_tasks.saved.files import read_saved_rows
from fin_tasks.saved.json_records import leave_out
from fin_tasks.saved.matching import check_rows
from fin_tasks.saved.questions import AnsweredTask, answered_tasks
from fin_tasks.saved.scoring import score_matched


class TaskResponses(NamedTuple):
    """What a file has of a task."""

    task: str
    options: Mapping[str, Any]
    """They choose the documents that its ids name."""
    responses: dict[str, str]
    """The first response to each document, by its id."""
    scores: dict[str, float | None]
    """The value of the headline by id; empty if a judge scores the task."""


def responses_in(
    path: Path,
    tasks: Sequence[str],
    options: Mapping[str, Any],
    *,
    columns: Mapping[str, str],
    strict: bool,
) -> Iterator[TaskResponses]:
    """Yield the tasks that a file has responses to; rows of no task are left out, which is logged."""
    rows = read_saved_rows(path, columns=columns, strict=strict)
    answered = answered_tasks(list(map(TaskFile, tasks)), rows, options, path)
    if not answered.tasks:
        raise DataError(
            f"{path}: expected ids of questions of {', '.join(tasks)}, "
            f"got {rows[0].id or rows[0].question!r:.80}."
        )
    if answered.others:
        leave_out(
            f"{path}: {len(answered.others):,} of {len(rows):,} rows are of no task of the study and are left out.",
            strict=strict,
        )
    for task in answered.tasks:
        responses = {}
        for name, texts in task.matched.texts_by_id.items():
            responses[name] = texts[0] or ""
        scores = _scores_of(task, str(path), strict=strict)
        yield TaskResponses(task.questions.file.name, task.options, responses, scores)


def _scores_of(
    task: AnsweredTask, where: str, *, strict: bool
) -> dict[str, float | None]:
    """Return the value of the headline by id; empty if a judge scores the task."""
    questions, matched, options = task
    benchmark = questions.file.benchmark
    if questions.file.judge:
        for message in check_rows(matched, questions.docs, benchmark, where):
            leave_out(message, strict=strict)
        return {}
    scored = score_matched(questions, matched, options, where, strict=strict).scored
    metric = benchmark.headline(list(scored.metrics))
    scores = {}
    for doc, values in zip(scored.docs, scored.values["paper"], strict=True):
        scores[id_of(doc)] = values.get(metric)
    return scores
