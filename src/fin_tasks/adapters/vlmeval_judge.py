"""The judge that VLMEvalKit's command line names, as a `JudgeSetup`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fin_tasks.errors import ConfigError
from fin_tasks.judging.rubric import load_rubric
from fin_tasks.judging.setup import JudgeSetup, setup_from
from fin_tasks.settings import OPENAI, Settings

__all__ = ["judge_of"]

_GIVEN_KEY = "FIN_TASKS_GIVEN_KEY"
"""Under what name a key that stands in the kit's arguments is kept; no variable of the environment."""
_CHAT = "/chat/completions"
_OURS = (
    "image",
    "rubric",
    "concurrency",
    "requests_per_minute",
    "tokens_per_minute",
    "max_tokens",
    "max_failed",
    "retry_failed",
)
_KITS = ("model", "base_url", "api_base", "key", "nproc", "timeout")
_WITHOUT_MEANING = ("verbose", "retry", "wait", "use_vllm", "use_verifier")
"""What the kit adds of itself and judges here have no use for."""


def judge_of(arguments: Mapping[str, Any], settings: Settings, *, rubric: str) -> tuple[JudgeSetup, Settings]:
    """Read the judge.

    Args:
        arguments: The keyword arguments of `evaluate`: `--judge` as `model`, `--judge-args`, and what the kit adds.
        settings: The environment. `FIN_TASKS_METADATA` may name a judge as in lm-eval, with `judge_` before each
            option; the arguments count more, but for `nproc` and `timeout`, which the kit always gives.
        rubric: The benchmark's rubric.

    Returns:
        The judge, the rubric's default model where nobody names one; and the settings to ask it with, which hold the
        key where the arguments do.

    Raises:
        ConfigError: An argument nobody knows, or a value that cannot be.
    """
    if unknown := sorted(set(arguments) - {*_OURS, *_KITS, *_WITHOUT_MEANING}):
        raise ConfigError(
            f"--judge-args {', '.join(unknown)}: expected some of {', '.join((*_KITS, *_OURS))}, got no such option. "
            "Remove it."
        )
    given = {key: value for key, value in arguments.items() if value is not None}
    options = {f"judge_{name}": given[name] for name in ("concurrency", "timeout") if name in given}
    if "nproc" in given:
        options.setdefault("judge_concurrency", given["nproc"])
    options |= {key: value for key, value in settings.metadata.items() if key.startswith("judge_")}
    options |= {f"judge_{name}": given[name] for name in (*_OURS, "model") if name in given}
    if (address := given.get("base_url", given.get("api_base"))) is not None:
        options["judge_base_url"] = _addresses(address)
    elif "judge_base_url" not in options and settings.judge_base_urls == (OPENAI,) and settings.openai_api_base:
        options["judge_base_url"] = _addresses(settings.openai_api_base)
    if "key" in given:
        options["judge_key"], settings = _key(given["key"], settings)
    if not options.get("judge_model") and not settings.judge_model:
        options["judge_model"] = load_rubric(options.get("judge_rubric") or rubric).default_model
    setup = setup_from(options, settings, rubric=rubric)
    if setup is None:  # a model is named above in any case
        raise ConfigError("--judge: expected the name of a model, got none.")
    return setup, settings


def _addresses(value: Any) -> Any:
    """Take the kit's ending off, which the client adds itself.

    Example:
        >>> _addresses("http://127.0.0.1:8000/v1/chat/completions, http://127.0.0.1:8001/v1/")
        ['http://127.0.0.1:8000/v1', 'http://127.0.0.1:8001/v1']
    """
    several = value.split(",") if isinstance(value, str) else value
    if not isinstance(several, list | tuple) or not all(isinstance(url, str) for url in several):
        return value  # `setup_from` says what is wrong with it
    return [url.strip().rstrip("/").removesuffix(_CHAT) for url in several]


def _key(value: Any, settings: Settings) -> tuple[str, Settings]:
    """Read a key's variable; a key itself, as the kit takes it, is kept in memory only."""
    if not isinstance(value, str):
        raise ConfigError(f"--judge-args key: expected a text, got {type(value).__name__}.")
    if value in settings.api_keys or value.endswith("_KEY"):
        return value, settings
    return _GIVEN_KEY, replace(settings, api_keys={**settings.api_keys, _GIVEN_KEY: value})
