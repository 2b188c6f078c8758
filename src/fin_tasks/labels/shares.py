"""Count labels and types of errors, in all rows and in parts of them."""

from pathlib import Path

import pandas as pd

from fin_tasks.labels.draw import Draw
from fin_tasks.labels.study import Question
from fin_tasks.stats.means import wilson

_KEYS = ["by", "part", "question"]
_COLUMNS = [*_KEYS, "value", "type", "n", "count", "share", "low", "high"]


def write_shares(
    draw: Draw,
    labels: pd.DataFrame,
    out: Path,
) -> dict[str, pd.DataFrame]:
    """Return the tables of shares and, where values show types of errors, of combinations.

    A figure of the types is written into the folder.
    """
    votes = labels[["row", "question", "label"]].dropna()
    shares = _shares(draw, votes)
    tables = {"shares": shares}
    types = shares[shares["type"] != ""]
    if len(types):
        tables["combinations"] = _combinations(draw, votes)
        _write_figure(types, draw.study.title, out / "types.png")
    return tables


def _shares(draw: Draw, votes: pd.DataFrame) -> pd.DataFrame:
    """Return the share of each label in all rows, and in those of each part."""
    rows = votes.merge(_parts(draw), on="row")
    lines = []
    for keys, group in rows.groupby(_KEYS, sort=False):
        question = draw.study.questions[keys[-1]]
        n = len(group)
        for value, count in _counts(question, group["label"]).items():
            line = {
                **dict(zip(_KEYS, keys, strict=True)),
                "value": value,
                "type": question.types.get(value, ""),
                "n": n,
                "count": count,
                "share": count / n,
                **wilson(count, n)._asdict(),
            }
            lines.append(line)
    return pd.DataFrame(lines, columns=_COLUMNS)


def _parts(draw: Draw) -> pd.DataFrame:
    """Return a line for each row and each part that it belongs to."""
    lines = []
    for row in draw.rows:
        for by, parts in {"all": ["all"], **row.facts}.items():
            for part in parts:
                line = {"row": row.id, "by": by, "part": part}
                lines.append(line)
    return pd.DataFrame(lines)


def _counts(
    question: Question,
    labels: "pd.Series[str]",
) -> dict[str, int]:
    """Count each value, or how many scores are at least as high as each of the scale."""
    counts = {}
    if question.scale is None:
        values = labels.str.split("+").explode()
        for value in question.values:
            counts[value] = int(sum(values == value))
        return counts
    scores = labels.astype(float)
    for score in reversed(question.allowed):
        counts[f">= {score}"] = int(sum(scores >= int(score)))
    return counts


def _combinations(draw: Draw, votes: pd.DataFrame) -> pd.DataFrame:
    """Count combinations of types, for each answer to the questions without types."""
    wide = votes.pivot(index="row", columns="question", values="label")
    wide = wide.dropna()
    types = pd.Series("", index=wide.index)
    keys = ["types"]
    for name, question in draw.study.questions.items():
        if question.types:
            names = wide[name].map(question.types)
            types += names.radd(" and ").fillna("")
        else:
            keys.insert(-1, name)
    types = types.str.removeprefix(" and ")
    wide["types"] = types.replace("", "no error")
    counts = wide.groupby(keys).size()
    table = counts.reset_index(name="count")
    n = len(wide)
    return table.assign(n=n, share=table["count"] / n)


def _write_figure(
    types: pd.DataFrame,
    title: str,
    path: Path,
) -> None:
    """Draw the share of each type of error, in all rows and in parts."""
    from matplotlib.figure import Figure

    shares = types.pivot_table(
        index="part",
        columns="type",
        values="share",
        sort=False,
    )
    percent = 100 * shares
    height = 2 + 0.4 * len(percent)
    figure = Figure(figsize=(8, height), layout="constrained")
    axes = figure.subplots()
    percent.plot.barh(ax=axes, title=title)
    axes.set(xlabel="% of rows", ylabel="")
    axes.invert_yaxis()
    figure.savefig(path, dpi=150)
