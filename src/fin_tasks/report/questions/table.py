"""A row for each question: how hard it is, whether it separates models, and which rival of the truth good models share.

A response counts as much as its run is right on the other questions. The rival of the truth is the answer for
which the responses count most, and its `lead` is by how much they count more than those that give the truth.
Models share mistakes, so a large lead is no proof: it says what people should read first.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from pandas import DataFrame, Series, factorize

from fin_tasks.answers.quantities import read_quantity
from fin_tasks.errors import DataError
from fin_tasks.stats.items import item_rest_correlations, rest_means
from fin_tasks.stats.means import Floats

from ..model import Report
from .distance import SAME, distance_name

METRIC = "acc"
_KEY = ["benchmark", "doc_id"]
_BETWEEN_ANSWERS = " | "
_FIRST_TEXT = 1e300
"""Texts, such as letters, are numbers from here on, so that one search finds equal answers of both kinds."""


def question_table(report: Report, scoring: str = "robust") -> DataFrame:
    """Return a row for each question, the first to look at first.

    Columns: `benchmark`, `question`, `tasks`, `models`, `responses`, `right` (share), `separates` (item-rest
    correlation), `truth`, `rival`, `given_by` (responses), `models_giving`, `distance`, `for_rival` and
    `for_truth` (what these responses count), `lead`, and `examples`: run and task of the responses with the
    rival that count most, of two models if there are two.
    """
    return table_of_responses(responses_of(report, scoring))


def table_of_responses(responses: DataFrame) -> DataFrame:
    """Return the rows of `question_table` for responses, with the `number` that their question has there."""
    answers = _answers_of(responses)
    table = _shares_of(responses)
    for_truth = answers["weight"].where(answers["is_truth"], 0.0)
    table["for_truth"] = for_truth.groupby(answers["number"]).sum()
    table = table.join(_rival_answers(answers))
    table["lead"] = table["for_rival"] - table["for_truth"].fillna(0.0)
    pairs = zip(table["rival_value"], table["truth_value"], strict=True)
    table["distance"] = [distance_name(rival, truth) for rival, truth in pairs]
    return table.reset_index().sort_values(
        ["lead", "for_rival", "question"],
        ascending=[False, False, True],
        na_position="last",
        ignore_index=True,
    )


def is_suspicious(table: DataFrame) -> Series:
    """Return on which questions a rival leads that two responses at least give: those to look at."""
    return (table["lead"] > 0) & (table["given_by"] > 1)


def responses_of(report: Report, scoring: str) -> DataFrame:
    """Return the scored answers under a scoring with their questions and what they count.

    If a model was asked a task twice, its newest run counts.
    """
    rows = report.rows
    if METRIC not in rows or rows[METRIC].isna().all():
        raise DataError(
            "questions: expected runs whose answers are right or wrong, with samples; found none. "
            "Tasks that a judge scores have no answers to agree on."
        )
    is_scored = (rows["scoring"] == scoring) & rows[METRIC].notna()
    columns = [*_KEY, "run", "task", "truth", "answer", METRIC]
    table = rows.loc[is_scored, columns].astype(dict.fromkeys(["run", "task"], str))
    models = {run.id: run.model for run in report.runs}
    table["model"] = table["run"].map(models)
    table = table.drop_duplicates([*_KEY, "task", "model"], keep="last")
    table = table.reset_index(drop=True)
    table["number"] = table.groupby(_KEY, observed=True, sort=False).ngroup()
    respondents, _ = factorize(table["run"] + "\n" + table["task"])
    scores = table[METRIC].to_numpy(float)
    table["rest"] = rest_means(scores, respondents)
    table["truth_value"] = _numbers_in(table["truth"])
    return table


def _numbers_in(texts: Series) -> Series:
    """Return the numbers that a column of texts holds; NaN for other texts."""
    values = {}
    for text in texts.cat.categories:
        values[text] = _number_in(text)
    return texts.map(values).astype(float)


def _number_in(text: str) -> float:
    """Return the number that a text holds; NaN for a letter, a word or a number too large to be an answer."""
    try:
        value = float(text.replace("–", "-"))
    except ValueError:
        number = read_quantity(f"The answer is {text}.").answer
        is_letter = len(text.strip()) < 2
        value = np.nan if number is None or is_letter else number.value
    return value if abs(value) < _FIRST_TEXT else np.nan


def _shares_of(responses: DataFrame) -> DataFrame:
    """Return what the scores say of each question, by its number."""
    by_question = responses.groupby("number")
    table = by_question.agg(
        benchmark=("benchmark", "first"),
        question=("doc_id", "first"),
        models=("model", "nunique"),
        responses=("run", "size"),
        right=(METRIC, "mean"),
        truth=("truth", "first"),
        truth_value=("truth_value", "first"),
    )
    for name in ("benchmark", "question", "truth"):
        table[name] = table[name].astype(object)
    tasks = responses[["number", "task"]].drop_duplicates()
    table["tasks"] = tasks.groupby("number")["task"].agg(", ".join)
    table["separates"] = item_rest_correlations(
        responses[METRIC].to_numpy(float),
        responses["number"].to_numpy(),
        responses["rest"].to_numpy(),
    )
    return table


def _answers_of(responses: DataFrame) -> DataFrame:
    """Return a row for each answer. Several responses to one question share its weight."""
    answers = responses[responses["answer"].notna()].copy()
    lists = [text.split(_BETWEEN_ANSWERS) for text in answers["answer"].cat.categories]
    lists_of_rows = [lists[code] for code in answers["answer"].cat.codes]
    answers["answer"] = Series(lists_of_rows, answers.index, dtype=object)
    answers["weight"] = answers["rest"].fillna(0.0) / answers["answer"].str.len()
    answers = answers.explode("answer", ignore_index=True)
    answers["answer"] = answers["answer"].astype("category")
    answers["value"] = _numbers_in(answers["answer"])
    margin = SAME * answers["truth_value"].abs()
    is_near = (answers["value"] - answers["truth_value"]).abs() <= margin
    is_equal = answers["answer"].astype(str) == answers["truth"].astype(str)
    answers["is_truth"] = (answers[METRIC] == 1) | is_near | is_equal
    return answers


def _rival_answers(answers: DataFrame) -> DataFrame:
    """Return for each question the rival of the truth that counts most, by the question's number."""
    near = _best_rivals(answers)
    # The response that counts most comes first.
    near = near.sort_values("weight", ascending=False, kind="stable")
    by_question = near.groupby("number")
    table = by_question.agg(
        rival=("answer", "first"),
        rival_value=("value", "first"),
        for_rival=("weight", "sum"),
        given_by=("run", "size"),
        models_giving=("model", "nunique"),
    )
    table["rival"] = table["rival"].astype(object)
    near["example"] = list(zip(near["run"], near["task"], strict=True))
    of_two_models = near.drop_duplicates(["number", "model"]).groupby("number").head(2)
    table["examples"] = of_two_models.groupby("number")["example"].agg(list)
    return table


