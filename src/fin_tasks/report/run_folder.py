"""Write scored responses as a run folder of lm-eval: `results_*.json` and `samples_*.jsonl`."""

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path

import fin_tasks
from fin_tasks.benchmarks.scored_task import ScoredTask
from fin_tasks.benchmarks.task_file import version_of
from fin_tasks.errors import DataError
from fin_tasks.stats.averages import average_or_none

from . import Fields, Json, hash_of


def write_run(
    out: Path,
    tasks: Sequence[ScoredTask],
    *,
    model: str,
    made_by: str,
    provenance: Mapping[str, Fields],
    metadata: Fields | None = None,
    facts: Fields | None = None,
    group: str = "",
) -> Path:
    """Write a run below a folder, as `--output_path` and `--log_samples` of lm-eval do.

    Return the results file, in a folder named after the model. `made_by` is the command that scored the tasks,
    `provenance` what is known of each task's documents, `metadata` what all tasks share, such as the judge, `facts`
    more of the run. `group` is the name of a group of all tasks, whose `acc` is the mean over their rows.
    """
    stamp = datetime.now().isoformat().replace(":", "-")
    folder = out / (re.sub(r"[^\w.-]", "__", model) or "model")
    configs = {}
    sizes = {}
    for task in tasks:
        configs[task.name] = _config(
            task, provenance.get(task.name, {}), metadata or {}
        )
        size = len(task.docs)
        sizes[task.name] = {"original": task.n_all or size, "effective": size}
    results = {
        "results": {task.name: task.totals() for task in tasks},
        "configs": configs,
        "versions": {task.name: version_of(task.name) for task in tasks},
        "n-shot": dict.fromkeys(configs, 0),
        "n-samples": sizes,
        "config": {"model": made_by, "model_args": {}},
        "date": time.time(),
        "model_name": model,
        "fin_tasks_version": fin_tasks.__version__,
        **(facts or {}),
    }
    if group:
        totals = {}
        for variant in tasks[0].values:
            rows = chain.from_iterable(task.values[variant] for task in tasks)
            totals[f"acc,{variant}"] = average_or_none(row["acc"] for row in rows)
        results["groups"] = {group: totals}
        results["group_subtasks"] = {group: list(configs)}
    path = folder / f"results_{stamp}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for task in tasks:
            samples = folder / f"samples_{task.name}_{stamp}.jsonl"
            with samples.open("w", encoding="utf-8") as file:
                file.writelines(json.dumps(line) + "\n" for line in sample_lines(task))
        path.write_text(json.dumps(results, indent=2) + "\n", "utf-8")
    except OSError as error:
        raise DataError(
            f"--out {out}: expected a folder that can be written, got {error.strerror}."
        ) from error
    return path


def _config(task: ScoredTask, provenance: Fields, metadata: Fields) -> Json:
    known: Json = {
        "version": version_of(task.name),
        "provenance": {
            "fin_tasks": fin_tasks.__version__,
            "data": {"origin": "recording", "revision": hash_of(list(task.docs))},
            **provenance,
        },
    }
    if task.judge:
        known["judge"] = dict(task.judge)
    known |= {**metadata, "breakdowns": task.breakdowns()}
    return {"task": task.name, "metadata": known}


def sample_lines(task: ScoredTask) -> Iterator[Json]:
    """Yield the lines of a task's samples file."""
    for variant, readings in task.readings.items():
        rows = zip(
            task.docs, task.responses, readings, task.values[variant], strict=True
        )
        for number, (doc, texts, doc_readings, values) in enumerate(rows):
            fields = [reading.to_dict() for reading in doc_readings]
            first = fields[0] if fields else {}
            yield {
                "doc_id": number,
                "doc": doc,
                "target": doc.get("target", ""),
                "resps": [list(texts)],
                "filtered_resps": [[json.dumps(reading) for reading in fields]],
                "filter": variant,
                "metrics": list(task.metrics),
                **values,
                "answer": first.get("answer"),
                "reason": first.get("reason", ""),
            }
