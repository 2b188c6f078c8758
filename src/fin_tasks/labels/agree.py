"""Compare judges with people who scored the same responses, and correct the judges' means by people's scores.

MME-Finance compares in this way in section 4.3.
"""

from collections import defaultdict
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
from fin_tasks.report.model import Report, Run, TaskResult
from fin_tasks.report.samples import read_samples
from fin_tasks.stats.means import Estimate
from fin_tasks.stats.prediction_powered import corrected_mean, labels_needed, p_value

from .agreement import agreement
from .draw import Draw
from .filled import FilledSheets
from .run_rows import response_of
from .vote import most_frequent


class JudgedTask(NamedTuple):
    """The rows of a task that a judge scored, and people's scores of some of them."""

    filled: FilledSheets
    run: Run
    result: TaskResult
    judge: str
    """Model and rubric of the judge."""
    rows: pd.DataFrame
    """A line for each judged row and scoring: `scoring`, `doc_id`, `source`, and the judge's `score`.

    Lines of rows that people scored also have `row`, its id in the study, `people`, the most frequent score, and
    `people_mean`.
    """


def read_judged(
    studies: Sequence[FilledSheets], paths: Sequence[Path]
) -> list[JudgedTask]:
    """Return the judged tasks whose responses people saw."""
    judged = []
    loaded = report.read(paths)
    for run, result in loaded.results:
        filled = _study_of(studies, result)
        if filled:
            model = result.judge.get("model", run.name)
            judge = f"{model} {result.judge.get('rubric', '')}".strip()
            rows = _rows_of(loaded, filled, result)
            judged.append(JudgedTask(filled, run, result, judge, rows))
    are_scored = [task.rows["people"].notna().any() for task in judged]
    if not any(are_scored):
        raise DataError(
            f"--judge: expected responses of {', '.join(studies[0].draw.study.tasks)} that people "
            "scored, found none."
        )
    return judged


def compare(judged: Sequence[JudgedTask]) -> list[dict[str, Any]]:
    """Return a line for each judge and group of rows."""
    scores = defaultdict(list)
    for task in judged:
        draw = task.filled.draw
        lowest, highest = _scale_of(draw)
        drawn_rows = {row.id: row for row in draw.rows}
        rows = task.rows.dropna(subset="people").query("scoring != 'paper'")
        for row_id, people, score in rows[["row", "people", METRIC]].to_numpy():
            points = lowest + (highest - lowest) * score / 100
            strata = drawn_rows[row_id].facts.get(draw.study.strata, [])
            scores[task.judge, "all"].append((people, points))
            for group, members in draw.study.groups.items():
                if not set(members).isdisjoint(strata):
                    scores[task.judge, group].append((people, points))
    lines = []
    for (judge, group), pairs in scores.items():
        people, points = zip(*pairs, strict=True)
        lines.append({"judge": judge, "rows": group, **agreement(people, points)})
    return lines


def corrections_of(judged: Sequence[JudgedTask]) -> Corrections:
    """Return corrected means, the highest of a task first, and the differences of runs."""
    scoring_tasks, refused = _random_tasks(judged)
    corrections = Corrections(refused=refused)
    corrections.runs += map(_corrected_run, scoring_tasks)
    corrections.runs.sort(
        key=lambda run: (run.task, run.scoring, -(run.corrected or 0))
    )
    for first, second in combinations(scoring_tasks, 2):
        is_same_task = _facts_of(first) == _facts_of(second)
        if is_same_task and first.run.model != second.run.model:
            corrections.differences.append(_corrected_pair(first, second))
    return corrections


def labels_for(judged: Sequence[JudgedTask], within: float) -> list[dict[str, Any]]:
    """Return how many labels narrow the interval of each corrected mean to plus or minus some points."""
    lines = []
    for task in _random_tasks(judged)[0]:
        judge = task.rows[METRIC].to_numpy()
        people = task.rows["people"].to_numpy(float)
        mean = _mean_of(task)
        line = {
            "model": task.run.model,
            **_facts_of(task),
            "rows": len(judge),
            "labels": mean.n,
            "now_within": (mean.high - mean.low) / 2,
            "wish": within,
            "labels_needed": labels_needed(judge, people, mean, within),
        }
        lines.append(line)
    return lines


def _random_tasks(
    judged: Sequence[JudgedTask],
) -> tuple[list[JudgedTask], list[str]]:
    """Return the tasks whose labels are a random sample, one for each scoring, and why others are refused."""
    scoring_tasks = []
    refused = []
    for task in judged:
        problem = _why_not_random(task)
        if problem:
            refused.append(
                f"{task.run.model}, {task.result.task}, {task.judge}: {problem}. Labels must be a "
                "random sample."
            )
            continue
        lowest, highest = _scale_of(task.filled.draw)
        percent = 100 * (task.rows["people_mean"] - lowest) / (highest - lowest)
        table = task.rows.assign(people=percent)
        for _, rows in table.groupby("scoring", observed=True):
            scoring_tasks.append(task._replace(rows=rows))
    return scoring_tasks, refused


