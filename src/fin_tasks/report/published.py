"""The papers' printed figures, beside runs of our tasks."""

import hashlib
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pandas as pd

import fin_tasks
from fin_tasks.report.model import benchmark_of
from fin_tasks.report.values import CONDITIONS, entry_of, task_of, without_interval

_PAPERS = {
    "acl": "XFinBench, ACL version",
    "long": "XFinBench, long version",
    "arXiv:2411.03314v1": "MME-Finance, arXiv:2411.03314v1",
    "paper": "Behavioral Bias of Vision-Language Models: A Behavioral Finance View",
    "repository": "github.com/mydcxiao/vlm_behavioral_fin, counts beside the recordings",
}


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
    for folder in ("xfinbench", "mme_finance", "dynostock"):
        name = f"fin_tasks/benchmarks/{folder}/published.csv"
        table = pd.read_csv(
            Path(fin_tasks.__file__).parents[1] / name, dtype=str, keep_default_na=False
        )
        for row in table.to_dict("records"):
            if (benchmark := benchmark_of(row["column"].partition("/")[0])) not in benchmarks:
                continue
            task_name, variant, *said = row["column"].split("/")
            source = row.get("paper") or row["source"]
            paper, judge = _PAPERS.get(source, source), row.get("judge", "")
            run = hashlib.sha256(
                "\0".join([paper, row["table"], row["model"], judge]).encode()
            ).hexdigest()[:16]
            conditions = {**dict.fromkeys(CONDITIONS, ""), "task": task_name} | dict(
                one.split("=") for one in said
            )
            task = task_of(
                benchmark, conditions, variant, "score" if benchmark == "mme_finance" else "acc"
            )
            scale = 1 if benchmark == "mme_finance" else 100
            value = without_interval(int(row["rows"] or 0), round(float(row["value"]) / scale, 9))
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
