"""Merge the labels of several people, and count labels and types of errors."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, multimode

import pandas as pd

from fin_tasks.stats.means import wilson

from .agreement import agreement_by_pair, alpha
from .draw import Draw
from .people import write_linked_questions, write_people_run
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
    study = draw.study
    if study.answers:
        return {"minutes": write_people_run(draw, values, out, name=name)}
    alphas = []
    for column, question in study.questions.items():
        votes = values.xs(column, level="question")
        alphas.append({"question": column, **alpha(votes, question)})
    labels = labels_of(draw, values)
    decided = labels[["row", "question", "label"]].dropna()
    shares = _shares(draw, decided)
    if study.candidates:
        write_linked_questions(draw, labels, out / "questions.csv")
    tables = {
        "labels": labels,
        "undecided": labels[labels["label"].isna()],
        "alpha": pd.DataFrame(alphas),
        "pairs": agreement_by_pair(values, study.questions),
        "shares": shares,
    }
    if shares["type"].any():  # a value may show a type of error
        tables["combinations"] = _combinations(study.questions, decided)
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
            review = False
            if question.scale:
                variance = cast_votes.astype(float).var(ddof=0)
                review = bool(variance > _MAX_VARIANCE)
            line = {
                "row": row.id,
                "task": row.task,
                "doc_id": row.doc_id,
                "question": name,
                **votes,
                "label": label,
                "review": review,
            }
            lines.append(line)
    return pd.DataFrame(lines)


def _label_of(
    question: Question,
    votes: "pd.Series[str]",
    n_people: int,
) -> str | float | None:
    """Return the label of a row: what more than half of the people chose, and at least two; else None."""
    if question.scale:
        if len(votes) < 2:
            return None
        scores = list(votes.astype(float))
        return fmean(scores) if question.rule == "mean" else most_frequent(scores)
    counts = votes.str.split("+").explode().value_counts()
    chosen = list(counts[counts > max(1, n_people / 2)].index)
    if question.values == "candidates":
        if len(chosen) > question.choose:
            return None  # people look again
        chosen.sort(key=lambda number: (len(number), number))
    else:
        chosen.sort(key=question.values.index)
    return "+".join(chosen) or None


def most_frequent(scores: Sequence[float]) -> float:
    """Return the most frequent score; the mean of all if several are the most frequent ones."""
    modes = multimode(scores)
    return modes[0] if len(modes) == 1 else fmean(scores)


def _shares(draw: Draw, labels: pd.DataFrame) -> pd.DataFrame:
    """Return the share of each label in all rows, and in the rows of each part of a breakdown."""
    parts = []
    for row in draw.rows:
        parts.append({"row": row.id, "by": "all", "part": "all"})
        for by, names in row.facts.items():
            for name in names:
                parts.append({"row": row.id, "by": by, "part": name})
    lines = []
    labels_by_part = pd.DataFrame(parts).merge(labels, on="row")
    for keys, group in labels_by_part.groupby(_KEYS, sort=False):
        question = draw.study.questions[keys[-1]]
        n = len(group)
        for value, count in _counts(question, group["label"]).items():
            line = [
                *keys,
                value,
                question.types.get(value, ""),
                n,
                count,
                count / n,
                *wilson(count, n),
            ]
            lines.append(line)
    return pd.DataFrame(lines, columns=_COLUMNS)


def _counts(question: Question, labels: "pd.Series[str]") -> dict[str, int]:
    """Count the labels with each value.

    Of scores, count those from each score of the scale upwards. Of candidates, count how many a label names.
    """
    if question.scale:
        lowest, highest = question.scale
        scores = labels.astype(float)
        scale = range(highest, lowest - 1, -1)
        return {f">= {score}": int(sum(scores >= score)) for score in scale}
    values = labels.str.split("+")
    if question.values == "candidates":
        n_terms = values.str.len().where(labels != "none", 0)
        nouns = ["0 terms", "1 term", "2 terms", "3 terms"]
        return {noun: int(sum(n_terms == n)) for n, noun in enumerate(nouns)}
    counts = values.explode().value_counts()
    counts = counts.reindex(question.values, fill_value=0)
    return dict(counts.to_dict())


def _combinations(
    questions: Mapping[str, Question], labels: pd.DataFrame
) -> pd.DataFrame:
    """Count combinations of types of errors, apart for each answer to the questions without types."""
    table = labels.pivot(
        index="row",
        columns="question",
        values="label",
    ).dropna()
    types = []
    for _, labels_of_row in table.iterrows():
        names = []
        for name, question in questions.items():
            names.append(question.types.get(labels_of_row[name], ""))
        types.append(" and ".join(filter(None, names)) or "no error")
    table["types"] = types
    keys = [name for name, question in questions.items() if not question.types]
    counts = table.groupby([*keys, "types"]).size().reset_index(name="count")
    n = len(table)
    return counts.assign(n=n, share=counts["count"] / n)
