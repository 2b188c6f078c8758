"""How a task declares a metric that is no mean over documents."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Metric"]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A metric with an aggregation of its own, such as the bound of an interval.

    Attributes:
        higher_is_better: Whether more of it is better; None where neither is, as for a mean of stated probabilities.
        aggregate: Takes what every document reported for the metric, in the documents' order (None included), and
            returns one number, or `N/A` as lm-eval writes it. No standard error is derived from it: report interval
            bounds as further metrics, or give `stderr`.
        stderr: Takes the same, and returns the standard error or `N/A`; None where the metric has none.
    """

    higher_is_better: bool | None
    aggregate: Callable[[Sequence[Any]], float | str]
    stderr: Callable[[Sequence[Any]], float | str] | None = None
