"""BM25 beside the library that defines it."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from fin_tasks.errors import ConfigError, DataError
from fin_tasks.retrieval import bm25
from fin_tasks.retrieval.bm25 import Bm25Index
from fin_tasks.retrieval.ranking import best
from fin_tasks.retrieval.retriever import texts_sha256

# Few words, so that texts repeat them, share them, tie, and are equal; `z` stands in no text.
TEXT = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=6).map(" ".join)
COLLECTION = st.lists(TEXT, min_size=1, max_size=12).filter(any)
QUERIES = st.lists(st.lists(st.sampled_from(["a", "b", "c", "d", "z"]), max_size=8).map(" ".join), max_size=6)


def of_the_library(texts: list[str], queries: list[str]) -> list[np.ndarray]:
    model = BM25Okapi([text.split() for text in texts])
    return [model.get_scores(query.split()) for query in queries]


def alike(texts: list[str], queries: list[str]) -> bool:
    """Whether all scores have the same bits on both sides."""
    ours, theirs = list(Bm25Index(texts).scores(queries)), of_the_library(texts, queries)
    return all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))


@given(COLLECTION, QUERIES)
@settings(max_examples=400)
def test_scores_are_the_library_s_bit_for_bit(texts: list[str], queries: list[str]) -> None:
    assert alike(texts, queries)


@given(COLLECTION, QUERIES, st.integers(1, 5))
@settings(max_examples=200)
def test_top_texts_and_ties_are_the_library_s(texts: list[str], queries: list[str], k: int) -> None:
    index = Bm25Index(texts)
    for ours, theirs in zip(index.scores(queries), of_the_library(texts, queries), strict=True):
        threshold = sorted(theirs, reverse=True)[min(k, len(texts)) - 1]
        kept = {place for place, score in enumerate(theirs) if score >= threshold}
        assert {hit.index for hit in best(ours, top_k=k, ties="paper", absent=index.absent)} == kept


def zipf_texts(rng: np.random.Generator, n: int, length: int, words: int = 800) -> list[str]:
    chances = 1 / np.arange(1, words + 1)
    chances /= chances.sum()
    return [" ".join(f"w{word}" for word in rng.choice(words, size=length, p=chances)) for _ in range(n)]


def test_long_queries_add_up_in_the_library_s_order() -> None:
    # Dozens of weights of all sizes: added in another order, or repeated words at once, the last bits would differ.
    rng = np.random.default_rng(5)
    texts = zipf_texts(rng, 300, 120)
    texts += texts[:20]
    assert alike(texts, zipf_texts(rng, 60, 50))


def test_blocks_of_queries_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    texts, queries = zipf_texts(rng, 30, 20), zipf_texts(rng, 25, 8)
    whole = np.array(list(Bm25Index(texts).scores(queries)))
    for cells in (1, 7 * len(texts)):
        monkeypatch.setattr(bm25, "_CELLS_AT_ONCE", cells)
        assert np.array_equal(np.array(list(Bm25Index(texts).scores(queries))), whole)


def test_odd_queries_and_texts() -> None:
    texts = ["bond", "", "stock stock", "call put", "rate"]
    queries = ["", "   ", "unknown words", "stock", "stock stock", "stock unknown call"]
    assert alike(texts, queries)
    empty, blank, unknown, once, twice, _ = Bm25Index(texts).scores(queries)
    assert not np.concatenate([empty, blank, unknown]).any()
    assert np.array_equal(twice, 2 * once) and once[2] > 0
    assert list(Bm25Index(texts).scores([])) == []
    assert alike(["only one text"], queries)


@pytest.mark.parametrize("texts", [[], [""], ["", " \n"]])
def test_collections_without_a_word(texts: list[str]) -> None:
    with pytest.raises(DataError, match=f"got {len(texts)} texts"):
        Bm25Index(texts)


def test_the_english_tokeniser_is_a_choice() -> None:
    texts = ["Bonds pay coupons.", "A stock is a share.", "Options expire."]
    query = "What does a bond pay?"
    plain, stemmed = (next(Bm25Index(texts, tokeniser=name).scores([query])) for name in ("whitespace", "english"))
    model = BM25Okapi([["bond", "pay", "coupon"], ["stock", "share"], ["option", "expir"]])
    assert np.array_equal(stemmed, model.get_scores(["bond", "pay"]))
    assert not np.array_equal(plain, stemmed)
    with pytest.raises(ConfigError, match="expected one of whitespace, english, got 'German'"):
        Bm25Index(texts, tokeniser="German")


def test_facts_say_what_decides_the_scores() -> None:
    texts = ["bond", "stöck"]
    facts = Bm25Index(texts).facts
    assert json.loads(json.dumps(facts)) == facts
    assert (facts["k1"], facts["b"], facts["epsilon"], facts["tokeniser"]) == (1.5, 0.75, 0.25, {"name": "whitespace"})
    assert facts["texts_sha256"] == texts_sha256(texts) != texts_sha256(texts[::-1])
    assert facts != Bm25Index(texts, tokeniser="english").facts
    assert texts_sha256(["a b"]) != texts_sha256(["a", "b"])
