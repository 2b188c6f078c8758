"""The files of a build: splits in XFinBench's form, all questions, all replies, and a report."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd

from fin_tasks.benchmarks.xfinbench.construct.question import KINDS, Question, kept_questions
from fin_tasks.benchmarks.xfinbench.rows import COLUMNS, SPLITS, lettered
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


def split_questions(
    questions: Sequence[Question], *, validation: float, seed: int
) -> dict[str, list[Question]]:
    """Return the kept questions of each split; those of an exercise stay together.

    `validation` is the share of exercises in the validation split.
    """
    questions = kept_questions(questions)
    sources = list(dict.fromkeys(question.source for question in questions))
    validation_sources = Random(seed).sample(sources, round(validation * len(sources)))
    splits: dict[str, list[Question]] = {split: [] for split in SPLITS}
    for question in questions:
        split = "validation" if question.source in validation_sources else "test"
        splits[split].append(question)
    return splits


def write_split(path: Path, questions: Iterable[Question]) -> None:
    """Write questions as XFinBench's file has them."""
    rows = []
    for question in questions:
        row = {
            "id": question.id,
            "task": question.task,
            "question": question.whole,
            "choice": lettered(question.choices),
            "ground_truth": question.answer,
        }
        rows.append(row)
    table = pd.DataFrame(rows, columns=COLUMNS).to_csv(index=False)
    write_file(path, table.encode())


def write_set(
    out: Path,
    splits: Mapping[str, Iterable[Question]],
    questions: Iterable[Question],
    replies: Iterable[Mapping[str, Any]],
    report: Mapping[str, Any],
) -> None:
    """Write all files into a folder."""
    for split, own_questions in splits.items():
        write_split(out / f"{split}_set.csv", own_questions)
    for name, records in {"questions": map(asdict, questions), "replies": replies}.items():
        lines = "".join(json.dumps(record) + "\n" for record in records)
        write_file(out / f"{name}.jsonl", lines.encode())
    write_file(out / "report.json", json.dumps(report, indent=2).encode())
