"""Saved responses for `fin-tasks replay`: the authors' files, JSON lines like them, or lm-eval's samples."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import fin_tasks
from fin_tasks.benchmarks.financemath import VERSION
from fin_tasks.benchmarks.financemath.data import read_rows, scoring_docs
from fin_tasks.benchmarks.scored_task import texts_of
from fin_tasks.errors import DataError
from fin_tasks.stats.averages import average_or_none


def read(path: Path, *, mode: str) -> list[tuple[dict[str, Any], str]]:
    """Return pairs of document and response. Of several responses the first counts, in lm-eval's samples all count."""
    rows = read_rows(path, "output")
    found = []
    for doc, row in zip(scoring_docs(rows, mode)[0], rows, strict=True):
        for text in texts_of(row["output"]):
            if not isinstance(text, str | None):
                raise DataError(
                    f"{path}, {doc['question_id']}: expected text as output, got {text!r:.200}."
                )
            asked = {"id": doc["question_id"], "question": row.get("question", ""), **doc}
            found.append((asked, text or ""))
    return found


def summary(
    docs: Sequence[Mapping[str, Any]],
    values: Mapping[str, Sequence[Mapping[str, float | None]]],
    **facts: Any,
) -> dict[str, Any]:
    """Return the summary of `fin-tasks replay financemath --json`: fractions of the scored rows, counts and `facts`.

    `values` are metrics by variant and document. All but `robust_acc` is under `paper`.
    """
    paper = "paper"
    columns = {
        "execution_rate": (paper, "execution_rate"),
        "acc": (paper, "acc"),
        "robust_acc": ("robust", "acc"),
    }

    def rates(topic: str | None = None) -> dict[str, Any]:
        places = [at for at, doc in enumerate(docs) if topic in (None, doc["topic"])]
        means = {
            name: [values[of][at][metric] for at in places]
            for name, (of, metric) in columns.items()
        }
        return {
            "n": len(places),
            **{name: average_or_none(column) for name, column in means.items()},
        }

    splits = {re.sub(r"-\d+$", "", doc["id"]) for doc in docs}
    return {
        **rates(),
        "no_answer": sum(row["execution_rate"] == 0 for row in values[paper]),
        "unscored": sum(row["unscored"] == 1 for row in values[paper]),
        "by_topic": {
            topic: rates(topic) for topic in sorted({doc["topic"] for doc in docs if doc["topic"]})
        }
        or None,
        **{"benchmark": "financemath", "mode": docs[0]["mode"]},
        "split": splits.pop()
        if len(splits) == 1 and splits <= {"validation", "test", "sample"}
        else None,
        **{"scorer": VERSION, "fin_tasks": fin_tasks.__version__},
        **facts,
    }
