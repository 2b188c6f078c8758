"""Score the responses to one task's documents with the benchmark's own `score.py`, both variants side by side."""

import importlib
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fin_tasks import sandbox
from fin_tasks.answers.score import Reading
from fin_tasks.stats.averages import average, standard_error
from fin_tasks.stats.metric import Metric

__all__ = ["VARIANTS", "RunPrograms", "ScoredTask", "by_document", "model_of", "ran", "score_task"]

VARIANTS = ("paper", "robust")

_MEAN = (average, standard_error)

RunPrograms = Callable[[Sequence[str | None]], Sequence[sandbox.Outcome]]


@dataclass(frozen=True, kw_only=True)
class ScoredTask:
    """Documents and responses of one task with readings and metric values, by variant and document."""

    name: str
    docs: Sequence[Mapping[str, Any]]
    responses: Sequence[Sequence[str]]
    readings: Mapping[str, Sequence[Sequence[Any]]]
    values: Mapping[str, Sequence[Mapping[str, Any]]]
    metrics: Mapping[str, bool | Metric]

    def totals(self) -> dict[str, Any]:
        """Return metrics as lm-eval names them, `acc,paper` and `acc_stderr,paper`; None if nothing is scored."""
        found: dict[str, Any] = {}
        for variant, rows in self.values.items():
            for name, metric in self.metrics.items():
                values = [row[name] for row in rows]
                mean, stderr = (metric.aggregate, metric.stderr) if isinstance(metric, Metric) else _MEAN
                found[f"{name},{variant}"] = _number(mean(values))
                found[f"{name}_stderr,{variant}"] = _number(stderr(values)) if stderr else None
        return found


def score_task(
    benchmark: str,
    name: str,
    docs: Sequence[Mapping[str, Any]],
    responses: Sequence[Sequence[str]],
    *,
    options: Mapping[str, Any],
    run_programs: RunPrograms | None = None,
    failed: Collection[int] = (),
) -> ScoredTask:
    """Score responses.

    Args:
        benchmark: Its package below `fin_tasks.benchmarks`.
        name: The task's name in lm-eval.
        docs: The documents.
        responses: Those to each document; several count as their mean.
        options: What the task fixes: its `dataset_kwargs`.
        run_programs: Runs the programs of all responses at once; None for tasks without programs.
        failed: Positions of the documents to which the model gave no response; `robust` leaves them unscored.
    """
    scorer = importlib.import_module(f"fin_tasks.benchmarks.{benchmark}.score")
    metrics = scorer.metrics_of(**options)
    readings, values = {}, {}
    for variant in VARIANTS:
        given: Sequence[Sequence[Any]] = responses
        if run_programs is not None:
            given = ran(partial(scorer.programs, variant=variant), docs, responses, run_programs)
        readings[variant] = [
            [Reading(variant=variant, answer=None, reason="the model gave no response", unscored=True)]
            if variant == "robust" and place in failed
            else [scorer.read(doc, one, variant=variant) for one in texts]
            for place, (doc, texts) in enumerate(zip(docs, given, strict=True))
        ]
        values[variant] = [
            {**dict.fromkeys(metrics), "unscored": 1.0}
            if variant == "robust" and place in failed
            else scorer.metric_values(doc, of)
            for place, (doc, of) in enumerate(zip(docs, readings[variant], strict=True))
        ]
    return ScoredTask(name=name, docs=docs, responses=responses, readings=readings, values=values, metrics=metrics)


def by_document(pairs: Sequence[tuple[Mapping[str, Any], str]]) -> tuple[list[Mapping[str, Any]], list[list[str]]]:
    """Put responses to one document together; documents that share an id but not the truth get ids of their own."""
    docs: dict[tuple[str, str], Mapping[str, Any]] = {}
    responses: dict[tuple[str, str], list[str]] = {}
    seen: Counter[str] = Counter()
    for doc, response in pairs:
        key = (str(doc["id"]), str(doc["ground_truth"]))
        if key not in docs:
            seen[key[0]] += 1
            docs[key] = doc if seen[key[0]] == 1 else {**doc, "id": f"{doc['id']}#{seen[key[0]]}"}
        responses.setdefault(key, []).append(response)
    return list(docs.values()), list(responses.values())


def model_of(file: Path) -> str:
    """Name the model of saved responses: the results beside lm-eval's samples or their folder say it, else the file."""
    if not (match := re.fullmatch(r"samples_.+?(?:_(\d{4}-\d\d-\d\dT[\d.:-]+))?\.jsonl", file.name)):
        return file.stem
    try:
        named = json.loads(file.with_name(f"results_{match[1]}.json").read_bytes())["model_name"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        named = None
    return named if named and isinstance(named, str) else file.resolve().parent.name


def ran(
    programs: Callable[[Mapping[str, Any], str], Sequence[str | None]],
    docs: Sequence[Mapping[str, Any]],
    responses: Sequence[Sequence[str]],
    run_programs: RunPrograms,
) -> list[list[sandbox.Ran]]:
    """Run the programs of all responses at once, and return each response with the outcomes of its programs."""
    nested = [
        [(text, tuple(programs(doc, text))) for text in texts] for doc, texts in zip(docs, responses, strict=True)
    ]
    outcomes = iter(run_programs([program for of_doc in nested for _, several in of_doc for program in several]))
    return [[sandbox.Ran(text, tuple(next(outcomes) for _ in several)) for text, several in of] for of in nested]


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and value == value else None
