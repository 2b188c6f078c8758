"""How a task declares a metric that is no mean over documents."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A metric with its own aggregation, such as the bound of an interval.

    Attributes:
        higher_is_better: Whether more is better; None if neither.
        aggregate: Takes each document's value, None included, and returns a number or `N/A`.
    """

    higher_is_better: bool | None
    aggregate: Callable[[Sequence[Any]], float | str]
