"""The environment variables of fin-tasks; `fin_tasks_autoload.py` reads one more."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    Field,
    ValidationError,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from .errors import ConfigError

OPENAI = "https://api.openai.com/v1"
Tier = Literal["auto", "bwrap", "landlock"]
SANDBOX_TIERS: tuple[Tier, ...] = get_args(Tier)

_USUAL_WORKERS = 8


def _address(text: str) -> str:
    """Return an address without a slash at its end."""
    if not re.match("https?://[^/]", text):
        raise ValueError("An address begins with http:// or https://")
    return text.rstrip("/")


def _addresses(text: str) -> tuple[str, ...]:
    """Return addresses that are separated by commas, without slashes at their ends."""
    named = filter(None, map(str.strip, text.split(",")))
    return tuple(map(_address, named))


def _object(text: str) -> Any:
    """Return a JSON object."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ValueError('It is a JSON object such as {"source": "sample"}')
    return value


def _as_path(value: str | Path) -> Path:
    # pydantic refuses a text with bytes that are not UTF-8, and takes a path.
    return Path(value).expanduser()


_Folder = Annotated[Path, BeforeValidator(_as_path)]
_Address = Annotated[str, AfterValidator(_address)]
_Addresses = Annotated[tuple[str, ...], BeforeValidator(_addresses)]
_Metadata = Annotated[dict[str, Any], BeforeValidator(_object)]


class Settings(BaseSettings):
    """The environment's settings; keys and tokens are not shown by `repr`."""

    model_config = SettingsConfigDict(
        frozen=True,
        case_sensitive=True,
        enable_decoding=False,  # the types above read their texts
        env_ignore_empty=True,
        extra="ignore",
        # A key read from a file may end in a line break, which no header can hold.
        str_strip_whitespace=True,
        use_attribute_docstrings=True,
        validate_default=False,
    )

    data_dir: _Folder | None = Field(None, validation_alias="FIN_TASKS_DATA")
    """The folder with your own files: DIR/xfinbench, DIR/financemath and so on; none by default."""
    cache_dir: _Folder = Field(
        default_factory=lambda: Path(
            os.environ.get("XDG_CACHE_HOME") or "~/.cache", "fin-tasks"
        ).expanduser(),
        validation_alias="FIN_TASKS_CACHE",
    )
    """The folder of downloads and replies; default ~/.cache/fin-tasks ($XDG_CACHE_HOME)."""
    github_raw: _Address = Field(
        "https://raw.githubusercontent.com", validation_alias="FIN_TASKS_GITHUB_RAW"
    )
    """The address of raw GitHub files or a mirror; default https://raw.githubusercontent.com."""
    hub: _Address = Field("https://huggingface.co", validation_alias="HF_ENDPOINT")
    """The address of the Hugging Face hub, or of a mirror; default https://huggingface.co."""
    hub_token: str | None = Field(None, validation_alias="HF_TOKEN", repr=False)
    """The token for gated data sets of the hub; it is sent to no other host."""
    alpha_vantage: _Address = Field(
        "https://www.alphavantage.co", validation_alias="FIN_TASKS_ALPHA_VANTAGE"
    )
    """The address of Alpha Vantage (earnings); default https://www.alphavantage.co."""
    alpha_vantage_key: str | None = Field(
        None, validation_alias="ALPHAVANTAGE_API_KEY", repr=False
    )
    """The key for Alpha Vantage; it is sent to no other host."""
    api_keys: Mapping[str, str] = Field(default_factory=dict, repr=False)
    """All variables whose name ends in _KEY."""
    embeddings: _Address = Field(
        OPENAI, validation_alias="FIN_TASKS_EMBEDDINGS_BASE_URL"
    )
    """The OpenAI-compatible address that embeds texts for `dense` knowledge; default OpenAI."""
    judge_model: str | None = Field(None, validation_alias="FIN_TASKS_JUDGE_MODEL")
    """The name of the judge, unless an option or the metadata name another."""
    judge_base_urls: _Addresses = Field(
        (OPENAI,), validation_alias="FIN_TASKS_JUDGE_BASE_URL"
    )
    """The addresses of the judge, with commas between them; default OpenAI."""
    metadata: _Metadata = Field(
        default_factory=dict, validation_alias="FIN_TASKS_METADATA"
    )
    """The metadata of data sets in VLMEvalKit, as a JSON object."""
    offline: bool = Field(
        False, validation_alias=AliasChoices("FIN_TASKS_OFFLINE", "HF_HUB_OFFLINE")
    )
    """1: download nothing; default 0."""
    max_mb: int = Field(0, ge=0, le=1 << 20, validation_alias="FIN_TASKS_MAX_MB")
    """The largest file of responses or results that is read, in megabytes; default 256, and 64 for a results file."""
    sandbox: Tier = Field("auto", validation_alias="FIN_TASKS_SANDBOX")
    """The sandbox in which programs run, `bwrap` or `landlock`; default `auto`, the first that works."""
    sandbox_workers: int = Field(
        min(os.cpu_count() or 1, _USUAL_WORKERS),
        ge=1,
        le=256,
        validation_alias="FIN_TASKS_SANDBOX_WORKERS",
    )
    """The number of programs that run side by side; default the number of cores, at most 8."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str] | None = None) -> "Settings":
        """Read the settings from the environment of this process; variables in `environ` count first."""
        variables = {**os.environ, **(environ or {})}
        keys = {}
        for name, value in variables.items():
            if name.endswith("_KEY") and value.strip():
                keys[name] = value.strip()
        try:
            given: dict[str, Any] = {"api_keys": keys, **(environ or {})}
            return cls(**given)
        except ValidationError as error:
            problem = error.errors()[0]
            name = str(problem["loc"][0])
            reason = problem["msg"].removeprefix("Value error, ")
            raise ConfigError(
                f"{name}: expected another value, got {variables[name]!r:.200}. {reason}."
            ) from error
