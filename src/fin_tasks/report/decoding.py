"""How responses were generated, as a results file states it: temperature, limit of tokens, and reasoning."""

from collections.abc import Mapping
from typing import Any

from . import Fields, Json
from .redact import without_secrets

DECODING = {
    "temperature": ("temperature",),
    "limit": ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens"),
    "reasoning": (
        "reasoning_effort",
        "reasoning_tokens",
        "enable_thinking",
        "thinking",
        "chat_template_args",
    ),
}
"""What is compared and shown, with the options of harnesses that state it."""

_MAX_TEXT = 100


def decoding_of(options: Fields, model_args: object = None) -> Json:
    """Return temperature, limit and reasoning; what is not stated is left out.

    The options are those of a task, such as lm-eval's `generation_kwargs`. Of the model's arguments only the reasoning
    counts, because the options of a task replace their other values.
    """
    stated = {name: value for name, value in options.items() if value is not None}
    if stated.get("do_sample") is False:
        stated["temperature"] = 0.0
    arguments = _arguments_of(model_args)
    decoding: Json = {}
    for fact, names in DECODING.items():
        known = {name: stated[name] for name in names if name in stated}
        if fact == "reasoning":
            of_model = {name: arguments[name] for name in names if name in arguments}
            known = {**of_model, **known}
        if known:
            decoding[f"decoding.{fact}"] = _fact_of(fact, known)
    return decoding


def decoding_text(settings: Fields) -> str:
    """Return the decoding for people, such as `temperature 0, at most 2,048 tokens`; empty if it is not stated."""
    words = []
    temperature = settings.get("decoding.temperature")
    limit = settings.get("decoding.limit")
    reasoning = settings.get("decoding.reasoning")
    if temperature is not None:
        words.append(f"temperature {_number_text(temperature)}")
    if limit is not None:
        words.append(f"at most {_number_text(limit)} tokens")
    if reasoning is not None:
        words.append(f"reasoning {reasoning}")
    return ", ".join(words)


def _fact_of(fact: str, known: Json) -> object:
    """Return a number if one is stated, else all values as one short text."""
    if fact == "reasoning":
        texts = [f"{name}={value}" for name, value in sorted(known.items())]
        if [*known] == ["reasoning_effort"]:
            texts = [str(known["reasoning_effort"])]
        return str(without_secrets(", ".join(texts)))[:_MAX_TEXT]
    value = next(iter(known.values()))
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return str(without_secrets(str(value)))[:_MAX_TEXT]
    return without_secrets(number)


def _arguments_of(model_args: object) -> Mapping[str, Any]:
    """Return the arguments of a model, which lm-eval writes as a mapping or as `name=value,name=value`."""
    if isinstance(model_args, Mapping):
        return model_args
    if not isinstance(model_args, str):
        return {}
    pairs = (part.partition("=") for part in model_args.split(","))
    return {name.strip(): value for name, _, value in pairs if value}


def _number_text(value: object) -> str:
    return f"{value:,g}" if isinstance(value, float | int) else str(value)
