"""The schema of `leaderboard.json`, and checks of a document against it.

The schema itself is `leaderboard.schema.json` beside this module; it says what every key means.
"""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fin_tasks.errors import DataError

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

__all__ = ["FORMAT", "SCHEMA", "VERSION", "check"]

SCHEMA = Path(__file__).with_name("leaderboard.schema.json")
FORMAT = "fin-tasks leaderboard"
VERSION = "1.1"
"""Major: a key means something else or is gone, so that older readers fail. Minor: a key more."""

_ROUNDED = 1e-5  # bounds have six significant digits
_SHOWN = 5  # defects in a message
_QUOTED = 60  # letters of a value in one


@lru_cache(maxsize=1)
def _validator() -> "Draft202012Validator":
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def check(document: Mapping[str, Any]) -> None:
    """Check a document: its shape, that every id it refers to is there, and that intervals have their values in them.

    Raises:
        DataError: It is not as the schema says; the message names the first places.
    """
    try:
        found = list(islice(_validator().iter_errors(document), _SHOWN))
    except (UnicodeError, OverflowError) as error:
        raise DataError(
            f"leaderboard.json: expected text that is Unicode and numbers JSON has, got {error}."
        ) from error
    errors = [f"{_place(error.instance_path)}: {error.message[:_QUOTED]}" for error in found]
    if not errors:
        errors = list(islice(chain(_dangling(document), _outside(document)), _SHOWN))
    if errors:
        raise DataError(f"leaderboard.json: expected a document of schema {VERSION}, got {'; '.join(errors)}.")


def _place(path: Iterable[str | int]) -> str:
    """Write where something is as JSONPath does.

    Example:
        >>> _place(["runs", 0, "model"])
        '$.runs[0].model'
    """
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def _dangling(document: Mapping[str, Any]) -> Iterable[str]:
    """Name references to what the document does not have, and ids that it has twice."""
    ids = {kind: [one["id"] for one in document[kind]] for kind in ("runs", "tasks")}
    for kind, found in ids.items():
        if len(set(found)) < len(found):
            yield f"$.{kind}: an id twice"
    known = {"run": set(ids["runs"]), "task": set(ids["tasks"]), "metric": set(document["metrics"])}
    known |= {"model": {one["name"] for one in document["models"]}, "group": {"", *document["groups"]}}
    places = {"runs": ("model",), "entries": ("task", "model", "run", "metric", "group")}
    places |= {"comparisons": ("task", "metric", "group")}
    for kind, names in places.items():
        for at, one in enumerate(document[kind]):
            for name in names:
                if one[name] not in known[name]:
                    yield f"$.{kind}[{at}].{name}: not in the document"
    for at, one in enumerate(document["comparisons"]):
        named = {place["run"] for place in one["ranks"]} | {
            p[side] for p in one["pairs"] for side in ("first", "second")
        }
        named |= {left["run"] for left in one["left_out"]}
        if named - known["run"]:
            yield f"$.comparisons[{at}]: a run that is not in the document"


def _outside(document: Mapping[str, Any]) -> Iterable[str]:
    """Name values that lie outside their own intervals, and intervals that end before they begin."""
    for at, one in enumerate(document["entries"]):
        if not _in_order(one["low"], one["value"], one["high"]):
            yield f"$.entries[{at}]: {one['value']} is not from {one['low']} to {one['high']}"
    for at, comparison in enumerate(document["comparisons"]):
        for place, pair in enumerate(comparison["pairs"]):
            if not _in_order(pair["low"], pair["high"]):
                yield f"$.comparisons[{at}].pairs[{place}]: an interval from {pair['low']} to {pair['high']}"


def _in_order(*numbers: float | None) -> bool:
    there = [number for number in numbers if number is not None]
    return all(a <= b + _ROUNDED * max(abs(a), abs(b)) for a, b in pairwise(there))
