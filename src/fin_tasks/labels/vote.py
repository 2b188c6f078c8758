"""Merge the labels of several people."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, multimode

import pandas as pd

from fin_tasks.labels.agreement import alpha
from fin_tasks.labels.draw import Draw
from fin_tasks.labels.people import write_people_run
from fin_tasks.labels.shares import shares_of
from fin_tasks.labels.study import Question

_MAX_VARIANCE = 2.0
"""People look again at a row whose scores vary more."""


def merge(
    draw: Draw,
    values: pd.DataFrame,
    out: Path,
    *,
    name: str,
) -> Mapping[str, pd.DataFrame]:
    """Return the tables of a study by name.

    Where people answered themselves, a run of a model `name` is written too.
    """
    out.mkdir(parents=True, exist_ok=True)
    if draw.study.answers:
        return {"minutes": write_people_run(draw, values, out, name=name)}
    alphas = []
    for column, question in draw.study.questions.items():
        votes = values.xs(column, level="question")
        alphas.append({"question": column, **alpha(votes, question)})
    labels = _labels(draw, values)
    return {
        "labels": labels,
        "undecided": labels[labels["label"].isna()],
        "alpha": pd.DataFrame(alphas),
        **shares_of(draw, labels),
    }


def next_round(draw: Draw, labels: pd.DataFrame) -> Draw:
    """Return the draw for a second round, in which people decide what is still undecided."""
    table = labels.pivot(index="row", columns="question", values="label")
    rows = []
    for row in draw.rows:
        decided = table.loc[row.id].dropna().to_dict()
        rows.append(row.model_copy(update={"labels": decided}))
    return draw.model_copy(update={"rows": rows})


def _labels(draw: Draw, values: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each row and question: what each person said, and the decision.

    `review` says that people should look again at a row.
    """
    lines = []
    for row in draw.rows:
        for name, question in draw.study.questions.items():
            votes = values.loc[(row.id, name)]
            cast_votes = votes.dropna()
            label = row.labels.get(name)
            if label is None:
                label = _decide(question, cast_votes, len(votes))
            review = (
                question.scale and cast_votes.astype(float).var(ddof=0) > _MAX_VARIANCE
            )
            line = {
                "row": row.id,
                "task": row.task,
                "doc_id": row.doc_id,
                "question": name,
                **votes,
                "label": label,
                "review": bool(review),
            }
            lines.append(line)
    return pd.DataFrame(lines)


def _decide(
    question: Question,
    votes: "pd.Series[str]",
    n_people: int,
) -> str | float | None:
    """Return the label of a row; None if people do not agree."""
    if question.scale is None:
        values = votes.str.split("+").explode()
        needed = max(1, n_people / 2)
        chosen = [value for value in question.values if sum(values == value) > needed]
        return "+".join(chosen) or None
    if len(votes) < 2:
        return None
    scores = list(votes.astype(float))
    return fmean(scores) if question.rule == "mean" else most_frequent(scores)


def most_frequent(scores: Sequence[float]) -> float:
    """Return the score that most people gave, the mean if several are equally frequent."""
    modes = multimode(scores)
    return modes[0] if len(modes) == 1 else fmean(scores)
