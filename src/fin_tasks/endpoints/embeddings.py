"""Embeddings from an OpenAI-compatible address: many texts, several requests at a time."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from fin_tasks.endpoints.chat import check_address
from fin_tasks.errors import EndpointError
from fin_tasks.settings import Settings

_TEXTS, _REQUESTS = (
    32,
    8,
)  # texts in a request, as many as most servers take; requests at the same time


def embed(
    model: str, base_url: str, texts: Sequence[str], settings: Settings
) -> npt.NDArray[np.float64]:
    """Return one row per text, not scaled; raise EndpointError if the server's replies cannot be used."""
    import openai

    check_address(base_url)
    key = settings.api_keys.get("OPENAI_API_KEY") or "none"
    batches = [list(texts[start : start + _TEXTS]) for start in range(0, len(texts), _TEXTS)]
    with (
        openai.DefaultHttpxClient(follow_redirects=False) as http,
        openai.OpenAI(
            base_url=base_url, api_key=key, max_retries=5, timeout=120.0, http_client=http
        ) as client,
        ThreadPoolExecutor(_REQUESTS, "fin-tasks-embed") as pool,
    ):
        try:
            replies = pool.map(lambda batch: _ask(client, model, batch), batches)
            vectors = np.array([row for rows in replies for row in rows], dtype=np.float64)
        except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
            pool.shutdown(wait=False, cancel_futures=True)
            said = " ".join(str(error.__cause__ or error).split())[:300]
            raise EndpointError(
                f"{model} at {base_url}: expected one vector per text, got {type(error).__name__} "
                f"({said if key == 'none' else said.replace(key, '[key]')}). Does this address serve embeddings?"
            ) from None
    if not np.isfinite(vectors).all():
        raise EndpointError(f"{model} at {base_url}: expected finite numbers, got NaN or infinity.")
    return vectors


def _ask(client: Any, model: str, batch: list[str]) -> list[list[float]]:
    # plain numbers, because not every server knows the packed form that the SDK asks for
    reply = client.embeddings.create(model=model, input=batch, encoding_format="float")
    found = {one.index: one.embedding for one in reply.data}
    if sorted(found) != list(range(len(batch))) or len(reply.data) != len(batch):
        raise ValueError(f"{len(reply.data)} vectors for {len(batch)} texts")
    return [found[at] for at in range(len(batch))]
