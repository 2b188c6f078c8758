"""The papers' printed figures, beside runs of our tasks."""

import csv
from collections.abc import Collection, Iterator, Mapping

from fin_tasks.benchmarks import all_benchmarks, benchmark_of
from fin_tasks.benchmarks.contract import Benchmark

from .conditions import read_task_id
from .entries import task_of
from .leaderboard_model import BoardRun, BoardTask, Entry


def figures(benchmarks: Collection[str]) -> Iterator[tuple[Entry, BoardTask, BoardRun]]:
    """Yield the printed figures of benchmarks; a run stands for a paper, table, model and judge.

    In `published.csv`, `column`, `our_metric`, `rows` and `doubt` say where a figure stands on a leaderboard.
    """
    for publisher in all_benchmarks().values():
        text = publisher.text_of("published.csv") or ""
        for row in csv.DictReader(text.splitlines()):
            # A paper prints figures of several benchmarks. One without a column is no metric of ours.
            benchmark = benchmark_of(row["column"].partition("/")[0])
            if not benchmark or benchmark.name not in benchmarks:
                continue
            conditions, scoring = read_task_id(row["column"])
            task = task_of(benchmark.name, conditions, scoring, benchmark.headlines[0])
            run = _run_of(publisher, row)
            entry = Entry(
                task=task.id,
                run=run.id,
                model=run.model,
                metric=row["our_metric"],
                value=round(float(row["value"]) / benchmark.published.scale, 9),
                n=int(row["rows"] or 0),
                judge=row.get("judge", ""),
                doubts=[doubt for doubt in row["doubt"].split("; ") if doubt],
            )
            yield entry, task, run


def _run_of(publisher: Benchmark, row: Mapping[str, str]) -> BoardRun:
    """Return what a paper's table says of a model, as a run."""
    source = row.get("paper") or row["source"]
    facts = {
        "paper": publisher.published.titles.get(source, source),
        "table": row["table"],
        "judge": row.get("judge", ""),
    }
    model = row["model"]
    return BoardRun(
        id=", ".join([*facts.values(), model]),
        label=model,
        source="published",
        model=model,
        path=f"benchmarks/{publisher.name}/published.csv",
        provenance={name: fact for name, fact in facts.items() if fact},
    )
