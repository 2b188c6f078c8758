"""Embeddings from an OpenAI-compatible address: many texts, several requests at a time."""

import json
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, FiniteFloat

from fin_tasks.endpoints.address import (
    Secrets,
    check_address,
    request_headers,
    shown_address,
)
from fin_tasks.errors import EndpointError, WebError
from fin_tasks.settings import Settings
from fin_tasks.web import Limits, Request, Web

_TEXTS = 32  # in a request, as many as most servers take
_LIMITS = Limits(seconds=120.0, n_bytes=32 << 20, retries=5)
"""32 vectors of 8,192 numbers have less than 32 MB."""


class _Embedding(BaseModel):
    index: int
    embedding: list[FiniteFloat]


class _Reply(BaseModel):
    data: list[_Embedding]


def embed(
    model: str,
    base_url: str,
    texts: Sequence[str],
    settings: Settings,
) -> npt.NDArray[np.float64]:
    """Return one row per text, not scaled; raise EndpointError if replies cannot be used."""
    check_address(base_url)
    key = settings.api_keys.get("OPENAI_API_KEY", "")
    url = f"{base_url.rstrip('/')}/embeddings"
    rows: list[list[float]] = []
    try:
        with Web(at_once=8) as web:
            futures = []
            for start in range(0, len(texts), _TEXTS):
                # Plain numbers are asked for, because not every server knows a packed form.
                content = {
                    "model": model,
                    "input": list(texts[start : start + _TEXTS]),
                    "encoding_format": "float",
                }
                body = json.dumps(content).encode()
                request = Request(url=url, headers=request_headers(key), content=body)
                futures.append(web.send(request, _LIMITS))
            for future in futures:
                rows += _vectors(future.result(), min(_TEXTS, len(texts) - len(rows)))
        return np.array(rows, dtype=np.float64)
    except (WebError, ValueError) as error:
        problem = Secrets(key, [base_url]).shown_problem(error)
        raise EndpointError(
            f"{model} at {shown_address(base_url)}: expected one vector per text, got {problem}. "
            "Does this address serve embeddings?"
        ) from None  # the cause may show a secret


def _vectors(body: bytes, n_texts: int) -> list[list[float]]:
    embeddings = _Reply.model_validate_json(body).data
    embeddings.sort(key=lambda item: item.index)
    if [item.index for item in embeddings] != list(range(n_texts)):
        raise ValueError(f"{len(embeddings)} vectors for {n_texts} texts")
    return [item.embedding for item in embeddings]
