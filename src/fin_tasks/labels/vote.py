"""Merge the labels of several people, and count agreement, shares and types of errors."""

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import krippendorff
import numpy as np
import pandas as pd

from fin_tasks.benchmarks.scored_task import score_task
from fin_tasks.errors import DataError
from fin_tasks.labels.agree import bootstrap, combine
from fin_tasks.labels.draw import Draw, Question
from fin_tasks.report.run_folder import write_run
from fin_tasks.stats.means import wilson


def merge(draw: Draw, values: pd.DataFrame, out: Path, *, name: str) -> dict[str, pd.DataFrame]:
    """Return the tables of a study. Its figure, or people's own answers as the run of a model `name`, go to `out`."""
    out.mkdir(parents=True, exist_ok=True)
    if draw.study.minutes:
        return {"minutes": _people_run(draw, values, out, name=name)}
    questions = draw.study.questions
    decided = [
        _decide(questions[asked], [*given.dropna()], len(given))
        for (_, asked), given in values.iterrows()
    ]
    labels = values.reset_index()
    labels.insert(1, "doc_id", labels["row"].map({row.id: row.doc_id for row in draw.rows}))
    labels = labels.join(pd.DataFrame(decided, columns=["label", "review"]))
    alphas = [
        {"question": asked, **alpha(values.xs(asked, level=1), one)}
        for asked, one in questions.items()
    ]
    shares = _shares(draw, labels)
    undecided = labels[labels["label"].isna()]
    found = {
        "labels": labels,
        "undecided": undecided,
        "alpha": pd.DataFrame(alphas),
        "shares": shares,
    }
    if len(shares) and any(question.types for question in questions.values()):
        found["combinations"] = _combinations(draw, labels)
        _write_figure(draw, shares, found["combinations"], out / "types.png")
    return found


def _decide(
    question: Question, values: Sequence[str], people: int
) -> tuple[str | float | None, bool]:
    """Return the merged label, or None, and whether the scores differ so much that people must look again."""
    if question.scale is None:
        votes = Counter(value for given in values for value in given.split("+"))
        won = [value for value in question.values if votes[value] > max(1, people / 2)]
        return "+".join(won) or None, False
    scores = [float(value) for value in values]
    if len(scores) < 2:
        return None, False
    label, review = combine(scores)
    return (fmean(scores) if question.rule == "mean" else label), review


def alpha(values: pd.DataFrame, question: Question) -> dict[str, Any]:
    """Return Krippendorff's alpha with a 95 % bootstrap interval over rows; None if all labels are the same.

    >>> labels = pd.DataFrame({"one": ["yes", "no", "yes", "yes"], "two": ["yes", "no", "no", None]})
    >>> round(alpha(labels, Question(ask="Clear?"))["alpha"], 3)
    0.444
    """
    counts = np.array([(values == value).sum(axis=1) for value in question.allowed]).T
    counts = counts[counts.sum(axis=1) > 1]
    level: Literal["ordinal", "nominal"] = "ordinal" if question.scale else "nominal"
    domain = range(counts.shape[1])

    def value_of(some: Any) -> float:
        if len(some) < 2 or np.count_nonzero(some.sum(axis=0)) < 2:
            return math.nan
        return float(
            krippendorff.alpha(value_counts=some, value_domain=domain, level_of_measurement=level)
        )

    found, low, high = bootstrap(value_of, counts, times=1000)
    return {"rows": len(counts), "alpha": found, "low": low, "high": high}


def _shares(draw: Draw, labels: pd.DataFrame) -> pd.DataFrame:
    """Return the share of each label in all rows, and in those of each task, capability and so on."""
    facts = [
        (row.id, by, part)
        for row in draw.rows
        for by, of in {"all": ["all"], **row.facts}.items()
        for part in of
    ]
    rows = labels.merge(pd.DataFrame(facts, columns=["row", "by", "part"])).dropna(subset="label")
    found = []
    for (by, part, name), own in rows.groupby(["by", "part", "question"], sort=False)["label"]:
        question = draw.study.questions[name]
        for value in question.allowed[::-1] if question.scale else question.values:
            # Scores are counted from the highest down, as in the paper's table of ratings.
            count = sum(
                label >= int(value) if question.scale else value in label.split("+")
                for label in own
            )
            shown = f">= {value}" if question.scale else value
            counts = [len(own), count, count / len(own), *wilson(count, len(own))]
            found.append([by, part, name, shown, question.types.get(value, ""), *counts])
    names = ["by", "part", "question", "value", "type", "n", "count", "share", "low", "high"]
    return pd.DataFrame(found, columns=names)


