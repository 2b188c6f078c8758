"""Votes: people's labels become one label a row, with agreement, shares and the papers' tables."""

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any, Literal

import krippendorff
import numpy as np
import pandas as pd

from fin_tasks.benchmarks.scored_task import score_task
from fin_tasks.errors import DataError
from fin_tasks.judging.agreement import combine
from fin_tasks.labels.draw import Draw
from fin_tasks.labels.sheet import Cells
from fin_tasks.report.run_folder import write_run
from fin_tasks.stats.intervals import wilson

__all__ = ["alpha", "merge", "tables"]


def merge(draw: Draw, cells: Cells, people: Sequence[str], out: Path, *, name: str) -> dict[str, pd.DataFrame]:
    """Return the tables of a study; write its figure, or the run folder `name` of people's own answers, below `out`."""
    out.mkdir(parents=True, exist_ok=True)
    if draw.study.minutes:
        return {"minutes": _people_run(draw, cells, out, name=name)}
    found = tables(draw, cells, people)
    if draw.study.types and len(found["shares"]):
        _write_figure(draw, found, out / "types.png")
    return found


def tables(draw: Draw, cells: Cells, people: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Count votes: `labels` (a line a row and question), `undecided`, `alpha`, `shares` and perhaps `combinations`.

    If people may choose several values, each value is voted on by itself, as the question `name: value`.
    """
    lines: list[dict[str, Any]] = []
    alphas, undecided = [], []
    for name, question in draw.study.questions.items():
        own = [column for column, of in draw.study.columns().items() if of == name]
        won = Counter[str]()
        for part in question.values if question.choose > 1 else [""]:
            asked, values = (f"{name}: {part}", ["no", "yes"]) if part else (name, question.allowed)
            votes = []
            for row in draw.rows:
                given = {one: [v for c in own if (v := cells[row.id][c].get(one))] for one in people}
                vote = {one: values[part in of] if part else of[0] for one, of in given.items() if of}
                label, review = _decide(list(vote.values()), question.rule, len(people))
                line = {"row": row.id, "doc_id": row.doc_id, "question": asked, **dict.fromkeys(people), **vote}
                lines.append({**line, "label": label, "review": review})
                won[row.id] += label not in (None, "no" if part else None)
                votes.append(list(vote.values()))
            alphas.append({"question": asked, **alpha(votes, values, "ordinal" if question.scale else "nominal")})
        undecided += [line for line in lines if line["question"].partition(":")[0] == name and not won[line["row"]]]
    labels = pd.DataFrame(lines)
    found = {"labels": labels, "undecided": pd.DataFrame(undecided, columns=labels.columns)}
    found |= {"alpha": pd.DataFrame(alphas), "shares": _shares(draw, labels)}
    return {**found, "combinations": _combinations(draw, labels)} if draw.study.split else found


def _decide(values: Sequence[str], rule: str, people: int) -> tuple[str | float | None, bool]:
    """Return the label, None if there is none, and whether scores are so far apart that people look again."""
    if len(values) < 2:
        return None, False
    if rule == "majority":
        value, votes = Counter(values).most_common(1)[0]
        return (value if votes > people / 2 and votes > 1 else None), False
    scores = list(map(float, values))
    label, review = combine(scores)
    return (label if rule == "mode" else fmean(scores)), review


def alpha(
    rows: Sequence[Sequence[str]], values: Sequence[str], level: Literal["nominal", "ordinal"], *, seed: int = 42
) -> dict[str, Any]:
    """Return Krippendorff's alpha with a 95 % bootstrap interval over rows; None if all labels are the same.

    >>> round(alpha([["a", "a"], ["b", "b"], ["a", "b"], ["a"]], ["a", "b"], "nominal")["alpha"], 3)
    0.444
    """
    counts = np.array([[list(of).count(value) for value in values] for of in rows if len(of) > 1])

    def value_of(some: Any) -> float:
        if len(some) < 2 or np.count_nonzero(some.sum(axis=0)) < 2:
            return math.nan
        return float(krippendorff.alpha(value_counts=some, value_domain=range(len(values)), level_of_measurement=level))

    found, rng, n = value_of(counts), np.random.default_rng(seed), len(counts)
    drawn = [value_of(counts[rng.integers(n, size=n)]) for _ in range(1000)] if found == found else []
    low, high = np.nanquantile(drawn, [0.025, 0.975]).tolist() if drawn else (None, None)
    return {"rows": n, "alpha": found if found == found else None, "low": low, "high": high}


def _shares(draw: Draw, labels: pd.DataFrame) -> pd.DataFrame:
    """Count labels over all rows and over those of each task, capability, category and so on."""
    facts = [(row.id, by, part) for row in draw.rows for by, of in {"all": ["all"], **row.facts}.items() for part in of]
    rows = labels.merge(pd.DataFrame(facts, columns=["row", "by", "part"])).dropna(subset="label")
    types = {label: name for name, label in draw.study.types.items()}
    found = []
    for (by, part, name), own in rows.groupby(["by", "part", "question"], sort=False)["label"]:
        question = draw.study.questions[name.partition(":")[0]]
        hits = {value: (own == value).sum() for value in (["yes"] if ":" in name else question.allowed)}
        if question.scale:  # from the highest score down, as in the paper's table of ratings
            hits = {f">= {one}": (own >= int(one)).sum() for one in question.allowed[::-1]}
        for value, count in hits.items():
            line = {"by": by, "part": part, "question": name, "value": value, "type": types.get(f"{name}={value}", "")}
            interval = wilson(int(count), len(own))
            line |= {"n": len(own), "count": int(count), "share": count / len(own)}
            found.append({**line, "low": interval.low, "high": interval.high})
    names = ["by", "part", "question", "value", "type", "n", "count", "share", "low", "high"]
    return pd.DataFrame(found, columns=names)


def _combinations(draw: Draw, labels: pd.DataFrame) -> pd.DataFrame:
    """Count which types of errors come together, for each value of the question that divides the table."""
    types = {name: label.split("=") for name, label in draw.study.types.items()}
    names = [draw.study.split, *(question for question, _ in types.values())]
    wide = labels.pivot(index="row", columns="question", values="label")[names].dropna()
    wide["types"] = [
        " and ".join(name for name, (question, value) in types.items() if row[question] == value) or "no error"
        for _, row in wide.iterrows()
    ]
    counts = wide.groupby([draw.study.split, "types"]).size().rename("count").reset_index()
    return counts.assign(n=len(wide), share=counts["count"] / max(1, len(wide)))


def _write_figure(draw: Draw, found: dict[str, pd.DataFrame], path: Path) -> None:
    """Draw which types of errors come together, then the share of each by task and by capability."""
    from matplotlib.figure import Figure

    shown, panels = found["shares"].query("type != ''"), []
    if len(pairs := found.get("combinations", ())):
        panels.append(pairs.pivot_table(index=draw.study.split, columns="types", values="share", fill_value=0))
    for by in ("task", "capability"):
        rows = shown[shown["by"].isin(["all", by])]
        panels.append(rows.pivot_table(index="part", columns="type", values="share"))
    figure = Figure(figsize=(5 * len(panels), 4), layout="constrained")
    for axis, wide in zip(figure.subplots(1, len(panels)), panels, strict=True):
        (100 * wide).plot.barh(stacked=wide.columns.name == "types", ax=axis, xlabel="% of rows")
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, fontsize="small")
    figure.suptitle(", ".join(filter(None, [draw.study.title, draw.model])))
    figure.savefig(path, dpi=150)


def _people_run(draw: Draw, cells: Cells, out: Path, *, name: str) -> pd.DataFrame:
    """Score people's answers like a model's responses; write a run folder, and return the minutes they took by task."""
    tasks: dict[str, list[tuple[dict[str, Any], list[str]]]] = {}
    minutes: dict[str, list[float]] = {}
    for row in draw.rows:
        answers, frame = cells[row.id]["answer"].values(), "[{}]" if row.doc["task"] == "calcu" else "{}."
        texts = ["" if one == "none" else f"Therefore, my answer is {frame.format(one)}" for one in answers]
        minutes.setdefault(row.doc["task"], []).extend(map(float, cells[row.id]["minutes"].values()))
        if texts:
            tasks.setdefault(f"{draw.study.benchmark}_{row.doc['subset']}", []).append((row.doc, texts))
    if not tasks:
        raise DataError("label merge: expected answers in the sheets, found none.")
    scored = []
    for task, own in tasks.items():
        docs, responses = zip(*own, strict=True)
        options = {"subset": docs[0]["subset"], "mode": "cot"}
        scored.append(score_task(draw.study.benchmark, task, docs, responses, options=options))
    # people stand in the column of models that reason before they answer
    facts = {"style": {"mode": "cot"}, "study": draw.study.name}
    provenance = {task: {**draw.provenance.get(task, {}), **facts} for task in tasks}
    write_run(out, scored, model=name, made_by="fin-tasks label", provenance=provenance)
    rows = [{"task": t, "answers": len(of), "mean": fmean(of), "median": median(of)} for t, of in minutes.items() if of]
    return pd.DataFrame(rows)
