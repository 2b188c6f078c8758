"""FinanceMath's rows as documents of lm-eval."""

import logging
from typing import TYPE_CHECKING, Any

import fin_tasks
from fin_tasks.benchmarks.financemath import prompts
from fin_tasks.benchmarks.financemath.files import Files, locate, revision_of
from fin_tasks.benchmarks.financemath.rows import TOPICS, Row, read_rows
from fin_tasks.benchmarks.financemath.truths import Truths, find_truths
from fin_tasks.data.documents import dataset_of
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

if TYPE_CHECKING:
    from datasets import Dataset

__all__ = ["SCORER_VERSION", "load"]

_log = logging.getLogger(__name__)

SCORER_VERSION = 1
"""Goes up with every change that moves a score; part of the provenance hash."""


def load(
    *,
    mode: str = "cot",
    split: str | None = None,
    source: str = "auto",
    data_dir: str | None = None,
    **_: Any,
) -> "dict[str, Dataset]":
    """Load the documents of one task; lm-eval calls this as `custom_dataset` with the task's metadata.

    Args:
        mode: `cot` or `pot`.
        split: `validation` (default) or `test`, whose truths the authors have not published.
        source: `upstream`, `hub`, `data_dir`, `sample`, or `auto`: a data folder where one is named, else upstream.
        data_dir: Folder with the benchmark's files, or the file itself; `FIN_TASKS_DATA` where None.

    Returns:
        `{split: Dataset}`. The dataset's `info.description` holds the provenance as JSON.

    Raises:
        ConfigError: An option has a value that does not exist.
        DataError: The file is missing or broken, or has no truths.
    """
    if mode not in prompts.MODES:
        raise ConfigError(f"financemath mode: expected one of {', '.join(prompts.MODES)}, got {mode!r}.")
    settings = Settings.from_environ()
    files = locate(
        source=source, data_dir=data_dir, split=split or "validation", settings=settings, notify=_log.warning
    )
    read = read_rows(files.questions, split=files.split)
    left_out = read.left_out()
    if left_out:
        _log.warning("financemath %s: rows left out: %s", files.split, left_out)
    if not read.rows:
        raise DataError(f"{files.questions}: expected at least one usable question, found none (left out: {left_out}).")
    truths = find_truths(read.rows, settings=settings, notify=_log.warning)
    docs = [_doc(row, exact, mode) for row, exact in zip(read.rows, truths.values, strict=True)]
    facts = {
        "fin_tasks": fin_tasks.__version__,
        "scorer": SCORER_VERSION,
        "split": files.split,
        "mode": mode,
        "prompts": {"set": "house", "sha256": prompts.prompts_sha256(mode)},
        "data": _data_facts(files),
        "truths": _truth_facts(truths),
        "rows": len(docs),
        "left_out": left_out,
    }
    return {files.split: dataset_of(docs, facts)}


def _doc(row: Row, exact: float, mode: str) -> dict[str, Any]:
    prompt = prompts.fill(row.question, row.tables, mode=mode)
    return {
        "question_id": row.question_id,
        "topic": row.topic,
        "topic_name": TOPICS.get(row.topic, ""),
        "mode": mode,
        "has_table": bool(row.tables),
        "ground_truth": row.ground_truth,
        "exact_truth": exact,
        "python_solution": row.python_solution,
        "target": _target(row, mode),
        "system": prompt.system,
        "prompt": prompt.user,
        "cue": prompt.cue,
    }


def _target(row: Row, mode: str) -> str:
    """Word the truth as a model should, for few-shot examples and the samples file."""
    if mode == "pot":
        return f"```python\n{row.python_solution}\n```"
    return f"{prompts.MARKER} {row.ground_truth:.12g}."


def _data_facts(files: Files) -> dict[str, Any]:
    revision = revision_of(files)
    return {
        "origin": files.origin,
        "commit": files.commit,
        "revision": revision.short,
        "files": dict(revision.files),
    }


def _truth_facts(truths: Truths) -> dict[str, Any]:
    return {
        "paper": "python_solution for programs, ground_truth for chains of thought",
        "robust": "python_solution",
        "sandbox": truths.tier,
        "rounded": list(truths.rounded),
    }
