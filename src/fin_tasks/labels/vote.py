"""Merge the labels of several people, and count labels and types of errors."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, multimode

import pandas as pd

from fin_tasks.stats.means import wilson

from .agreement import alpha
from .draw import Draw
from .linked import write_linked_questions
from .pairs import agreement_by_pair
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

    If people answered the benchmark's questions themselves, write their answers as a run of a model `name`.
    """
    out.mkdir(parents=True, exist_ok=True)
    if draw.study.answers:
        return {"minutes": write_people_run(draw, values, out, name=name)}
    alphas = []
    for column, question in draw.study.questions.items():
        votes = values.xs(column, level="question")
        alphas.append({"question": column, **alpha(votes, question)})
    labels = labels_of(draw, values)
    decided = labels[["row", "question", "label"]].dropna()
    shares = _shares(draw, decided)
    if draw.study.candidates:
        write_linked_questions(draw, labels, out / "questions.csv")
    tables = {
        "labels": labels,
        "undecided": labels[labels["label"].isna()],
        "alpha": pd.DataFrame(alphas),
        "pairs": agreement_by_pair(values, draw.study.questions),
        "shares": shares,
    }
    if shares["type"].any():  # a value may show a type of error
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


def labels_of(draw: Draw, values: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each row and question: what each person said, the label, and `review`.

    `review` is true if people should look again at the row.
    """
    lines = []
    for row in draw.rows:
        for name, question in draw.study.questions.items():
            votes = values.loc[(row.id, name)]
            cast_votes = votes.dropna()
            label = row.labels.get(name)
            if label is None:
                label = _label_of(question, cast_votes, len(votes))
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


def _label_of(
    question: Question,
    votes: "pd.Series[str]",
    n_people: int,
) -> str | float | None:
    """Return the label of a row: what more than half of the people chose, and at least two; else None."""
    if not question.scale:
        values = votes.str.split("+").explode()
        too_few = max(1, n_people / 2)
        allowed = question.values
        if allowed == "candidates":
            allowed = sorted(values.unique(), key=lambda value: (len(value), value))
        chosen = [value for value in allowed if sum(values == value) > too_few]
        if question.values == "candidates" and len(chosen) > question.choose:
            return None  # people look again
        return "+".join(chosen) or None
    if len(votes) < 2:
        return None
    scores = list(votes.astype(float))
    return fmean(scores) if question.rule == "mean" else most_frequent(scores)


def most_frequent(scores: Sequence[float]) -> float:
    """Return the most frequent score; the mean of all if several are the most frequent ones."""
    modes = multimode(scores)
    return modes[0] if len(modes) == 1 else fmean(scores)


def _shares(draw: Draw, votes: pd.DataFrame) -> pd.DataFrame:
    """Return the share of each label in all rows, and in the rows of each part of a breakdown."""
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
    """Count the labels with each value; of scores, count those from each score of the scale upwards."""
    if question.values == "candidates":
        return _term_counts(labels)
    if not question.scale:
        values = labels.str.split("+").explode()
        counts = values.value_counts().reindex(question.values, fill_value=0)
        return dict(counts.to_dict())
    scores = labels.astype(float)
    scale = reversed(question.allowed)
    return {f">= {score}": int(sum(scores >= int(score))) for score in scale}


def _term_counts(labels: "pd.Series[str]") -> dict[str, int]:
    """Count the labels by how many candidates they name."""
    n_terms = labels.str.split("+").str.len().where(labels != "none", 0)
    counts = {}
    for n in range(4):
        noun = "term" if n == 1 else "terms"
        counts[f"{n} {noun}"] = int((n_terms == n).sum())
    return counts


def _combinations(draw: Draw, votes: pd.DataFrame) -> pd.DataFrame:
    """Count combinations of types of errors, apart for each answer to the questions without types."""
    labels = votes.pivot(
        index="row",
        columns="question",
        values="label",
    ).dropna()
    types = pd.Series("", index=labels.index)
    keys = []
    for name, question in draw.study.questions.items():
        if question.types:
            names = labels[name].map(question.types)
            types += names.radd(" and ").fillna("")
        else:
            keys.append(name)
    labels["types"] = types.str.removeprefix(" and ").replace("", "no error")
    table = labels.groupby([*keys, "types"]).size().reset_index(name="count")
    n = len(labels)
    return table.assign(n=n, share=table["count"] / n)
