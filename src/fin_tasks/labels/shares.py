"""Count labels and types of errors, in all rows and in parts of them."""

import pandas as pd

from fin_tasks.labels.draw import Draw
from fin_tasks.labels.study import Question
from fin_tasks.stats.means import wilson

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


def shares_of(draw: Draw, labels: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the table of shares and, where values show types of errors, of combinations."""
    votes = labels[["row", "question", "label"]].dropna()
    tables = {"shares": _shares(draw, votes)}
    if tables["shares"]["type"].any():
        tables["combinations"] = _combinations(draw, votes)
    return tables


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
            kind = question.types.get(value, "")
            lines.append(
                [
                    *keys,
                    value,
                    kind,
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
        return {value: int(sum(values == value)) for value in question.values}
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
