"""VLMEvalKit's run folders with our data sets: the only reader of this format."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fin_tasks.report.model import Problem, Run, Table, TaskResult

__all__ = ["ITEMS", "read_runs", "read_samples", "stem"]

ITEMS = "_items.jsonl"
_FILE = re.compile(r"(?P<stem>.+)_(?:score\.json|items\.jsonl)")


def stem(name: str) -> str | None:
    """Return what names of files of one run share; None for other files."""
    match = _FILE.fullmatch(name)
    return match["stem"] if match else None


def read_runs(files: Sequence[tuple[Path, Path]], table: Table, problems: list[Problem]) -> list[Run]:
    """Read runs, and append their rows to the table."""
    return []


def read_samples(result: TaskResult) -> Iterator[dict[str, Any]]:
    """Yield the rows of a task in the form of lm-eval's samples."""
    yield from ()
