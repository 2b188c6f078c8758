"""BM25 gives the scores of `rank_bm25`, bit for bit."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from fin_tasks.retrieval.search import bm25_scores, retrieve
from fin_tasks.settings import Settings

# Few words and runs of spaces, so that texts share words, tie, and hold empty tokens and line breaks.
TEXT = st.lists(
    st.sampled_from(["bond", "Bond", "yield", "put", "", "a\nb"]), max_size=8
).map(" ".join)


@given(
    texts=st.lists(TEXT, min_size=1, max_size=12),
    queries=st.lists(TEXT, max_size=4),
    top_k=st.integers(1, 4),
)
@example(texts=["bond bond yield", "put", "put"], queries=["bond  put bond"], top_k=1)
# Texts are split at single spaces only.
@example(texts=["put option", "call\noption", "bond"], queries=["option"], top_k=3)
def test_scores_and_ranks_are_those_of_rank_bm25(
    texts: list[str], queries: list[str], top_k: int
) -> None:
    from rank_bm25 import BM25Okapi

    theirs = BM25Okapi([text.split(" ") for text in texts])
    expected = [theirs.get_scores(query.split(" ")) for query in queries]
    for scores, right in zip(bm25_scores(texts, queries), expected, strict=True):
        # The same bits, so that the same texts tie.
        assert np.array_equal(scores, right)
    found = retrieve(
        texts, queries, method="bm25", top_k=top_k, settings=Settings.from_environ({})
    )
    for hits, right in zip(found, expected, strict=True):
        last = sorted(right)[-min(top_k, len(texts))]
        indexes = [hit.text_index for hit in hits]
        assert (
            sorted(indexes) == np.flatnonzero((right >= last) & (right != 0)).tolist()
        )
        assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.text_index))
