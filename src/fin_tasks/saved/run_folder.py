"""Write scored responses as a run folder of lm-eval: `results_*.json` and `samples_*.jsonl`."""

import hashlib
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import fin_tasks
from fin_tasks.benchmarks.scored_task import ScoredTask
from fin_tasks.benchmarks.task_file import version_of
from fin_tasks.errors import DataError
from fin_tasks.stats.averages import average_or_none

from .columns import Json

Fields = Mapping[str, Any]

_UNFINISHED = ".unfinished-"
_A_DAY = 24 * 3600  # seconds
_MAX_FOLDER = 120  # bytes of UTF-8; file systems allow 255
_USUAL_FOLDER = re.compile(r"(?!\.)[\w.-]+(?<!\.)")
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
"""Names that Windows keeps for devices."""


class SavedRun(NamedTuple):
    """Scored responses to one task, and what results say about the task."""

    scored: ScoredTask
    provenance: Fields
    """Of the documents."""
    metadata: Fields
    """The options of the task, and what is known of the sandbox and the judge."""
    notes: Sequence[Fields] = ()
    """What a file says of the responses to each document, such as another score; empty if it says nothing."""


def write_run(
    out: Path,
    runs: Sequence[SavedRun],
    *,
    model: str,
    made_by: str,
    facts: Fields | None = None,
    group: str = "",
) -> Path:
    """Write a model's scored tasks below a folder, as lm-eval's `--output_path` and `--log_samples` do.

    Args:
        out: The folder; the files are in a folder in it that is named after the model.
        runs: The tasks.
        model: Name of the model.
        made_by: The command that scored the tasks.
        facts: What the results say of the whole run.
        group: Name of a group of all tasks, whose `acc` is the mean over their rows.

    Returns:
        The results file.
    """
    folder = folder_of(out, model)
    content = dict(facts or {})
    if group:
        content |= _group_of(runs, group)
    try:
        return write_files(folder, runs, model=model, made_by=made_by, facts=content)
    except OSError as error:
        raise DataError(
            f"--out {out}: expected a folder that can be written, got {error.strerror}."
        ) from error


def write_files(
    folder: Path,
    runs: Sequence[SavedRun],
    *,
    model: str,
    made_by: str,
    facts: Fields,
) -> Path:
    """Write the files of a run into a folder, the results file last, and return its path."""
    stamp = datetime.now().isoformat().replace(":", "-")
    path = folder / f"results_{stamp}.json"
    results = {**_results_of(runs, model, made_by), **facts}
    folder.mkdir(parents=True, exist_ok=True)
    _remove_unfinished(folder)
    finished = {}
    for run in runs:
        samples = folder / f"samples_{run.scored.name}_{stamp}.jsonl"
        part = folder / f"{_UNFINISHED}{samples.name}"
        with part.open("w", encoding="utf-8") as file:
            for line in sample_lines(run.scored, run.notes):
                file.write(json.dumps(line) + "\n")
        finished[part] = samples
    part = folder / f"{_UNFINISHED}{path.name}"
    part.write_text(json.dumps(results, indent=2) + "\n", "utf-8")
    finished[part] = path
    for part, target in finished.items():
        part.replace(target)
    return path


def _remove_unfinished(folder: Path) -> None:
    """Remove what a command left that was killed a day ago; younger files may be those of another one."""
    for part in folder.glob(f"{_UNFINISHED}*"):
        if time.time() - part.stat().st_mtime > _A_DAY:
            part.unlink(missing_ok=True)


def folder_of(out: Path, model: str) -> Path:
    """Return the folder of a model's runs, as lm-eval names it; other names than usual get a hash."""
    name = re.sub(r"[^\w.-]", "__", model)
    is_short = len(name.encode()) <= _MAX_FOLDER
    if is_short and _USUAL_FOLDER.fullmatch(name) and not _DEVICE.fullmatch(name):
        return out / name
    digest = hashlib.sha256(model.encode("utf-8", "replace")).hexdigest()[:8]
    stem = re.sub(r"\W+", "-", name, flags=re.ASCII)[:40]
    return out / f"{stem}-{digest}"


def _results_of(runs: Sequence[SavedRun], model: str, made_by: str) -> Json:
    totals = {}
    configs = {}
    versions = {}
    sizes = {}
    for run in runs:
        task = run.scored
        size = len(task.docs)
        totals[task.name] = task.totals()
        configs[task.name] = {"task": task.name, "metadata": _metadata_of(run)}
        versions[task.name] = version_of(task.name)
        sizes[task.name] = {"original": task.n_all or size, "effective": size}
    return {
        "results": totals,
        "configs": configs,
        "versions": versions,
        "n-shot": dict.fromkeys(configs, 0),
        "n-samples": sizes,
        "config": {"model": made_by, "model_args": {}},
        "date": time.time(),
        "model_name": model,
        "fin_tasks_version": fin_tasks.__version__,
    }


def _metadata_of(run: SavedRun) -> Json:
    task = run.scored
    text = json.dumps(list(task.docs), sort_keys=True)
    revision = hashlib.sha256(text.encode()).hexdigest()[:16]
    metadata: Json = {
        "version": version_of(task.name),
        "provenance": {
            "fin_tasks": fin_tasks.__version__,
            "data": {"origin": "recording", "revision": revision},
            **run.provenance,
        },
    }
    if task.judge:
        metadata["judge"] = dict(task.judge)
    return {**metadata, **run.metadata, "breakdowns": task.breakdowns()}


def _group_of(runs: Sequence[SavedRun], name: str) -> Json:
    tasks = [run.scored for run in runs]
    totals = {}
    for scoring in tasks[0].values:
        rows = chain.from_iterable(task.values[scoring] for task in tasks)
        totals[f"acc,{scoring}"] = average_or_none(row["acc"] for row in rows)
    return {
        "groups": {name: totals},
        "group_subtasks": {name: [task.name for task in tasks]},
    }


def sample_lines(task: ScoredTask, notes: Sequence[Fields] = ()) -> Iterator[Json]:
    """Yield the lines of a task's samples file; notes on the documents go into `recorded`."""
    for scoring, readings in task.readings.items():
        rows = zip(
            task.docs, task.responses, readings, task.values[scoring], strict=True
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
                "filter": scoring,
                "metrics": list(task.metrics),
                **values,
                "answer": first.get("answer"),
                "reason": first.get("reason", ""),
                **({"recorded": notes[number]} if notes else {}),
            }
