"""The environment variables of fin-tasks; `adapters/autoload.py` reads one more, because it must start fast."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fin_tasks.errors import ConfigError

OPENAI = "https://api.openai.com/v1"
SANDBOX_TIERS = ("auto", "bwrap", "landlock", "monty")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The environment's settings; keys and tokens are not shown by `repr`."""

    data_dir: Path | None  # FIN_TASKS_DATA: the user's own files, DIR/<benchmark>/...
    cache_dir: Path  # FIN_TASKS_CACHE, else $XDG_CACHE_HOME/fin-tasks, else ~/.cache/fin-tasks
    github_raw: str  # FIN_TASKS_GITHUB_RAW: a mirror of raw GitHub files
    hub: str  # HF_ENDPOINT
    hub_token: str | None = field(repr=False)  # HF_TOKEN, sent to the hub only
    alpha_vantage: str  # FIN_TASKS_ALPHA_VANTAGE: has earnings reports
    alpha_vantage_key: str | None = field(repr=False)  # ALPHAVANTAGE_API_KEY, sent there only
    api_keys: Mapping[str, str] = field(
        default_factory=dict, repr=False, hash=False
    )  # all variables *_KEY
    embeddings: str  # FIN_TASKS_EMBEDDINGS_BASE_URL: OpenAI-compatible address for dense retrieval
    judge_model: str | None = None  # FIN_TASKS_JUDGE_MODEL: the judge if nothing else names one
    judge_base_urls: tuple[str, ...] = (
        OPENAI,
    )  # FIN_TASKS_JUDGE_BASE_URL: its addresses, separated by commas
    metadata: Mapping[str, Any] = field(
        default_factory=dict, hash=False
    )  # FIN_TASKS_METADATA: for VLMEvalKit
    offline: bool  # FIN_TASKS_OFFLINE or HF_HUB_OFFLINE: download nothing
    sandbox: str  # FIN_TASKS_SANDBOX: one of SANDBOX_TIERS
    sandbox_workers: int  # FIN_TASKS_SANDBOX_WORKERS: programs that run side by side

    @classmethod
    def from_environ(cls, environ: Mapping[str, str] | None = None) -> "Settings":
        """Read the settings from `environ`, by default the environment of this process."""
        env = {
            name: value
            for name, value in (os.environ if environ is None else environ).items()
            if value
        }
        cache = env.get("FIN_TASKS_CACHE") or str(
            Path(env.get("XDG_CACHE_HOME", "~/.cache")) / "fin-tasks"
        )
        urls = [
            url.strip().rstrip("/")
            for url in env.get("FIN_TASKS_JUDGE_BASE_URL", OPENAI).split(",")
        ]
        workers = env.get("FIN_TASKS_SANDBOX_WORKERS", str(min(os.cpu_count() or 1, 8)))
        if not workers.isdecimal() or not 1 <= int(workers) <= 256:
            raise ConfigError(
                f"FIN_TASKS_SANDBOX_WORKERS: expected a whole number from 1 to 256, got {workers!r}."
            )
        return cls(
            data_dir=Path(env["FIN_TASKS_DATA"]).expanduser() if "FIN_TASKS_DATA" in env else None,
            cache_dir=Path(cache).expanduser(),
            github_raw=env.get("FIN_TASKS_GITHUB_RAW", "https://raw.githubusercontent.com").rstrip(
                "/"
            ),
            hub=env.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/"),
            hub_token=env.get("HF_TOKEN"),
            alpha_vantage=env.get("FIN_TASKS_ALPHA_VANTAGE", "https://www.alphavantage.co").rstrip(
                "/"
            ),
            alpha_vantage_key=env.get("ALPHAVANTAGE_API_KEY"),
            api_keys={name: value for name, value in env.items() if name.endswith("_KEY")},
            embeddings=env.get("FIN_TASKS_EMBEDDINGS_BASE_URL", OPENAI).rstrip("/"),
            judge_model=env.get("FIN_TASKS_JUDGE_MODEL"),
            judge_base_urls=tuple(filter(None, urls)),
            metadata=_metadata(env.get("FIN_TASKS_METADATA", "{}")),
            offline=_flag(env, "FIN_TASKS_OFFLINE") or _flag(env, "HF_HUB_OFFLINE"),
            sandbox=env.get("FIN_TASKS_SANDBOX", SANDBOX_TIERS[0]),
            sandbox_workers=int(workers),
        )


def _flag(env: Mapping[str, str], name: str) -> bool:
    value = env.get(name, "0").strip().lower()
    if value not in ("0", "1", "", "false", "true", "no", "yes", "off", "on"):
        raise ConfigError(f"{name}: expected 1 or 0, got {env[name]!r}. Set it to 1 or unset it.")
    return value in ("1", "true", "yes", "on")


def _metadata(text: str) -> dict[str, Any]:
    try:
        return {**json.loads(text)}
    except (ValueError, TypeError) as error:
        told = f'FIN_TASKS_METADATA: expected a JSON object such as {{"source": "sample"}}, got {text!r}.'
        raise ConfigError(told) from error
