"""Write scored responses as a run folder of lm-eval: `results_*.json` and `samples_*.jsonl`."""

import hashlib
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import fin_tasks
from fin_tasks.adapters.task_file import version_of
from fin_tasks.benchmarks.breakdowns import fields_of
from fin_tasks.benchmarks.scored_task import ScoredTask
from fin_tasks.errors import DataError


def write_run(
    out: Path,
    tasks: Sequence[ScoredTask],
    *,
    model: str,
    made_by: str,
    provenance: Mapping[str, Mapping[str, Any]],
    metadata: Mapping[str, Any] | None = None,
    facts: Mapping[str, Any] | None = None,
    group: str = "",
) -> Path:
    """Write a run below a folder, as `--output_path` and `--log_samples` of lm-eval do.

    Return the results file, in a folder named after the model. `made_by` is the command that scored the tasks,
    `provenance` what is known of each task's documents, `metadata` what all tasks share, such as the judge, `facts`
    more of the run. `group` is the name of a group of all tasks, whose `acc` is the mean over their rows.
    """
    stamp = datetime.now().isoformat().replace(":", "-")
    folder = out / (re.sub(r"[^\w.-]", "__", model) or "model")
    sizes = {task.name: len(task.docs) for task in tasks}
    results = {
        "results": {
            task.name: {"alias": task.name, **task.totals(), "sample_len": len(task.docs)}
            for task in tasks
        },
        "group_subtasks": {name: [] for name in sizes},
        "configs": {
            task.name: _config(task, provenance.get(task.name, {}), metadata or {})
            for task in tasks
        },
        "versions": {name: version_of(name) for name in sizes},
        "n-shot": dict.fromkeys(sizes, 0),
        "higher_is_better": {
            task.name: {
                name: getattr(one, "higher_is_better", one) for name, one in task.metrics.items()
            }
            for task in tasks
        },
        "n-samples": {task.name: _counts(task) for task in tasks},
        "config": {"model": made_by, "model_args": {}},
        "date": time.time(),
        "model_name": model,
        "fin_tasks_version": fin_tasks.__version__,
        **(facts or {}),
    }
    if group:
        rows = {
            variant: [row for task in tasks for row in task.values[variant]]
            for variant in tasks[0].values
        }
        whole = replace(tasks[0], values=rows, metrics={"acc": True})
        results["groups"] = {group: {"alias": group, **whole.totals()}}
        results["group_subtasks"][group] = list(sizes)
    path = folder / f"results_{stamp}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for task in tasks:
            with (folder / f"samples_{task.name}_{stamp}.jsonl").open(
                "w", encoding="utf-8"
            ) as file:
                file.writelines(json.dumps(line) + "\n" for line in sample_lines(task))
        path.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise DataError(
            f"--out {out}: expected a folder that can be written, got {error.strerror}."
        ) from error
    return path


def _counts(task: ScoredTask) -> dict[str, int]:
    size = len(task.docs)
    return {"original": task.n_all or size, "effective": size}


def _config(
    task: ScoredTask, provenance: Mapping[str, Any], metadata: Mapping[str, Any]
) -> dict[str, Any]:
    asked = hashlib.sha256(json.dumps(list(task.docs), sort_keys=True).encode()).hexdigest()[:16]
    known = {
        "fin_tasks": fin_tasks.__version__,
        "data": {"origin": "recording", "revision": asked},
        **provenance,
    }
    judge = {"judge": dict(task.judge)} if task.judge else {}
    told = {"version": version_of(task.name), "provenance": known, **judge, **metadata}
    told["breakdowns"] = task.breakdowns()
    return {"task": task.name, "output_type": "generate_until", "metadata": told}


def sample_lines(task: ScoredTask) -> Iterator[dict[str, Any]]:
    """Yield the lines of a task's samples file."""
    for variant, readings in task.readings.items():
        for number, (doc, texts, read) in enumerate(
            zip(task.docs, task.responses, readings, strict=True)
        ):
            told = [fields_of(reading) for reading in read]
            first = told[0] if told else {}
            yield {
                "doc_id": number,
                "doc": doc,
                "target": doc.get("target", ""),
                "resps": [list(texts)],
                "filtered_resps": [[json.dumps(one) for one in told]],
                "filter": variant,
                "metrics": list(task.metrics),
                **task.values[variant][number],
                "answer": first.get("answer"),
                "reason": first.get("reason", ""),
            }
