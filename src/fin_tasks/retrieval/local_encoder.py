"""Models of sentence-transformers that run here, from a folder or the hub."""

import hashlib
import json
import logging
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fin_tasks.errors import ConfigError, FetchError
from fin_tasks.retrieval.encoding import Batch, of_length_one
from fin_tasks.retrieval.vectors import Role
from fin_tasks.settings import Settings

__all__ = ["LocalEncoder", "model_from_hub"]

_WEIGHTS = ("*.safetensors", "*.bin")
_BESIDES = ("*.json", "*.txt", "*.model", "*.jinja")
_OTHER_FORMATS = ("onnx/*", "openvino/*")
_AT_ONCE = 256
"""Texts between two reports of a local encoder, and so the most a killed run loses."""

_log = logging.getLogger(__name__)


class LocalEncoder:
    """A model of sentence-transformers in a folder, on a GPU where there is one.

    Questions and texts get the prompts the model defines for them, if any.

    Args:
        name: What to call it.
        folder: The model.

    Raises:
        ConfigError: The folder holds no weights.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self._folder = folder
        self.identity = _hash_of_model(folder)
        self.facts: Mapping[str, Any] = {"name": name, "sha256": self.identity}

    def encode(
        self, texts: Sequence[str], on_done: Callable[[Batch], None] | None = None, *, role: Role = "text"
    ) -> np.ndarray:
        """See `Encoder.encode`."""
        # texts of like length side by side: the shorter ones of a batch are padded to the longest
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        parts: list[np.ndarray] = []
        with _quiet(), _at_work(_load(self._folder, self.name)) as model:
            for start in range(0, len(order), _AT_ONCE):
                positions = order[start : start + _AT_ONCE]
                some = [texts[i] for i in positions]
                parts.append(of_length_one(f"encoder {self.name}", _encode(model, some, role), some))
                if on_done is not None:
                    on_done(Batch(positions, parts[-1], _are_cut(model, some, role)))
        vectors = np.empty((len(texts), parts[0].shape[1]), dtype=np.float32)
        vectors[order] = np.concatenate(parts)
        return vectors


def model_from_hub(name: str, settings: Settings) -> Path:
    """Return the folder of a model of the hub, downloaded where it is not here: its weights in one format only.

    Args:
        name: `owner/name`, or the name alone of one of sentence-transformers' own.
        settings: The hub, the token, and whether downloads are allowed.

    Raises:
        FetchError: It is not here and cannot be downloaded.
    """
    from huggingface_hub import snapshot_download

    repo = name if "/" in name else f"sentence-transformers/{name}"
    folder = Path()
    try:
        for weights in _WEIGHTS:
            folder = Path(
                snapshot_download(
                    repo,
                    allow_patterns=[weights, *_BESIDES],
                    ignore_patterns=list(_OTHER_FORMATS),
                    local_files_only=settings.offline,
                    endpoint=settings.hub,
                    token=settings.hub_token,
                )
            )
            if any(folder.rglob(weights)):
                break
    except Exception as error:  # the hub's client raises its own, requests' or httpx's, and plain ones
        reason = "downloads are switched off" if settings.offline else str(error).strip().split("\n")[0]
        raise FetchError(
            f"encoder {name}: expected the model {repo} from {settings.hub}, got none ({type(error).__name__}: "
            f"{reason}). Download it where there is a network with `hf download {repo}`, or name the folder it is in: "
            "sentence-transformers:FOLDER."
        ) from error
    return folder


def _hash_of_model(folder: Path) -> str:
    """Return one SHA-256 over the files that decide the vectors: configuration, vocabulary and weights."""
    files = sorted(
        (path.relative_to(folder).as_posix(), path)
        for pattern in (*_WEIGHTS, *_BESIDES)
        for path in folder.rglob(pattern)
        if path.is_file() and not any(path.relative_to(folder).match(other) for other in _OTHER_FORMATS)
    )
    if not any(path.match(weights) for _, path in files for weights in _WEIGHTS):
        raise ConfigError(
            f"encoder {folder}: expected a model of sentence-transformers, got a folder without "
            f"{' or '.join(_WEIGHTS)}. Name the folder that holds the weights."
        )
    return hashlib.sha256(json.dumps([[name, _file_sha256(path)] for name, path in files]).encode()).hexdigest()


def _file_sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


@cache
def _load(folder: Path, name: str) -> Any:
    """Load a model, once for all indexes of the process."""
    with _quiet():
        from sentence_transformers import SentenceTransformer

        try:
            return SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        except (ImportError, OSError, RuntimeError, ValueError, KeyError) as error:
            raise ConfigError(
                f"encoder {name}: expected a model that sentence-transformers loads, got {type(error).__name__}: "
                f"{str(error).strip()[:300]}. Does its page ask for another version or for code of its own?"
            ) from error


@contextmanager
def _at_work(model: Any) -> Iterator[Any]:
    """Lend the model a GPU while it works; afterwards the memory belongs to the model that is evaluated."""
    import torch
    from sentence_transformers.util import get_device_name

    try:
        model.to(get_device_name())
    except torch.cuda.OutOfMemoryError:
        _to_cpu(model)
    try:
        yield model
    finally:
        if model.device.type != "cpu":
            model.to("cpu")
            torch.cuda.empty_cache()


def _encode(model: Any, texts: Sequence[str], role: Role) -> np.ndarray:
    import torch

    encode = model.encode_query if role == "query" else model.encode_document
    try:
        vectors = encode(texts, show_progress_bar=False, convert_to_numpy=True)
    except torch.cuda.OutOfMemoryError:
        _to_cpu(model)
        vectors = encode(texts, show_progress_bar=False, convert_to_numpy=True)
    return np.asarray(vectors)


def _to_cpu(model: Any) -> None:
    _log.warning("dense retrieval: the GPU has no memory left for the encoder; it runs on the CPU instead.")
    model.to("cpu")


def _are_cut(model: Any, texts: Sequence[str], role: Role) -> list[bool]:
    """Tell which texts have more tokens than the model reads."""
    limit = model.max_seq_length
    tokenizer = getattr(model, "tokenizer", None)
    if limit is None or not math.isfinite(limit) or not callable(tokenizer):
        return [False] * len(texts)
    names = ("query",) if role == "query" else ("document", "passage", "corpus")
    prompt = next((model.prompts[name] for name in names if name in model.prompts), "")
    # verbose would warn of every text that is too long, which is what is asked here
    tokens = tokenizer([prompt + text for text in texts], truncation=False, verbose=False)["input_ids"]
    return [bool(len(ids) > limit) for ids in tokens]


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the libraries' progress bars and warnings away from the user; what they log as a warning stays."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers.utils import logging as library

        shown = library.is_progress_bar_enabled()
        library.disable_progress_bar()
        try:
            yield
        finally:
            if shown:
                library.enable_progress_bar()
