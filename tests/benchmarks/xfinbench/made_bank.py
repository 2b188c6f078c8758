"""Made-up questions and knowledge banks, for the tests of retrieval."""

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from fin_tasks.benchmarks.xfinbench import augmentation

QUESTION_COLUMNS = ("id", "task", "question", "choice", "ground_truth", "figure", "fin_capability", "gold_fin_term_id")
TERM_COLUMNS = ("id", "term_name", "term_definition")


@contextmanager
def own_environment(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[None]:
    """Keep the machine's data and cache away, and forget the indexes that were built."""
    monkeypatch.delenv("FIN_TASKS_DATA", raising=False)
    monkeypatch.setenv("FIN_TASKS_CACHE", str(folder / "cache"))
    monkeypatch.setenv("FIN_TASKS_OFFLINE", "1")
    yield
    augmentation._retrieve.cache_clear()
    augmentation._index.cache_clear()


def write(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a CSV file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
