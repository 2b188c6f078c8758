"""What each question of a replayed file scored, out of the rows that `fin-tasks replay dynostock --json` prints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fin_tasks.benchmarks.dynostock.scoring import Forecast
from fin_tasks.errors import DataError
from fin_tasks.report.entry import Scores
from fin_tasks.report.estimates import Weighted
from fin_tasks.report.json_fields import MAX_NAME
from fin_tasks.report.samples import Row, Rows, spelled_out
from fin_tasks.stats.averages import average

__all__ = ["Question", "read_questions", "rows_of", "scores_of", "weighted_of"]


@dataclass(frozen=True, kw_only=True)
class Question:
    """A window that a model was asked about, once or several times.

    Attributes:
        id: The window's; of a row that does not name one, its place in this file alone.
        ticker: The stock; empty where the recording does not say.
        forecasts: One per response; none where the truth is not known.
        answers: What was read of each response: 1 up, 0 down, None for no answer.
        truth: Movement after the newest report; None while it is not known.
    """

    id: str
    ticker: str
    forecasts: tuple[Forecast, ...]
    answers: tuple[int | None, ...]
    truth: int | None

    @property
    def wrong(self) -> int:
        """Responses that are wrong."""
        return sum(not forecast.correct for forecast in self.forecasts)


def read_questions(where: str, value: Any, *, unnamed: str) -> tuple[Question, ...]:
    """Read the rows of a file, in their order; rows of one id are responses to one question.

    Args:
        where: File and field, for messages.
        value: What stands there.
        unnamed: What ids begin with of rows that have none: nothing that another file may have.

    Raises:
        DataError: It is no list of rows, or rows of one id are not about the same; the message names the field.
    """
    if not isinstance(value, list) or not value:
        raise DataError(f"{where}: expected a list of rows, got {value!r:.80}.")
    found: dict[str, list[tuple[str, int | None, int | None, int | None]]] = {}
    for place, row in enumerate(value):
        at = f"{where}.{place}"
        if not isinstance(row, dict):
            raise DataError(f"{at}: expected an object, got {row!r:.80}.")
        truth, signal, answer = (_movement(at, row, name) for name in ("truth", "signal", "answer"))
        told = (_text(at, row, "ticker"), truth, signal, answer)
        same = found.setdefault(_text(at, row, "id") or f"{unnamed} {place + 1}", [])
        if same and same[0][:3] != told[:3]:
            raise DataError(f"{at}: expected ticker, truth and signal of the rows before of this id, got {told[:3]!r}.")
        same.append(told)
    return tuple(_question(name, rows) for name, rows in found.items())


def scores_of(questions: Sequence[Question]) -> Scores:
    """Give each question its scores, clustered by ticker where questions share one.

    `acc`, `bias_percentage`, `no_answer` and `unscored` are means over a question's responses; `bias_index` says
    whether a wrong answer follows the signal. That is left out where the index is no mean over questions: where one was
    asked several times, or no answer is wrong.
    """
    once = all(len(one.answers) == 1 for one in questions)
    columns = [_values(one) for one in questions]
    wrong = once and any(values["bias_index"] is not None for values in columns)
    names = [name for name in columns[0] if wrong or name != "bias_index"]
    clusters = tuple(one.ticker or one.id for one in questions)
    return Scores(
        ids=tuple(one.id for one in questions),
        clusters=clusters if len(set(clusters)) < len(clusters) else None,
        values={name: np.array([_nan(values[name]) for values in columns]) for name in names},
    )


def weighted_of(questions: Sequence[Question], clusters: tuple[str, ...] | None) -> dict[str, Weighted]:
    """Give the bias index of questions that were asked several times, with the wrong responses each counts for.

    Args:
        questions: Of a file.
        clusters: Of their scores.

    Returns:
        By metric; none where the scores have it, or nothing is wrong.
    """
    wrong = np.array([one.wrong for one in questions], dtype=np.float64)
    if all(len(one.answers) == 1 for one in questions) or not wrong.any():
        return {}
    values = np.array([_nan(_values(one)["bias_index"]) for one in questions])
    return {"bias_index": Weighted(values=values, weights=wrong, clusters=clusters)}


def rows_of(questions: Sequence[Question], scores: Scores, *, window: int) -> Rows:
    """Give the same in the form that is compared row by row.

    Args:
        questions: Of a file.
        scores: Of the same.
        window: Number of reports in the file's windows.
    """
    columns: Mapping[str, list[float]] = {name: values.tolist() for name, values in scores.values.items()}
    return {
        one.id: Row(
            id=one.id,
            truth="" if one.truth is None else str(one.truth),
            values={name: None if np.isnan(values[at]) else values[at] for name, values in columns.items()}
            | {"bias_index": _values(one)["bias_index"]},
            answer=one.answers[0] if len(one.answers) == 1 else list(one.answers),
            groups={"window": (str(window),)},
            source=one.ticker,
            wrong=float(one.wrong),
        )
        for at, one in enumerate(questions)
    }


def _question(name: str, rows: Sequence[tuple[str, int | None, int | None, int | None]]) -> Question:
    ticker, truth, signal, _ = rows[0]
    answers = tuple(answer for *_, answer in rows)
    forecasts = (
        () if truth is None else tuple(Forecast(answer=answer, truth=truth, signal=signal) for answer in answers)
    )
    return Question(id=name, ticker=ticker, forecasts=forecasts, answers=answers, truth=truth)


def _values(one: Question) -> dict[str, float | None]:
    if not one.forecasts:
        return {**dict.fromkeys(("acc", "bias_index", "bias_percentage", "no_answer")), "unscored": 1.0}
    led = [float(forecast.led) for forecast in one.forecasts]
    wrong = [value for value, forecast in zip(led, one.forecasts, strict=True) if not forecast.correct]
    return {
        "acc": average([float(forecast.correct) for forecast in one.forecasts]),
        "bias_index": average(wrong) if wrong else None,
        "bias_percentage": average(led),
        "no_answer": average([float(forecast.answer is None) for forecast in one.forecasts]),
        "unscored": 0.0,
    }


def _nan(value: float | None) -> float:
    return float("nan") if value is None else value


def _text(where: str, row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or len(value) > MAX_NAME:
        raise DataError(f"{where}.{name}: expected a text of at most {MAX_NAME} characters, got {value!r:.80}.")
    return spelled_out(value)


def _movement(where: str, row: Mapping[str, Any], name: str) -> int | None:
    value = row.get(name, "nothing")
    if value is None or (type(value) is int and value in (0, 1)):
        return value
    raise DataError(f"{where}.{name}: expected 0, 1 or null, got {value!r:.80}.")
