"""The questions of a report for the page, in scripts that it loads when somebody looks at them.

`questions.js` has the columns of the table of all questions. `answers-N.js` has what each run answered to 200 of them.
"""

from pathlib import Path
from typing import Any

import numpy as np
from pandas import DataFrame, factorize

from fin_tasks.report import Json

from ..model import Report
from ..questions.table import (
    METRIC,
    is_suspicious,
    responses_of,
    table_of_responses,
)
from .samples import CHUNK, script

_SCORINGS = ("robust", "paper")
"""The first one that the rows have: the authors' rules may accept factors, which hides wrong truths."""
_DIGITS = 4
_TEXTS = ("benchmark", "question", "tasks", "truth", "rival", "distance")
_COUNTS = ("models", "responses", "given_by", "models_giving")
_NUMBERS = ("right", "separates", "for_rival", "for_truth", "lead")


def write_questions(report: Report, folder: Path) -> bool:
    """Write the questions that are right or wrong into the folder of a page; return whether there are some."""
    scoring = _scoring_of(report)
    if not scoring:
        return False
    responses = responses_of(report, scoring)
    table = table_of_responses(responses)
    positions = np.empty(len(table), dtype=int)
    positions[table["number"]] = np.arange(len(table))
    names = responses["run"] + "\n" + responses["task"]
    respondents, keys = factorize(names)
    responses = responses.assign(
        place=positions[responses["number"]], respondent=respondents
    )
    ids = {f"{run.id}\n{result.task}": result.id for run, result in report.results}
    data = {
        **_columns_of(table),
        "scoring": scoring,
        "runs": [ids[key] for key in keys],
        "titled_by": _largest_results(report, responses),
    }
    (folder / "questions.js").write_text(script("questions", data))
    _write_answers(responses, len(table), folder)
    return True


def _scoring_of(report: Report) -> str:
    """Return the scoring under which questions are measured; empty if no row is right or wrong."""
    if METRIC not in report.rows:
        return ""
    scorings = set(report.rows["scoring"][report.rows[METRIC].notna()])
    return next((scoring for scoring in _SCORINGS if scoring in scorings), "")


def _columns_of(table: DataFrame) -> Json:
    """Return the table by columns; `look` says which questions are to look at."""
    columns: Json = {"look": is_suspicious(table).tolist()}
    for name in _TEXTS:
        columns[name] = table[name].where(table[name].notna(), None).tolist()
    for name in _COUNTS:
        columns[name] = table[name].fillna(0).astype(int).tolist()
    for name in _NUMBERS:
        columns[name] = _rounded(table[name])
    return columns


def _rounded(values: Any) -> list[float | None]:
    numbers = values.astype(float).round(_DIGITS)
    known: list[float | None] = (
        numbers.astype(object).where(numbers.notna(), None).tolist()
    )
    return known


def _largest_results(report: Report, responses: DataFrame) -> list[str]:
    """Return for each task the result with most questions: its list of samples names them."""
    sizes = responses.groupby(["task", "run"], sort=False).size()
    largest = set(sizes.groupby(level="task").idxmax())
    results = []
    for run, result in report.results:
        if (result.task, run.id) in largest and result.samples:
            results.append(result.id)
    return results


def _write_answers(responses: DataFrame, n_questions: int, folder: Path) -> None:
    """Write the responses to each question: numbers of the runs, answers, values, and what the responses count."""
    ordered = responses.sort_values(["place", "rest"], ascending=[True, False])
    answers = ordered["answer"].astype(object)
    columns: list[list[Any]] = [
        ordered["respondent"].tolist(),
        answers.where(ordered["answer"].notna(), None).tolist(),
        _rounded(ordered[METRIC]),
        _rounded(ordered["rest"]),
    ]
    starts = np.searchsorted(ordered["place"], np.arange(n_questions + 1)).tolist()
    for first in range(0, n_questions, CHUNK):
        numbers = range(first, min(first + CHUNK, n_questions))
        chunk = []
        for number in numbers:
            part = slice(starts[number], starts[number + 1])
            chunk.append([column[part] for column in columns])
        name = f"answers-{first // CHUNK}"
        (folder / f"{name}.js").write_text(script(name, chunk))
