"""Embeddings from an address, against a real server on the loopback interface."""

import base64
import logging
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embedding_server import DIMENSION, EmbeddingServer, Fault, vector_of

from fin_tasks.endpoints.client import Endpoint
from fin_tasks.endpoints.embeddings import Limits, RefusedTextError, embed
from fin_tasks.errors import EndpointError
from fin_tasks.retrieval.search import retrieve
from fin_tasks.settings import Settings

TEXTS = [f"term {i}" for i in range(23)]
KEY = "sk-loopback-0123456789"


@pytest.fixture(autouse=True)
def _no_proxy(no_proxy: None) -> None:
    """Servers of these tests are on the loopback interface."""


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as running:
        yield running


@pytest.fixture
def settings(server: EmbeddingServer, tmp_path: Path) -> Settings:
    return Settings.from_environ(
        {
            "FIN_TASKS_CACHE": str(tmp_path / "cache"),
            "FIN_TASKS_EMBEDDINGS_BASE_URL": server.url,
            "OPENAI_API_KEY": KEY,
        }
    )


@pytest.fixture
def endpoint(server: EmbeddingServer) -> Endpoint:
    return Endpoint(base_url=server.url, model="toy", retries=1)


def _expected(texts: Sequence[str]) -> np.ndarray:
    return np.array([vector_of(text) for text in texts])


def test_every_text_gets_its_own_vector(server: EmbeddingServer, settings: Settings, endpoint: Endpoint) -> None:
    seen: list[int] = []
    found = embed(
        endpoint, TEXTS, settings, limits=Limits(texts=5, requests=3), on_batch=lambda some, _: seen.extend(some)
    )
    assert np.array_equal(found, _expected(TEXTS))
    assert sorted(map(len, (asked.texts for asked in server.asked))) == [3, 5, 5, 5, 5]
    assert sorted(seen) == list(range(23))
    assert {asked.authorization for asked in server.asked} == {f"Bearer {KEY}"}
    assert {asked.body["model"] for asked in server.asked} == {"toy"}


def test_characters_limit_a_request_but_one_long_text_still_goes(
    server: EmbeddingServer, settings: Settings, endpoint: Endpoint
) -> None:
    texts = ["a" * 6, "b" * 4, "c", "d" * 30, "e"]
    found = embed(endpoint, texts, settings, limits=Limits(characters=10, requests=1))
    assert np.array_equal(found, _expected(texts))
    assert [asked.texts for asked in server.asked] == [texts[:2], [texts[2]], [texts[3]], [texts[4]]]


def test_the_index_decides_and_not_the_order(server: EmbeddingServer, settings: Settings, endpoint: Endpoint) -> None:
    server.faults.append(Fault(change=lambda data: data[::-1]))
    assert np.array_equal(embed(endpoint, TEXTS, settings), _expected(TEXTS))


def test_waits_as_long_as_the_server_asks(server: EmbeddingServer, settings: Settings, endpoint: Endpoint) -> None:
    server.faults.append(Fault(status=429, headers={"Retry-After": "1"}))
    assert np.array_equal(embed(endpoint, TEXTS, settings), _expected(TEXTS))
    first, second = server.asked
    # without the header the pause before a second attempt is half a second at most
    assert second.at - first.at >= 0.99


def test_a_server_that_fails_once_is_asked_again(
    server: EmbeddingServer, settings: Settings, endpoint: Endpoint
) -> None:
    server.faults.append(Fault(status=503))
    assert np.array_equal(embed(endpoint, TEXTS, settings), _expected(TEXTS))
    assert len(server.asked) == 2


def test_a_server_that_keeps_failing_is_an_error(
    server: EmbeddingServer, settings: Settings, endpoint: Endpoint
) -> None:
    server.faults.extend([Fault(status=500)] * 2)
    with pytest.raises(EndpointError, match=r"toy at http://127.*got status 500"):
        embed(endpoint, TEXTS, settings)
    assert len(server.asked) == 2


def _packed(numbers: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


def test_embeddings_in_base64_are_read(server: EmbeddingServer, settings: Settings, endpoint: Endpoint) -> None:
    change = lambda data: [{**item, "embedding": _packed(item["embedding"])} for item in data]  # noqa: E731
    server.faults.append(Fault(change=change))
    assert np.array_equal(embed(endpoint, TEXTS, settings), _expected(TEXTS))
    assert server.asked[0].body["encoding_format"] == "float"


def _with_first(value: Any) -> Callable[[list[dict[str, Any]]], Any]:
    return lambda data: [{**data[0], "embedding": value}, *data[1:]]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda data: data[:-1], "expected 23 embeddings for 23 texts, got 22"),
        (lambda data: [*data, data[0]], "expected 23 embeddings for 23 texts, got 24"),
        (lambda data: None, "expected a list of 23 embeddings"),
        (lambda data: [{**item, "index": 0} for item in data], "expected the indices 0 to 22, each once"),
        (lambda data: [{"embedding": item["embedding"]} for item in data], "expected the indices 0 to 22, each once"),
        (_with_first([float("nan")] * DIMENSION), "NaN or infinity in embedding 0 of 23"),
        (_with_first([float("inf")] * DIMENSION), "NaN or infinity in embedding 0 of 23"),
        (_with_first([None] * DIMENSION), "NaN or infinity in embedding 0 of 23"),
        (_with_first([1.0] * (DIMENSION + 1)), "expected as many numbers for each text, got from 8 to 9"),
        (_with_first("AAAA"), "expected a list of numbers per text, got base64 of 3 bytes, which are no 32-bit"),
        (_with_first(""), "expected a list of numbers per text, got base64 of 0 bytes"),
        (_with_first("no numbers!"), "expected a list of numbers per text, got a text of 11 characters"),
        (_with_first(_packed([float("nan")] * DIMENSION)), "NaN or infinity in embedding 0 of 23"),
        (_with_first(_packed([1.0] * (DIMENSION + 1))), "expected as many numbers for each text, got from 8 to 9"),
        (_with_first([[1.0]] * DIMENSION), r"expected a list of numbers per text, got a list with \[1.0\]"),
        (_with_first(["1.0"] * DIMENSION), "expected a list of numbers per text, got a list with '1.0'"),
        (_with_first([10**400] * DIMENSION), "toy at http:"),
        (_with_first({"float": [1.0]}), "expected a list of numbers per text, got dict"),
        (
            lambda data: [{**item, "embedding": []} for item in data],
            r"expected a list of numbers per text, got list: \[",
        ),
    ],
)
def test_a_reply_that_cannot_be_used_says_why(
    server: EmbeddingServer, settings: Settings, endpoint: Endpoint, change: Any, told: str
) -> None:
    server.faults.append(Fault(change=change))
    with pytest.raises(EndpointError, match=told):
        embed(endpoint, TEXTS, settings)


