"""The functions for notebooks: `fin_tasks.tasks`, `load`, `score`, `read_runs`, `compare`, `write_report`.

The commands call the same functions. docs/python.md shows them at work.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from .benchmarks.contract import id_of
from .benchmarks.task_file import TaskFile
from .benchmarks.task_file import task_names as tasks
from .errors import ConfigError
from .report import AnyPath, Paths
from .report import read as read_runs
from .report.compare import GROUPS, Options
from .report.compare import compare as compare_reports
from .report.factors import FACTORS
from .report.model import BREAKDOWNS, COLUMNS, Report
from .report.rows import rows_of
from .report.samples import sample_of
from .report.write import write_report
from .saved.run_folder import sample_lines
from .saved.scoring import Responses, score_responses

if TYPE_CHECKING:
    from datasets import Dataset
    from pandas import DataFrame

_OTHER_FACTORS = ("variant", "corrections")  # `fin-tasks compare` has them

__all__ = ["compare", "load", "read_runs", "score", "tasks", "write_report"]


def load(task: str, **metadata: object) -> "Dataset":
    """Load the documents of a task; their `prompt` is what a model is asked, and their `id` names them.

    Args:
        task: Name of the task.
        metadata: Options as in lm-eval's `--metadata`, such as `source="sample"` or `split="test"`.
    """
    documents = TaskFile(task).load_documents(metadata)
    if "id" in documents.column_names:
        return documents
    return documents.add_column("id", [id_of(document) for document in documents])


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


def compare(
    runs: Paths | Mapping[str, AnyPath],
    by: str = "",
    *,
    scoring: Literal["paper", "robust"] = "paper",
    metric: str = "",
    baseline: str = "",
) -> "DataFrame":
    """Compare runs on the same rows; return a row for each value, with its difference from the baseline and the test.

    Args:
        runs: Run folders. A mapping gives the models names.
        by: What one model's results differ in, such as `mode` or `scoring`, or a column whose groups are compared,
            too, such as `topic`.
        scoring: The scores to compare.
        metric: By default the metric that models are ranked by.
        baseline: Name of the model that the others are compared with. Default: the first.

    Returns:
        The table; its `attrs["notes"]` say what else differs.
    """
    names = [*(name for name in FACTORS if name not in _OTHER_FACTORS), *GROUPS]
    if by and by not in names:
        raise ConfigError(
            f"compare: expected by as one of {', '.join(names)}, got {by!r:.80}."
        )
    if isinstance(runs, Mapping):
        reports = {name: _renamed(read_runs(path), name) for name, path in runs.items()}
    else:
        paths = [runs] if isinstance(runs, AnyPath) else list(runs)
        reports = {str(path): read_runs(path) for path in paths}
    factor, group = (by, "") if by in FACTORS else ("", by)
    options = Options(
        scoring=scoring, metric=metric, factor=factor, by=group, baseline=baseline
    )
    lines, notes = compare_reports(reports, options)
    lines.attrs["notes"] = notes
    return lines


def _renamed(report: Report, name: str) -> Report:
    """Return a report whose model has another name; the models of a report with several keep theirs behind it."""
    is_one = len({run.model for run in report.runs}) == 1
    runs = []
    for run in report.runs:
        model = name if is_one else f"{name}, {run.model}"
        runs.append(replace(run, model=model))
    return replace(report, runs=tuple(runs))
