"""How much a model reads of the charts, or tables, that its forecasts are about."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from pandas import DataFrame, Series, concat, factorize

from fin_tasks.benchmarks.dynostock.chart_answers import FORMS, are_right, numbers_of
from fin_tasks.stats.means import Floats, mean_difference

from .conditions import conditions_of
from .model import Report, Run, TaskResult

_TASK = "dynostock_reading"
_MAX_ANSWERS = 2000
"""Answers to one kind of question that are dealt to other charts."""
_COLUMNS = ["doc_id", "ticker", "category", "acc", "truth", "answer"]

Key = tuple[str, str, bool]
"""A model, `text` or `image`, and whether names and days were hidden."""


class Share(NamedTuple):
    """The share of questions about charts that a model answers, beside that of its answers in random order."""

    read: float
    chance: float
    """The expected share if each answer were given to another chart of the same kind of question."""
    low: float
    """Lower bound of the 95 % interval of the difference; NaN if there is none."""
    n: int

    @property
    def is_chance(self) -> bool:
        """Whether the model reads its charts no better than chance, so that its forecasts say nothing of them."""
        return not self.low > 0 and self.read != 1

    def text(self) -> str:
        """Say what the share is, and whether it lets an index or an effect be interpreted."""
        shares = f"{self.read:.0%} of {self.n:,} questions about what it sees are right, {self.chance:.0%} by chance"
        return f"cannot be interpreted: {shares}" if self.is_chance else shares


def shares_read(report: Report, scoring: str) -> Mapping[Key, Share]:
    """Return what each model reads of charts and of tables, with and without names and days."""
    tables: dict[Key, list[DataFrame]] = {}
    for run, result in sorted(report.results, key=lambda pair: pair[1].n):
        if conditions_of(result).task != _TASK or result.members or run.is_refused:
            continue
        key = key_of(run, result)
        rows = report.rows_of(result, scoring).reindex(columns=_COLUMNS)
        tables.setdefault(key, []).append(rows[rows["acc"].notna()])
    shares = {}
    for key, parts in tables.items():
        rows = concat(parts).drop_duplicates("doc_id", keep="last")
        if len(rows):
            shares[key] = _share_of(rows)
    return shares


def key_of(run: Run, result: TaskResult) -> Key:
    """Return the key of the share that belongs to a result."""
    mode = conditions_of(result).prices_as
    return run.model, mode, result.settings.get("anonymize") is True


def _share_of(rows: DataFrame) -> Share:
    """Return the share of right answers of a model, and what its answers would get by chance."""
    chances: list[Floats] = []
    excess: list[Floats] = []
    charts: list[str] = []
    for kind, of_kind in rows.astype({"category": str}).groupby("category"):
        form = FORMS.get(str(kind))
        if form is None:  # a stranger's file
            continue
        truths = numbers_of(form, _texts(of_kind["truth"]))
        answers = numbers_of(form, _texts(of_kind["answer"].head(_MAX_ANSWERS)))
        shares = [are_right(form, answers, truth).mean() for truth in truths]
        chance = np.array(shares)
        chances.append(chance)
        excess.append(of_kind["acc"].to_numpy(float) - chance)
        # Behind the kind of question an id names ticker and period.
        start = len(f"reading-{kind}-")
        charts += [name[start:] for name in _texts(of_kind["doc_id"])]
    if not chances:
        return Share(np.nan, np.nan, np.nan, 0)
    beyond = mean_difference(np.concatenate(excess), factorize(np.array(charts))[0])
    return Share(
        read=beyond.mean + float(np.concatenate(chances).mean()),
        chance=float(np.concatenate(chances).mean()),
        low=beyond.low,
        n=beyond.n,
    )


def _texts(column: "Series[str]") -> list[str]:
    texts: list[str] = column.astype(object).fillna("").astype(str).tolist()
    return texts
