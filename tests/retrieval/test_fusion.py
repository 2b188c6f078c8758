"""Reciprocal rank fusion."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.errors import ConfigError
from fin_tasks.retrieval.bm25 import Bm25Index
from fin_tasks.retrieval.fusion import HybridIndex, reciprocal_ranks
from fin_tasks.retrieval.ranking import best
from fin_tasks.retrieval.retriever import Retriever, texts_sha256

SCORES = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), max_size=10).map(lambda v: np.array(v, dtype=float))


class Fixed:
    """A retriever that scores every query alike."""

    name = "fixed"

    def __init__(self, texts: Sequence[str], vector: Sequence[float], *, absent: float | None = None) -> None:
        self.facts: Mapping[str, Any] = {"retriever": self.name, "texts_sha256": texts_sha256(texts)}
        self.absent = absent
        self._vector = np.array(vector)

    def scores(self, queries: Sequence[str]) -> Iterator[np.ndarray]:
        return (self._vector for _ in queries)


@given(SCORES, st.sampled_from([None, 0.0]))
def test_gains_by_hand(scores: np.ndarray, absent: float | None) -> None:
    there = [score for score in scores if score != absent]
    expected = [
        0.0 if score == absent else 1 / (60 + 1 + sum(other > score for other in there)) for score in scores.tolist()
    ]
    assert reciprocal_ranks(scores, absent=absent).tolist() == expected


def test_both_members_count() -> None:
    texts = ["bond yield", "stock price", "put option", "call option"]
    dense = Fixed(texts, [0.1, -0.5, 0.9, 0.9])
    hybrid: Retriever = HybridIndex([Bm25Index(texts, tokeniser="english"), dense])
    stock, unknown = hybrid.scores(["stock", "unknown"])
    # first by words and last by likeness; the two options share the best rank of the embeddings
    assert stock.tolist() == pytest.approx([1 / 63, 1 / 61 + 1 / 64, 1 / 61, 1 / 61])
    assert unknown.tolist() == pytest.approx([1 / 63, 1 / 64, 1 / 61, 1 / 61])
    assert [hit.index for hit in best(stock, top_k=2, ties="paper", absent=hybrid.absent)] == [1, 2, 3]


def test_a_text_that_no_member_has_is_absent() -> None:
    texts = ["bond", "stock", "rate"]
    hybrid = HybridIndex([Bm25Index(texts, tokeniser="english"), Fixed(texts, [0.0, 0.0, 2.0], absent=0.0)])
    scores = next(hybrid.scores(["bond"]))
    assert [hit.index for hit in best(scores, top_k=3, absent=hybrid.absent)] == [0, 2]


def test_equal_texts_gain_equally() -> None:
    texts = ["bond", "rate", "bond", "stock", "swap"]
    scores = next(
        HybridIndex([Bm25Index(texts, tokeniser="english"), Fixed(texts, [0.3, 0.2, 0.3, 0.9, 0.0])]).scores(["bond"])
    )
    assert scores[0] == scores[2]


def test_facts_hold_those_of_the_members() -> None:
    texts = ["bond", "stock"]
    sparse, dense = Bm25Index(texts), Fixed(texts, [0.0, 1.0])
    facts = HybridIndex([sparse, dense]).facts
    assert facts["members"] == [sparse.facts, dense.facts]
    assert (facts["retriever"], facts["constant"], facts["texts_sha256"]) == ("hybrid", 60, texts_sha256(texts))
    assert json.loads(json.dumps(facts)) == facts


def test_members_have_one_collection() -> None:
    with pytest.raises(ConfigError, match="expected members over one collection"):
        HybridIndex([Bm25Index(["bond"]), Fixed(["stock"], [1.0])])
