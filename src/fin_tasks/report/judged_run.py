"""Write the replies of a judge to saved predictions as a run."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from fin_tasks.benchmarks.mme_finance.score import score_judged
from fin_tasks.benchmarks.recordings import model_of
from fin_tasks.benchmarks.scored_task import ScoredTask
from fin_tasks.benchmarks.task_file import TaskFile, task_names
from fin_tasks.data.files import sha256_of
from fin_tasks.errors import ConfigError
from fin_tasks.judging.item import Judged
from fin_tasks.judging.judge import JudgeModel
from fin_tasks.judging.rubric import Rubric
from fin_tasks.stats.averages import average_or_none

from . import Json
from .recorded import provenance_of, questions_of, task_of
from .run_folder import write_run

_PARTS = {"by_category": "category", "by_type": "image_type", "by_style": "image_style"}
"""Names of means, and the columns that they are grouped by."""


class Predictions(NamedTuple):
    """A file of predictions: its rows, and the task and the model that they belong to."""

    file: Path
    rows: Sequence[dict[str, str]]
    task: str
    model: str


def predictions_of(
    file: Path,
    rows: Sequence[dict[str, str]],
    rubric: Rubric,
) -> Predictions:
    """Name the task and the model of a file's rows."""
    task = _task_name(file, rubric)
    models = {row["model"] for row in rows if row.get("model")}
    if len(models) != 1:
        data_set = TaskFile(task).kit_dataset
        models = {model_of(file).removesuffix(f"_{data_set}")}
    return Predictions(file, rows, task, models.pop())


def _task_name(file: Path, rubric: Rubric) -> str:
    """Return the task that the file's name says, else the one that the rubric is made for."""
    names = task_names()
    for name in names:
        data_set = TaskFile(name).kit_dataset
        if name == task_of(file) or (data_set and file.stem.endswith(f"_{data_set}")):
            return name
    part = "mt_" if rubric.dimensions else ""
    name = f"mme_finance_{part}{rubric.language}"
    if name in names:
        return name
    raise ConfigError(
        f"{file}: expected a name that says the task, such as gpt_MMEFinance.xlsx, "
        "or a rubric with the language en or zh."
    )


def write_judged_run(
    predictions: Predictions,
    judged: Sequence[Judged],
    rubric: Rubric,
    judge: JudgeModel,
    out: Path,
) -> Json:
    """Write the scores of predictions as a run folder, and return their means."""
    file = predictions.file
    task = predictions.task
    docs = []
    for row in predictions.rows:
        doc = {"id": row["index"], **row}
        del doc["prediction"]
        docs.append(doc)
    scored = score_judged(rubric, docs, judged, task=task)
    questions = questions_of(file)
    facts = {"file": file.name, "file_sha256": sha256_of(file), **questions}
    outcome = judge.outcome(rubric, judged)
    path = write_run(
        out,
        [scored],
        model=predictions.model,
        made_by="fin-tasks judge",
        provenance={task: {**provenance_of(file), **facts}},
        metadata={"judge": outcome},
    )
    return {
        "task": task,
        "n": len(docs),
        **questions,
        **_means_of(scored),
        **outcome["usage"],
        **({"panel": outcome["panel"]} if judge.judges else {}),
        "judge": judge.model,
        "rubric": rubric.label,
        "rubric_sha256": rubric.sha256,
        "model": predictions.model,
        "results": str(path),
    }


def _means_of(scored: ScoredTask) -> Json:
    """Return the number of unscored rows and mean scores, by category, kind and style too."""
    paper = [row["score"] for row in scored.values["paper"]]
    robust = [row["score"] for row in scored.values["robust"]]
    means = {
        "unscored": robust.count(None),
        "overall": average_or_none(paper),
        "overall_robust": average_or_none(robust),
    }
    table = pd.DataFrame(list(scored.docs)).replace("", None)
    table["score"] = pd.Series(paper, dtype=float)
    if "task_category" in table:
        table["category"] = table["task_category"]
    for part, column in _PARTS.items():
        if column in table:
            means[part] = table.groupby(column)["score"].mean().dropna().to_dict()
    return means
