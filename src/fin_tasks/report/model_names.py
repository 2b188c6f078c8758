"""Which model answered, as lm-eval's results files say it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["arguments_of", "model_of"]

_NAMES_OF_MODELS = ("peft", "delta", "pretrained", "model", "path", "engine")  # arguments lm-eval takes a name from
_MADE_UP = re.compile(r"[a-z0-9]{8}")  # by lm-eval, for every run in which no argument names a model
_ONE_MODEL = frozenset({"dummy"})  # kinds behind which there is one model, which needs no name


def model_of(results: Mapping[str, Any], *, otherwise: str = "not known") -> str:
    """Name the model, by what the file calls it or the argument that lm-eval takes a name from, else by its kind.

    A name that lm-eval may have made up gives way to an argument, and to the kind where that says which model it is.
    It stays otherwise: what looks made up may be a name, and two models must never go by one.

    Args:
        results: What a results file holds. Names that are no texts, and no numbers that an argument was read as, are
            passed over.
        otherwise: Where it names nothing at all.

    Example:
        >>> model_of({"config": {"model": "hf", "model_args": "pretrained=org/m,dtype=float"}})
        'org/m'
        >>> model_of({"model_name": "x7k2m9qa", "config": {"model": "dummy", "model_args": ""}})
        'dummy'
        >>> model_of({"model_name": "deepseek", "config": {"model": "openai-completions", "model_args": ""}})
        'deepseek'
    """
    config = results.get("config")
    config = config if isinstance(config, dict) else {}
    said, kind = _text(results.get("model_name")), _text(config.get("model"))
    if said and not _MADE_UP.fullmatch(said):
        return said
    arguments = arguments_of(config.get("model_args"))
    named = next((name for name in map(_argument, map(arguments.get, _NAMES_OF_MODELS)) if name), "")
    return named or (kind if kind in _ONE_MODEL else said) or kind or otherwise


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _argument(value: Any) -> str:
    """Return an argument's text; lm-eval reads one of digits alone as a number."""
    return str(value) if type(value) in (int, float) else _text(value)


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
