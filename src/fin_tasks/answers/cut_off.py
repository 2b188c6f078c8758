"""Responses that ended at the limit of tokens before they were complete."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .reasoning import is_reasoning_open
from .types import AnyReading

# What APIs, servers and harnesses call it when the limit of tokens ended a response.
_LIMIT_REASONS = frozenset(
    ("length", "max_tokens", "max_output_tokens", "model_length")
)


class CutOffResponse(str):
    """A response of which the backend says that the limit of tokens ended it.

    Harnesses hand responses on as texts, so the type of the text is the mark. The cache of lm-eval
    stores this type by its name: do not rename or move it.
    """

    __slots__ = ()


def mark_response(
    response: str,
    finish_reason: object,
) -> str:
    """Return the response, marked if its finish reason names the limit of tokens."""
    if str(finish_reason).lower() in _LIMIT_REASONS:
        return CutOffResponse(response)
    return response


def is_cut_off(response: str) -> bool:
    """Return whether a response was cut off: the backend says so, or its reasoning never ends."""
    return isinstance(response, CutOffResponse) or is_reasoning_open(response)


def mark_reading(
    reading: AnyReading,
    response: str,
) -> AnyReading:
    """Return the reading with `cut_off` as the response has it."""
    return replace(reading, cut_off=is_cut_off(response))


def responses_of_sample(sample: Mapping[str, Any]) -> Any:
    """Return the responses in a line of lm-eval's samples; those that were cut off are marked.

    The readings of a line say which of its responses were cut off. A line without readings has
    only the share of its responses that were.
    """
    responses = sample.get("resps")
    share = sample.get("cut_off")
    texts = _flat(responses)
    readings = _flat(sample.get("filtered_resps"))
    if not share or len(readings) != len(texts):
        return responses
    for index, reading in enumerate(readings):
        is_marked = share == 1 or _says_cut_off(reading)
        if is_marked and isinstance(texts[index], str):
            texts[index] = CutOffResponse(texts[index])
    return [texts]


def _flat(lists: Any) -> list[Any]:
    """Return the values in a list of lists; empty if it is something else."""
    values: list[Any] = []
    for inner in lists if isinstance(lists, list) else [None]:
        if not isinstance(inner, list):
            return []
        values += inner
    return values


def _says_cut_off(reading: Any) -> bool:
    try:
        fields = json.loads(reading) if isinstance(reading, str) else reading
        return fields["cut_off"] is True
    except (KeyError, TypeError, ValueError):
        return False
