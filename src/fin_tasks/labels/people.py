"""What people add to a benchmark: their answers, as the run of a model, and questions with linked finance terms."""

from pathlib import Path

import pandas as pd

from fin_tasks.benchmarks import benchmark_named
from fin_tasks.benchmarks.scored_task import score_task
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.data.locate import write_file
from fin_tasks.errors import DataError
from fin_tasks.saved.run_folder import SavedRun, write_run

from .draw import Draw

_MODE = "cot"
"""Reports show people beside models that reason before they answer."""


def write_people_run(
    draw: Draw,
    values: pd.DataFrame,
    out: Path,
    *,
    name: str,
) -> pd.DataFrame:
    """Score people's answers, write a run folder, and return the minutes that they took."""
    study = draw.study
    runs = []
    for task in study.tasks:
        docs = []
        responses = []
        for row in draw.rows:
            answers = values.loc[row.id, "answer"].dropna()
            if row.task == task and len(answers):
                phrase = study.answers[row.kind].response
                docs.append(row.doc)
                responses.append([_response(phrase, answer) for answer in answers])
        if docs:
            scored = score_task(TaskFile(task), docs, responses)
            facts = {"style": {"mode": _MODE}, "study": study.name}
            runs.append(SavedRun(scored, draw.provenance[task] | facts, {}))
    if not runs:
        raise DataError("label merge: expected answers in the sheets, found none.")
    write_run(
        out,
        runs,
        model=name,
        made_by="fin-tasks label",
        group=study.benchmark,
    )
    kinds = {row.id: row.kind for row in draw.rows}
    minutes = values.xs("minutes", level="question").rename(kinds)
    minutes = minutes.stack().astype(float)
    figures = minutes.groupby(level=0, sort=False).agg(["count", "mean", "median"])
    return figures.rename_axis("task").reset_index()


def _response(phrase: str, answer: str) -> str:
    """Return the response of a model that gives an answer; empty for the answer `none`."""
    return "" if answer == "none" else phrase.replace("{answer}", answer)


def write_linked_questions(draw: Draw, labels: pd.DataFrame, file: Path) -> None:
    """Write the questions whose terms are decided in the format of the benchmark's own file.

    The labels name candidates by number.
    """
    (name,) = draw.study.questions
    of_question = labels[labels["question"] == name]
    label_by_row = of_question.set_index("row")["label"].dropna()
    docs = []
    linked = []
    for row in draw.rows:
        label = label_by_row.get(row.id)
        if label is None:
            continue
        ids = []
        if label != "none":
            for number in label.split("+"):
                term = row.doc["candidates"][int(number) - 1]
                ids.append(term["id"])
        docs.append(row.doc)
        linked.append(ids)
    terms = benchmark_named(draw.study.benchmark).module("terms")
    rows = terms.rows_with_terms(docs, linked)
    table = pd.DataFrame(rows, columns=terms.COLUMNS)
    # The texts stay as they are: this is a file for the benchmark, not for a spreadsheet.
    write_file(file, table.to_csv(index=False).encode())
