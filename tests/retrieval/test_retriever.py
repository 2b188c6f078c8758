"""Retrievers opened by name, with an encoder that counts letters in place of a model."""

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fin_tasks.errors import ConfigError
from fin_tasks.retrieval import encoders
from fin_tasks.retrieval.bm25 import Bm25Index
from fin_tasks.retrieval.encoding import Batch
from fin_tasks.retrieval.fusion import reciprocal_ranks
from fin_tasks.retrieval.retriever import RETRIEVERS, Retriever, open_retriever, texts_sha256
from fin_tasks.settings import Settings

TEXTS = ["bond yields", "stock", "call option", "put option"]
QUERIES = ["a stock", "options to call", "zzz"]


class Letters:
    """Embeds a text as how often it has each letter."""

    facts: Mapping[str, Any] = {"encoder": "letters"}
    identity = "a1"

    def __init__(self, name: str | None) -> None:
        self.name = str(name)

    def encode(
        self, texts: Sequence[str], on_done: Callable[[Batch], None] | None = None, *, role: str = "text"
    ) -> np.ndarray:
        counts = np.array([[text.count(letter) for letter in "abcdeiklnopsty z"] for text in texts], dtype=np.float32)
        vectors = counts / np.linalg.norm(counts, axis=1, keepdims=True)
        if on_done is not None:
            on_done(Batch(range(len(texts)), vectors, [False] * len(texts)))
        return vectors


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Retriever]:
    monkeypatch.setattr(encoders, "open_encoder", lambda name, settings: Letters(name))
    settings = Settings.from_environ({"FIN_TASKS_CACHE": str(tmp_path)})
    return lambda name, **options: open_retriever(name, TEXTS, settings=settings, **options)


@pytest.mark.parametrize("name", RETRIEVERS)
def test_every_retriever_keeps_the_protocol(opened: Callable[..., Retriever], name: str) -> None:
    index = opened(name)
    assert index.name == index.facts["retriever"] == name
    assert index.facts["texts_sha256"] == texts_sha256(TEXTS)
    vectors = list(index.scores(QUERIES))
    assert [(vector.shape, vector.dtype) for vector in vectors] == [((4,), np.float64)] * 3
    assert vectors[0].argmax() == 1
    assert list(index.scores([])) == []


def test_hybrid_is_both(opened: Callable[..., Retriever]) -> None:
    sparse, dense, hybrid = (list(opened(name).scores(QUERIES)) for name in RETRIEVERS)
    for words, likeness, both in zip(sparse, dense, hybrid, strict=True):
        assert both.tolist() == (reciprocal_ranks(words) + reciprocal_ranks(likeness)).tolist()


def test_options_go_where_they_belong(opened: Callable[..., Retriever]) -> None:
    told: list[int] = []
    hybrid = opened("hybrid", tokeniser="english", encoder="letters", on_done=told.append)
    sparse, dense = hybrid.facts["members"]
    assert sparse == Bm25Index(TEXTS, tokeniser="english").facts
    assert dense["encoder"]["encoder"] == "letters"
    assert sum(told) == len(TEXTS)
    # BM25 has no use for an encoder: none is opened, however it is called
    assert opened("bm25", encoder="no such encoder").facts["tokeniser"]["name"] == "whitespace"


def test_unknown_name(opened: Callable[..., Retriever]) -> None:
    with pytest.raises(ConfigError, match="retriever: expected one of bm25, dense, hybrid, got 'tfidf'"):
        opened("tfidf")


def test_nothing_heavy_comes_with_the_import() -> None:
    code = "import sys, fin_tasks.retrieval.retriever; print(*{'scipy', 'rank_bm25', 'torch'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
