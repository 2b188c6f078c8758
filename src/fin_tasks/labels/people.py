"""People who answered a benchmark's questions themselves, as the run of a model."""

from pathlib import Path

import pandas as pd

from fin_tasks.benchmarks.scored_task import score_task
from fin_tasks.errors import DataError
from fin_tasks.labels.draw import Draw, Row
from fin_tasks.report.run_folder import write_run

_MODE = "cot"
"""People stand in the column of models that reason before they answer."""


def write_people_run(
    draw: Draw,
    values: pd.DataFrame,
    out: Path,
    *,
    name: str,
) -> pd.DataFrame:
    """Score people's answers, write a run folder, and return the minutes that they took."""
    scored = []
    provenance = {}
    for task in draw.study.tasks:
        docs = []
        responses = []
        for row in draw.rows:
            row_responses = _responses(draw, row, values)
            if row.task == task and row_responses:
                docs.append(row.doc)
                responses.append(row_responses)
        if not docs:
            continue
        provenance[task] = {
            **draw.provenance[task],
            "style": {"mode": _MODE},
            "study": draw.study.name,
        }
        result = score_task(
            draw.study.benchmark,
            task,
            docs,
            responses,
            options={**draw.study.tasks[task], "mode": _MODE},
        )
        scored.append(result)
    if not scored:
        raise DataError("label merge: expected answers in the sheets, found none.")
    write_run(
        out,
        scored,
        model=name,
        made_by="fin-tasks label",
        provenance=provenance,
        group=draw.study.benchmark,
    )
    return _minutes(draw, values)


def _responses(
    draw: Draw,
    row: Row,
    values: pd.DataFrame,
) -> list[str]:
    """Return people's answers to a question in the words of a model; `none` is an empty one."""
    phrase = draw.study.answers[row.kind].response
    responses = []
    for answer in values.loc[row.id, "answer"].dropna():
        response = "" if answer == "none" else phrase.replace("{answer}", answer)
        responses.append(response)
    return responses


def _minutes(
    draw: Draw,
    values: pd.DataFrame,
) -> pd.DataFrame:
    """Return how many minutes people took, by task."""
    kinds = {row.id: row.kind for row in draw.rows}
    minutes = values.xs("minutes", level="question").stack().astype(float)
    tasks = minutes.index.get_level_values("row").map(kinds)
    figures = minutes.groupby(tasks, sort=False).agg(["count", "mean", "median"])
    return figures.rename_axis("task").reset_index()
