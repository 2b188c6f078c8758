"""Saved responses for `fin-tasks replay`: the authors' files, JSON lines like them, or lm-eval's samples."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import fin_tasks
from fin_tasks.answers.cut_off import mark_response
from fin_tasks.benchmarks.financemath import VERSION
from fin_tasks.benchmarks.financemath.data import Row, read_rows, scoring_docs
from fin_tasks.benchmarks.financemath.score import Document
from fin_tasks.benchmarks.scored_task import texts_of
from fin_tasks.errors import DataError
from fin_tasks.stats.averages import average_or_none

Values = Mapping[str, Sequence[Mapping[str, float | None]]]
"""Metrics by variant and document."""
Rates = dict[str, float | None]

_SPLITS = ("validation", "test", "sample")
_RATES = (
    ("execution_rate", "paper", "execution_rate"),
    ("acc", "paper", "acc"),
    ("robust_acc", "robust", "acc"),
)
"""A rate of the summary, and the variant and metric whose mean it is."""


def read(path: Path, *, mode: str) -> list[tuple[Row, str]]:
    """Return pairs of document and response. Of several responses the first counts, in lm-eval's samples all count."""
    rows = read_rows(path, "output")
    scoring, _ = scoring_docs(rows, mode)
    pairs: list[tuple[Row, str]] = []
    for fields, row in zip(scoring, rows, strict=True):
        name = fields["question_id"]
        doc = {"id": name, "question": row.get("question", ""), **fields}
        for text in texts_of(row["output"]):
            if not isinstance(text, str | None):
                raise DataError(f"{path}, {name}: expected text as output, got {text!r:.200}.")
            response = "" if text is None else text
            pairs.append((doc, mark_response(response, row.get("finish_reason"))))
    return pairs


def summary(docs: Sequence[Document], values: Values, **facts: Any) -> dict[str, Any]:
    """Return the summary of `fin-tasks replay financemath --json`: fractions of the scored rows, counts and `facts`.

    All but `robust_acc` is under `paper`.
    """
    topics = sorted({doc["topic"] for doc in docs if doc["topic"]})
    by_topic: dict[str, Rates] = {}
    for topic in topics:
        rows = [number for number, doc in enumerate(docs) if doc["topic"] == topic]
        by_topic[topic] = _rates(values, rows)
    paper_rows = values["paper"]
    return {
        **_rates(values, range(len(docs))),
        "no_answer": [row["execution_rate"] for row in paper_rows].count(0.0),
        "unscored": [row["unscored"] for row in paper_rows].count(1.0),
        "by_topic": by_topic or None,
        "benchmark": "financemath",
        "mode": docs[0]["mode"],
        "split": _split_of(docs),
        "scorer": VERSION,
        "fin_tasks": fin_tasks.__version__,
        **facts,
    }


def _rates(values: Values, rows: Sequence[int]) -> Rates:
    """Return how many rows there are, and the mean of each rate over them."""
    rates: Rates = {"n": len(rows)}
    for name, variant, metric in _RATES:
        column = [values[variant][row][metric] for row in rows]
        rates[name] = average_or_none(column)
    return rates


def _split_of(docs: Sequence[Document]) -> str:
    """Return the split that all ids name, such as `validation-12`; `unknown` if they name none."""
    names = {re.sub(r"-\d+$", "", doc["id"]) for doc in docs}
    if len(names) == 1 and names <= set(_SPLITS):
        return str(names.pop())
    return "unknown"