def _combinations(draw: Draw, labels: pd.DataFrame) -> pd.DataFrame:
    """Count combinations of types of errors, for each answer to the questions without types."""
    typed = {
        name: question.types for name, question in draw.study.questions.items() if question.types
    }
    wide = labels.pivot(index="row", columns="question", values="label").dropna()
    wide["types"] = [
        " and ".join(types[row[name]] for name, types in typed.items() if row[name] in types)
        or "no error"
        for _, row in wide.iterrows()
    ]
    others = [name for name in draw.study.questions if name not in typed]
    counts = wide.groupby([*others, "types"]).size().rename("count").reset_index()
    return counts.assign(n=len(wide), share=counts["count"] / len(wide))


def _write_figure(draw: Draw, shares: pd.DataFrame, pairs: pd.DataFrame, path: Path) -> None:
    """Draw the share of each type of error by task, capability and so on, and the combinations of types."""
    from matplotlib.figure import Figure

    types = shares[shares["type"] != ""].sort_values(["by", "part"], kind="stable")
    panels = {"": types.pivot_table(index="part", columns="type", values="share", sort=False)}
    if others := [name for name in draw.study.questions if name in pairs]:
        panels[", ".join(others)] = pairs.pivot_table(
            index=others, columns="types", values="share", fill_value=0
        )
    figure = Figure(figsize=(5 * len(panels), 2 + 0.4 * len(panels[""])), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for axis, (title, table) in zip(axes, panels.items(), strict=True):
        (100 * table).plot.barh(stacked=title != "", ax=axis, xlabel="% of rows", ylabel=title)
        axis.invert_yaxis()
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1), fontsize="small")
    figure.suptitle(", ".join(filter(None, [draw.study.title, draw.model])))
    figure.savefig(path, dpi=150)


def _people_run(draw: Draw, values: pd.DataFrame, out: Path, *, name: str) -> pd.DataFrame:
    """Score people's answers as a model's responses, write a run folder, and return the minutes by task."""
    answers, minutes = (values.xs(column, level="question") for column in ("answer", "minutes"))
    scored = []
    for task, options in draw.study.tasks.items():
        rows = [row for row in draw.rows if row.task == task and len(answers.loc[row.id].dropna())]
        responses = [
            [_response(one, row.doc["task"]) for one in answers.loc[row.id].dropna()]
            for row in rows
        ]
        if rows:
            docs, style = [row.doc for row in rows], {**options, "mode": "cot"}
            scored.append(score_task(draw.study.benchmark, task, docs, responses, options=style))
    if not scored:
        raise DataError("label merge: expected answers in the sheets, found none.")
    # People stand in the column of models that reason before they answer.
    facts = {"style": {"mode": "cot"}, "study": draw.study.name}
    provenance = {task: {**known, **facts} for task, known in draw.provenance.items()}
    write_run(
        out,
        scored,
        model=name,
        made_by="fin-tasks label",
        provenance=provenance,
        group=draw.study.benchmark,
    )
    spent = [
        (row.doc["task"], float(one)) for row in draw.rows for one in minutes.loc[row.id].dropna()
    ]
    by_task = pd.DataFrame(spent, columns=["task", "minutes"]).groupby("task", sort=False)[
        "minutes"
    ]
    return by_task.agg(["count", "mean", "median"]).reset_index()


def _response(answer: str, task: str) -> str:
    if answer == "none":
        return ""
    return (
        f"Therefore, my answer is [{answer}]"
        if task == "calcu"
        else f"Therefore, my answer is {answer}."
    )
