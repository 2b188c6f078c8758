"""The papers' printed figures, beside runs of our tasks."""

import hashlib
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pandas as pd

import fin_tasks
from fin_tasks.report.model import benchmark_of
from fin_tasks.report.values import CONDITIONS, Value, without_interval

_PAPERS = {
    "acl": "XFinBench, ACL version",
    "long": "XFinBench, long version",
    "arXiv:2411.03314v1": "MME-Finance, arXiv:2411.03314v1",
    "paper": "Behavioral Bias of Vision-Language Models: A Behavioral Finance View",
    "repository": "github.com/mydcxiao/vlm_behavioral_fin, counts beside the recordings",
}


def figures(benchmarks: Collection[str]) -> tuple[list[Value], list[dict[str, Any]]]:
    """Return the printed figures of benchmarks, and a run of the leaderboard for each paper, table, model and judge.

    In `published.csv` the columns `column`, `our_metric`, `rows` and `mark` say where a figure stands on a leaderboard.

    Example:
        >>> [one.interval.mean for one in figures(["xfinbench"])[0] if one.model == "gpt-4o"][0]
        0.84
    """
    values: list[Value] = []
    runs: dict[str, dict[str, Any]] = {}
    for folder in ("xfinbench", "mme_finance", "dynostock"):
        name = f"fin_tasks/benchmarks/{folder}/published.csv"
        table = pd.read_csv(Path(fin_tasks.__file__).parents[1] / name, dtype=str, keep_default_na=False)
        for row in table.to_dict("records"):
            task, *said = row["column"].split("/")
            if not (benchmark := benchmark_of(task)) or benchmark not in benchmarks:
                continue
            source = row.get("paper") or row["source"]
            paper, judge = _PAPERS.get(source, source), row.get("judge", "")
            run = hashlib.sha256("\0".join([paper, row["table"], row["model"], judge]).encode()).hexdigest()[:16]
            scale = 1 if benchmark == "mme_finance" else 100
            value = Value(
                run=run,
                model=row["model"],
                benchmark=benchmark,
                conditions={**dict.fromkeys(CONDITIONS, ""), "task": task} | dict(one.split("=") for one in said[1:]),
                variant=said[0],
                metric=row["our_metric"],
                interval=without_interval(int(row["rows"] or 0), round(float(row["value"]) / scale, 9)),
                judge=judge,
                marks=tuple(filter(None, row["mark"].split("; "))),
            )
            values.append(value)
            provenance = {"paper": paper, "table": row["table"], **({"judge": judge} if judge else {})}
            runs[run] = {"id": run, "label": value.model, "source": "published", "model": value.model, "task": ""}
            runs[run] |= {"date": "", "samples": "", "provenance": provenance, "path": name}
    return values, list(runs.values())
