"""The spread of a metric over the tasks of a group, by way of a harness that can only average."""

import math
from collections.abc import Sequence
from typing import Any

__all__ = ["Spread", "population_deviation"]


class Spread(float):
    """One task's share in a population standard deviation over tasks.

    The paper gives mean and standard deviation over window sizes, and a window size is a task here. lm-eval's groups
    know one way to combine tasks, `sum(value * size) / sum(sizes)`. So a task reports this number, which by itself is
    0.0, the standard deviation of one value, and remembers the value; products keep it, sums collect it, and the
    division at the end gives a plain float: the standard deviation. Sizes carry no weight, as every window size counts
    once.

    Example:
        >>> tasks, sizes = [Spread(0.55), Spread(0.59), Spread(0.64)], [100, 100, 100]
        >>> round(sum(task * size for task, size in zip(tasks, sizes)) / sum(sizes), 4)
        0.0368
        >>> Spread(0.55)
        0.0
    """

    values: tuple[float, ...]

    def __new__(cls, *values: float) -> "Spread":
        """Remember the tasks' values; NaN for a task without any makes the spread NaN."""
        spread = super().__new__(cls, population_deviation(values))
        spread.values = tuple(map(float, values))
        return spread

    def __getnewargs__(self) -> tuple[float, ...]:  # type: ignore[override]
        return self.values

    def __mul__(self, size: Any) -> "Spread":
        return self

    __rmul__ = __mul__

    def __add__(self, other: Any) -> "Spread":
        return Spread(*self.values, *other.values) if isinstance(other, Spread) else self

    def __radd__(self, other: Any) -> "Spread":
        return self  # the 0 a sum starts from

    def __truediv__(self, total_size: Any) -> float:
        return float(self)


def population_deviation(values: Sequence[float]) -> float:
    """Return sqrt(sum((v - mean)^2) / n), in the values' unit.

    Args:
        values: All there are, not a sample of more. A NaN among them makes the result NaN.

    Returns:
        The population standard deviation, 0 for one value, NaN for none.

    Example:
        >>> round(population_deviation([0.55, 0.59, 0.64, 0.53, 0.54]), 4)
        0.0405
    """
    if not values:
        return math.nan
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
