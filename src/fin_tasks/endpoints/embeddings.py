"""Embeddings from an OpenAI-compatible address: many texts, several requests at a time.

Pauses and further attempts, `Retry-After` included, are the client library's. What is judged here is the reply: one
vector per text, told apart by its index, all of one length and of finite numbers.
"""

import base64
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fin_tasks.endpoints.client import Endpoint, endpoint_error, open_client
from fin_tasks.errors import EndpointError
from fin_tasks.settings import Settings

if TYPE_CHECKING:
    from openai import OpenAI

__all__ = ["Limits", "RefusedTextError", "embed"]

OnBatch = Callable[[Sequence[int], np.ndarray], None]
"""Told the positions of the texts that have come, and their vectors, one row each."""
_REFUSALS = frozenset({400, 413, 422})
"""Statuses of a request the server will never serve: a text too long, an empty one, too many at once."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much is asked at a time.

    Attributes:
        texts: Most texts in one request.
        characters: Most characters in one request, unless one text alone has more. OpenAI takes 300,000 tokens, and a
            token of such an encoder is a character or more in nearly every script.
        requests: Requests at the same time.
    """

    texts: int = 256
    characters: int = 250_000
    requests: int = 8


class RefusedTextError(EndpointError):
    """The server will not embed one of the texts.

    Attributes:
        position: The text's place among those asked, from 0.
        told: What the message says after the text's name.
    """

    def __init__(self, position: int, told: str, *, name: str = "text") -> None:
        super().__init__(f"{name} {position}: {told}")
        self.position = position
        self.told = told


@dataclass(frozen=True, kw_only=True)
class _Asking:
    """Everything one request needs besides its texts."""

    client: "OpenAI" = field(repr=False)
    endpoint: Endpoint
    settings: Settings = field(repr=False)


def embed(
    endpoint: Endpoint,
    texts: Sequence[str],
    settings: Settings,
    *,
    limits: Limits | None = None,
    on_batch: OnBatch | None = None,
) -> np.ndarray:
    """Embed texts.

    Args:
        endpoint: The address and the model.
        texts: At least one text.
        settings: The environment, for the key.
        limits: How much is asked at a time.
        on_batch: Told each batch as it comes, in no certain order; also those that were under way when another failed.

    Returns:
        One row per text in the texts' order, float64, as the server sent them: not scaled to any length.

    Raises:
        EndpointError: The address cannot be asked, or its replies cannot be used.
        RefusedTextError: It refuses one of the texts, even alone.
    """
    limits = limits or Limits()
    vectors: dict[int, np.ndarray] = {}

    def keep(batch: range, rows: np.ndarray) -> None:
        if vectors:
            _same_dimension(endpoint, rows, len(next(iter(vectors.values()))))
        if on_batch is not None:
            on_batch(batch, rows)
        vectors.update(zip(batch, rows, strict=True))

    with open_client(endpoint, settings) as client, ThreadPoolExecutor(limits.requests, "fin-tasks-embed") as pool:
        asking = _Asking(client=client, endpoint=endpoint, settings=settings)
        jobs = {pool.submit(_ask, asking, texts, batch): batch for batch in _batches(texts, limits)}
        try:
            for job in as_completed(jobs):
                keep(jobs.pop(job), job.result())
        except Exception:
            # what is under way is paid for: kept, though the first failure is the one to tell
            for job, batch in [(job, batch) for job, batch in jobs.items() if not job.cancel()]:
                with suppress(Exception):
                    keep(batch, job.result())
            raise
        finally:
            # after Ctrl-C, leaving the pool would otherwise send all the requests that still wait
            pool.shutdown(wait=False, cancel_futures=True)
    return np.stack([vectors[i] for i in range(len(texts))])


def _batches(texts: Sequence[str], limits: Limits) -> Iterator[range]:
    """Cut the texts into runs that keep to the limits; each holds at least one."""
    start, characters = 0, 0
    for i, text in enumerate(texts):
        if i > start and (i - start == limits.texts or characters + len(text) > limits.characters):
            yield range(start, i)
            start, characters = i, 0
        characters += len(text)
    yield range(start, len(texts))


