"""Dense retrieval with a toy encoder, against a plain computation."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from fin_tasks.errors import DataError
from fin_tasks.retrieval.dense import DenseIndex
from fin_tasks.retrieval.encoding import Batch
from fin_tasks.retrieval.ranking import best
from fin_tasks.retrieval.retriever import texts_sha256
from fin_tasks.retrieval.vectors import Role
from fin_tasks.settings import Settings

ALPHABET = "abcdefg"


class Letters:
    """Counts letters, three texts at a time and the last one first; reads ten characters of a text."""

    name = "letters"
    identity = "1e77e5" * 8

    def __init__(self, killed_after: int | None = None) -> None:
        self.facts = {"name": self.name}
        self.asked: list[tuple[Role, str]] = []
        self._killed_after = killed_after

    def encode(
        self, texts: Sequence[str], on_done: Callable[[Batch], None] | None = None, *, role: Role = "text"
    ) -> np.ndarray:
        rows = np.array([_unit(text) for text in texts], dtype=np.float32)
        order = list(range(len(texts)))[::-1]
        for start in range(0, len(order), 3):
            if self._killed_after is not None and start >= self._killed_after:
                raise KeyboardInterrupt
            some = order[start : start + 3]
            self.asked.extend((role, texts[i]) for i in some)
            if on_done is not None:
                on_done(Batch(some, rows[some], [len(texts[i]) > 10 for i in some]))
        return rows


def _unit(text: str) -> list[float]:
    counts = [1.0 + text[:10].count(letter) for letter in ALPHABET]
    length = math.sqrt(sum(count * count for count in counts))
    return [count / length for count in counts]


def _cosine(one: str, other: str) -> float:
    return sum(a * b for a, b in zip(_unit(one), _unit(other), strict=True))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.from_environ({"FIN_TASKS_CACHE": str(tmp_path)})


def test_scores_are_cosines(settings: Settings) -> None:
    texts, queries = ["aab", "bcd", "gfe", "aab"], ["ab", "fg", "ab", ""]
    index = DenseIndex(texts, Letters(), settings)
    scores = list(index.scores(queries))
    assert [row.dtype for row in scores] == [np.float64] * 4
    np.testing.assert_allclose(scores, [[_cosine(q, t) for t in texts] for q in queries], atol=1e-6)


_texts = st.lists(st.text(ALPHABET, max_size=9), min_size=1, max_size=20)


# each example writes a file, which takes as long as the disk is busy
@hypothesis_settings(deadline=None, max_examples=60)
@given(texts=_texts, queries=_texts, top_k=st.integers(1, 5))
def test_ranks_as_a_plain_computation_does(
    texts: list[str], queries: list[str], top_k: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    settings = Settings.from_environ({"FIN_TASKS_CACHE": str(tmp_path_factory.mktemp("cache"))})
    index = DenseIndex(texts, Letters(), settings)
    for query, scores in zip(queries, index.scores(queries), strict=True):
        plain = np.array([_cosine(query, text) for text in texts])
        np.testing.assert_allclose(scores, plain, atol=1e-6)
        found = best(scores, top_k=top_k, ties="strict", absent=index.absent)
        assert len(found) == min(top_k, len(texts))
        np.testing.assert_allclose([plain[hit.index] for hit in found], np.sort(plain)[::-1][: len(found)], atol=2e-6)
        # equal texts tie exactly: whoever takes one of them by the paper's rule takes all
        taken = {texts[hit.index] for hit in best(scores, top_k=top_k, ties="paper", absent=index.absent)}
        assert {hit.index for hit in best(scores, top_k=top_k, ties="paper", absent=index.absent)} >= {
            i for i, text in enumerate(texts) if text in taken
        }


def test_equal_texts_tie_wherever_they_stand(settings: Settings) -> None:
    texts = [ALPHABET[i % 7] * (i % 5) + ALPHABET[i % 3] for i in range(403)] * 2
    for scores in DenseIndex(texts, Letters(), settings).scores([f"{letter}ab" for letter in ALPHABET]):
        assert np.array_equal(scores[:403], scores[403:])


def test_more_queries_than_a_block_holds_keep_their_order(settings: Settings) -> None:
    queries = [ALPHABET[i % 7] * (1 + i // 7 % 9) for i in range(600)]
    scores = list(DenseIndex(list(ALPHABET), Letters(), settings).scores(queries))
    assert [row.argmax() for row in scores] == [i % 7 for i in range(600)]


def test_each_different_text_is_embedded_once(settings: Settings) -> None:
    encoder, done = Letters(), list[int]()
    index = DenseIndex(["aa", "bb", "aa", "aa"], encoder, settings, on_done=done.append)
    list(index.scores(["aa", "aa", "cc"]))
    assert sorted(encoder.asked) == [("query", "aa"), ("query", "cc"), ("text", "aa"), ("text", "bb")]
    assert sum(done) == 4


def test_a_killed_run_keeps_the_batches_that_came(settings: Settings) -> None:
    texts = [f"{a}{b}" for a in ALPHABET for b in ALPHABET]
    with pytest.raises(KeyboardInterrupt):
        DenseIndex(texts, Letters(killed_after=30), settings)
    again = Letters()
    scores = next(iter(DenseIndex(texts, again, settings).scores(["ab"])))
    assert len([text for role, text in again.asked if role == "text"]) == 49 - 30
    np.testing.assert_allclose(scores, [_cosine("ab", text) for text in texts], atol=1e-6)


def test_without_a_cache_it_works_all_the_same(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").touch()
    settings = Settings.from_environ({"FIN_TASKS_CACHE": str(tmp_path / "file")})
    index = DenseIndex(["aa", "bb"], Letters(), settings)
    assert next(iter(index.scores(["bb"]))).argmax() == 1
    assert caplog.text.count("expected to keep embeddings there") == 1


def test_texts_the_encoder_cuts_are_counted_and_said_again_when_cached(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    texts = ["a" * 11, "b", "a" * 11, "c" * 12]
    for _ in range(2):
        caplog.clear()
        index = DenseIndex(texts, Letters(), settings)
        list(index.scores(["d" * 30, "e"]))
        assert index.facts["texts_cut"] == 3
        assert "letters: 3 of 4 texts are longer" in caplog.text
        assert "letters: 1 of 2 queries are longer" in caplog.text


def test_facts_tell_what_decides_the_scores(settings: Settings) -> None:
    texts = ["aa", "bb"]
    assert DenseIndex(texts, Letters(), settings).facts == {
        "retriever": "dense",
        "similarity": "cosine",
        "encoder": {"name": "letters", "dimension": 7},
        "texts": 2,
        "texts_cut": 0,
        "texts_sha256": texts_sha256(texts),
    }


def test_no_text_is_an_error_and_no_query_is_none(settings: Settings) -> None:
    with pytest.raises(DataError, match="expected at least one text"):
        DenseIndex([], Letters(), settings)
    assert list(DenseIndex(["a"], Letters(), settings).scores([])) == []
