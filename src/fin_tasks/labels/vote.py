"""Merge the labels of several people."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, pvariance
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


def merge(draw: Draw, values: pd.DataFrame, out: Path, *, name: str) -> Mapping[str, pd.DataFrame]:
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


def _labels(draw: Draw, values: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each row and question: what each person said, and the decision."""
    rows_by_id = {row.id: row for row in draw.rows}
    lines = []
    for (row_id, name), votes in values.iterrows():
        row = rows_by_id[row_id]
        decision = _decide(draw.study.questions[name], votes)
        if name in row.labels:
            decision = Decision(row.labels[name])
        line = {"row": row_id, "task": row.task, "doc_id": row.doc_id, "question": name}
        lines.append(line | votes.to_dict() | decision._asdict())
    return pd.DataFrame(lines)


def _decide(question: Question, votes: "pd.Series[str]") -> Decision:
    if question.scale is None:
        counts = votes.dropna().str.split("+").explode().value_counts()
        needed = max(1, len(votes) / 2)
        chosen = [value for value in question.values if counts.get(value, 0) > needed]
        return Decision("+".join(chosen) or None)
    scores = [float(vote) for vote in votes.dropna()]
    if len(scores) < 2:
        return Decision(None)
    merged = fmean(scores) if question.rule == "mean" else most_frequent(scores)
    return Decision(merged, review=pvariance(scores) > _MAX_VARIANCE)


def most_frequent(scores: Sequence[float]) -> float:
    """Return the score that most people gave, the mean if several are equally frequent."""
    counts = Counter(scores).most_common()
    if len(counts) > 1 and counts[0][1] == counts[1][1]:
        return fmean(scores)
    return counts[0][0]


def _alphas(draw: Draw, values: pd.DataFrame) -> pd.DataFrame:
    lines = []
    for name, question in draw.study.questions.items():
        votes = values.xs(name, level="question")
        lines.append({"question": name, **alpha(votes, question)})
    return pd.DataFrame(lines)
