"""Saved responses for `fin-tasks replay`: the authors' files, JSON lines like them, or lm-eval's samples."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import StrictStr, field_validator

import fin_tasks
from fin_tasks.benchmarks.financemath.data import SCORER_VERSION, Row, scoring_docs
from fin_tasks.data.tables import read_models
from fin_tasks.stats.averages import average_or_none


class _Recorded(Row):
    output: StrictStr

    @field_validator("output", mode="before")
    @classmethod
    def _first_of_several(cls, output: Any) -> Any:
        while isinstance(output, list):
            output = output[0] if output else None
        return "" if output is None else output


def read(path: Path, *, mode: str) -> list[tuple[dict[str, Any], str]]:
    """Return document and response of each row; `mode` is `cot` or `pot`."""
    rows = read_models(path, _Recorded, "question_id")
    docs, run = scoring_docs(rows, mode)
    truths = "exact" if run["sandbox"] else "rounded"
    return [
        ({"id": doc["question_id"], "truths": truths, **doc}, row.output) for doc, row in zip(docs, rows, strict=True)
    ]


def summary(
    docs: Sequence[Mapping[str, Any]],
    values: Mapping[str, Sequence[Mapping[str, float | None]]],
    *,
    variant: str = "paper",
    judge: Mapping[str, str] | None = None,
    **facts: Any,
) -> dict[str, Any]:
    """Count what `fin-tasks replay financemath --json` prints, from metric values by variant and document.

    Rates are fractions of the rows that could be scored; `acc` is that of `variant`. `facts` are added as they are.
    """
    other = "robust" if variant == "paper" else "paper"
    columns = {"execution_rate": (variant, "execution_rate"), "acc": (variant, "acc"), f"{other}_acc": (other, "acc")}

    def rates(places: Sequence[int]) -> dict[str, Any]:
        means = {name: [values[of][at][metric] for at in places] for name, (of, metric) in columns.items()}
        return {"n": len(places), **{name: average_or_none(column) for name, column in means.items()}}

    def count(metric: str, value: float) -> int:
        return sum(row[metric] == value for row in values[variant])

    result = {**rates(range(len(docs))), "no_answer": count("execution_rate", 0.0), "unscored": count("unscored", 1.0)}
    if judge:
        result |= {"read_by_judge": count("judge_error", 0.0), "judge_failed": count("judge_error", 1.0)}
    if topics := sorted({doc["topic"] for doc in docs if doc["topic"]}):
        places = {topic: [at for at, doc in enumerate(docs) if doc["topic"] == topic] for topic in topics}
        result["by_topic"] = {topic: rates(of) for topic, of in places.items()}
    splits = {re.sub(r"-\d+$", "", doc["id"]) for doc in docs}
    split = splits.pop() if len(splits) == 1 and splits <= {"validation", "test", "sample"} else None
    result |= {"benchmark": "financemath", "mode": docs[0]["mode"], "variant": variant, "split": split, "judge": judge}
    made = {"truths": docs[0]["truths"], "scorer": SCORER_VERSION, "fin_tasks": fin_tasks.__version__}
    return {**result, **facts, **made}
