"""BM25 scores of many queries at once, bit for bit those of `rank_bm25.BM25Okapi`."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]


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
    from rank_bm25 import BM25Okapi
    from scipy.sparse import csr_array

    model = BM25Okapi([text.split(" ") for text in texts])
    row_by_word = {word: row for row, word in enumerate(model.idf)}
    rows: list[int] = []
    columns = []
    counts = []
    for column, count_by_word in enumerate(model.doc_freqs):
        rows.extend(map(row_by_word.__getitem__, count_by_word))
        columns.extend([column] * len(count_by_word))
        counts.extend(count_by_word.values())
    # The library does the same operations in the same order, so the same bits come out.
    lengths = np.array(model.doc_len)[columns]
    norms = model.k1 * (1 - model.b + model.b * lengths / model.avgdl)
    frequencies = np.array(counts)
    saturated = frequencies * (model.k1 + 1) / (frequencies + norms)
    idf = np.array(list(model.idf.values()))[rows]
    weights = csr_array(
        (idf * saturated, (rows, columns)), shape=(len(model.idf), len(texts))
    )
    for query in queries:
        query_rows = [
            row_by_word[word] for word in query.split(" ") if word in row_by_word
        ]
        # Sums up the rows in the order of the words, as the library does.
        yield np.ones(len(query_rows)) @ weights[query_rows]
