"""A benchmark without runs: how many questions of which kind it asks, and what its paper prints."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pandas import DataFrame, concat
from tqdm import tqdm

from fin_tasks.benchmarks.contract import Benchmark, Document, benchmark_named, id_of
from fin_tasks.benchmarks.task_file import (
    Mapped,
    TaskFile,
    pictures_of,
    task_names,
)
from fin_tasks.errors import DataError, FinTasksError

_SAME_QUESTIONS = ("mode", "na")
"""Options of tasks that ask the same questions in another way."""
_ALL = "all"
_LENGTHS = {"length": "length of question", "answer": "length of answer"}
"""What the columns with numbers of characters are called."""
_SHARE_OF = "share of "
"""Before the name of a column: its groups as shares of all questions."""
_NO_GROUPS = ("id", "truth", *_LENGTHS)
_EMPTY_LIST = "[]"
"""FinanceReasoning's context where FinanceMath has no tables."""


@dataclass(frozen=True)
class Size:
    """How many questions are of one kind, beside what the paper prints."""

    group: str
    """A column, such as `capability`; two columns for shares of the first one's questions; `share of` and a column."""
    name: str
    unit: str
    """`n` for questions, `%` or `characters`."""
    value: float
    task: str = ""
    """The task whose questions are counted; empty for those of all tasks."""
    printed: float | None = None
    source: str = ""
    """The paper and its table."""


@dataclass(frozen=True)
class Overview:
    """The questions of a benchmark, counted."""

    benchmark: str
    split: str
    sizes: list[Size]
    left_out: dict[str, dict[str, int]]
    """By task, how many rows of the files are not asked, by the reason."""
    problems: list[str] = field(default_factory=list)
    """Tasks that could not be loaded, and why."""


def overview_of(name: str, metadata: Mapped) -> Overview:
    """Load all tasks of a benchmark, and count their questions; raise DataError if none can be loaded."""
    benchmark = benchmark_named(name)
    tables = []
    left_out = {}
    problems = []
    split = ""
    distinct = list(_distinct_tasks(benchmark))
    for task in tqdm(distinct, "Loading tasks", unit="task", disable=None):
        try:
            docs, facts = task.load(metadata)
        except FinTasksError as error:
            problems.append(f"{task.name}: {error}")
            continue
        split = str(facts.get("split", split))
        reasons = facts.get("left_out")
        if isinstance(reasons, Mapping) and reasons:
            left_out[task.name] = {key: _count(ids) for key, ids in reasons.items()}
        rows = [_row_of(benchmark, task.name, doc) for doc in docs]
        tables.append(DataFrame(rows))
    if not tables:
        raise DataError(f"questions: no task of {name} can be loaded. {problems[0]}")
    # Tasks that ask several parts at once, which are larger, repeat their questions.
    tables.sort(key=len)
    questions = concat(tables).drop_duplicates(["id", "truth"], ignore_index=True)
    sizes = list(_with_printed(benchmark, split, questions))
    return Overview(name, split, sizes, left_out, problems)


def _distinct_tasks(benchmark: Benchmark) -> Iterator[TaskFile]:
    """Yield the tasks that ask different questions, where there is a choice those that draw no pictures."""
    options_seen = []
    tasks = [TaskFile(name) for name in task_names()]
    tasks.sort(key=lambda task: task.options.get("mode") == "image")
    for task in tasks:
        options = {**task.options}
        for option in _SAME_QUESTIONS:
            options.pop(option, None)
        if task.benchmark is benchmark and options not in options_seen:
            options_seen.append(options)
            yield task


def _count(ids: Any) -> int:
    """Return how many rows a reason is about; files name their ids or only their number."""
    return ids if isinstance(ids, int) else len(ids)


def _row_of(benchmark: Benchmark, task: str, doc: Document) -> dict[str, Any]:
    """Return what is counted of a question; a column with groups holds a list."""
    text = doc.get("question") or doc.get("prompt") or ""
    return {
        "id": id_of(doc),
        "truth": str(benchmark.truth_of(doc)),
        "task": [task],
        "kind": [name for name in [doc.get("kind") or doc.get("task")] if name],
        **benchmark.groups_of(doc),
        "shown": _shown_with(doc),
        "year": [str(doc["end"])[:4]] if doc.get("end") else [],
        "length": len(str(text)),
        "answer": len(str(benchmark.truth_of(doc))),
    }


def _shown_with(doc: Document) -> list[str]:
    """Return what is shown beside a question."""
    context = doc.get("context")
    is_shown = {
        "a table": doc.get("has_table") or doc.get("tables"),
        "a document": context and context != _EMPTY_LIST,
        "a picture": pictures_of(doc),
    }
    names = [name for name, value in is_shown.items() if value]
    return names or ["the question alone"]


def _with_printed(
    benchmark: Benchmark, split: str, questions: DataFrame
) -> Iterator[Size]:
    """Yield all sizes; those that a paper prints have its value."""
    text = benchmark.text_of("sizes.csv") or ""
    printed = {}
    for row in csv.DictReader(text.splitlines()):
        if row["split"] == split:
            printed[row["task"], row["group"], row["name"]] = row
    tasks = dict.fromkeys(["", *(row["task"] for row in printed.values())])
    for task in tasks:
        part = questions
        if task:
            part = questions[[task in names for names in questions["task"]]]
        groups = dict.fromkeys(group for name, group, _ in printed if name == task)
        for size in _sizes_of(part, list(groups)):
            row = printed.get((task, size.group, size.name), {})
            if task and not row:
                continue
            value = float(row["printed"]) if row else None
            source = row.get("source", "")
            yield replace(size, task=task, printed=value, source=source)


def _sizes_of(questions: DataFrame, printed_groups: list[str]) -> Iterator[Size]:
    """Yield the sizes of all groups, then the shares that papers print, then lengths."""
    yield Size("questions", _ALL, "n", len(questions))
    columns = [name for name in questions if name not in _NO_GROUPS]
    for column in columns:
        counts = questions[column].explode().dropna().value_counts(sort=False)
        for name, count in counts.items():
            yield Size(str(column), str(name), "n", int(count))
            share = _SHARE_OF + str(column)
            if share in printed_groups:
                of_all = round(100 * count / len(questions), 1)
                yield Size(share, str(name), "%", of_all)
    for group in printed_groups:
        if ", " in group:
            yield from _shares_of_pairs(questions, group)
    for column, group in _LENGTHS.items():
        lengths = questions[column]
        yield Size(group, "median", "characters", float(lengths.median()))
        yield Size(group, "mean", "characters", round(float(lengths.mean()), 1))


def _shares_of_pairs(questions: DataFrame, group: str) -> Iterator[Size]:
    """Yield for each pair of groups of two columns its share of the first group's questions."""
    first, second = group.split(", ")
    pairs = questions[[first, second]].explode(first).explode(second).dropna()
    totals = pairs[first].value_counts()
    for names, count in pairs.value_counts().sort_index().items():
        share = 100 * count / totals[names[0]]
        yield Size(group, ", ".join(names), "%", round(share, 1))
