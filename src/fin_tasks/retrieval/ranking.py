"""From scores to the texts that a question gets."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from fin_tasks.errors import ConfigError

__all__ = ["TIES", "Hit", "Ties", "best", "order"]

Ties = Literal["paper", "strict"]
TIES: tuple[Ties, ...] = get_args(Ties)

_Scores = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Hit:
    """A text that was found: its place in the collection, counted from 0, and its score."""

    index: int
    score: float


def best(scores: _Scores, *, top_k: int, ties: str = "paper", absent: float | None = None) -> list[Hit]:
    """Take the texts with the highest scores.

    Args:
        scores: Shape (n_texts,), higher is better, no NaN.
        top_k: How many texts.
        ties: `paper` keeps every text that scores at least as much as the `top_k`-th best, as XFinBench's authors do,
            so there may be more than `top_k`; `strict` keeps `top_k` of them, the earlier text before the later.
        absent: The score of a text that has nothing in common with the query (`Retriever.absent`): no such text is
            taken. Without it, as with the paper's tokeniser, a query whose words fewer than `top_k` texts contain gets
            the whole collection under `paper`, tied at nothing.

    Returns:
        Hits by descending score, equal scores in the collection's order; fewer than `top_k` where not more were found.

    Raises:
        ConfigError: `top_k` is no whole number above 0, or `ties` is no such rule.

    Example:
        >>> scores = np.array([0.0, 2.0, 3.0, 2.0, 0.0])
        >>> [hit.index for hit in best(scores, top_k=2, ties="paper")]
        [2, 1, 3]
        >>> [hit.index for hit in best(scores, top_k=2, ties="strict")]
        [2, 1]
        >>> [hit.index for hit in best(scores, top_k=4, ties="paper", absent=0.0)]
        [2, 1, 3]
    """
    if isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 1:
        raise ConfigError(f"top_k: expected a whole number of 1 or more, got {top_k!r}.")
    if ties not in TIES:
        raise ConfigError(f"ties: expected one of {', '.join(TIES)}, got {ties!r}.")
    there = _there(scores, absent)
    if len(there) > top_k:
        threshold = np.partition(scores[there], len(there) - top_k)[len(there) - top_k]
        there = there[scores[there] >= threshold]
    ranked = _descending(scores, there)
    if ties == "strict":
        ranked = ranked[:top_k]
    return [Hit(index=int(index), score=float(scores[index])) for index in ranked]


def order(scores: _Scores, *, absent: float | None = None) -> list[int]:
    """Rank the whole collection.

    Args:
        scores: Shape (n_texts,), higher is better, no NaN.
        absent: As for `best`: texts with this score are left out.

    Returns:
        Places in the collection, by descending score, equal scores in the collection's order.

    Example:
        >>> order(np.array([0.0, 2.0, 3.0, 2.0]), absent=0.0)
        [2, 1, 3]
    """
    ranked: list[int] = _descending(scores, _there(scores, absent)).tolist()
    return ranked


def _there(scores: _Scores, absent: float | None) -> npt.NDArray[np.intp]:
    return np.arange(len(scores)) if absent is None else np.flatnonzero(scores != absent)


def _descending(scores: _Scores, there: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    # stable, so that equal scores stay in the order they have in the collection
    return there[np.argsort(-scores[there], kind="stable")]
