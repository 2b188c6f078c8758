"""BM25 as `rank_bm25.BM25Okapi` defines it, for many queries at once.

The library scores one query at a time and asks every text of the collection for every word of it, in Python. Here the
weight of each word in each text is computed once, with the library's own numbers, and a block of queries is one sparse
matrix product. Scores come out bit for bit as the library's: scipy adds the weights of a query's words in the order
in which the row stores them, which is the order of the query, a repeated word once for each time it stands there. So
the same texts tie, which decides what the paper's rule for ties keeps.

References:
    Robertson, Walker (1994), Some simple effective approximations to the 2-Poisson model for probabilistic weighted
    retrieval, SIGIR; Trotman, Puurula, Burgess (2014), Improvements to BM25 and language models examined, ADCS, whose
    ATIRE variant the library has.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from fin_tasks.errors import DataError
from fin_tasks.retrieval.retriever import texts_sha256
from fin_tasks.retrieval.tokens import open_tokeniser

if TYPE_CHECKING:
    from rank_bm25 import BM25Okapi
    from scipy.sparse import csr_array

__all__ = ["EPSILON", "K1", "B", "Bm25Index"]

K1, B, EPSILON = 1.5, 0.75, 0.25

# Of scores in flight. Two megabytes stay in a processor's cache: larger blocks are no faster.
_CELLS_AT_ONCE = 250_000


class Bm25Index:
    """A collection indexed for BM25; a `Retriever`.

    With n texts, of which n_w hold the word w, f times in a text of l tokens, the mean length being L, a query scores

        sum over its tokens w of  idf(w) * f (k1 + 1) / (f + k1 (1 - b + b l / L)),
        idf(w) = ln(n - n_w + 0.5) - ln(n_w + 0.5), and where that is below 0, epsilon times the mean idf of all words.

    k1 = 1.5, b = 0.75, epsilon = 0.25. Words that no text holds add nothing. A score has no unit and no upper bound; in
    collections of a few texts it may be below 0, as the mean idf may be.

    Args:
        texts: The collection.
        tokeniser: How texts and queries are split, see `tokens.open_tokeniser`.

    Raises:
        ConfigError: There is no such tokeniser.
        DataError: There is no token in the whole collection, so no mean length to divide by.

    Example:
        >>> index = Bm25Index(["bond yield", "stock price", "stock split", "put call parity"])
        >>> [scores.round(4).tolist() for scores in index.scores(["price of a stock", "split stock"])]
        [[0.0, 0.8919, 0.0, 0.0], [0.0, 0.0, 0.8919, 0.0]]
    """

    name: ClassVar[str] = "bm25"
    absent: float | None
    """None with the paper's tokeniser: as with the library, the best texts are the best however little they score.

    0.0 with another, which drops words: of a question that has few left, texts without any are not among those found.
    """

    def __init__(self, texts: Sequence[str], *, tokeniser: str = "whitespace") -> None:
        from rank_bm25 import BM25Okapi

        splitter = open_tokeniser(tokeniser)
        tokens = [splitter.split(text) for text in texts]
        if not any(tokens):
            raise DataError(
                f"BM25 index: expected texts with words in them, got {len(tokens)} texts without one "
                f"(tokeniser {tokeniser}). Look at the collection."
            )
        model = BM25Okapi(tokens, k1=K1, b=B, epsilon=EPSILON)
        self._split = splitter.split
        self.absent = None if tokeniser == "whitespace" else 0.0
        self._rows = {word: row for row, word in enumerate(model.idf)}
        self._weights = _weights(model, self._rows)
        self.facts: Mapping[str, Any] = {
            "retriever": self.name,
            "definition": "rank_bm25.BM25Okapi",
            "k1": K1,
            "b": B,
            "epsilon": EPSILON,
            "tokeniser": splitter.facts,
            "texts": len(tokens),
            "texts_sha256": texts_sha256(texts),
        }

    def scores(self, queries: Sequence[str]) -> Iterator[npt.NDArray[np.float64]]:
        """Yield one vector per query, in order: shape (n_texts,), higher is better."""
        at_once = max(1, _CELLS_AT_ONCE // self._weights.shape[1])
        for start in range(0, len(queries), at_once):
            yield from (self._counts(queries[start : start + at_once]) @ self._weights).toarray()

    def _counts(self, queries: Sequence[str]) -> "csr_array":
        """A row per query with a 1 for each of its known tokens: in the query's order, repeated ones not summed."""
        from scipy.sparse import csr_array

        known = [[self._rows[word] for word in self._split(query) if word in self._rows] for query in queries]
        ends = np.cumsum([0, *map(len, known)], dtype=np.int32)
        words = np.fromiter(chain.from_iterable(known), dtype=np.int32, count=ends[-1])
        return csr_array((np.ones(len(words)), words, ends), shape=(len(queries), len(self._rows)))


def _weights(model: "BM25Okapi", rows: Mapping[str, int]) -> "csr_array":
    """Return what a query's word adds to a text's score: shape (n_words, n_texts), with the library's own numbers."""
    from scipy.sparse import csc_array

    sizes = [len(frequencies) for frequencies in model.doc_freqs]
    ends = np.cumsum([0, *sizes], dtype=np.int32)
    words = np.fromiter((rows[word] for text in model.doc_freqs for word in text), dtype=np.int32, count=ends[-1])
    frequency = np.fromiter((f for text in model.doc_freqs for f in text.values()), dtype=np.int64, count=ends[-1])
    idf = np.fromiter(model.idf.values(), dtype=np.float64, count=len(rows))
    # The same operations in the same order as the library, so that the same bits come out.
    length = K1 * (1 - B + B * np.array(model.doc_len) / model.avgdl)
    weights = idf[words] * (frequency * (K1 + 1) / (frequency + np.repeat(length, sizes)))
    return csc_array((weights, words, ends), shape=(len(rows), len(sizes))).tocsr()
