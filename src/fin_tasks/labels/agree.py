"""Compare judges with people who scored the same responses, and correct the judges' means by people's scores.

MME-Finance compares in this way in section 4.3.
"""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from fin_tasks import report
from fin_tasks.errors import DataError
from fin_tasks.report.corrections import (
    METRIC,
    CorrectedPair,
    CorrectedRun,
    Corrections,
)
from fin_tasks.report.model import TaskResult
from fin_tasks.report.samples import read_samples
from fin_tasks.stats.means import Estimate
from fin_tasks.stats.prediction_powered import corrected_mean, labels_needed, p_value

from .agreement import agreement
from .filled import FilledSheets
from .rows import response_of
from .vote import most_frequent

_FACTS = ["task", "scoring", "judge"]


class _Corrected(NamedTuple):
    """A run's rows of one task and scoring, of which people scored a random sample."""

    facts: dict[str, Any]
    """Task, scoring and judge; results with the same ones can be compared."""
    model: str
    run: str
    """The id of the result."""
    rows: pd.DataFrame
    mean: Estimate


def read_judged(
    studies: Sequence[FilledSheets],
    paths: Sequence[Path],
) -> pd.DataFrame:
    """Return a line for each row and scoring of the judged tasks whose responses people saw.

    `judge` is the judge's model and rubric, and `score` its score. Where people scored the row, `people_score` is the
    mean of their scores, both of 100. On the study's scale, `points` is the judge's score, and `people_points` the
    most frequent one of people. `groups` are the study's groups that have the row. `refused` says why people's scores
    of the task are no random sample of its rows; it is empty if they are.
    """
    tables = []
    loaded = report.read(paths)
    for run, result in loaded.results:
        filled = _study_of(studies, result)
        if filled is None:
            continue
        model = result.judge.get("model", run.name)
        judge = f"{model} {result.judge.get('rubric', '')}".strip()
        refused = _why_not_random(filled, result)
        if refused:
            refused = f"{run.model}, {result.task}, {judge}: {refused}. Labels must be a random sample."
        rows = loaded.rows.query("run == @result.run and task == @result.task")
        rows = rows.reindex(columns=["scoring", "doc_id", "source", METRIC])
        rows = rows.dropna(subset=METRIC).astype({"scoring": str, "doc_id": str})
        rows = rows.sort_values("scoring", kind="stable")
        rows = rows.assign(
            task=result.task,
            judge=judge,
            model=run.model,
            run=result.id,
            refused=refused,
        )
        tables.append(_with_people(rows, filled, result.task))
    if not any(table["people_points"].notna().any() for table in tables):
        raise DataError(
            f"--judge: expected responses of {', '.join(studies[0].draw.study.tasks)} that people "
            "scored, found none."
        )
    return pd.concat(tables, ignore_index=True)


