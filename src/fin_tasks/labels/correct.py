"""Correct a judge's means of runs, and of pairs of runs, by the scores that people gave."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pandas as pd

from fin_tasks.labels.agree import Judged, scale_of
from fin_tasks.report.corrections import (
    METRIC,
    CorrectedPair,
    CorrectedRun,
    Corrections,
)
from fin_tasks.stats.prediction_powered import corrected_mean


def corrections_of(judged: Sequence[Judged]) -> Corrections:
    """Return corrected means, the highest of a task first, and the differences of runs."""
    corrections = Corrections()
    tables = []
    for task in judged:
        problem = _why_not_random(task)
        if problem:
            where = f"{task.run.model}, {task.result.task}, {task.judge}"
            corrections.refused.append(
                f"{where}: {problem}. Labels must be a random sample."
            )
            continue
        lowest, highest = scale_of(task.filled.draw)
        points = 100 * (task.rows["people_mean"] - lowest) / (highest - lowest)
        for variant, rows in task.rows.assign(people=points).groupby(
            "variant", observed=True
        ):
            facts = {"task": task.result.task, "variant": variant, "judge": task.judge}
            tables.append((task, facts, rows))
            run = CorrectedRun(
                **facts,
                **_corrected(rows[METRIC], rows["people"], rows["source"]),
                run=task.result.id,
                model=task.run.model,
                n=len(rows),
                judge_mean=rows[METRIC].mean(),
                people_mean=rows["people"].mean(),
            )
            corrections.runs.append(run)
    corrections.runs.sort(
        key=lambda run: (run.task, run.variant, -(run.corrected or 0))
    )
    for (first, facts, rows), (second, other_facts, other_rows) in combinations(
        tables, 2
    ):
        if facts != other_facts or first.run.model == second.run.model:
            continue
        both = rows.merge(other_rows, on="doc_id", suffixes=("", "_second"))
        pair = CorrectedPair(
            **facts,
            **_corrected(
                both[METRIC] - both[f"{METRIC}_second"],
                both["people"] - both["people_second"],
                both["source"],
            ),
            first=first.run.model,
            second=second.run.model,
            runs=(first.result.id, second.result.id),
            n=len(both),
        )
        corrections.differences.append(pair)
    return corrections


def _corrected(
    judge: "pd.Series[float]",
    people: "pd.Series[float]",
    sources: "pd.Series[str]",
) -> dict[str, Any]:
    estimate = corrected_mean(
        judge.to_numpy(),
        people.to_numpy(float),
        clusters=pd.factorize(sources)[0],
    )
    return {
        "corrected": estimate.mean,
        "low": estimate.low,
        "high": estimate.high,
        "labels": estimate.n,
    }


def _why_not_random(task: Judged) -> str:
    """Say why people's scores are no random sample of the rows of a task; empty if they are."""
    draw, values, problems = task.filled
    n_drawn_from = draw.n_rows.get(task.result.task)
    is_chosen = draw.study.wrong or isinstance(draw.study.n, dict)
    has_other_ids = any(not row.id.startswith(draw.prefix()) for row in draw.rows)
    if is_chosen or has_other_ids:
        return "the rows were chosen or changed"
    if any(problem.column == "row" for problem in problems):
        return "the sheets have other rows than the draw"
    if values.isna().all(axis=1).any():
        return "some drawn rows have no score"
    if n_drawn_from != task.result.n:
        return f"the draw is from {n_drawn_from} rows, the run has {task.result.n}"
    return ""
