"""Merge the labels of several people, and count labels and types of errors."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, multimode

import pandas as pd

from fin_tasks.stats.means import wilson

from .agreement import alpha
from .draw import Draw
from .people import write_people_run
from .study import Question

_MAX_VARIANCE = 2.0
"""People look again at a row whose scores vary more."""

_KEYS = ["by", "part", "question"]
_COLUMNS = [
    *_KEYS,
    "value",
    "type",
    "n",
    "count",
    "share",
    "low",
    "high",
]


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
    decided = labels[["row", "question", "label"]].dropna()
    shares = _shares(draw, decided)
    tables = {
        "labels": labels,
        "undecided": labels[labels["label"].isna()],
        "alpha": pd.DataFrame(alphas),
        "shares": shares,
    }
    if shares["type"].any():  # some values show types of errors
        tables["combinations"] = _combinations(draw, decided)
    return tables


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


def _shares(draw: Draw, votes: pd.DataFrame) -> pd.DataFrame:
    """Return the share of each label in all rows, and in those of each part."""
    facts = pd.DataFrame({row.id: {"all": ["all"], **row.facts} for row in draw.rows})
    parts = (
        facts.T.stack().explode().rename_axis(["row", "by"]).reset_index(name="part")
    )
    lines = []
    for keys, group in parts.merge(votes, on="row").groupby(_KEYS, sort=False):
        question = draw.study.questions[keys[-1]]
        n = len(group)
        for value, count in _counts(question, group["label"]).items():
            lines.append(
                [
                    *keys,
                    value,
                    question.types.get(value, ""),
                    n,
                    count,
                    count / n,
                    *wilson(count, n),
                ]
            )
    return pd.DataFrame(lines, columns=_COLUMNS)


def _counts(question: Question, labels: "pd.Series[str]") -> dict[str, int]:
    """Count each value, or how many scores are at least as high as each of the scale."""
    if question.scale is None:
        values = labels.str.split("+").explode()
        counts = values.value_counts().reindex(question.values, fill_value=0)
        return dict(counts.to_dict())
    scores = labels.astype(float)
    scale = reversed(question.allowed)
    return {f">= {score}": int(sum(scores >= int(score))) for score in scale}


def _combinations(draw: Draw, votes: pd.DataFrame) -> pd.DataFrame:
    """Count combinations of types, for each answer to the questions without types."""
    wide = votes.pivot(
        index="row",
        columns="question",
        values="label",
    ).dropna()
    types = pd.Series("", index=wide.index)
    keys = []
    for name, question in draw.study.questions.items():
        if question.types:
            names = wide[name].map(question.types)
            types += names.radd(" and ").fillna("")
        else:
            keys.append(name)
    wide["types"] = types.str.removeprefix(" and ").replace("", "no error")
    table = wide.groupby([*keys, "types"]).size().reset_index(name="count")
    n = len(wide)
    return table.assign(n=n, share=table["count"] / n)
