"""Merge the labels of several people."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, multimode, pvariance
from typing import NamedTuple

import pandas as pd

from fin_tasks.labels import shares
from fin_tasks.labels.agreement import alpha
from fin_tasks.labels.draw import Draw
from fin_tasks.labels.people import write_people_run
from fin_tasks.labels.study import Question

_MAX_VARIANCE = 2.0
"""People look again at a row whose scores vary more."""


class Decision(NamedTuple):
    """The merged label, None if there is none, and whether people should look again."""

    label: str | float | None
    review: bool = False


def merge(
    draw: Draw,
    values: pd.DataFrame,
    out: Path,
    *,
    name: str,
) -> Mapping[str, pd.DataFrame]:
    """Return the tables of a study by name, and write its figure.

    Where people answered themselves, a run of a model `name` is written in place of the figure.
    """
    out.mkdir(parents=True, exist_ok=True)
    if draw.study.answers:
        return {"minutes": write_people_run(draw, values, out, name=name)}
    labels = _labels(draw, values)
    tables = {
        "labels": labels,
        "undecided": labels[labels["label"].isna()],
        "alpha": _alphas(draw, values),
    }
    return tables | shares.write_shares(draw, labels, out)


def next_round(draw: Draw, labels: pd.DataFrame) -> Draw:
    """Return the draw for a second round, in which people decide what is still undecided."""
    table = labels.pivot(index="row", columns="question", values="label")
    rows = []
    for row in draw.rows:
        decided = table.loc[row.id].dropna().to_dict()
        rows.append(row.model_copy(update={"labels": decided}))
    return draw.model_copy(update={"rows": rows})


def _labels(
    draw: Draw,
    values: pd.DataFrame,
) -> pd.DataFrame:
    """Return a line for each row and question: what each person said, and the decision."""
    lines = []
    for row in draw.rows:
        for name, question in draw.study.questions.items():
            votes = values.loc[(row.id, name)]
            decision = _decide(question, votes)
            if name in row.labels:
                decision = Decision(row.labels[name])
            line = {
                "row": row.id,
                "task": row.task,
                "doc_id": row.doc_id,
                "question": name,
                **votes,
                "label": decision.label,
                "review": decision.review,
            }
            lines.append(line)
    return pd.DataFrame(lines)


def _decide(question: Question, votes: "pd.Series[str]") -> Decision:
    cast_votes = votes.dropna()
    if question.scale is None:
        values = cast_votes.str.split("+").explode()
        needed = max(1, len(votes) / 2)
        chosen = [value for value in question.values if sum(values == value) > needed]
        return Decision("+".join(chosen) or None)
    if len(cast_votes) < 2:
        return Decision(None)
    scores = list(cast_votes.astype(float))
    review = pvariance(scores) > _MAX_VARIANCE
    if question.rule == "mean":
        return Decision(fmean(scores), review)
    return Decision(most_frequent(scores), review)


def most_frequent(scores: Sequence[float]) -> float:
    """Return the score that most people gave, the mean if several are equally frequent."""
    modes = multimode(scores)
    return modes[0] if len(modes) == 1 else fmean(scores)


def _alphas(
    draw: Draw,
    values: pd.DataFrame,
) -> pd.DataFrame:
    lines = []
    for name, question in draw.study.questions.items():
        votes = values.xs(name, level="question")
        lines.append({"question": name, **alpha(votes, question)})
    return pd.DataFrame(lines)
