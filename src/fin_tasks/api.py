"""The functions for notebooks: `fin_tasks.tasks`, `load`, `score`, `read_runs`, `write_report`.

The commands call the same functions. docs/python.md shows them at work.
"""

from typing import TYPE_CHECKING

from .benchmarks.task_file import TaskFile
from .benchmarks.task_file import task_names as tasks
from .report import read as read_runs
from .report.model import BREAKDOWNS, COLUMNS
from .report.rows import rows_of
from .report.samples import sample_of
from .report.write import write_report
from .saved.run_folder import sample_lines
from .saved.scoring import Responses, score_responses

if TYPE_CHECKING:
    from datasets import Dataset
    from pandas import DataFrame

__all__ = ["load", "read_runs", "score", "tasks", "write_report"]


def load(task: str, **metadata: object) -> "Dataset":
    """Load the documents of a task; their `prompt` is what a model is asked.

    Args:
        task: Name of the task.
        metadata: Options as in lm-eval's `--metadata`, such as `source="sample"` or `split="test"`.
    """
    return TaskFile(task).load_documents(metadata)


def score(task: str, responses: Responses, **metadata: object) -> "DataFrame":
    """Score responses; return a row for each document under `paper`, and one under `robust`.

    Args:
        task: Name of the task. A task with programs runs them in the sandbox.
        responses: A text, or a list of texts, for each document: by id, or in the order of the
            documents, or a table with the columns `id` and `response`. None is a response that the
            model did not give.
        metadata: Options as in lm-eval's `--metadata`, such as `source="sample"` or `split="test"`.
    """
    run = score_responses(task, responses, metadata)
    samples = [sample_of(task, line) for line in sample_lines(run.scored)]
    rows = rows_of(task, samples, TaskFile(task).benchmark.name).table
    for column in ("source", *BREAKDOWNS):
        if rows[column].isna().all():
            del rows[column]
    texts = rows.columns.intersection(list(COLUMNS))
    return rows.astype(dict.fromkeys(texts, object))
