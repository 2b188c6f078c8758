"""Embeddings from an address on the loopback interface."""

from typing import Any

import numpy as np
import pytest
from chat_server import Answer, serve

from fin_tasks.errors import EndpointError
from fin_tasks.retrieval.dense import embed_texts
from fin_tasks.retrieval.search import dense_scores
from fin_tasks.settings import Settings

TEXTS = [f"term {'x' * i}" for i in range(600)]
KEY = "sk-loopback-0123456789"


def vectors(body: dict[str, Any]) -> Answer:
    if len(body["input"]) > 32:  # the usual limit of a server
        return 413, {}, {"error": {"message": "too many"}}
    data = [
        {"object": "embedding", "index": i, "embedding": [len(t), 1.0]}
        for i, t in enumerate(body["input"])
    ]
    return 200, {}, {"object": "list", "model": "m", "data": data[::-1]}


def embed(url: str, texts: list[str], settings: Settings) -> Any:
    return embed_texts(
        texts, "endpoint:m", settings.model_copy(update={"embeddings": url})
    )


def test_every_text_gets_its_own_vector(settings: Settings) -> None:
    with serve(vectors) as served:
        found = embed(served.base_url, TEXTS, settings)
    assert found.tolist() == [[len(text), 1.0] for text in TEXTS]
    assert embed("http://127.0.0.1:1/v1", [], settings).size == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[1:],
        lambda data: [{**one, "index": 0} for one in data],
        lambda data: [{**data[0], "embedding": [1.0]}, *data[1:]],
        lambda data: [{**one, "embedding": [None, 1.0]} for one in data],
        lambda data: None,
    ],
)
def test_replies_that_cannot_be_used(settings: Settings, change: Any) -> None:
    def answer(body: dict[str, Any]) -> Answer:
        status, headers, reply = vectors(body)
        return status, headers, {**reply, "data": change(reply["data"])}

    with serve(answer) as served, pytest.raises(EndpointError, match="expected"):
        embed(served.base_url, TEXTS[:3], settings)


def test_a_refusal_does_not_show_the_key(settings: Settings) -> None:
    refused = (401, {}, {"error": {"message": f"key {KEY}"}})
    with (
        serve(lambda _: refused) as served,
        pytest.raises(EndpointError, match="401") as error,
    ):
        embed(served.base_url, ["a"], settings)
    assert KEY not in str(error.value)


def test_dense_retrieval_uses_the_address(settings: Settings) -> None:
    with serve(vectors) as served:
        (scores,) = dense_scores(
            ["aa", "aaaa"],
            ["aaaa"],
            "endpoint:m",
            settings.model_copy(update={"embeddings": served.base_url}),
        )
    assert np.argmax(scores) == 1
    assert scores[1] == pytest.approx(1.0)
