"""The judge that VLMEvalKit's command line names, as a `JudgeSetup`."""

import difflib
import logging
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fin_tasks.errors import ConfigError
from fin_tasks.judging.old_rubric import load_rubric
from fin_tasks.judging.setup import JudgeSetup, setup_from
from fin_tasks.settings import OPENAI, Settings

__all__ = ["judge_of", "label_of"]

_log = logging.getLogger(__name__)
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
_SILENT = ("verbose", "retry", "wait", "use_vllm", "use_verifier")
"""What the kit adds of itself and judges here have no use for."""
_NEAR = 0.75
"""How like one of our options a name must be to be taken for a slip: `concurency` is, `temperature` is not."""


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
        ConfigError: An argument that is nearly one of ours, or a value that cannot be. The message names the argument
            it came from.
    """
    _check_names(arguments)
    options, sources = _options(arguments, settings)
    if (address := _given(arguments, "base_url", "api_base")) is not None:
        options["judge_base_url"] = _addresses(address)
        sources["judge_base_url"] = "--judge-args base_url"
    elif "judge_base_url" not in options and settings.judge_base_urls == (OPENAI,) and settings.openai_api_base:
        options["judge_base_url"] = _addresses(settings.openai_api_base)
        sources["judge_base_url"] = "OPENAI_API_BASE"
    if (key := _given(arguments, "key")) is not None:
        options["judge_key"], settings = _key(key, settings)
        sources["judge_key"] = "--judge-args key"
    if not options.get("judge_model") and not settings.judge_model:
        options["judge_model"] = load_rubric(options.get("judge_rubric") or rubric).default_model
    try:
        setup = setup_from(options, settings, rubric=rubric)
    except ConfigError as error:
        raise ConfigError(_with_source(str(error), sources)) from error
    if setup is None:  # a model is named above in any case
        raise ConfigError("--judge: expected the name of a model, got none.")
    return setup, settings


def label_of(arguments: Mapping[str, Any], settings: Settings, *, rubric: str, default: str) -> str:
    """Name the judge and how it is asked, for names of files; with arguments that no judge can have, too.

    Args:
        arguments: As for `judge_of`.
        settings: As for `judge_of`.
        rubric: The benchmark's rubric, which the name leaves out.
        default: The model where nobody names one.

    Example:
        >>> asked = {"model": "gpt-4o", "image": False, "rubric": "packs/own.yaml"}
        >>> label_of(asked, Settings.from_environ({}), rubric="mme_finance_en", default="gpt-4o")
        'gpt-4o_own_no_image'
    """
    options, _ = _options(arguments, settings)
    named = str(options.get("judge_rubric") or rubric)
    other = "" if named == rubric else Path(named).stem
    image = options.get("judge_image")
    model = str(options.get("judge_model") or settings.judge_model or default).strip()
    return "_".join(filter(None, (model, other, "no_image" if image is False else "")))


def _options(arguments: Mapping[str, Any], settings: Settings) -> tuple[dict[str, Any], dict[str, str]]:
    """Gather what `setup_from` reads, the nearest last, and where each option comes from."""
    options: dict[str, Any] = {}
    sources: dict[str, str] = {}

    def take(option: str, argument: str) -> None:
        if (value := _given(arguments, argument)) is not None:
            options[f"judge_{option}"] = value
            sources[f"judge_{option}"] = "--judge" if argument == "model" else f"--judge-args {argument}"

    take("concurrency", "nproc")
    take("timeout", "timeout")
    for name, value in settings.metadata.items():
        if name.startswith("judge_"):
            options[name] = value
            sources[name] = f"FIN_TASKS_METADATA {name}"
    for name in (*_OURS, "model"):
        take(name, name)
    return options, sources


def _given(arguments: Mapping[str, Any], *names: str) -> Any:
    return next((arguments[name] for name in names if arguments.get(name) is not None), None)


def _check_names(arguments: Mapping[str, Any]) -> None:
    """Refuse slips; leave out, with a warning, what a judge of the kit's may take and ours does not."""
    others = sorted(set(arguments) - {*_OURS, *_KITS, *_SILENT})
    for name in others:
        if near := difflib.get_close_matches(name, (*_OURS, *_KITS), n=1, cutoff=_NEAR):
            raise ConfigError(
                f"--judge-args {name}: expected one of {', '.join((*_KITS, *_OURS))}, got no such option. "
                f"Is it {near[0]}?"
            )
    if others:
        _log.warning("--judge-args %s: without meaning for a judge of fin-tasks, so left out.", ", ".join(others))


def _with_source(message: str, sources: Mapping[str, str]) -> str:
    """Name the argument that somebody wrote instead of the metadata it was turned into."""

    def source(found: re.Match[str]) -> str:
        name = f"judge_{found['name']}"
        return sources.get(name, f"FIN_TASKS_METADATA {name}")

    return re.sub(r"^(metadata judge_|judge )(?P<name>[a-z_]+)(?=:)", source, message)


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
