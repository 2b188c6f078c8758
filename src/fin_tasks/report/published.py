"""The papers' printed figures, beside runs of our tasks."""

import csv
import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

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
        text = publisher.text_of("published.csv") or ""
        for row in csv.DictReader(text.splitlines()):
            # A paper prints figures of several benchmarks. One without a column is no metric of ours.
            benchmark = benchmark_of(row["column"].partition("/")[0])
            if benchmark is None or benchmark.name not in benchmarks:
                continue
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
    return published


def _run_of(publisher: Benchmark, row: Mapping[str, str]) -> BoardRun:
    source = row.get("paper") or row["source"]
    facts = {
        "paper": publisher.published.titles.get(source, source),
        "table": row["table"],
        "judge": row.get("judge", ""),
    }
    identity = "\0".join([*facts.values(), row["model"]])
    return BoardRun(
        id=hashlib.sha256(identity.encode()).hexdigest()[:16],
        label=row["model"],
        source="published",
        model=row["model"],
        path=f"benchmarks/{publisher.name}/published.csv",
        provenance={name: fact for name, fact in facts.items() if fact},
    )
