"""How many questions are enough: the difference that they show, and how many a difference needs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from numpy import array, isnan
from pandas import DataFrame, factorize

from fin_tasks.benchmarks.contract import all_benchmarks
from fin_tasks.benchmarks.task_file import Mapped, TaskFile
from fin_tasks.endpoints.prices import Prices
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.stats.power import (
    design_effect_of,
    discordant_share,
    measured_design_effect,
    questions_needed,
    smallest_difference,
)

from .. import Json
from ..cost import costs_of
from ..model import Report
from .table import METRIC

SIZES = (100, 200, 500, 1_000, 2_000, 5_000)
"""Numbers of questions for which the smallest difference is shown."""
POINTS = (1, 2, 3, 5)
"""Differences in points of accuracy for which the number of questions is shown."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Two runs on the questions of a task, measured or assumed."""

    task: str
    n: int
    """Questions."""
    sources: int
    """Clusters: questions that share a figure, an exercise, a document or a ticker."""
    accuracies: tuple[float, float]
    discordant: float
    """Share of questions that only one of the runs has right."""
    design_effect: float
    """By what factor the clusters widen the variance."""
    question_cost: float | None = None
    """What both runs paid for a question, by the tokens that they used; None if it is not known."""
    currency: str = ""

    def smallest(self, n: int) -> float:
        """Return the smallest difference that n questions show with a power of 80 %; NaN if they show none."""
        return smallest_difference(n / self.design_effect, self.discordant)

    def needed(self, difference: float) -> int:
        """Return how many questions show a difference with a power of 80 %."""
        n_independent = questions_needed(difference, self.discordant)
        return round(n_independent * self.design_effect)

    def cost_text(self, n: int) -> str:
        """Return what both runs cost with n questions."""
        if self.question_cost is None:
            return "not known"
        cost = n * self.question_cost
        return f"{cost:,.2f} {self.currency}"

    def summary(self) -> Json:
        """Return the plan as JSON holds it, with the smallest difference and the questions that points need."""
        smallest = self.smallest(self.n)
        return {
            **asdict(self),
            "smallest_difference": None if isnan(smallest) else smallest,
            "needed_by_points": {
                points: self.needed(points / 100) for points in POINTS
            },
        }


def plan_of_task(
    name: str,
    metadata: Mapped,
    accuracies: Sequence[float],
    *,
    correlation: float,
    source_correlation: float,
) -> Plan:
    """Return the plan for a task and two assumed accuracies.

    Args:
        name: Of a task, or of a benchmark, whose main task is taken.
        metadata: Options of the task.
        accuracies: Two shares from 0 to 1.
        correlation: Of the right answers of the two runs over the questions.
        source_correlation: Of the differences on two questions of one source.
    """
    if len(accuracies) != 2 or not all(0 <= share <= 1 for share in accuracies):
        raise ConfigError(
            f"--accuracy: expected two shares from 0 to 1, got {list(accuracies)}."
        )
    benchmark = all_benchmarks().get(name)
    tasks = benchmark.overview_tasks if benchmark else ()
    file = TaskFile(tasks[0] if tasks else name)
    docs, _ = file.load(metadata)
    names = Counter(file.benchmark.source_of(doc) for doc in docs)
    n_alone = names.pop("", 0)
    sizes = [*names.values(), *[1] * n_alone]
    first, second = accuracies
    return Plan(
        task=file.name,
        n=len(docs),
        sources=len(sizes),
        accuracies=(first, second),
        discordant=discordant_share(first, second, correlation),
        design_effect=design_effect_of(sizes, source_correlation),
    )


def plan_of_runs(
    report: Report, scoring: str, prices: Prices | None = None
) -> list[Plan]:
    """Return a plan for each task that exactly two runs have answered, measured on the rows of both."""
    if len(report.runs) != 2:
        raise ConfigError(
            f"questions --plan: expected two runs, got {len(report.runs)}. Without runs, name "
            "--benchmark and --accuracy twice."
        )
    plans = []
    rows = report.rows[report.rows["scoring"] == scoring]
    for task, task_rows in rows.groupby("task", observed=True):
        plan = _measured_plan(report, str(task), task_rows, prices)
        if plan:
            plans.append(plan)
    if not plans:
        raise DataError(
            "questions --plan: expected a task that both runs answered, found none."
        )
    return plans


def _measured_plan(
    report: Report, task: str, rows: DataFrame, prices: Prices | None
) -> Plan | None:
    """Measure a plan on the questions of a task that both runs answered; None if there are none."""
    table = rows.pivot_table(
        index="doc_id", columns="run", values=METRIC, observed=True
    ).dropna()
    if table.shape[1] != 2 or table.empty:
        return None
    first, second = (table[run.id].to_numpy(float) for run in report.runs)
    differences = first - second
    sources = rows.drop_duplicates("doc_id").set_index("doc_id")["source"]
    clusters = array(factorize(sources[table.index])[0])
    # A question without a source has the code -1 and is a cluster of its own.
    n_alone = int((clusters < 0).sum())
    return Plan(
        task=task,
        n=len(table),
        sources=len(set(clusters.tolist()) - {-1}) + n_alone,
        accuracies=(float(first.mean()), float(second.mean())),
        discordant=float((differences**2).mean()),
        design_effect=measured_design_effect(differences, clusters),
        question_cost=_question_cost(report, task, prices),
        currency=prices.currency if prices else "",
    )


def _question_cost(report: Report, task: str, prices: Prices | None) -> float | None:
    """Return what a question costs for all runs together; None if a price or a number of tokens is not known."""
    if prices is None:
        return None
    total = 0.0
    for run in report.runs:
        sizes = {result.id: result.n for result in run.tasks}
        for cost in costs_of(run, prices):
            if cost.task != task:
                continue
            if cost.cost is None or not sizes[cost.run]:
                return None
            total += cost.cost / sizes[cost.run]
    return total


def rows_of_plan(plan: Plan) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Return what is printed: differences by number of questions, and numbers of questions by difference."""
    sizes = sorted({*SIZES, plan.n})
    by_size = []
    for n in sizes:
        smallest = plan.smallest(n)
        text = "none" if isnan(smallest) else f"{100 * smallest:.1f} points"
        own = " (this task)" if n == plan.n else ""
        by_size.append({"Questions": f"{n:,}{own}", "Smallest difference": text})
    by_difference = []
    for points in POINTS:
        n_needed = plan.needed(points / 100)
        row = {"Difference in points": str(points), "Questions needed": f"{n_needed:,}"}
        if plan.currency:
            row["Cost of both runs"] = plan.cost_text(n_needed)
        by_difference.append(row)
    return by_size, by_difference
