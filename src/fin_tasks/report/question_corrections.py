"""What corrections of questions did to the values of a report: which were applied, and the values without them."""

from collections.abc import Iterator, Mapping

import pandas as pd

from fin_tasks.benchmarks.corrections import Correction, note_of

from .leaderboard_model import QuestionCorrection
from .model import Report, TaskResult
from .redact import printable
from .values import value_of

_MAX_NOTE = 100  # characters
_MAX_TEXT = 1000


def applied_corrections(report: Report) -> Iterator[QuestionCorrection]:
    """Yield the corrections that this report applied, with the published truths."""
    columns = ["benchmark", "task", "doc_id", "truth"]
    rows = report.published[columns].astype(object).drop_duplicates(columns[:3])
    for correction in report.corrections:
        is_meant = _is_meant(rows, correction)
        truths = rows.loc[is_meant, "truth"].dropna()
        yield QuestionCorrection(
            benchmark=correction.benchmark,
            id=_text(correction.id),
            task=_text(correction.task),
            exclude=correction.exclude,
            truth="" if correction.truth is None else _text(correction.truth),
            published=next(iter(truths), ""),
            reason=_text(correction.reason),
            by=_text(correction.by),
            date=str(correction.date or ""),
        )


def correction_note(report: Report, result: TaskResult) -> str:
    """Say how many questions of a result are excluded or have another truth; empty if none."""
    rows = _published_rows(report, result)
    if not rows.empty:
        applied = []
        for correction in report.corrections:
            if _is_meant(rows, correction).any():
                applied.append(correction)
        return note_of(applied)
    asked_under = result.provenance.get("corrections")
    if not isinstance(asked_under, Mapping):
        return ""
    return str(asked_under.get("note", ""))[:_MAX_NOTE]


def uncorrected_value(
    report: Report, result: TaskResult, scoring: str, metric: str
) -> float | None:
    """Return the value of a result under the published truths of all its questions; None if none was corrected."""
    published = _published_rows(report, result)
    published = published[published["scoring"] == scoring]
    if published.empty or metric not in published:
        return None
    rows = report.rows_of(result, scoring)
    key = ["task", "doc_id"]
    is_changed = _keys(rows[key]).isin(_keys(published[key]))
    everything = pd.concat([rows[~is_changed.to_numpy()], published])
    sources = everything["source"].astype("category")
    return value_of(everything.assign(source=sources), metric).mean


def _keys(rows: pd.DataFrame) -> pd.Series:
    return rows["task"].astype(str) + "\n" + rows["doc_id"].astype(str)


def _published_rows(report: Report, result: TaskResult) -> pd.DataFrame:
    rows = report.published
    tasks = result.members or (result.task,)
    return rows[(rows["run"] == result.run) & rows["task"].isin(tasks)]


def _is_meant(rows: pd.DataFrame, correction: Correction) -> pd.Series:
    """Return which rows are of the question of a correction."""
    tasks = rows["task"].astype(str) + "_"
    is_task = tasks.str.startswith(f"{correction.task}_" if correction.task else "")
    is_question = rows["doc_id"] == correction.id
    return (rows["benchmark"] == correction.benchmark) & is_question & is_task


def _text(value: object) -> str:
    return printable(str(value))[:_MAX_TEXT]
