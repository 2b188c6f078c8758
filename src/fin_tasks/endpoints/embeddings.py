"""Embeddings from an OpenAI-compatible address: many texts, several requests at a time."""

import json
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ValidationError

from fin_tasks.endpoints.address import Secrets, check_address, request_headers, shown_address
from fin_tasks.errors import EndpointError, WebError, first_problem
from fin_tasks.settings import Settings

_TEXTS = 32  # in a request, as many as most servers take
_AT_ONCE = 8  # requests
_SECONDS = 120.0
_RETRIES = 5
_MAX_BYTES = 32 << 20  # 32 vectors of 8,192 numbers


class _Embedding(BaseModel):
    index: int
    embedding: list[float]


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
    try:
        rows = _ask_all(model, base_url, key, texts)
        vectors = np.array(rows, dtype=np.float64)
        if not np.isfinite(vectors).all():
            raise ValueError("NaN or infinity")
    except (WebError, ValueError) as error:
        problem = Secrets(key, [base_url]).shown_problem(error)
        raise EndpointError(
            f"{model} at {shown_address(base_url)}: expected one vector per text, got {problem}. "
            "Does this address serve embeddings?"
        ) from None  # the cause may show a secret
    return vectors


def _ask_all(
    model: str,
    base_url: str,
    key: str,
    texts: Sequence[str],
) -> list[list[float]]:
    from fin_tasks.web import Limits, Request, Web

    headers = request_headers(key)
    url = f"{base_url.rstrip('/')}/embeddings"
    limits = Limits(seconds=_SECONDS, n_bytes=_MAX_BYTES, retries=_RETRIES)
    rows: list[list[float]] = []
    with Web(verify=url.startswith("https"), at_once=_AT_ONCE) as web:
        jobs = []
        for start in range(0, len(texts), _TEXTS):
            batch = texts[start : start + _TEXTS]
            request = Request(url=url, headers=headers, content=_request(model, batch))
            jobs.append((len(batch), web.send(request, limits)))
        for n_texts, future in jobs:
            rows += _vectors(future.result(), n_texts)
    return rows


def _request(model: str, texts: Sequence[str]) -> bytes:
    # Plain numbers are asked for, because not every server knows a packed form.
    request = {"model": model, "input": list(texts), "encoding_format": "float"}
    return json.dumps(request).encode()


def _vectors(body: bytes, n_texts: int) -> list[list[float]]:
    try:
        embeddings = _Reply.model_validate_json(body).data
    except ValidationError as error:
        raise ValueError(f"no list of embeddings ({first_problem(error)})") from None
    vector_by_index = {item.index: item.embedding for item in embeddings}
    if sorted(vector_by_index) != list(range(n_texts)) or len(embeddings) != n_texts:
        raise ValueError(f"{len(embeddings)} vectors for {n_texts} texts")
    return [vector_by_index[index] for index in range(n_texts)]
