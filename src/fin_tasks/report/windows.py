"""DynoStock's rows with the columns that `benchmarks.dynostock.experiment` needs to tell which may be compared."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pandas as pd

from fin_tasks.benchmarks.dynostock.experiment import COLUMNS
from fin_tasks.benchmarks.dynostock.windows import BIASES
from fin_tasks.errors import DataError
from fin_tasks.report.model import Report, Run, TaskResult

# What arms differ in on purpose or columns hold already, and where and how fast a model runs.
_MAY_DIFFER = ("anonymise", "arm", "bias", "mode", "scorer", "window")
_MACHINE = ("api_key", "base_url", "batch_size", "device", "max_retries", "num_concurrent", "timeout", "token")


def window_rows(report: Report, *, variant: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows of bias tasks under a variant, newest run last, and notes on settings that keep runs apart.

    Raises:
        DataError: There are no such rows.
    """
    rows = report.rows[(report.rows["benchmark"] == "dynostock") & (report.rows["variant"] == variant)]
    parts: list[pd.DataFrame] = []
    settings: dict[tuple[str, ...], dict[str, Mapping[str, str]]] = defaultdict(dict)
    of_task = dict(list(rows.groupby(["run", "task"], observed=True)))
    for run in sorted(report.runs, key=lambda run: run.date):
        for task in run.tasks:
            bias = next((bias for bias in BIASES if task.task.startswith(f"dynostock_{bias}")), None)
            if bias is None or (run.id, task.task) not in of_task:
                continue
            setting = _setting(run, task)
            label = hashlib.sha256(json.dumps(setting).encode()).hexdigest()[:8]
            mode = "text" if task.task.endswith("_text") else "image"
            settings[run.model, bias, mode][label] = setting
            facts: dict[str, Any] = {"model": run.model, "bias": bias, "mode": mode, "setting": label}
            anonymised = task.settings.get("anonymise") == "true"
            parts.append(of_task[run.id, task.task].assign(**facts, anonymised=anonymised))
    if not parts:
        raise DataError(f"compare: expected rows of DynoStock's bias tasks under {variant}, found none.")
    table = pd.concat(parts).reindex(columns=list(COLUMNS)).dropna(subset=["window"])
    table = table.astype({"arm": str, "doc_id": str, "ticker": str}).astype({"window": int})
    notes = []
    for key, of_model in settings.items():
        names = {name for one in of_model.values() for name in one}
        differ = sorted(name for name in names if len({one.get(name) for one in of_model.values()}) > 1)
        if differ:
            notes.append(f"{', '.join(key)}: runs that differ in {', '.join(differ)} are not compared.")
    return table, notes


def _setting(run: Run, task: TaskResult) -> dict[str, str]:
    found = {name: value for name, value in task.settings.items() if name not in _MAY_DIFFER}
    arguments = json.loads(run.settings.get("model_args", "null"))
    if isinstance(arguments, dict):
        arguments = {name: value for name, value in arguments.items() if name not in _MACHINE}
    versions = {name: value for name, value in run.settings.items() if name in ("lm_eval_version", "chat_template_sha")}
    return dict(sorted({**found, **versions, "model_args": json.dumps(arguments, sort_keys=True)}.items()))
