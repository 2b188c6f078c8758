"""BM25 scores of many queries at once, bit for bit those of `rank_bm25.BM25Okapi`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]
_SCORES_AT_ONCE = 250_000  # 2 MB, which stay in a processor's cache


class _Index(NamedTuple):
    row_by_word: Mapping[str, int]
    weights: Any
    """A sparse matrix with a row for each word and a column for each text."""


def bm25_scores(
    texts: Sequence[str],
    queries: Sequence[str],
) -> Iterator[Scores]:
    """Yield the scores of all texts for each query, higher is better.

    They have the same bits as those of `rank_bm25.BM25Okapi`, so the same texts tie. Texts and
    queries are split at single spaces, as the XFinBench paper splits its queries.

    A query scores the sum over its words w of idf(w) f (k1 + 1) / (f + k1 (1 - b + b l / L)). Here
    w stands f times in a text of l words, L is the mean length, k1 = 1.5, and b = 0.75. idf(w) is
    ln((n - n_w + 0.5) / (n_w + 0.5)), or 0.25 times the mean idf if that is negative.

    Example:
        >>> texts = ["bond yield", "stock price", "put call"]
        >>> [scores.round(4).tolist() for scores in bm25_scores(texts, ["a stock"])]
        [[0.0, 0.5108, 0.0]]
    """
    index = _index_texts(texts)
    n_at_once = max(1, _SCORES_AT_ONCE // len(texts))
    for start in range(0, len(queries), n_at_once):
        batch = queries[start : start + n_at_once]
        word_counts = _count_words(batch, index.row_by_word)
        scores = word_counts @ index.weights
        yield from scores.toarray()


def _index_texts(texts: Sequence[str]) -> _Index:
    from rank_bm25 import BM25Okapi
    from scipy.sparse import csc_array

    model = BM25Okapi([text.split(" ") for text in texts])
    row_by_word = {word: row for row, word in enumerate(model.idf)}
    rows: list[int] = []
    counts: list[int] = []
    for count_by_word in model.doc_freqs:
        rows.extend(map(row_by_word.__getitem__, count_by_word))
        counts.extend(count_by_word.values())
    n_entries_by_text = list(map(len, model.doc_freqs))
    idf = np.array(list(model.idf.values()))
    # The library does the same operations in the same order, so the same bits come out.
    lengths = np.array(model.doc_len)
    norms = model.k1 * (1 - model.b + model.b * lengths / model.avgdl)
    frequencies = np.array(counts)
    denominators = frequencies + np.repeat(norms, n_entries_by_text)
    saturated = frequencies * (model.k1 + 1) / denominators
    weights = csc_array(
        (idf[rows] * saturated, rows, _offsets(n_entries_by_text)),
        shape=(len(row_by_word), len(texts)),
    )
    return _Index(row_by_word, weights.tocsr())


def _count_words(
    queries: Sequence[str],
    row_by_word: Mapping[str, int],
) -> Any:
    """Return a sparse matrix with a row for each query and a 1 for each of its words.

    The words stand in the order of the query, and the ones of a repeated word are not added up.
    Otherwise the sums would be rounded differently.
    """
    from scipy.sparse import csr_array

    rows: list[int] = []
    n_entries_by_query: list[int] = []
    for query in queries:
        known = [word for word in query.split(" ") if word in row_by_word]
        rows.extend(map(row_by_word.__getitem__, known))
        n_entries_by_query.append(len(known))
    ones = np.ones(len(rows))
    return csr_array(
        (ones, rows, _offsets(n_entries_by_query)),
        shape=(len(queries), len(row_by_word)),
    )


def _offsets(lengths: Sequence[int]) -> npt.NDArray[np.int32]:
    """Return where each row or column of a sparse matrix begins, and the end of the last."""
    return np.cumsum([0, *lengths], dtype=np.int32)
