"""Which judge grades responses, and how it is asked: one description for the command line and both harnesses."""

import difflib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fin_tasks.endpoints.client import Endpoint
from fin_tasks.errors import ConfigError
from fin_tasks.settings import Settings

__all__ = ["JudgeSetup", "setup_from"]

_PREFIX = "judge_"
_OPTIONS = (
    "model",
    "base_url",
    "key",
    "rubric",
    "image",
    "concurrency",
    "requests_per_minute",
    "tokens_per_minute",
    "max_tokens",
    "timeout",
    "max_failed",
    "retry_failed",
)
"""What metadata may say, each with the prefix."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*_KEY")


@dataclass(frozen=True, kw_only=True)
class JudgeSetup:
    """A judge.

    Attributes:
        model: The chat model's name at its address.
        base_urls: OpenAI-compatible addresses that serve the model; requests go to them in turn.
        rubric: Name of a rubric pack, or the path of one.
        key_variable: The environment variable that holds the key.
        image: Show the judge the picture, where there is one.
        concurrency: Requests under way at the same time.
        requests_per_minute: Most requests to send in a minute; None for no limit.
        tokens_per_minute: Most tokens to send in a minute, estimated; None for no limit.
        max_tokens: Tokens a reply may have; the rubric's number where None. A judge that thinks first needs more.
        timeout: Seconds one attempt may take.
        max_failed: Share of responses that may stay unscored because the judge failed, before it is an error.
        retry_failed: Ask again where earlier replies, kept on the disk, could not be read.

    Raises:
        ConfigError: A value that no judge can have.
    """

    model: str
    base_urls: tuple[str, ...]
    rubric: str
    key_variable: str = "OPENAI_API_KEY"
    image: bool = True
    concurrency: int = 32
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    max_tokens: int | None = None
    timeout: float = 120.0
    max_failed: float = 0.2
    retry_failed: bool = False

    def __post_init__(self) -> None:
        if not self.base_urls:
            raise ConfigError("judge base_url: expected an address such as http://127.0.0.1:8000/v1, got none.")
        if not _VARIABLE.fullmatch(self.key_variable):
            # what was given may be the key itself, so it is not repeated
            raise ConfigError(
                "judge key: expected the name of an environment variable that ends in _KEY, got something else "
                "(not shown, in case it is the key). Put the key into OPENAI_API_KEY, or name another variable."
            )
        for name in ("concurrency", "requests_per_minute", "tokens_per_minute", "max_tokens"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"judge {name}: expected a whole number from 1 up, got {value!r}.")
        if not 0 <= self.max_failed <= 1:
            raise ConfigError(f"judge max_failed: expected a share from 0 to 1, got {self.max_failed!r}.")
        if not (math.isfinite(self.timeout) and self.timeout > 0):
            raise ConfigError(f"judge timeout: expected seconds above 0, got {self.timeout!r}.")
        _ = self.endpoints  # an address or a model's name that cannot be is found out now

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """The model at each of its addresses."""
        return tuple(
            Endpoint(model=self.model, base_url=url, key_variable=self.key_variable, timeout=self.timeout)
            for url in self.base_urls
        )


def setup_from(metadata: Mapping[str, Any], settings: Settings, *, rubric: str) -> JudgeSetup | None:
    """Read a judge from a harness's metadata and the environment.

    Args:
        metadata: `judge_model`, `judge_base_url` (an address, several with commas between, or a list), `judge_key` (the
            name of the environment variable), every other field of `JudgeSetup` with `judge_` before it. Keys without
            that prefix are somebody else's.
        settings: The environment, for what the metadata does not say.
        rubric: The rubric where the metadata names none.

    Returns:
        The judge; None where neither names a model.

    Raises:
        ConfigError: An option that does not exist or has no usable value.
    """
    options = {
        key.removeprefix(_PREFIX): value
        for key, value in metadata.items()
        if isinstance(key, str) and key.startswith(_PREFIX) and value is not None
    }
    for name in options:
        if name not in _OPTIONS:
            raise ConfigError(f"metadata {_PREFIX}{name}: expected one of {_known()}, got no such option.{_near(name)}")
    model = _text(options, "model") or settings.judge_model
    if model is None:
        if options:
            named = ", ".join(f"{_PREFIX}{name}" for name in options)
            raise ConfigError(
                f"metadata {named}: expected judge_model beside it, or FIN_TASKS_JUDGE_MODEL, got neither."
            )
        return None
    fields: dict[str, Any] = {}
    for name in ("image", "retry_failed"):
        _take(fields, options, name, bool, "true or false")
    for name in ("concurrency", "requests_per_minute", "tokens_per_minute", "max_tokens"):
        _take(fields, options, name, int, "a whole number")
    for name in ("timeout", "max_failed"):
        _take(fields, options, name, (int, float), "a number")
    if key := _text(options, "key", secret=True):
        fields["key_variable"] = key
    return JudgeSetup(
        model=model,
        base_urls=_addresses(options) or settings.judge_base_urls,
        rubric=_text(options, "rubric") or rubric,
        **fields,
    )


def _known() -> str:
    return ", ".join(f"{_PREFIX}{name}" for name in _OPTIONS)


def _near(name: str) -> str:
    near = difflib.get_close_matches(name, _OPTIONS, n=1)
    return f" Is it {_PREFIX}{near[0]}?" if near else ""


def _text(options: Mapping[str, Any], name: str, *, secret: bool = False) -> str | None:
    value = options.get(name)
    if value is not None and not isinstance(value, str):
        found = type(value).__name__ if secret else f"{value!r}"
        raise ConfigError(f"metadata {_PREFIX}{name}: expected a text, got {found}.")
    return value.strip() or None if value else None


def _take(
    fields: dict[str, Any],
    options: Mapping[str, Any],
    name: str,
    kind: type | tuple[type, ...],
    wanted: str,
) -> None:
    if name not in options:
        return
    value = options[name]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ConfigError(f"metadata {_PREFIX}{name}: expected {wanted}, got {value!r}.")
    fields[name] = value


def _addresses(options: Mapping[str, Any]) -> tuple[str, ...]:
    value = options.get("base_url")
    if value is None:
        return ()
    several = value.split(",") if isinstance(value, str) else value
    if not isinstance(several, list | tuple) or not all(isinstance(url, str) for url in several):
        raise ConfigError(f"metadata {_PREFIX}base_url: expected an address, or a list of them, got {value!r}.")
    return tuple(url.strip().rstrip("/") for url in several if url.strip())
