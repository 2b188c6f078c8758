"""BM25 with the scores of `rank_bm25.BM25Okapi`, for many queries at once.

The library scores one query at a time, in Python. Here the weight of each word in each text is computed once, with the
library's own numbers, and a block of queries is one sparse matrix product. The scores are bit for bit the library's, so
the same texts tie: scipy adds the weights in the order of the query's words.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt


def bm25_scores(texts: Sequence[str], queries: Sequence[str]) -> Iterator[npt.NDArray[np.float64]]:
    """Yield the scores of all texts for each query, higher is better.

    A query scores the sum over its words w of idf(w) f (k1 + 1) / (f + k1 (1 - b + b l / L)): f times w in a text of l
    words, L the mean length, k1 = 1.5, b = 0.75. idf(w) = ln((n - n_w + 0.5) / (n_w + 0.5)), or 0.25 times the mean idf
    if that is negative. Texts and queries are split at single spaces, as the paper splits its queries.

    Example:
        >>> [scores.round(4).tolist() for scores in bm25_scores(["bond yield", "stock price", "put call"], ["a stock"])]
        [[0.0, 0.5108, 0.0]]
    """
    from rank_bm25 import BM25Okapi
    from scipy.sparse import csc_array, csr_array

    model = BM25Okapi([text.split(" ") for text in texts])
    rows = {word: row for row, word in enumerate(model.idf)}
    sizes = [len(counts) for counts in model.doc_freqs]
    ends = np.cumsum([0, *sizes], dtype=np.int32)
    words = np.fromiter((rows[word] for counts in model.doc_freqs for word in counts), dtype=np.int32, count=ends[-1])
    counts = np.fromiter((n for counts in model.doc_freqs for n in counts.values()), dtype=np.int64, count=ends[-1])
    idf = np.fromiter(model.idf.values(), dtype=np.float64, count=len(rows))
    # the same operations in the same order as in the library, so that the same bits come out
    length = model.k1 * (1 - model.b + model.b * np.array(model.doc_len) / model.avgdl)
    weights = idf[words] * (counts * (model.k1 + 1) / (counts + np.repeat(length, sizes)))
    matrix = csc_array((weights, words, ends), shape=(len(rows), len(texts))).tocsr()

    at_once = max(1, 250_000 // len(texts))  # 2 MB of scores stay in a processor's cache
    for start in range(0, len(queries), at_once):
        # a row per query with a 1 for each word: in the query's order, repeated words not added up
        known = [[rows[w] for w in query.split(" ") if w in rows] for query in queries[start : start + at_once]]
        ends = np.cumsum([0, *map(len, known)], dtype=np.int32)
        words = np.fromiter(chain.from_iterable(known), dtype=np.int32, count=ends[-1])
        asked = csr_array((np.ones(len(words)), words, ends), shape=(len(known), len(rows)))
        yield from (asked @ matrix).toarray()
