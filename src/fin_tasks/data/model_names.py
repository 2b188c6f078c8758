"""Which model answered, as lm-eval's results files say it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["arguments_of", "model_of"]

_NAMES_OF_MODELS = ("peft", "delta", "pretrained", "model", "path", "engine")  # arguments lm-eval takes a name from
_MADE_UP = re.compile(r"[a-z0-9]{8}")


def model_of(results: Mapping[str, Any], *, otherwise: str = "not known") -> str:
    """Name the model, by what the file calls it or the argument that lm-eval takes a name from, else by its kind.

    Where no argument names one lm-eval makes up eight letters and digits for every run, which name nothing.

    Args:
        results: What a results file holds.
        otherwise: Where it names nothing at all.

    Example:
        >>> model_of({"config": {"model": "hf", "model_args": "pretrained=org/m,dtype=float"}})
        'org/m'
        >>> model_of({"model_name": "x7k2m9qa", "config": {"model": "dummy", "model_args": ""}})
        'dummy'
    """
    config = results.get("config")
    config = config if isinstance(config, dict) else {}
    said, kind = results.get("model_name"), config.get("model")
    if isinstance(said, str) and said and not _MADE_UP.fullmatch(said):
        return said
    arguments = arguments_of(config.get("model_args"))
    named = next((arguments[name] for name in _NAMES_OF_MODELS if arguments.get(name)), None)
    return str(named or kind or said or otherwise)


def arguments_of(arguments: Any) -> dict[str, Any]:
    """Give arguments by name, also where they stand as on a command line; nothing where they are of another kind.

    Example:
        >>> arguments_of('pretrained=org/m,rope={"factor": 2, "kind": "x"}')
        {'pretrained': 'org/m', 'rope': '{"factor": 2, "kind": "x"}'}
    """
    if not isinstance(arguments, str):
        return arguments if isinstance(arguments, dict) else {}
    pairs = (part.partition("=") for part in _parts(arguments))
    return {name.strip(): value.strip() for name, sign, value in pairs if sign and name.strip()}


def _parts(text: str) -> Iterator[str]:
    """Cut a text at its commas, but for those in brackets: the rest of a header must not be taken for a name.

    A quote outside of brackets is an apostrophe.
    """
    begin, quote, open_brackets = 0, "", 0
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "{[(":
            open_brackets += 1
        elif letter in "}])":
            open_brackets = max(0, open_brackets - 1)
        elif letter in "\"'" and open_brackets:
            quote = letter
        elif letter == "," and not open_brackets:
            yield text[begin:at]
            begin = at + 1
    yield text[begin:]
