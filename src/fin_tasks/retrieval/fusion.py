"""Several retrievers as one: each ranks the collection, and the ranks are added up."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from fin_tasks.errors import ConfigError
from fin_tasks.retrieval.retriever import Retriever

__all__ = ["CONSTANT", "HybridIndex", "reciprocal_ranks"]

CONSTANT = 60
"""Added to every rank, so that the first places do not decide all; the value of the method's authors."""


def reciprocal_ranks(scores: npt.NDArray[np.float64], *, absent: float | None = None) -> npt.NDArray[np.float64]:
    """Return what each text gains by its place in one ranking: 1 / (60 + rank).

    Args:
        scores: Shape (n_texts,), higher is better, no NaN.
        absent: The score of texts that the ranking does not have (`Retriever.absent`): they gain nothing.

    Returns:
        Shape (n_texts,), within [0, 1/61]. Rank is 1 + the number of texts with a higher score: texts that tie share
        the best rank among them, so that equal texts gain equally wherever they stand in the collection.

    References:
        Cormack, Clarke, Büttcher (2009), Reciprocal rank fusion outperforms Condorcet and individual rank learning
        methods, SIGIR.

    Example:
        >>> (1 / reciprocal_ranks(np.array([0.7, 0.9, 0.7, 0.1]))).round(9).tolist()
        [62.0, 61.0, 62.0, 64.0]
    """
    gains = np.zeros(len(scores))
    there = np.ones(len(scores), dtype=bool) if absent is None else scores != absent
    ascending = np.sort(scores[there])
    higher = len(ascending) - np.searchsorted(ascending, scores[there], side="right")
    gains[there] = 1 / (CONSTANT + 1 + higher)
    return gains


class HybridIndex:
    """Reciprocal rank fusion of retrievers over the same collection; a `Retriever` itself.

    Args:
        members: Two or more retrievers.

    Raises:
        ConfigError: They were made over different collections.
    """

    name: ClassVar[str] = "hybrid"
    absent: ClassVar[float | None] = 0.0
    """A text that no member has in its ranking gains nothing."""

    def __init__(self, members: Sequence[Retriever]) -> None:
        self._members = tuple(members)
        hashes = [member.facts["texts_sha256"] for member in members]
        if len(set(hashes)) != 1:
            raise ConfigError(f"hybrid retriever: expected members over one collection, got texts of sha256 {hashes}.")
        self.facts: Mapping[str, Any] = {
            "retriever": self.name,
            "fusion": "reciprocal rank",
            "constant": CONSTANT,
            "members": [dict(member.facts) for member in members],
            "texts_sha256": hashes[0],
        }

    def scores(self, queries: Sequence[str]) -> Iterator[npt.NDArray[np.float64]]:
        """Yield one vector per query, in order: the gains of `reciprocal_ranks`, summed over the members."""
        for vectors in zip(*(member.scores(queries) for member in self._members), strict=True):
            yield np.sum(
                [
                    reciprocal_ranks(vector, absent=member.absent)
                    for vector, member in zip(vectors, self._members, strict=True)
                ],
                axis=0,
            )
