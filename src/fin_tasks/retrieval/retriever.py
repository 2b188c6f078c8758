"""What every retriever offers, and the one place that opens one by name."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fin_tasks.errors import ConfigError
from fin_tasks.settings import Settings

__all__ = ["RETRIEVERS", "Retriever", "open_retriever", "texts_sha256"]

RETRIEVERS = ("bm25", "dense", "hybrid")


class Retriever(Protocol):
    """Scores every text of one collection for a question."""

    @property
    def name(self) -> str:
        """One of `RETRIEVERS`."""
        ...

    @property
    def facts(self) -> Mapping[str, Any]:
        """What decides the scores, JSON-compatible, with the hash of the texts: part of a run's provenance."""
        ...

    @property
    def absent(self) -> float | None:
        """The score of a text that has nothing in common with a query; None where every text counts as found.

        Such a text is never among those found, however few they are: hand this on to `ranking.best`.
        """
        ...

    def scores(self, queries: Sequence[str]) -> Iterator[npt.NDArray[np.float64]]:
        """Yield one vector per query, in the queries' order: a score per text, in the texts' order, higher is better.

        Vectors come as they are computed, some queries at a time: keep what you need of each and let it go.
        """
        ...


def open_retriever(
    name: str,
    texts: Sequence[str],
    *,
    settings: Settings,
    tokeniser: str = "whitespace",
    encoder: str | None = None,
    on_done: Callable[[int], None] | None = None,
) -> Retriever:
    """Index a collection.

    Args:
        name: `bm25`; `dense`, by the likeness of embeddings; `hybrid`, both fused by rank.
        texts: The collection. Positions in it are what scores and hits refer to.
        settings: Where caches are and how endpoints are reached; only embeddings need it.
        tokeniser: How BM25 splits texts and queries: `whitespace` or `english`; dense retrieval has no use for it.
        encoder: Which model embeds texts and queries, see `encoders.open_encoder`; BM25 has no use for it.
        on_done: Told how many more texts were embedded, for a progress bar.

    Raises:
        ConfigError: No such retriever, tokeniser or encoder, or a package is missing; the message names the remedy.
        DataError: The collection has no text, or BM25 found no word in it.
        EndpointError: The encoder is behind an address that does not answer.

    Example:
        >>> bank = ["Put option: the right to sell.", "Bond: a loan that is traded.", "Stock: a share of a firm."]
        >>> index = open_retriever("bm25", bank, settings=Settings.from_environ({}))
        >>> [scores.argmax().item() for scores in index.scores(["Who has a right to sell", "Which loan is traded"])]
        [0, 1]
    """
    # Each import waits until it is needed: embeddings bring torch, BM25 brings scipy.
    if name == "bm25":
        from fin_tasks.retrieval.old_bm25 import Bm25Index

        return Bm25Index(texts, tokeniser=tokeniser)
    if name == "dense":
        return _open_dense(texts, encoder, settings, on_done)
    if name == "hybrid":
        from fin_tasks.retrieval.fusion import HybridIndex
        from fin_tasks.retrieval.old_bm25 import Bm25Index

        sparse = Bm25Index(texts, tokeniser=tokeniser)
        return HybridIndex([sparse, _open_dense(texts, encoder, settings, on_done)])
    raise ConfigError(f"retriever: expected one of {', '.join(RETRIEVERS)}, got {name!r}.")


def _open_dense(
    texts: Sequence[str], encoder: str | None, settings: Settings, on_done: Callable[[int], None] | None
) -> Retriever:
    from fin_tasks.retrieval.encoders import open_encoder
    from fin_tasks.retrieval.old_dense import DenseIndex

    return DenseIndex(texts, open_encoder(encoder, settings), settings, on_done=on_done)


def texts_sha256(texts: Sequence[str]) -> str:
    """Return the SHA-256 of a collection, in hex, over the JSON list of its texts.

    Example:
        >>> texts_sha256(["bond", "stock"])[:16] == hashlib.sha256(b'["bond", "stock"]').hexdigest()[:16]
        True
    """
    return hashlib.sha256(json.dumps(list(texts)).encode()).hexdigest()