@pytest.mark.parametrize(
    ("body", "kind"), [(b"<html>hello</html>", "text/html"), (b"not JSON", "application/json"), (b"[]", "text/plain")]
)
def test_a_reply_that_is_no_embedding_at_all(
    server: EmbeddingServer, settings: Settings, endpoint: Endpoint, body: bytes, kind: str
) -> None:
    server.faults.append(Fault(body=body, headers={"Content-Type": kind}))
    with pytest.raises(EndpointError, match="toy at http://127"):
        embed(endpoint, TEXTS, settings)


def test_batches_of_different_dimensions_are_refused(
    server: EmbeddingServer, settings: Settings, endpoint: Endpoint
) -> None:
    server.faults.append(Fault(change=lambda data: [{**item, "embedding": [1.0, 2.0]} for item in data]))
    with pytest.raises(EndpointError, match="expected 2 numbers per embedding, as before, got 8"):
        embed(endpoint, TEXTS, settings, limits=Limits(texts=20, requests=1))


def test_a_text_that_is_too_long_is_named(server: EmbeddingServer, settings: Settings, endpoint: Endpoint) -> None:
    server.longest = 20
    texts = [*TEXTS[:13], "far too long a definition", *TEXTS[13:]]
    with pytest.raises(
        RefusedTextError, match=r"text 13: .*refused \(25 characters, beginning 'far too long"
    ) as caught:
        embed(endpoint, texts, settings)
    assert caught.value.position == 13
    assert "maximum context length" in str(caught.value)


def test_a_server_that_takes_fewer_texts_gets_fewer(
    server: EmbeddingServer, settings: Settings, endpoint: Endpoint
) -> None:
    server.most = 4
    assert np.array_equal(embed(endpoint, TEXTS, settings), _expected(TEXTS))


def test_what_came_before_a_failure_is_handed_on(
    server: EmbeddingServer, settings: Settings, endpoint: Endpoint
) -> None:
    server.longest = 7
    seen: list[int] = []
    with pytest.raises(RefusedTextError):
        embed(
            endpoint,
            [*TEXTS, "very long"],
            settings,
            limits=Limits(texts=12, requests=1),
            on_batch=lambda some, _: seen.extend(some),
        )
    assert seen == list(range(12))


def test_what_is_under_way_when_another_fails_is_handed_on(
    server: EmbeddingServer, settings: Settings, endpoint: Endpoint
) -> None:
    server.faults.extend([Fault(hold=lambda: time.sleep(0.5)), Fault(status=400)])
    seen: list[int] = []
    with pytest.raises(RefusedTextError) as caught:
        embed(
            endpoint,
            ["one", "two"],
            settings,
            limits=Limits(texts=1, requests=2),
            on_batch=lambda some, _: seen.extend(some),
        )
    assert seen == [1 - caught.value.position]


def test_nothing_more_is_asked_once_a_batch_was_of_no_use(
    server: EmbeddingServer, settings: Settings, endpoint: Endpoint
) -> None:
    def refuse(positions: Sequence[int], rows: np.ndarray) -> None:
        raise EndpointError("of no use")

    with pytest.raises(EndpointError, match="of no use"):
        embed(endpoint, TEXTS, settings, limits=Limits(texts=1, requests=1), on_batch=refuse)
    assert len(server.asked) < 12


def test_a_key_the_server_refuses_stays_out_of_the_message(
    server: EmbeddingServer, settings: Settings, endpoint: Endpoint
) -> None:
    body = f'{{"error": {{"message": "bad key {KEY}"}}}}'.encode()
    server.faults.append(Fault(status=401, body=body))
    with pytest.raises(EndpointError, match="OPENAI_API_KEY is refused") as caught:
        embed(endpoint, TEXTS, settings)
    assert KEY not in str(caught.value)


def test_retrieval_asks_once_and_stores_no_key(
    server: EmbeddingServer, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        found = retrieve(TEXTS, ["term 4"], method="dense", top_k=1, encoder="endpoint:toy", settings=settings)
    assert found[0][0] == (4, pytest.approx(1.0))
    assert sorted(server.texts) == sorted([*TEXTS, "term 4"])
    server.asked.clear()
    assert retrieve(TEXTS, ["term 4"], method="dense", top_k=1, encoder="endpoint:toy", settings=settings) == found
    assert server.asked == []
    assert KEY not in caplog.text
    assert not [path for path in settings.cache_dir.rglob("*.*") if KEY.encode() in path.read_bytes()]
