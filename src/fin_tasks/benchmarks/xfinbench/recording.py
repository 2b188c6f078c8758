"""Score saved responses for `fin-tasks replay`, and sum the scores up."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.scored_task import RunPrograms, ScoredTask, by_document, score_task
from fin_tasks.benchmarks.xfinbench.document import CAPABILITIES
from fin_tasks.benchmarks.xfinbench.saved import read
from fin_tasks.judging.judge import JudgeModel
from fin_tasks.stats.averages import average_or_none


def score_file(
    path: Path,
    *,
    task: str,
    mode: str = "cot",
    data_dir: Path | None = None,
    run_programs: RunPrograms | None = None,
    answer_reader: JudgeModel | None = None,
) -> ScoredTask:
    """Score a file of saved responses; programs need `run_programs`, and `answer_reader` may read words."""
    docs, responses = by_document(read(path, task=task, mode=mode, data_dir=data_dir))
    subsets = {doc["subset"] for doc in docs}
    subset = subsets.pop() if len(subsets) == 1 else "mcq"  # with figures and without
    ending = "" if mode == "cot" else f"_{mode}"
    return score_task(
        "xfinbench",
        f"xfinbench_{subset}{ending}",
        docs,
        responses,
        options={"subset": subset, "mode": mode},
        run_programs=run_programs,
        answer_reader=answer_reader,
    )


def summary(scored: ScoredTask, *, tier: str | None = None) -> dict[str, Any]:
    """Return accuracies as fractions of documents, overall and by capability.

    For programs there is also how they ended.
    """
    docs = scored.docs
    robust_rows = scored.values["robust"]
    result = _rates(scored, range(len(docs)))
    result["unscored"] = [row["unscored"] for row in robust_rows].count(1.0)
    by_capability = {}
    for capability in CAPABILITIES:
        positions = [
            position for position, doc in enumerate(docs) if capability in doc["capabilities"]
        ]
        if positions:
            by_capability[capability] = _rates(scored, positions)
    result["by_capability"] = by_capability
    if docs[0]["mode"] == "pot":
        for variant, name in (("paper", "execution_rate"), ("robust", "robust_execution_rate")):
            result[name] = average_or_none(row["execution_rate"] for row in scored.values[variant])
        readings = chain.from_iterable(scored.readings["paper"])
        result["outcomes"] = dict(Counter(reading.status for reading in readings))
        result["sandbox"] = tier
    return result


def _rates(scored: ScoredTask, positions: Sequence[int]) -> dict[str, Any]:
    """Return how many documents there are, and by variant the means of metrics over them."""
    metrics = {"acc": "acc", "no_answer": "no_answer"}
    if scored.docs[0]["task"] == "calcu":
        metrics = {"acc_em": "acc", "acc_err": "acc_err", "no_answer": "no_answer"}
    rates: dict[str, Any] = {"n": len(positions)}
    for variant, rows in scored.values.items():
        means = {}
        for name, metric in metrics.items():
            means[name] = average_or_none(rows[position][metric] for position in positions)
        rates[variant] = means
    return rates
