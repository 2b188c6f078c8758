"""Find the texts that score best for each query."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

from .bm25 import bm25_scores
from .dense import MINILM, dense_scores, encoder_provenance


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
        raise ConfigError(
            f"top_k: expected a whole number of 1 or more, got {top_k!r}."
        )
    if not texts:
        raise DataError(
            "retrieval: expected at least one text to search, got none. Is the file empty?"
        )
    if method == "bm25":
        scores_of_queries = bm25_scores(texts, queries)
    elif method == "dense":
        scores_of_queries = dense_scores(texts, queries, encoder or MINILM, settings)
    else:
        raise ConfigError(f"retrieval method: expected bm25 or dense, got {method!r}.")
    results = []
    position = max(0, len(texts) - top_k)
    for scores in scores_of_queries:
        is_hit = scores >= np.partition(scores, position)[position]
        if method == "bm25":
            is_hit &= scores != 0
        indexes = np.flatnonzero(is_hit)
        best_first = indexes[np.argsort(-scores[indexes], kind="stable")]
        hits = map(Hit, best_first.tolist(), scores[best_first].tolist())
        results.append(list(hits))
    return results


def retriever_provenance(
    method: str,
    *,
    encoder: str | None = None,
) -> dict[str, Any]:
    """Return the method, and how it splits texts or the encoder with the hash of its files."""
    if method == "dense":
        return {"method": method, "encoder": encoder_provenance(encoder or MINILM)}
    return {
        "method": method,
        "definition": "rank_bm25.BM25Okapi",
        "tokens": "split at single spaces",
    }
