"""The schema of `leaderboard.json`, and checks of a document against it.

The schema itself is `leaderboard.schema.json` beside this module; it says what every key means.
"""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError

__all__ = ["FORMAT", "SCHEMA", "VERSION", "check"]

SCHEMA = Path(__file__).with_name("leaderboard.schema.json")
FORMAT = "fin-tasks leaderboard"
VERSION = "1.1"
"""Major: a key means something else or is gone, so that older readers fail. Minor: a key more."""

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
    """Check a document: its shape, and that every id it refers to is there.

    Raises:
        DataError: It is not as the schema says; the message names the first places.
    """
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(_schema())
    errors = [f"{error.json_path}: {error.message[:_QUOTED]}" for error in islice(validator.iter_errors(document), 5)]
    if not errors:
        errors = list(islice(_dangling(document), _SHOWN))
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