def compare(judged: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a line for each judge and group of rows."""
    scored = judged.dropna(subset="people_points").query("scoring != 'paper'")
    lines = []
    by_group = scored.explode("groups").groupby(["judge", "groups"], sort=False)
    for (judge, group), rows in by_group:
        figures = agreement(rows["people_points"], rows["points"])
        lines.append({"judge": judge, "rows": group, **figures})
    return lines


def corrections_of(judged: pd.DataFrame) -> Corrections:
    """Return corrected means, the highest of a task first, and the differences of runs."""
    refused = judged["refused"].unique()
    corrections = Corrections(refused=list(filter(None, refused)))
    results = _corrected_results(judged)
    for facts, model, result_id, rows, mean in results:
        run = CorrectedRun(
            **facts,
            **_fields_of(mean),
            model=model,
            run=result_id,
            n=len(rows),
            judge_mean=rows[METRIC].mean(),
            people_mean=rows["people_score"].mean(),
        )
        corrections.runs.append(run)
    corrections.runs.sort(
        key=lambda run: (run.task, run.scoring, -(run.corrected or 0))
    )
    for first, second in combinations(results, 2):
        if first.facts == second.facts and first.model != second.model:
            corrections.differences.append(_difference(first, second))
    return corrections


def labels_for(judged: pd.DataFrame, within: float) -> list[dict[str, Any]]:
    """Return how many labels narrow the interval of each corrected mean to plus or minus some points."""
    lines = []
    for facts, model, _, rows, mean in _corrected_results(judged):
        judge = rows[METRIC].to_numpy()
        people = rows["people_score"].to_numpy(float)
        line = {
            "model": model,
            **facts,
            "rows": len(rows),
            "labels": mean.n,
            "now_within": (mean.high - mean.low) / 2,
            "wish": within,
            "labels_needed": labels_needed(judge, people, mean, within),
        }
        lines.append(line)
    return lines


def _study_of(
    studies: Sequence[FilledSheets], result: TaskResult
) -> FilledSheets | None:
    """Return the study in which people saw the responses of a task; None if no study asks about the task."""
    candidates = [
        filled for filled in studies if result.task in filled.draw.study.tasks
    ]
    if not candidates or result.samples is None:
        return None
    responses = {
        sample.id: response_of(sample) for sample in read_samples(result.samples)
    }
    for filled in candidates:
        rows = [row for row in filled.draw.rows if row.task == result.task]
        is_same = [
            responses.get(row.doc_id, row.response) == row.response for row in rows
        ]
        if all(is_same):
            return filled
    raise DataError(
        f"{result.samples}: expected the responses that people saw, got others."
    )


def _with_people(
    rows: pd.DataFrame,
    filled: FilledSheets,
    task: str,
) -> pd.DataFrame:
    """Add people's scores to the rows of a task, and the groups of the study that have the rows."""
    draw = filled.draw
    (question,) = draw.study.questions.values()
    lowest, highest = question.scale or (0, 100)
    row_ids = {}
    groups = {}
    for row in draw.rows:
        if row.task != task:
            continue
        row_ids[row.doc_id] = row.id
        groups[row.id] = ["all"]
        strata = row.facts.get(draw.study.strata, [])
        for group, members in draw.study.groups.items():
            if not set(members).isdisjoint(strata):
                groups[row.id].append(group)
    ids = rows["doc_id"].map(row_ids)
    scores = filled.values.stack().dropna().astype(float)
    votes = scores.groupby(level="row")
    n_points = highest - lowest
    return rows.assign(
        groups=ids.map(groups),
        points=lowest + n_points * rows[METRIC] / 100,
        people_points=ids.map(votes.agg(most_frequent)),
        people_score=100 * (ids.map(votes.mean()) - lowest) / n_points,
    )


def _why_not_random(filled: FilledSheets, result: TaskResult) -> str:
    """Say why people's scores are no random sample of the rows of a task; empty if they are."""
    draw, values, problems = filled
    n_drawn_from = draw.n_rows.get(result.task)
    is_chosen = draw.study.wrong or isinstance(draw.study.n, dict)
    prefix = draw.id_prefix()
    has_other_ids = not all(row.id.startswith(prefix) for row in draw.rows)
    if is_chosen or has_other_ids:
        return "the rows were chosen or changed"
    if any(problem.column == "row" for problem in problems):
        return "the sheets have other rows than the draw"
    if values.isna().all(axis=1).any():
        return "some drawn rows have no score"
    if n_drawn_from != result.n:
        return f"the draw is from {n_drawn_from} rows, the run has {result.n}"
    return ""


def _corrected_results(judged: pd.DataFrame) -> list[_Corrected]:
    """Return the results of which people scored a random sample."""
    results = []
    random = judged[judged["refused"] == ""]
    by_result = random.groupby([*_FACTS, "model", "run"], sort=False)
    for (*values, model, run), rows in by_result:
        facts = dict(zip(_FACTS, values, strict=True))
        mean = _mean_of(rows[METRIC], rows["people_score"], rows["source"])
        results.append(_Corrected(facts, model, run, rows, mean))
    return results


def _mean_of(
    judge: pd.Series,
    people: pd.Series,
    sources: pd.Series,
) -> Estimate:
    return corrected_mean(
        judge.to_numpy(),
        people.to_numpy(float),
        clusters=pd.factorize(sources)[0],
    )


def _difference(first: _Corrected, second: _Corrected) -> CorrectedPair:
    """Return the corrected difference of two runs over the rows that the judge scored in both."""
    rows = first.rows.merge(second.rows, on="doc_id", suffixes=("", "_second"))
    difference = _mean_of(
        rows[METRIC] - rows[f"{METRIC}_second"],
        rows["people_score"] - rows["people_score_second"],
        rows["source"],
    )
    return CorrectedPair(
        **first.facts,
        **_fields_of(difference),
        p=p_value(difference),
        first=first.model,
        second=second.model,
        runs=(first.run, second.run),
        n=len(rows),
    )


def _fields_of(estimate: Estimate) -> dict[str, Any]:
    return {
        "corrected": estimate.mean,
        "low": estimate.low,
        "high": estimate.high,
        "labels": estimate.n,
    }