def _ask(asking: _Asking, texts: Sequence[str], batch: range) -> np.ndarray:
    """Embed one batch; a refused one is halved, for servers that take fewer texts and to find the one at fault."""
    import openai

    endpoint = asking.endpoint
    try:
        # plain numbers: not every server knows the packed form the library would ask for
        reply: Any = asking.client.embeddings.create(
            model=endpoint.model, input=[texts[i] for i in batch], encoding_format="float"
        )
    except openai.APIStatusError as error:
        if error.status_code not in _REFUSALS:
            raise endpoint_error(endpoint, error, asking.settings) from error
        if len(batch) == 1:
            raise _refused(asking, texts[batch[0]], batch[0], error) from error
    except (openai.OpenAIError, ValueError, OverflowError) as error:
        raise endpoint_error(endpoint, error, asking.settings) from error
    else:
        return _vectors(endpoint, reply, len(batch))
    middle = len(batch) // 2
    first, second = (_ask(asking, texts, half) for half in (batch[:middle], batch[middle:]))
    _same_dimension(endpoint, second, first.shape[1])
    return np.concatenate([first, second])


def _vectors(endpoint: Endpoint, reply: Any, n: int) -> np.ndarray:
    """Read a reply: one row per text, in the texts' order."""
    data = getattr(reply, "data", None)
    if not isinstance(data, list):
        raise _unusable(endpoint, f"a list of {n} embeddings", "a reply without one")
    if len(data) != n:
        raise _unusable(endpoint, f"{n} embeddings for {n} texts", str(len(data)))
    order = [getattr(item, "index", None) for item in data]
    if any(type(i) is not int for i in order) or sorted(order) != list(range(n)):  # type: ignore[type-var]
        raise _unusable(endpoint, f"the indices 0 to {n - 1}, each once", repr(order[:8]))
    ordered = sorted(data, key=lambda item: item.index)
    vectors = [_vector(endpoint, getattr(item, "embedding", None)) for item in ordered]
    sizes = {len(vector) for vector in vectors}
    if len(sizes) > 1:
        raise _unusable(endpoint, "as many numbers for each text", f"from {min(sizes)} to {max(sizes)}")
    rows = np.stack(vectors)
    if not np.isfinite(rows).all():
        wrong = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        raise _unusable(endpoint, "finite numbers", f"NaN or infinity in embedding {wrong} of {n}")
    return rows


def _vector(endpoint: Endpoint, sent: Any) -> np.ndarray:
    """Read one embedding: numbers, or the packed form that some servers answer with whatever they were asked for."""
    wanted = "a list of numbers per text"
    if isinstance(sent, str):
        try:
            packed = base64.b64decode(sent, validate=True)
        except ValueError as error:
            raise _unusable(endpoint, wanted, f"a text of {len(sent)} characters") from error
        if not packed or len(packed) % 4:
            raise _unusable(endpoint, wanted, f"base64 of {len(packed)} bytes, which are no 32-bit numbers")
        return np.frombuffer(packed, dtype="<f4").astype(np.float64)
    if not isinstance(sent, list) or not sent:
        raise _unusable(endpoint, wanted, f"{type(sent).__name__}: {repr(sent)[:40]}")
    odd = next((x for x in sent if x is not None and (isinstance(x, bool) or not isinstance(x, (int, float)))), None)
    if odd is not None:
        raise _unusable(endpoint, wanted, f"a list with {repr(odd)[:40]}")
    return np.array(sent, dtype=np.float64)  # None becomes NaN, which is refused by its place


def _same_dimension(endpoint: Endpoint, rows: np.ndarray, dimension: int) -> None:
    if rows.shape[1] != dimension:
        raise _unusable(endpoint, f"{dimension} numbers per embedding, as before", str(rows.shape[1]))


def _unusable(endpoint: Endpoint, expected: str, got: str) -> EndpointError:
    return EndpointError(
        f"{endpoint}: expected {expected}, got {got}. Does it serve embeddings, and is the model one that embeds?"
    )


def _refused(asking: _Asking, text: str, position: int, error: Exception) -> RefusedTextError:
    said = str(endpoint_error(asking.endpoint, error, asking.settings))
    return RefusedTextError(
        position,
        f"expected {asking.endpoint.model} to embed it, but it was refused ({len(text):,} characters, beginning "
        f"{text[:40]!r}). {said} If it is too long or empty, choose an encoder that takes it.",
    )
