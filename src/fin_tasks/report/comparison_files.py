"""Comparisons as JSON, as CSV, and row by row."""

import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fin_tasks.report.compare import Comparison, Comparisons
from fin_tasks.report.measure import Numbers
from fin_tasks.report.runs import Run
from fin_tasks.sandbox import escape

__all__ = ["as_object", "changed_rows", "flat", "item_rows", "rows_of", "write_csv"]


def as_object(found: Comparisons) -> dict[str, Any]:
    """Return everything as a JSON-compatible object; None where there is no number."""
    return {
        "variant": found.variant,
        "metric": found.metric,
        "comparisons": [
            {
                "task": one.task,
                "tasks": [pair.other.family for pair in one.pairs],
                "metric": one.metric,
                "baseline": _described([pair.baseline for pair in one.pairs]),
                "other": _described([pair.other for pair in one.pairs]),
                "differs_in": [vars(difference) for difference in one.differences],
                **flat(one.numbers),
                "by": {group: flat(numbers) for group, numbers in one.by.items()},
            }
            for one in found.comparisons
        ],
        "problems": [vars(problem) for problem in found.problems],
        "notes": list(found.notes),
    }


def flat(numbers: Numbers) -> dict[str, Any]:
    """Return numbers as JSON-compatible keys and values; None where there is no number."""
    return {
        "n": numbers.n,
        "unpaired": {"baseline": numbers.unpaired_baseline, "other": numbers.unpaired_other},
        "unscored": numbers.unscored,
        "baseline_rate": numbers.baseline_rate,
        "other_rate": numbers.other_rate,
        "difference": _finite(numbers.difference),
        "low": _finite(numbers.interval.low),
        "high": _finite(numbers.interval.high),
        "p": numbers.p if numbers.tested else None,
        "p_holm": numbers.p_holm,
        "test": ("McNemar" if numbers.exact else "t") if numbers.tested else None,
        "clusters": numbers.clusters,
        "unit": numbers.unit,
        "gained": numbers.gained,
        "lost": numbers.lost,
    }


def item_rows(found: Comparisons) -> Iterator[dict[str, Any]]:
    """Give every row of every task that both runs have, with both scores and answers; see `rows_of`."""
    for one in found.comparisons:
        if not one.pooled:
            yield from rows_of(one, found.variant)


def rows_of(one: Comparison, variant: str) -> Iterator[dict[str, Any]]:
    """Give the rows that both runs of a task have, in the baseline's order.

    `change` is `gained` or `lost` where the value went up or down, `same`, or `unscored` where one has no value.
    """
    baseline, other = one.baseline.variants[variant], one.other.variants[variant]
    for name, row in baseline.items():
        if name not in other or not row.same_question(other[name]):
            continue
        before, after = row.values.get(one.metric), other[name].values.get(one.metric)
        yield {
            "id": name,
            "task": one.task,
            "model": one.other.model,
            "baseline_condition": one.baseline.label,
            "condition": one.other.label,
            "metric": one.metric,
            "baseline": before,
            "other": after,
            "change": _change(before, after),
            "baseline_answer": row.answer,
            "other_answer": other[name].answer,
            "truth": row.truth or other[name].truth,
            "question": row.question or other[name].question,
        }


def changed_rows(one: Comparison, variant: str) -> list[dict[str, Any]]:
    """Give the rows whose value changed, the largest change first, then in the baseline's order."""
    changed = [row for row in rows_of(one, variant) if row["change"] in ("gained", "lost")]
    return sorted(changed, key=lambda row: -abs(row["other"] - row["baseline"]))


def _change(before: float | None, after: float | None) -> str:
    if before is None or after is None:
        return "unscored"
    return "same" if before == after else "gained" if after > before else "lost"


def _described(runs: Sequence[Run]) -> dict[str, Any]:
    first = runs[0]
    return {
        "model": first.model,
        "condition": first.condition,
        "label": first.label,
        "benchmark": first.benchmark,
        "style": first.provenance("style.mode")
        and {name: first.provenance(f"style.{name}") for name in ("mode", "role")},
        "prompts": first.provenance("prompts.set"),
        "split": first.split or None,
        "limit": first.fact("limit"),
        "runs": [
            {
                "task": run.task,
                "date": run.date,
                "data": run.provenance("data.revision"),
                "path": str(run.path),
            }
            for run in runs
        ],
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def write_csv(found: Comparisons, path: Path) -> None:
    """Write a line per comparison and one per group of it; texts are made safe to print, no number is an empty cell."""
    rows = [row for one in found.comparisons for row in _lines(one)]
    if not rows:
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: escape(v) if isinstance(v, str) else v for k, v in row.items()} for row in rows)


def _lines(one: Comparison) -> Iterator[dict[str, Any]]:
    named = {
        "model": one.other.model,
        "baseline_model": one.baseline.model,
        "benchmark": one.other.benchmark,
        "condition": one.other.label,
        "baseline_condition": one.baseline.label,
        "task": one.task,
        "metric": one.metric,
    }
    for group, numbers in (("", one.numbers), *one.by.items()):
        values = flat(numbers)
        unpaired = values.pop("unpaired")
        yield {**named, "group": group, **values, **{f"unpaired_{side}": n for side, n in unpaired.items()}}
