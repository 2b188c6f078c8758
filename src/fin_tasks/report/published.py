"""The papers' printed figures, beside runs of our tasks."""

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from io import StringIO

import pandas as pd

from fin_tasks.benchmarks import all_benchmarks, benchmark_of
from fin_tasks.benchmarks.contract import Benchmark
from fin_tasks.report.conditions import read_task_id
from fin_tasks.report.entries import task_of
from fin_tasks.report.leaderboard_model import BoardRun, BoardTask, Entry


@dataclass
class Published:
    """Printed figures as a leaderboard has them; a run stands for each paper, table, model and judge."""

    tasks: dict[str, BoardTask] = field(default_factory=dict)
    runs: dict[str, BoardRun] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)


def figures(benchmarks: Collection[str]) -> Published:
    """Return the printed figures of benchmarks.

    In `published.csv` the columns `column`, `our_metric`, `rows` and `mark` say where a figure stands on a leaderboard.
    """
    published = Published()
    for publisher in all_benchmarks().values():
        for row in _rows_of(publisher):
            # A paper prints figures of several benchmarks. One without a column is no metric of ours.
            benchmark = benchmark_of(row["column"].partition("/")[0])
            if benchmark is not None and benchmark.name in benchmarks:
                _add(published, publisher, benchmark, row)
    return published


def _rows_of(publisher: Benchmark) -> Iterator[Mapping[str, str]]:
    text = publisher.text_of("published.csv")
    if text is not None:
        table = pd.read_csv(StringIO(text), dtype=str, keep_default_na=False)
        yield from table.to_dict("records")


def _add(
    published: Published,
    publisher: Benchmark,
    benchmark: Benchmark,
    row: Mapping[str, str],
) -> None:
    conditions, variant = read_task_id(row["column"])
    task = task_of(benchmark.name, conditions, variant, benchmark.headlines[0])
    run = _run_of(publisher, row)
    entry = Entry(
        task=task.id,
        run=run.id,
        model=row["model"],
        metric=row["our_metric"],
        value=round(float(row["value"]) / benchmark.published.scale, 9),
        n=int(row["rows"] or 0),
        judge=row.get("judge", ""),
        marks=[mark for mark in row["mark"].split("; ") if mark],
    )
    published.tasks[task.id] = task
    published.runs[run.id] = run
    published.entries.append(entry)


def _run_of(publisher: Benchmark, row: Mapping[str, str]) -> BoardRun:
    source = row.get("paper") or row["source"]
    paper = publisher.published.titles.get(source, source)
    judge = row.get("judge", "")
    identity = "\0".join([paper, row["table"], row["model"], judge])
    provenance = {"paper": paper, "table": row["table"], "judge": judge}
    return BoardRun(
        id=hashlib.sha256(identity.encode()).hexdigest()[:16],
        label=row["model"],
        source="published",
        model=row["model"],
        path=f"{publisher.package.replace('.', '/')}/published.csv",
        provenance={name: value for name, value in provenance.items() if value},
    )
