"""One score out of those of several people (paper of MME-Finance, section 4.3)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fin_tasks.errors import DataError

__all__ = ["REVIEW_ABOVE", "Combined", "combine"]

REVIEW_ABOVE = 2.0
"""Variance above which people are to look at a response again."""


@dataclass(frozen=True, kw_only=True)
class Combined:
    """What several people's scores come to.

    Attributes:
        score: On their scale; a mean may lie between its steps.
        how: `mode` where one score is more frequent than any other, else `mean`.
        variance: Of their scores, over n.
        review: They are too far apart: someone should look again.
    """

    score: float
    how: Literal["mode", "mean"]
    variance: float
    review: bool


def combine(scores: Sequence[float]) -> Combined:
    """Combine the scores that people gave one response.

    The paper does not say which variance it takes. Here it is sum((x - mean)^2) / n, as numpy has it. Dividing by n - 1
    instead would flag more: of three people's scores (2, 3, 5) too, with 2.33 instead of 1.56.

    Args:
        scores: At least one.

    Raises:
        DataError: There is none.

    Example:
        >>> combine([2, 3, 3]).score, combine([1, 2, 3]).score
        (3.0, 2.0)
        >>> combine([0, 0, 5])
        Combined(score=0.0, how='mode', variance=5.5555555555555545, review=True)
    """
    if not scores:
        raise DataError("annotators: expected at least one score of a response, got none. Leave the row out.")
    mean = sum(scores) / len(scores)
    variance = sum((score - mean) ** 2 for score in scores) / len(scores)
    (most, times), *others = Counter(scores).most_common()
    single = not others or others[0][1] < times
    return Combined(
        score=float(most) if single else mean,
        how="mode" if single else "mean",
        variance=variance,
        review=variance > REVIEW_ABOVE,
    )
