"""Saved predictions for a judge: the items to ask about, and the run of its replies."""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from fin_tasks.benchmarks.mme_finance.score import score_judged
from fin_tasks.benchmarks.scored_task import ScoredTask
from fin_tasks.benchmarks.task_file import TaskFile, task_names
from fin_tasks.data.locate import sha256_of
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.judging.item import Item, Judged
from fin_tasks.judging.judge import JudgeModel
from fin_tasks.judging.rubric import Rubric
from fin_tasks.settings import Settings
from fin_tasks.stats.averages import average_or_none

from .columns import Json
from .files import SavedRow, read_saved_rows
from .judged_rows import with_questions
from .origin import model_of, provenance_of, questions_of, task_of
from .run_folder import SavedRun, write_run

_PACKAGE = Path(__file__).resolve().parents[1]
_log = logging.getLogger(__name__)
_PARTS = {"by_category": "category", "by_type": "image_type", "by_style": "image_style"}
"""Names of means, and the columns that they are grouped by."""


class Predictions(NamedTuple):
    """A file of predictions: its questions, the items for the judge, and the task and the model."""

    file: Path
    docs: list[dict[str, str]]
    """The columns of each row but the prediction, as texts."""
    items: list[Item]
    task: str
    model: str


def read_predictions(
    file: Path,
    rubric: Rubric,
    *,
    settings: Settings,
    image_root: Path | None = None,
    pictures: bool = True,
    columns: Mapping[str, str] | None = None,
    strict: bool = False,
) -> Predictions:
    """Read the predictions in a file, each with its question and answer.

    Questions and answers that the file lacks are those of the benchmark.

    Args:
        file: The file.
        rubric: The rubric for the judge; it may say the task.
        settings: They name the folders in which pictures may be, beside `image_root`.
        image_root: The folder of the pictures, by default that of the file.
        pictures: Whether the judge sees the pictures.
        columns: The file's names of our columns.
        strict: A row that cannot be judged is an error. Otherwise it is left out, which is logged.

    Raises:
        ConfigError: Neither the file's name nor the rubric says the task.
        DataError: No row can be judged, or an id occurs twice.
    """
    root = image_root or file.parent
    folders = filter(None, (root, settings.cache_dir, settings.data_dir, _PACKAGE))
    trusted_folders = [folder.resolve() for folder in folders]
    task = _task_name(file, rubric)
    rows = read_saved_rows(file, columns=columns, strict=strict)
    docs = []
    items = []
    problems = []
    for row in with_questions(file, rows, task, strict=strict):
        doc = {"id": row.id}
        for name, value in row.fields.items():
            doc[name] = _text(value)
        try:
            item = _item(file, row, doc)
            rubric.messages(item)  # refuses a category that the rubric lacks
            if pictures and doc.get("image_path"):
                picture = _picture(doc["image_path"], trusted_folders, file)
                item = replace(item, picture=picture)
        except DataError as error:
            problems.append(str(error))
            continue
        docs.append(doc)
        items.append(item)
    if problems and (strict or not items):
        raise DataError(problems[0])
    if problems:
        text = "%s %d of %d rows cannot be judged and are left out."
        _log.warning(text, problems[0], len(problems), len(rows))
    if len({doc["id"] for doc in docs}) < len(docs):
        raise DataError(f"{file}: expected each id once, got one of them again.")
    return Predictions(file, docs, items, task, _model_name(file, docs, task))


def _item(file: Path, row: SavedRow, doc: dict[str, str]) -> Item:
    """Return what a judge is asked about a row, without the picture. Of several responses it is the first."""
    for name in ("question", "answer"):
        if not doc.get(name, "").strip():
            raise DataError(f"{file}, {row.id}: expected a text in {name}, got none.")
    return Item(
        question=doc["question"],
        answer=doc["answer"],
        response=row.texts[0] or "",
        category=doc.get("task_category") or doc.get("category") or "",
        background=doc.get("background", ""),
    )


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _picture(name: str, folders: Sequence[Path], file: Path) -> Path:
    """Return the path of a picture, which is seen from the first folder; it must lie below one of the folders."""
    # An absolute name stands for itself; no path holds a null character.
    path = (folders[0] / name.replace("\0", "?")).resolve()
    is_trusted = any(path.is_relative_to(folder) for folder in folders)
    if not is_trusted or not path.is_file():
        raise DataError(
            f"{file}: expected a picture below {folders[0]}, got {name!r}, which is elsewhere or "
            "missing. Name the folder with --image-root, or use --no-image."
        )
    return path


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


def _model_name(file: Path, docs: Sequence[dict[str, str]], task: str) -> str:
    """Return the model that all rows name, else the one in the name of the file."""
    models = {doc["model"] for doc in docs if doc.get("model")}
    if len(models) == 1:
        return models.pop()
    return model_of(file).removesuffix(f"_{TaskFile(task).kit_dataset}")


def write_judged_run(
    predictions: Predictions,
    judged: Sequence[Judged],
    rubric: Rubric,
    judge: JudgeModel,
    out: Path,
) -> Json:
    """Write the scores of predictions as a run folder, and return their means."""
    file = predictions.file
    scored = score_judged(rubric, predictions.docs, judged, task=predictions.task)
    questions = questions_of(file)
    facts = {"file": file.name, "file_sha256": sha256_of(file), **questions}
    outcome = judge.facts(rubric)
    run = SavedRun(scored, {**provenance_of(file), **facts}, {"judge": outcome})
    path = write_run(out, [run], model=predictions.model, made_by="fin-tasks judge")
    return {
        "task": predictions.task,
        "n": len(predictions.docs),
        **questions,
        **_means_of(scored),
        **outcome["usage"],
        "judge": judge.model,
        "rubric": outcome["rubric"],
        "rubric_sha256": outcome["rubric_sha256"],
        "model": predictions.model,
        "results": str(path),
    }


def _means_of(scored: ScoredTask) -> Json:
    """Return the number of unscored rows and mean scores, by category, kind and style too."""
    import pandas as pd

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
