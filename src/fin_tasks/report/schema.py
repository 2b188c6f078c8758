"""The schema of `leaderboard.json`, and checks of a document against it.

The schema itself is `leaderboard.schema.json` beside this module; it says what every key means.
"""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError

__all__ = ["FORMAT", "SCHEMA", "VERSION", "check"]

SCHEMA = Path(__file__).with_name("leaderboard.schema.json")
FORMAT = "fin-tasks leaderboard"
VERSION = "1.1"
"""Major: a key means something else or is gone, so that older readers fail. Minor: a key more."""

_ROUNDED = 1e-5  # bounds have six significant digits
_SHOWN = 5  # defects in a message
_QUOTED = 60  # letters of a value in one


@lru_cache(maxsize=1)
def _schema() -> dict[str, Any]:
    """Read the schema with its definitions put where they are named, which halves the time of a check."""
    found: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    definitions = found.pop("$defs")

    def resolved(part: Any) -> Any:
        if isinstance(part, dict):
            if "$ref" in part:
                return resolved(definitions[part["$ref"].removeprefix("#/$defs/")])
            return {name: resolved(of) for name, of in part.items()}
        return [resolved(one) for one in part] if isinstance(part, list) else part

    whole: dict[str, Any] = resolved(found)
    return whole


def check(document: Mapping[str, Any]) -> None:
    """Check a document: its shape, that every id it refers to is there, and that intervals have their values in them.

    Raises:
        DataError: It is not as the schema says; the message names the first places.
    """
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(_schema())
    errors = [f"{error.json_path}: {error.message[:_QUOTED]}" for error in islice(validator.iter_errors(document), 5)]
    if not errors:
        errors = list(islice(chain(_dangling(document), _outside(document)), _SHOWN))
    if errors:
        raise DataError(f"leaderboard.json: expected a document of schema {VERSION}, got {'; '.join(errors)}.")


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