def _best_rivals(answers: DataFrame) -> DataFrame:
    """Return the answers that are one rival: for each question the wrong ones that together count most."""
    rivals = answers[~answers["is_truth"]]
    is_text = rivals["value"].isna()
    codes = rivals["answer"].cat.codes.to_numpy()
    # Neighboring floats at this size differ, so the codes of texts stay apart.
    positions = np.where(is_text, _FIRST_TEXT * (1 + codes / 2**31), rivals["value"])
    margins = np.where(is_text, 0.0, SAME * np.abs(positions))
    rivals = rivals.assign(position=positions, margin=margins)
    rivals = rivals.sort_values(
        ["number", "position"], kind="stable", ignore_index=True
    )
    columns = [rivals[name].to_numpy() for name in ("position", "margin", "weight")]
    row_numbers = [np.arange(0)]
    for group in _groups(rivals["number"].to_numpy()):
        first, end = _best_window(*(column[group] for column in columns))
        row_numbers.append(np.arange(group.start + first, group.start + end))
    return rivals.iloc[np.concatenate(row_numbers)]


def _groups(sorted_codes: npt.NDArray[np.integer]) -> Iterator[slice]:
    """Yield the slice of each code."""
    starts = np.flatnonzero(np.diff(sorted_codes, prepend=-1))
    ends = [*starts[1:].tolist(), len(sorted_codes)][: len(starts)]
    for start, end in zip(starts.tolist(), ends, strict=True):
        yield slice(start, end)


def _best_window(
    positions: Floats, margins: Floats, weights: Floats
) -> tuple[int, int]:
    """Return first and last place, exclusive, of the answers to a question around the one that counts most.

    Args:
        positions: The answers as numbers, in ascending order.
        margins: How far an equal answer may be.
        weights: What the answers count.
    """
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    starts = np.searchsorted(positions, positions - margins, "left")
    ends = np.searchsorted(positions, positions + margins, "right")
    totals = (sums[ends] - sums[starts]).round(12)
    # Among answers with equal totals, such as 0, the one with more responses counts.
    center = np.lexsort((ends - starts, totals))[-1]
    return int(starts[center]), int(ends[center])
