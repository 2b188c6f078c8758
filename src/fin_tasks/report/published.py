"""The papers' printed figures, beside runs of our tasks."""

import hashlib
from collections.abc import Collection
from io import StringIO
from typing import Any

import pandas as pd

from fin_tasks.benchmarks import all_benchmarks, benchmark_of
from fin_tasks.report.values import CONDITIONS, entry_of, task_of, without_interval


def figures(
    benchmarks: Collection[str],
) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the printed figures of benchmarks as `tasks` by their ids, `entries` and `runs` of a leaderboard.

    A run stands for each paper, table, model and judge. In `published.csv` the columns `column`, `our_metric`, `rows`
    and `mark` say where a figure stands on a leaderboard.
    """
    tasks: dict[str, dict[str, Any]] = {}
    entries: list[dict[str, Any]] = []
    runs: dict[str, dict[str, Any]] = {}
    for publisher in all_benchmarks().values():
        text = publisher.text_of("published.csv")
        if text is None:
            continue
        name = f"{publisher.package.replace('.', '/')}/published.csv"
        table = pd.read_csv(StringIO(text), dtype=str, keep_default_na=False)
        for row in table.to_dict("records"):
            # A paper prints figures of several benchmarks. One without a column is no metric of ours.
            benchmark = benchmark_of(row["column"].partition("/")[0])
            if benchmark is None or benchmark.name not in benchmarks:
                continue
            task_name, variant, *said = row["column"].split("/")
            source = row.get("paper") or row["source"]
            paper = publisher.published.titles.get(source, source)
            judge = row.get("judge", "")
            run = hashlib.sha256(
                "\0".join([paper, row["table"], row["model"], judge]).encode()
            ).hexdigest()[:16]
            conditions = {**dict.fromkeys(CONDITIONS, ""), "task": task_name} | dict(
                one.split("=") for one in said
            )
            task = task_of(benchmark.name, conditions, variant, benchmark.headlines[0])
            printed = float(row["value"]) / benchmark.published.scale
            value = without_interval(int(row["rows"] or 0), round(printed, 9))
            entry = entry_of(row["our_metric"], value) | {
                "task": task["id"],
                "run": run,
                "model": row["model"],
            }
            tasks[task["id"]] = task
            entries.append(
                entry | {"judge": judge, "marks": list(filter(None, row["mark"].split("; ")))}
            )
            provenance = {
                "paper": paper,
                "table": row["table"],
                **({"judge": judge} if judge else {}),
            }
            runs[run] = {
                "id": run,
                "label": row["model"],
                "source": "published",
                "model": row["model"],
                "task": "",
            }
            runs[run] |= {"date": "", "samples": "", "provenance": provenance, "path": name}
    return tasks, entries, list(runs.values())
