"""The environment variables of fin-tasks; `fin_tasks_autoload.py` reads one more."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fin_tasks.errors import ConfigError

OPENAI = "https://api.openai.com/v1"
SANDBOX_TIERS = ("auto", "bwrap", "landlock", "monty")

_GITHUB_RAW = "https://raw.githubusercontent.com"
_HUB = "https://huggingface.co"
_ALPHA_VANTAGE = "https://www.alphavantage.co"
_USUAL_WORKERS = 8
_MAX_WORKERS = 256
_TRUE = ("1", "true", "yes", "on")
_FALSE = ("0", "", "false", "no", "off")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The environment's settings; keys and tokens are not shown by `repr`."""

    data_dir: Path | None
    """FIN_TASKS_DATA: the user's own files, DIR/<benchmark>/..."""
    cache_dir: Path
    """FIN_TASKS_CACHE, else $XDG_CACHE_HOME/fin-tasks, else ~/.cache/fin-tasks."""
    github_raw: str
    """FIN_TASKS_GITHUB_RAW: a mirror of raw GitHub files."""
    hub: str
    """HF_ENDPOINT."""
    hub_token: str | None = field(repr=False)
    """HF_TOKEN, sent to the hub only."""
    alpha_vantage: str
    """FIN_TASKS_ALPHA_VANTAGE: has earnings reports."""
    alpha_vantage_key: str | None = field(repr=False)
    """ALPHAVANTAGE_API_KEY, sent there only."""
    api_keys: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    """All variables whose name ends in _KEY."""
    embeddings: str
    """FIN_TASKS_EMBEDDINGS_BASE_URL: OpenAI-compatible address for dense retrieval."""
    judge_model: str | None = None
    """FIN_TASKS_JUDGE_MODEL: the judge if nothing else names one."""
    judge_base_urls: tuple[str, ...] = (OPENAI,)
    """FIN_TASKS_JUDGE_BASE_URL: addresses of the judge, separated by commas."""
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """FIN_TASKS_METADATA: metadata for VLMEvalKit."""
    offline: bool
    """FIN_TASKS_OFFLINE or HF_HUB_OFFLINE: download nothing."""
    sandbox: str
    """FIN_TASKS_SANDBOX: one of SANDBOX_TIERS."""
    sandbox_workers: int
    """FIN_TASKS_SANDBOX_WORKERS: programs that run side by side."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str] | None = None) -> "Settings":
        """Read the settings from `environ`, by default the environment of this process."""
        variables = os.environ if environ is None else environ
        # A key read from a file may end in a line break, which no header can hold.
        stripped = {name: value.strip() for name, value in variables.items()}
        env = {name: value for name, value in stripped.items() if value}
        keys = {name: value for name, value in env.items() if name.endswith("_KEY")}
        own_files = env.get("FIN_TASKS_DATA")
        caches = env.get("XDG_CACHE_HOME", "~/.cache")
        our_cache = env.get("FIN_TASKS_CACHE", f"{caches}/fin-tasks")
        judges = env.get("FIN_TASKS_JUDGE_BASE_URL", OPENAI).split(",")
        return cls(
            data_dir=Path(own_files).expanduser() if own_files else None,
            cache_dir=Path(our_cache).expanduser(),
            github_raw=_address(env, "FIN_TASKS_GITHUB_RAW", _GITHUB_RAW),
            hub=_address(env, "HF_ENDPOINT", _HUB),
            hub_token=env.get("HF_TOKEN"),
            alpha_vantage=_address(env, "FIN_TASKS_ALPHA_VANTAGE", _ALPHA_VANTAGE),
            alpha_vantage_key=env.get("ALPHAVANTAGE_API_KEY"),
            api_keys=keys,
            embeddings=_address(env, "FIN_TASKS_EMBEDDINGS_BASE_URL", OPENAI),
            judge_model=env.get("FIN_TASKS_JUDGE_MODEL"),
            judge_base_urls=tuple(filter(None, map(_without_end, judges))),
            metadata=_metadata(env.get("FIN_TASKS_METADATA", "{}")),
            offline=_flag(env, "FIN_TASKS_OFFLINE") or _flag(env, "HF_HUB_OFFLINE"),
            sandbox=_sandbox(env),
            sandbox_workers=_sandbox_workers(env),
        )


def _address(env: Mapping[str, str], name: str, default: str) -> str:
    return _without_end(env.get(name, default))


def _without_end(url: str) -> str:
    return url.strip().rstrip("/")


def _sandbox(env: Mapping[str, str]) -> str:
    tier = env.get("FIN_TASKS_SANDBOX", SANDBOX_TIERS[0])
    if tier not in SANDBOX_TIERS:
        raise ConfigError(
            f"FIN_TASKS_SANDBOX: expected one of {', '.join(SANDBOX_TIERS)}, got {tier!r}."
        )
    return tier


def _sandbox_workers(env: Mapping[str, str]) -> int:
    if "FIN_TASKS_SANDBOX_WORKERS" not in env:
        return min(os.cpu_count() or 1, _USUAL_WORKERS)
    value = env["FIN_TASKS_SANDBOX_WORKERS"]
    if not value.isdecimal() or not 1 <= int(value) <= _MAX_WORKERS:
        raise ConfigError(
            f"FIN_TASKS_SANDBOX_WORKERS: expected a whole number from 1 to {_MAX_WORKERS}, "
            f"got {value!r}."
        )
    return int(value)


def _flag(env: Mapping[str, str], name: str) -> bool:
    value = env.get(name, "0").strip().lower()
    if value not in _TRUE + _FALSE:
        raise ConfigError(f"{name}: expected 1 or 0, got {env[name]!r}. Set it to 1 or unset it.")
    return value in _TRUE


def _metadata(text: str) -> dict[str, Any]:
    try:
        metadata = json.loads(text)
    except ValueError:
        metadata = None
    if not isinstance(metadata, dict):
        raise ConfigError(
            'FIN_TASKS_METADATA: expected a JSON object such as {"source": "sample"}, '
            f"got {text!r}."
        )
    return metadata