def _mean_of(task: JudgedTask) -> Estimate:
    return corrected_mean(
        task.rows[METRIC].to_numpy(),
        task.rows["people"].to_numpy(float),
        clusters=pd.factorize(task.rows["source"])[0],
    )


def _facts_of(task: JudgedTask) -> dict[str, Any]:
    """Return task, scoring and judge of a task whose rows are those of one scoring."""
    scoring = task.rows["scoring"].iat[0]
    return {"task": task.result.task, "scoring": scoring, "judge": task.judge}


def _corrected_run(task: JudgedTask) -> CorrectedRun:
    rows = task.rows
    mean = _mean_of(task)
    return CorrectedRun(
        **_facts_of(task),
        **_fields_of(mean),
        run=task.result.id,
        model=task.run.model,
        n=len(rows),
        judge_mean=rows[METRIC].mean(),
        people_mean=rows["people"].mean(),
    )


def _corrected_pair(first: JudgedTask, second: JudgedTask) -> CorrectedPair:
    both = first.rows.merge(second.rows, on="doc_id", suffixes=("", "_second"))
    difference = corrected_mean(
        (both[METRIC] - both[f"{METRIC}_second"]).to_numpy(),
        (both["people"] - both["people_second"]).to_numpy(float),
        clusters=pd.factorize(both["source"])[0],
    )
    return CorrectedPair(
        **_facts_of(first),
        **_fields_of(difference),
        p=p_value(difference),
        first=first.run.model,
        second=second.run.model,
        runs=(first.result.id, second.result.id),
        n=len(both),
    )


def _study_of(
    studies: Sequence[FilledSheets], result: TaskResult
) -> FilledSheets | None:
    """Return the study in which people saw the responses of a task; None if no study asks about the task."""
    asked = [filled for filled in studies if result.task in filled.draw.study.tasks]
    if not asked or result.samples is None:
        return None
    responses = {
        sample.id: response_of(sample) for sample in read_samples(result.samples)
    }
    for filled in asked:
        rows = [row for row in filled.draw.rows if row.task == result.task]
        is_same = [
            responses.get(row.doc_id, row.response) == row.response for row in rows
        ]
        if all(is_same):
            return filled
    raise DataError(
        f"{result.samples}: expected the responses that people saw, got others."
    )


def _rows_of(loaded: Report, filled: FilledSheets, result: TaskResult) -> pd.DataFrame:
    rows = loaded.rows.query("run == @result.run and task == @result.task")
    rows = rows.reindex(columns=["scoring", "doc_id", "source", METRIC])
    rows = rows.dropna(subset=METRIC)
    row_by_doc = {
        row.doc_id: row.id for row in filled.draw.rows if row.task == result.task
    }
    cells = filled.values.stack().dropna().astype(float)
    votes = cells.groupby(level="row")
    row_ids = rows["doc_id"].astype(object).map(row_by_doc)
    return rows.assign(
        row=row_ids,
        people=row_ids.map(votes.agg(most_frequent)),
        people_mean=row_ids.map(votes.mean()),
    )


def _scale_of(draw: Draw) -> tuple[int, int]:
    """Return the lowest and the highest score that people may give."""
    (question,) = draw.study.questions.values()
    return question.scale or (0, 100)


def _fields_of(estimate: Estimate) -> dict[str, Any]:
    return {
        "corrected": estimate.mean,
        "low": estimate.low,
        "high": estimate.high,
        "labels": estimate.n,
    }


def _why_not_random(task: JudgedTask) -> str:
    """Say why people's scores are no random sample of the rows of a task; empty if they are."""
    draw, values, problems = task.filled
    n_drawn_from = draw.n_rows.get(task.result.task)
    is_chosen = draw.study.wrong or isinstance(draw.study.n, dict)
    prefix = draw.id_prefix()
    has_other_ids = not all(row.id.startswith(prefix) for row in draw.rows)
    if is_chosen or has_other_ids:
        return "the rows were chosen or changed"
    if any(problem.column == "row" for problem in problems):
        return "the sheets have other rows than the draw"
    if values.isna().all(axis=1).any():
        return "some drawn rows have no score"
    if n_drawn_from != task.result.n:
        return f"the draw is from {n_drawn_from} rows, the run has {task.result.n}"
    return ""
