"""Measures of a ranking, beside scikit-learn and plain counting."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from fin_tasks.retrieval.measures import accuracy, ndcg_at_k, recall_at_k, reciprocal_rank

RANKED = st.permutations(list(range(8)))
GOLD = st.sets(st.integers(0, 7), min_size=1)
K = st.integers(1, 10)


@given(RANKED, GOLD, K)
def test_ndcg_is_scikit_learn_s(ranked: list[int], gold: set[int], k: int) -> None:
    truth = np.array([[float(item in gold) for item in ranked]])
    falling = np.array([np.arange(len(ranked), 0.0, -1.0)])
    assert ndcg_at_k(ranked, gold, k=k) == pytest.approx(ndcg_score(truth, falling, k=k))


@given(RANKED, GOLD, K)
def test_recall_and_accuracy_by_counting(ranked: list[int], gold: set[int], k: int) -> None:
    hits = sum(item in gold for item in ranked[:k])
    assert recall_at_k(ranked, gold, k=k) == hits / len(gold)
    assert accuracy(ranked[:k], gold) == float(hits > 0)


@given(RANKED, GOLD)
def test_reciprocal_rank_is_that_of_the_best(ranked: list[int], gold: set[int]) -> None:
    assert reciprocal_rank(ranked, gold) == 1 / (1 + min(ranked.index(item) for item in gold))


def test_gold_that_was_not_found() -> None:
    found = ["t1", "t2"]
    assert accuracy(found, ["t9"]) == reciprocal_rank(found, ["t9"]) == 0.0
    assert recall_at_k(found, ["t9"], k=3) == ndcg_at_k(found, ["t9"], k=3) == 0.0
    assert accuracy([], ["t9"]) == ndcg_at_k([], ["t9"], k=3) == 0.0
    # half of them found, at the first place: 1 / (1 + 1/log2(3))
    assert recall_at_k(found, ["t1", "t9"], k=3) == 0.5
    assert ndcg_at_k(found, ["t1", "t9"], k=3) == pytest.approx(0.613147, abs=1e-6)


def test_more_than_k_under_ties() -> None:
    found = ["t1", "t2", "t3", "t4"]
    assert accuracy(found, ["t4"]) == 1.0
    assert recall_at_k(found, ["t4"], k=3) == ndcg_at_k(found, ["t4"], k=3) == 0.0
    assert reciprocal_rank(found, ["t4"]) == 0.25


def test_gold_named_twice_counts_once() -> None:
    assert recall_at_k(["t1"], ["t1", "t1"], k=1) == ndcg_at_k(["t1"], ["t1", "t1"], k=3) == 1.0


@pytest.mark.parametrize(
    "measure",
    [
        accuracy,
        reciprocal_rank,
        lambda found, gold: recall_at_k(found, gold, k=3),
        lambda found, gold: ndcg_at_k(found, gold, k=3),
    ],
)
def test_without_gold_there_is_nothing_to_measure(measure: Callable[[Any, Any], float]) -> None:
    with pytest.raises(ValueError, match="at least one gold text"):
        measure(["t1"], [])


@pytest.mark.parametrize("measure", [recall_at_k, ndcg_at_k])
def test_k_is_at_least_one(measure: Callable[..., float]) -> None:
    with pytest.raises(ValueError, match="k: expected 1 or more, got 0"):
        measure(["t1"], ["t1"], k=0)
