"""Find the texts that score best for each query."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fin_tasks.errors import ConfigError, DataError
from fin_tasks.retrieval.bm25 import bm25_scores
from fin_tasks.retrieval.dense import dense_scores, encoder_provenance
from fin_tasks.settings import Settings


class Hit(NamedTuple):
    """A text that was found for a query."""

    text_index: int
    score: float


def retrieve(
    texts: Sequence[str],
    queries: Sequence[str],
    *,
    method: str,
    top_k: int = 3,
    encoder: str | None = None,
    settings: Settings,
) -> list[list[Hit]]:
    """Return the best texts of each query, best first.

    As in the XFinBench paper, these are all texts that score at least as much as the `top_k`-th, so
    ties may bring more than `top_k`. Equal scores keep the order of the texts. BM25 never finds a
    text without a word of the query.

    Args:
        texts: The texts to search.
        queries: One or more questions.
        method: `bm25` or `dense`.
        top_k: 1 or more.
        encoder: For `dense`: `minilm` (default) or `endpoint:MODEL`.
        settings: Cache and address of embeddings.
    """
    if type(top_k) is not int or top_k < 1:
        raise ConfigError(f"top_k: expected a whole number of 1 or more, got {top_k!r}.")
    if method not in ("bm25", "dense"):
        raise ConfigError(f"retrieval method: expected bm25 or dense, got {method!r}.")
    if not texts:
        raise DataError(
            "retrieval: expected at least one text to search, got none. Is the file empty?"
        )
    if method == "dense":
        every_text = np.ones(len(texts), dtype=np.bool_)
        dense = dense_scores(texts, queries, encoder, settings)
        return [_hits(scores, every_text, top_k) for scores in dense]
    results = []
    for scores in bm25_scores(texts, queries):
        shares_words = scores != 0
        results.append(_hits(scores, shares_words, top_k))
    return results


def _hits(
    scores: npt.NDArray[np.float64],
    is_candidate: npt.NDArray[np.bool_],
    top_k: int,
) -> list[Hit]:
    """Return the candidates that score at least as much as the `top_k`-th of all texts."""
    position = max(0, len(scores) - top_k)
    threshold = np.partition(scores, position)[position]
    indexes = np.flatnonzero(is_candidate & (scores >= threshold))
    best_first = np.argsort(-scores[indexes], kind="stable")
    indexes = indexes[best_first]
    return list(map(Hit, indexes.tolist(), scores[indexes].tolist()))


def retriever_provenance(
    method: str,
    *,
    encoder: str | None = None,
) -> dict[str, Any]:
    """Return the method, and how it splits texts or the encoder with the hash of its files."""
    if method == "dense":
        return {"method": method, "encoder": encoder_provenance(encoder)}
    return {
        "method": method,
        "definition": "rank_bm25.BM25Okapi",
        "tokens": "split at single spaces",
    }
