"""Every environment variable and path fin-tasks reads, in one frozen object.

`adapters/autoload.py` is the one other reader of the environment: it runs at interpreter start, where importing
this module would cost more than all of its own work.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fin_tasks.errors import ConfigError

__all__ = ["OPENAI", "SANDBOX_TIERS", "Settings"]

OPENAI = "https://api.openai.com/v1"
SANDBOX_TIERS = ("auto", "bwrap", "landlock", "monty", "unsafe-local-exec")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the environment says.

    Attributes:
        data_dir: `FIN_TASKS_DATA`; a folder with files that are already there, `DIR/<benchmark>/...`, or None.
        cache_dir: `FIN_TASKS_CACHE`, else `$XDG_CACHE_HOME/fin-tasks`, else `~/.cache/fin-tasks`.
        github_raw: `FIN_TASKS_GITHUB_RAW`; base address of raw GitHub files, for mirrors and tests.
        hub: `HF_ENDPOINT`; base address of the Hugging Face hub.
        hub_token: `HF_TOKEN`; sent to the hub only, never logged.
        wikipedia: `FIN_TASKS_WIKIPEDIA`; base address of the encyclopedia that lists the S&P 500.
        alpha_vantage: `FIN_TASKS_ALPHA_VANTAGE`; base address of the service with earnings reports.
        alpha_vantage_key: `ALPHAVANTAGE_API_KEY`; sent to that address only, never logged.
        api_keys: Every variable whose name ends in `_KEY`, as `OPENAI_API_KEY`; an endpoint names the one it is sent.
        embeddings: `FIN_TASKS_EMBEDDINGS_BASE_URL`; OpenAI-compatible address that embeds texts for dense retrieval,
            OpenAI's own where unset.
        judge_model: `FIN_TASKS_JUDGE_MODEL`; the chat model that judges responses where nothing else names one.
        judge_base_urls: `FIN_TASKS_JUDGE_BASE_URL`; its OpenAI-compatible addresses, with commas between them; OpenAI's
            own where unset.
        openai_api_base: `OPENAI_API_BASE`; the address VLMEvalKit asks, which ends in `/chat/completions`; None where
            unset. It names the judge's address in VLMEvalKit alone.
        metadata: `FIN_TASKS_METADATA`; a JSON object with the options of data sets in VLMEvalKit, which has no
            `--metadata` of its own.
        offline: `FIN_TASKS_OFFLINE` or `HF_HUB_OFFLINE`; no benchmark's files are downloaded, from the hub or GitHub.
        offline_markets: `FIN_TASKS_OFFLINE` alone; no market data are fetched. `HF_HUB_OFFLINE` is about the hub, and
            says nothing of Yahoo, Alpha Vantage and the encyclopedia.
        sandbox: `FIN_TASKS_SANDBOX`; which sandbox tier to use, `auto` for the best that works.
        sandbox_workers: `FIN_TASKS_SANDBOX_WORKERS`; servers that run programs side by side.
    """

    data_dir: Path | None
    cache_dir: Path
    github_raw: str
    hub: str
    hub_token: str | None = field(repr=False)
    wikipedia: str
    alpha_vantage: str
    alpha_vantage_key: str | None = field(repr=False)
    api_keys: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    embeddings: str
    judge_model: str | None = None
    judge_base_urls: tuple[str, ...] = (OPENAI,)
    openai_api_base: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    offline: bool
    offline_markets: bool
    sandbox: str
    sandbox_workers: int

    @classmethod
    def from_environ(cls, environ: Mapping[str, str] | None = None) -> "Settings":
        """Read the settings.

        Args:
            environ: The environment; the process's own where None.

        Raises:
            ConfigError: A variable holds a value that means nothing here.
        """
        env = os.environ if environ is None else environ
        data_dir = env.get("FIN_TASKS_DATA")
        return cls(
            data_dir=Path(data_dir).expanduser() if data_dir else None,
            cache_dir=_cache_dir(env),
            github_raw=env.get("FIN_TASKS_GITHUB_RAW", "https://raw.githubusercontent.com").rstrip("/"),
            hub=env.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/"),
            hub_token=env.get("HF_TOKEN") or None,
            wikipedia=env.get("FIN_TASKS_WIKIPEDIA", "https://en.wikipedia.org").rstrip("/"),
            alpha_vantage=env.get("FIN_TASKS_ALPHA_VANTAGE", "https://www.alphavantage.co").rstrip("/"),
            alpha_vantage_key=env.get("ALPHAVANTAGE_API_KEY") or None,
            api_keys={name: value for name, value in env.items() if name.endswith("_KEY") and value},
            embeddings=(env.get("FIN_TASKS_EMBEDDINGS_BASE_URL") or OPENAI).rstrip("/"),
            judge_model=env.get("FIN_TASKS_JUDGE_MODEL") or None,
            judge_base_urls=_addresses(env.get("FIN_TASKS_JUDGE_BASE_URL") or OPENAI),
            openai_api_base=env.get("OPENAI_API_BASE") or None,
            metadata=_object(env, "FIN_TASKS_METADATA"),
            offline=_flag(env, "FIN_TASKS_OFFLINE") or _flag(env, "HF_HUB_OFFLINE"),
            offline_markets=_flag(env, "FIN_TASKS_OFFLINE"),
            sandbox=_choice(env, "FIN_TASKS_SANDBOX", SANDBOX_TIERS),
            sandbox_workers=_workers(env),
        )


def _cache_dir(env: Mapping[str, str]) -> Path:
    if own := env.get("FIN_TASKS_CACHE"):
        return Path(own).expanduser()
    if xdg := env.get("XDG_CACHE_HOME"):
        return Path(xdg) / "fin-tasks"
    return Path("~/.cache/fin-tasks").expanduser()


def _flag(env: Mapping[str, str], name: str) -> bool:
    value = env.get(name, "").strip().lower()
    if value in ("", "0", "false", "no", "off"):
        return False
    if value in ("1", "true", "yes", "on"):
        return True
    raise ConfigError(f"{name}: expected 1 or 0, got {env[name]!r}. Set it to 1 or unset it.")


def _addresses(text: str) -> tuple[str, ...]:
    return tuple(address.strip().rstrip("/") for address in text.split(",") if address.strip())


def _object(env: Mapping[str, str], name: str) -> dict[str, Any]:
    text = env.get(name) or "{}"
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"{name}: expected a JSON object, got {text!r} ({error}).") from error
    if not isinstance(value, dict):
        raise ConfigError(f"{name}: expected a JSON object such as {{}}, got {text!r}.")
    return value


def _choice(env: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    value = env.get(name) or choices[0]
    if value not in choices:
        raise ConfigError(f"{name}: expected one of {', '.join(choices)}, got {value!r}.")
    return value


def _workers(env: Mapping[str, str]) -> int:
    text = env.get("FIN_TASKS_SANDBOX_WORKERS")
    if text is None:
        return min(os.cpu_count() or 1, 8)
    if not text.isdecimal() or not 1 <= int(text) <= 256:
        raise ConfigError(f"FIN_TASKS_SANDBOX_WORKERS: expected a whole number from 1 to 256, got {text!r}.")
    return int(text)
