"""Strata for a random part of a benchmark: questions of one kind that are about as hard.

The difficulty of a question is the share of right responses. A sample that has its share of each stratum estimates
the accuracy of another model with fewer questions than a plain one; `narrowing` measures it model by model, with
strata from the other models alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from pandas import DataFrame, Series, factorize

from fin_tasks.benchmarks.contract import benchmark_named, id_of
from fin_tasks.benchmarks.task_file import Mapped, TaskFile, task_names
from fin_tasks.errors import DataError, FinTasksError
from fin_tasks.stats.power import stratified_effect

from ..model import KNOWN_BENCHMARKS, Report
from .table import METRIC, responses_of

LEVELS = 5
"""Groups of about as many questions, from easy to hard."""
_MIN_MODELS = 2
"""With fewer, no model is left to measure with the difficulty of another."""

Stratum = tuple[str, str, str]
"""Benchmark, id and stratum of a question."""


@dataclass(frozen=True)
class Narrowing:
    """How much a sample by strata narrows the interval of an accuracy, over the models of the runs."""

    task: str
    questions: int
    models: int
    by_kind: float
    """Variance by what the benchmark breaks down by, as a share of that of a plain sample."""
    by_kind_and_difficulty: float
    """The same with the difficulty that the other models found."""

    @property
    def width(self) -> float:
        """Width of the interval as a share of that of a plain sample."""
        return float(np.sqrt(self.by_kind_and_difficulty))


def strata_of_runs(
    report: Report, scoring: str
) -> tuple[list[Stratum], list[Narrowing]]:
    """Return the strata of the questions of runs, and what they narrow in each task."""
    responses = responses_of(report, scoring).reset_index(drop=True)
    responses["kind"] = _kinds_of(report, responses)
    questions = responses.groupby("number").agg(
        benchmark=("benchmark", "first"),
        id=("doc_id", "first"),
        kind=("kind", "first"),
        difficulty=(METRIC, "mean"),
    )
    strata = []
    for benchmark, of_benchmark in questions.groupby("benchmark", observed=True):
        levels = _levels(of_benchmark["difficulty"])
        for question, level in zip(
            of_benchmark.itertuples(), levels.tolist(), strict=True
        ):
            stratum = f"{question.kind}, {level + 1} of {LEVELS}".lstrip(", ")
            strata.append((str(benchmark), str(question.id), stratum))
    return strata, list(_narrowings(responses))


def _kinds_of(report: Report, responses: DataFrame) -> Series:
    """Return the group of each response's question in the first breakdown of its benchmark."""
    kinds = Series("", index=responses.index, dtype=object)
    rows = report.rows.drop_duplicates(["benchmark", "doc_id"])
    keys = rows["benchmark"].astype(str) + "\n" + rows["doc_id"].astype(str)
    benchmarks = responses["benchmark"].astype(str)
    own_keys = benchmarks + "\n" + responses["doc_id"].astype(str)
    for name in benchmarks.unique():
        column = next(iter(KNOWN_BENCHMARKS[name].breakdowns), "")
        if column in rows:
            groups = Series(rows[column].astype(object).to_numpy(), index=keys)
            is_own = benchmarks == name
            kinds[is_own] = own_keys[is_own].map(groups).astype(object).fillna("")
    return kinds


def _levels(difficulty: Series) -> Series:
    """Return the level of each question from 0; equally hard ones have the same."""
    ranks = difficulty.rank(method="average", ascending=False, pct=True)
    return np.ceil(ranks * LEVELS).astype(int) - 1


def _narrowings(responses: DataFrame) -> Iterator[Narrowing]:
    """Yield for each task what strata narrow, if enough models answered enough questions."""
    for task, of_task in responses.groupby("task", observed=True):
        table = of_task.pivot_table(
            index="number", columns="model", values=METRIC, observed=True
        ).dropna()
        n_models = table.shape[1]
        if n_models < _MIN_MODELS or len(table) < 2 * LEVELS:
            continue
        kinds = of_task.drop_duplicates("number").set_index("number")["kind"]
        kind_codes = factorize(kinds[table.index])[0]
        by_kind = []
        by_kind_and_difficulty = []
        for model in table:
            values = table[model].to_numpy(float)
            others = table.drop(columns=model).mean(axis=1)
            levels = _levels(others).to_numpy()
            codes = factorize(kind_codes * LEVELS + levels)[0]
            by_kind.append(stratified_effect(values, kind_codes))
            by_kind_and_difficulty.append(stratified_effect(values, codes))
        yield Narrowing(
            task=str(task),
            questions=len(table),
            models=n_models,
            by_kind=float(np.nanmean(by_kind)),
            by_kind_and_difficulty=float(np.nanmean(by_kind_and_difficulty)),
        )


def strata_of_benchmark(name: str, metadata: Mapped) -> list[Stratum]:
    """Return the strata of a benchmark's questions by kind alone; raise DataError if no task can be loaded."""
    benchmark = benchmark_named(name)
    column = next(iter(benchmark.breakdowns), "")
    strata = {}
    problems = []
    for task in map(TaskFile, task_names()):
        if task.benchmark is not benchmark:
            continue
        try:
            docs, _ = task.load(metadata)
        except FinTasksError as error:
            problems.append(str(error))
            continue
        for doc in docs:
            kind = "|".join(benchmark.groups_of(doc).get(column, []))
            strata[id_of(doc)] = (name, id_of(doc), kind)
    if not strata:
        raise DataError(f"questions: no task of {name} can be loaded. {problems[0]}")
    return list(strata.values())
