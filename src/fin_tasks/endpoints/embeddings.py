"""Embeddings from an OpenAI-compatible address: many texts, several requests at a time."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, FiniteFloat

from fin_tasks.settings import Settings

from .chat import Chat, encoded
from .threads import map_in_threads

_TEXTS = 32  # in a request, as many as most servers take


class _Embedding(BaseModel):
    index: int
    embedding: list[FiniteFloat]


class _Reply(BaseModel):
    data: list[_Embedding]


def embed(
    model: str, base_url: str, texts: Sequence[str], settings: Settings
) -> npt.NDArray[np.float64]:
    """Return one row per text, not scaled; raise EndpointError if replies cannot be used."""

    def vectors_from(start: int) -> list[list[float]]:
        batch = list(texts[start : start + _TEXTS])
        # Plain numbers are asked for, because not every server knows a packed form.
        request = {"model": model, "input": batch, "encoding_format": "float"}
        # 32 vectors of 8,192 numbers have less than 32 MB.
        reply = chat.fetch("embeddings", encoded(request), n_bytes=32 << 20)
        embeddings = _Reply.model_validate_json(reply).data
        embeddings.sort(key=lambda item: item.index)
        if [item.index for item in embeddings] != list(range(len(batch))):
            raise ValueError(f"{len(embeddings)} vectors for {len(batch)} texts")
        return [item.embedding for item in embeddings]

    with Chat(model, [base_url], settings) as chat:
        starts = range(0, len(texts), _TEXTS)
        try:
            rows = map_in_threads(vectors_from, starts, n_threads=8, title="Embedding")
            return np.array(list(chain.from_iterable(rows)), dtype=np.float64)
        except ValueError as error:
            raise chat.error(base_url, error) from None  # the cause may show a secret
