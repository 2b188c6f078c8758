"""The files of a build: splits in XFinBench's form, all questions, all replies, and a report."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd

from fin_tasks.answers.choices import lettered
from fin_tasks.benchmarks.xfinbench.construct.question import (
    KINDS,
    Question,
    kept_questions,
)
from fin_tasks.benchmarks.xfinbench.rows import COLUMNS, SPLITS
from fin_tasks.data.files import write_file


def count_questions(questions: Sequence[Question]) -> dict[str, Any]:
    """Count questions by task and by the rule that dropped them; `kept` counts the others."""
    rules: dict[str, Counter[str]] = {task: Counter() for task in (*KINDS, "all")}
    for question in questions:
        for task in (question.task, "all"):
            rules[task][question.dropped or "kept"] += 1
    n_kept = rules["all"]["kept"]
    n_dropped = len(questions) - n_kept
    return {
        "generated": {task: rules[task].total() for task in KINDS},
        "kept": n_kept,
        "dropped": n_dropped,
        "dropped_share": n_dropped / len(questions),
        "rules": rules,
    }


def write_splits(
    out: Path,
    questions: Iterable[Question],
    *,
    validation: float,
    seed: int,
) -> dict[str, int]:
    """Write the kept questions as XFinBench's files, and return their numbers by split.

    The questions of an exercise stay together. `validation` is the share of exercises in the
    validation split.
    """
    kept = kept_questions(questions)
    sources = list(dict.fromkeys(question.source for question in kept))
    validation_sources = Random(seed).sample(sources, round(validation * len(sources)))
    rows_by_split: dict[str, list[dict[str, str]]] = {split: [] for split in SPLITS}
    for question in kept:
        row = {
            "id": question.id,
            "task": question.task,
            "question": question.whole,
            "choice": lettered(question.choices),
            "ground_truth": question.answer,
        }
        split = "validation" if question.source in validation_sources else "test"
        rows_by_split[split].append(row)
    for split, rows in rows_by_split.items():
        table = pd.DataFrame(rows, columns=COLUMNS).to_csv(index=False)
        write_file(out / f"{split}_set.csv", table.encode())
    return {split: len(rows) for split, rows in rows_by_split.items()}


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write JSON lines."""
    lines = "".join(json.dumps(record) + "\n" for record in records)
    write_file(path, lines.encode())
