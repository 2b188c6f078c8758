"""Count labels and types of errors, in all rows and in parts of them."""

from pathlib import Path

import pandas as pd

from fin_tasks.labels.draw import Draw
from fin_tasks.labels.study import Question
from fin_tasks.stats.means import wilson

_KEYS = ["by", "part", "question"]
_COLUMNS = [*_KEYS, "value", "type", "n", "count", "share", "low", "high"]


def write_shares(draw: Draw, labels: pd.DataFrame, out: Path) -> dict[str, pd.DataFrame]:
    """Return the tables of shares, and of combinations of types with a figure, where there are types."""
    votes = labels[["row", "question", "label"]].dropna()
    shares = _shares(draw, votes)
    tables = {"shares": shares}
    if len(shares) and _typed_questions(draw):
        combinations = _combinations(draw, votes)
        tables["combinations"] = combinations
        _write_figure(draw, shares, combinations, out / "types.png")
    return tables


def _typed_questions(draw: Draw) -> dict[str, Question]:
    questions = draw.study.questions
    return {name: question for name, question in questions.items() if question.types}


def _shares(draw: Draw, votes: pd.DataFrame) -> pd.DataFrame:
    """Return the share of each label in all rows, and in those of each task, capability and so on."""
    rows = votes.merge(_parts(draw), on="row")
    lines = []
    for (by, part, name), labels in rows.groupby(_KEYS, sort=False)["label"]:
        question = draw.study.questions[name]
        n = len(labels)
        for value in _counted_values(question):
            count = sum(_has_value(question, label, value) for label in labels)
            interval = wilson(count, n)
            text = f">= {value}" if question.scale else value
            kind = question.types.get(value, "")
            lines.append((by, part, name, text, kind, n, count, count / n, *interval))
    return pd.DataFrame(lines, columns=_COLUMNS)


def _parts(draw: Draw) -> pd.DataFrame:
    """Return a line for each row and each part that it belongs to."""
    lines = []
    for row in draw.rows:
        for by, parts in {"all": ["all"], **row.facts}.items():
            for part in parts:
                lines.append((row.id, by, part))
    return pd.DataFrame(lines, columns=["row", "by", "part"])


def _counted_values(question: Question) -> list[str]:
    """Return the values to count; scores from the highest down, as in the paper's table."""
    if question.scale:
        return question.allowed[::-1]
    return question.values


def _has_value(question: Question, label: str | float, value: str) -> bool:
    if question.scale:
        return float(label) >= float(value)
    return value in str(label).split("+")


def _combinations(draw: Draw, votes: pd.DataFrame) -> pd.DataFrame:
    """Count combinations of types, for each answer to the questions without types."""
    wide = votes.pivot(index="row", columns="question", values="label").dropna()
    typed = _typed_questions(draw)
    names = []
    for _, row in wide.iterrows():
        types = [question.types.get(row[name]) for name, question in typed.items()]
        names.append(" and ".join(filter(None, types)) or "no error")
    wide["types"] = names
    untyped = [name for name in draw.study.questions if name not in typed]
    counts = wide.groupby([*untyped, "types"]).size().rename("count").reset_index()
    return counts.assign(n=len(wide), share=counts["count"] / len(wide))


def _write_figure(draw: Draw, shares: pd.DataFrame, combinations: pd.DataFrame, path: Path) -> None:
    """Draw the share of each type by part, and the combinations of types."""
    from matplotlib.figure import Figure

    types = shares[shares["type"] != ""].sort_values(["by", "part"], kind="stable")
    by_part = types.pivot_table(index="part", columns="type", values="share", sort=False)
    panels = {"": by_part}
    untyped = [name for name in draw.study.questions if name in combinations]
    if untyped:
        panels[", ".join(untyped)] = combinations.pivot_table(
            index=untyped, columns="types", values="share", fill_value=0
        )
    height = 2 + 0.4 * len(by_part)
    figure = Figure(figsize=(5 * len(panels), height), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for axis, (title, table) in zip(axes, panels.items(), strict=True):
        percent = 100 * table
        percent.plot.barh(stacked=title != "", ax=axis, xlabel="% of rows", ylabel=title)
        axis.invert_yaxis()
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1), fontsize="small")
    title = draw.study.title
    figure.suptitle(f"{title}, {draw.model}" if draw.model else title)
    figure.savefig(path, dpi=150)
