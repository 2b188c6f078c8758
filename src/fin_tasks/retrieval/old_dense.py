"""Dense retrieval: texts are as alike as their embeddings point the same way."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fin_tasks.endpoints.embeddings import RefusedTextError
from fin_tasks.errors import DataError, EndpointError
from fin_tasks.retrieval.encoding import Batch, Encoder
from fin_tasks.retrieval.retriever import texts_sha256
from fin_tasks.retrieval.vectors import Role, VectorCache
from fin_tasks.settings import Settings

__all__ = ["DenseIndex"]

_BLOCK = 256
"""Queries scored at a time: 3,032 texts and this many float64 scores take 6 MB."""

_log = logging.getLogger(__name__)


class DenseIndex:
    """A collection, embedded.

    The score of text t for query q is the cosine of their vectors, q·t / (|q| |t|), in [-1, 1] but for rounding.
    Equal texts have equal scores, so that ties are ties.

    Args:
        texts: The collection; at least one text.
        encoder: Embeds texts and queries.
        settings: Where embeddings are kept: `cache_dir/vectors`.
        on_done: Told how many more texts or queries were embedded; those known from earlier do not count.

    Attributes:
        facts: The encoder's facts, the length of its vectors, the texts' hash, and how many texts the encoder cut.

    Raises:
        DataError: There is no text.
        ConfigError: The encoder cannot be loaded.
        EndpointError: The encoder cannot be asked, or what it sends cannot be used.
    """

    name = "dense"
    absent: float | None = None

    def __init__(
        self,
        texts: Sequence[str],
        encoder: Encoder,
        settings: Settings,
        *,
        on_done: Callable[[int], None] | None = None,
    ) -> None:
        if not texts:
            raise DataError("dense retrieval: expected at least one text to search, got none. Is the file empty?")
        self._encoder = encoder
        self._cache = VectorCache(settings.cache_dir / "vectors", encoder.identity)
        self._on_done = on_done
        self._vectors, self._places, cut = self._embed(texts, "text")
        self.facts: Mapping[str, Any] = {
            "retriever": self.name,
            "similarity": "cosine",
            "encoder": {**encoder.facts, "dimension": int(self._vectors.shape[1])},
            "texts": len(texts),
            "texts_cut": cut,
            "texts_sha256": texts_sha256(texts),
        }

    def scores(self, queries: Sequence[str]) -> Iterator[npt.NDArray[np.float64]]:
        """Yield one vector per query: the cosine with each text, in the texts' order.

        Raises:
            EndpointError: The encoder cannot be asked, or what it sends cannot be used.
        """
        if not queries:
            return
        vectors, places, _ = self._embed(queries, "query")
        if vectors.shape[1] != self._vectors.shape[1]:
            raise self._other_dimension(self._vectors.shape[1], vectors.shape[1])
        for start in range(0, len(places), _BLOCK):
            # A matrix product may round equal columns differently, so each different text is multiplied once.
            block = vectors[places[start : start + _BLOCK]] @ self._vectors.T
            yield from block[:, self._places]

    def _embed(self, texts: Sequence[str], role: Role) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp], int]:
        """Embed each different text once.

        Returns:
            The vectors of the different texts, where each text's vector is among them, and how many texts were cut.
        """
        first: dict[str, int] = {}
        places = np.array([first.setdefault(text, len(first)) for text in texts], dtype=np.intp)
        different = list(first)
        known = self._cache.load(different, role)
        missing = [i for i in range(len(different)) if i not in known]
        if missing:
            known |= self._encode(texts, different, missing, role)
        sizes = sorted({len(vector) for vector, _ in known.values()})
        if len(sizes) > 1:
            raise self._other_dimension(sizes[0], sizes[1])
        vectors = np.stack([known[i][0] for i in range(len(different))]).astype(np.float64)
        cut = sum(known[place][1] for place in places.tolist())
        if cut:
            _log.warning(
                "%s: %d of %d %s are longer than what the encoder reads; their ends have no part in the scores.",
                self._encoder.name,
                cut,
                len(texts),
                "queries" if role == "query" else "texts",
            )
        return vectors, places, cut

    def _encode(
        self, texts: Sequence[str], different: Sequence[str], missing: Sequence[int], role: Role
    ) -> dict[int, tuple[np.ndarray, bool]]:
        asked = [different[i] for i in missing]
        new: dict[int, tuple[np.ndarray, bool]] = {}

        def keep(batch: Batch) -> None:
            self._cache.save([asked[i] for i in batch.positions], role, batch.vectors, batch.cut)
            for i, vector, cut in zip(batch.positions, batch.vectors, batch.cut, strict=True):
                new[missing[i]] = (vector, cut)
            if self._on_done is not None:
                self._on_done(len(batch.positions))

        try:
            self._encoder.encode(asked, keep, role=role)
        except RefusedTextError as error:
            place = list(texts).index(asked[error.position])
            name = "query" if role == "query" else "text"
            raise RefusedTextError(place, error.told, name=f"{self._encoder.name}: {name}") from error
        return new

    def _other_dimension(self, one: int, other: int) -> EndpointError:
        return EndpointError(
            f"{self._encoder.name}: expected vectors of one length, got some of {one} numbers and some of {other}. "
            f"Another model goes by this name now: delete {self._cache.file} to embed everything anew."
        )
