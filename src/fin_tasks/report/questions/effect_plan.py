"""How many windows show which effect of a statement, before somebody pays for the forecasts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from fin_tasks.benchmarks.task_file import Mapped, TaskFile
from fin_tasks.stats.power import design_effect_of, pairs_needed, smallest_mean

from .. import Json

BENCHMARK = "dynostock"
_TASK = "dynostock_statement"
POINTS = (1, 2, 3, 5, 10)
"""Effects in points of probability for which the number of windows is shown."""
SIZES = (50, 100, 200, 400, 1_000)
"""Numbers of windows for which the smallest effect is shown."""


@dataclass(frozen=True, kw_only=True)
class EffectPlan:
    """The windows of a task, each asked with and without a statement."""

    task: str
    n: int
    """Windows."""
    stocks: int
    deviation: float
    """Standard deviation of the change of a forecast among windows."""
    design_effect: float
    """By what factor windows of one stock widen the variance."""

    def needed(self, effect: float) -> int:
        """Return how many windows show a mean change with a power of 80 %."""
        return round(pairs_needed(effect, self.deviation) * self.design_effect)

    def smallest(self, n: int) -> float:
        """Return the smallest mean change that n windows show with a power of 80 %."""
        return smallest_mean(n / self.design_effect, self.deviation)

    def summary(self) -> Json:
        """Return the plan as JSON holds it, with the windows that points need."""
        needed = {points: self.needed(points / 100) for points in POINTS}
        return {
            **asdict(self),
            "smallest_effect": self.smallest(self.n),
            "needed_by_points": needed,
        }


def asks_about_effects(name: str, accuracies: Sequence[float]) -> bool:
    """Return whether a name stands for tasks with statements, and no accuracies are to be compared."""
    if accuracies:
        return False
    return name == BENCHMARK or TaskFile(name).benchmark.name == BENCHMARK


def effect_plan(
    name: str, metadata: Mapped, *, deviation: float, source_correlation: float
) -> EffectPlan:
    """Return the plan for a task, or for the benchmark, whose task of statements is taken.

    Args:
        name: Of the task or the benchmark.
        metadata: Options of the task.
        deviation: Assumed standard deviation of the change of a forecast.
        source_correlation: Of the changes of two windows of one stock.
    """
    file = TaskFile(_TASK if name == BENCHMARK else name)
    # A chart is not needed to count windows.
    text_file = TaskFile(file.name.removesuffix("_text") + "_text")
    docs, _ = text_file.load({"frequency": "monthly", **metadata})
    sizes = list(Counter(file.benchmark.source_of(doc) for doc in docs).values())
    return EffectPlan(
        task=file.name,
        n=len(docs),
        stocks=len(sizes),
        deviation=deviation,
        design_effect=design_effect_of(sizes, source_correlation),
    )


def rows_of_effects(plan: EffectPlan) -> tuple[list[Json], list[Json]]:
    """Return what is printed: windows by effect, and effects by number of windows."""
    by_effect = []
    for points in POINTS:
        n = plan.needed(points / 100)
        by_effect.append(
            {
                "Effect": f"{points} point{'s' * (points > 1)}",
                "Windows": f"{n:,}",
                "Requests": f"{2 * n:,}",
            }
        )
    by_size = []
    for n in sorted({*SIZES, plan.n}):
        own = " (this task)" if n == plan.n else ""
        smallest = f"{100 * plan.smallest(n):.1f} points"
        by_size.append({"Windows": f"{n:,}{own}", "Smallest effect": smallest})
    return by_effect, by_size
