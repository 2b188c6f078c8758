"""What encoders have in common, wherever their models run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fin_tasks.errors import EndpointError
from fin_tasks.retrieval.vectors import Role

__all__ = ["Batch", "Encoder", "of_length_one"]


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


def of_length_one(subject: str, vectors: np.ndarray, texts: Sequence[str]) -> np.ndarray:
    """Scale vectors to the length 1.

    Args:
        subject: Who made them, for the error.
        vectors: (n, d), of any float type; computed in float64.
        texts: What they embed.

    Returns:
        float32 (n, d).

    Raises:
        EndpointError: One has no direction: it is zero or not finite.

    Example:
        >>> of_length_one("toy", np.array([[3.0, 4.0]]), ["a"]).tolist()
        [[0.6000000238418579, 0.800000011920929]]
    """
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
