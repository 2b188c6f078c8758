"""Which texts a question gets, ties included."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.errors import ConfigError
from fin_tasks.retrieval.ranking import Hit, best, order

# Few values, so that most collections have ties; 0 says nothing in common.
SCORES = st.lists(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0]), max_size=12).map(lambda v: np.array(v, dtype=float))
ABSENT = st.sampled_from([None, 0.0])


def by_hand(scores: np.ndarray, absent: float | None) -> list[int]:
    there = [(-score, index) for index, score in enumerate(scores.tolist()) if score != absent]
    return [index for _, index in sorted(there)]


@given(SCORES, ABSENT)
def test_order_is_by_score_and_then_by_place(scores: np.ndarray, absent: float | None) -> None:
    assert order(scores, absent=absent) == by_hand(scores, absent)


@given(SCORES, ABSENT, st.integers(1, 6))
def test_strict_is_the_head_of_the_order(scores: np.ndarray, absent: float | None, k: int) -> None:
    hits = best(scores, top_k=k, ties="strict", absent=absent)
    assert [hit.index for hit in hits] == by_hand(scores, absent)[:k]
    assert [hit.score for hit in hits] == [scores[hit.index] for hit in hits]


@given(SCORES, ABSENT, st.integers(1, 6))
def test_paper_keeps_what_scores_as_much_as_the_last(scores: np.ndarray, absent: float | None, k: int) -> None:
    ranked = by_hand(scores, absent)
    last = scores[ranked[min(k, len(ranked)) - 1]] if ranked else 0.0
    found = [hit.index for hit in best(scores, top_k=k, ties="paper", absent=absent)]
    assert found == [index for index in ranked if scores[index] >= last]


def test_nothing_in_common_is_not_found() -> None:
    scores = np.array([0.0, 0.4, 0.0, -0.0])
    assert best(scores, top_k=3, ties="paper", absent=0.0) == [Hit(1, 0.4)]
    assert best(np.zeros(4), top_k=3, ties="strict", absent=0.0) == []
    # likenesses of embeddings may be 0 or below
    assert [hit.index for hit in best(np.array([-0.2, 0.0, -0.1]), top_k=2, ties="strict")] == [1, 2]


def test_hits_hold_plain_numbers() -> None:
    (hit,) = best(np.array([0.5]), top_k=3)
    assert (type(hit.index), type(hit.score)) == (int, float)
    assert all(type(index) is int for index in order(np.array([0.5, 1.0])))


def test_the_default_is_the_paper_s_rule() -> None:
    assert len(best(np.ones(5), top_k=3)) == 5


@pytest.mark.parametrize("top_k", [0, -1, 2.0, "3", True, None])
def test_top_k_is_a_whole_number(top_k: Any) -> None:
    with pytest.raises(ConfigError, match=f"top_k: expected a whole number of 1 or more, got {top_k!r}"):
        best(np.ones(2), top_k=top_k)


def test_unknown_rule_for_ties() -> None:
    with pytest.raises(ConfigError, match="ties: expected one of paper, strict, got 'random'"):
        best(np.ones(2), top_k=1, ties="random")
