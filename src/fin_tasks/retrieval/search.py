"""Find the texts that score best for each query, by BM25 or by embeddings."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings


def retrieve(
    texts: Sequence[str],
    queries: Sequence[str],
    *,
    method: str,
    top_k: int = 3,
    encoder: str | None = None,
    settings: Settings,
) -> list[list[tuple[int, float]]]:
    """Return index and score of the best texts of each query, best first.

    As in the XFinBench paper, these are all texts that score at least as much as the `top_k`-th, so ties may bring more
    than `top_k`. Equal scores keep the order of the texts. BM25 never finds a text without a word of the query.
    `encoder` is for `dense`, see `dense.encoder_facts`.
    """
    if type(top_k) is not int or top_k < 1:
        raise ConfigError(f"top_k: expected a whole number of 1 or more, got {top_k!r}.")
    if method not in ("bm25", "dense"):
        raise ConfigError(f"retrieval method: expected bm25 or dense, got {method!r}.")
    if not texts:
        raise DataError("retrieval: expected at least one text to search, got none. Is the file empty?")
    if method == "bm25":  # the imports wait: BM25 brings scipy, embeddings bring torch
        from fin_tasks.retrieval.bm25 import bm25_scores

        return [_best(scores, top_k, unless=0.0) for scores in bm25_scores(texts, queries)]
    from fin_tasks.retrieval.dense import dense_scores

    return [_best(scores, top_k) for scores in dense_scores(texts, queries, encoder, settings)]


def facts(method: str, *, encoder: str | None = None) -> dict[str, Any]:
    """Return the method, and the encoder with the hash of its files, for the provenance."""
    if method == "dense":
        from fin_tasks.retrieval.dense import encoder_facts

        return {"method": method, "encoder": encoder_facts(encoder)}
    return {"method": method, "definition": "rank_bm25.BM25Okapi", "tokens": "split at single spaces"}


def _best(scores: npt.NDArray[np.float64], top_k: int, *, unless: float = np.nan) -> list[tuple[int, float]]:
    place = max(0, len(scores) - top_k)
    kept = np.flatnonzero((scores >= np.partition(scores, place)[place]) & (scores != unless))
    return [(int(i), float(scores[i])) for i in kept[np.argsort(-scores[kept], kind="stable")]]
