"""A leaderboard's document made small for a page: columns instead of objects, and each text once."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["compact"]

_DIGITS = 6
"""Of a number in the page, which shows four; `leaderboard.json` has them all."""

_NUMBERS = ("value", "low", "high", "difference", "p", "p_holm")


def compact(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with its long lists as columns; `data.js` reads it.

    Entries, ranks and pairs become objects of lists; ids in them become places in `runs`, `tasks`, `models` and the
    `metric_names`, `group_names`, and `texts` added here; what a run or a group is made of becomes a flat list of
    places in `texts`: key, value, key, value.

    Example:
        >>> found = compact({"runs": [], "tasks": [{"id": "t"}], "models": [], "metrics": {"acc": {}}, "groups": {},
        ...                  "entries": [{"task": "t", "metric": "acc", "value": 0.12345678}], "comparisons": []})
        >>> found["entries"]
        {'task': [0], 'metric': [0], 'value': [0.123457]}
    """
    texts = _Numbered()
    places = {
        "run": _places(run["id"] for run in document["runs"]),
        "task": _places(task["id"] for task in document["tasks"]),
        "model": _places(model["name"] for model in document["models"]),
        "metric": _places(document["metrics"]),
        "group": _places(["", *document["groups"]]),
    }
    places |= {"first": places["run"], "second": places["run"]}
    return {
        **document,
        "runs": [{**run, "provenance": texts.pairs(run["provenance"])} for run in document["runs"]],
        "groups": {name: texts.pairs(facts) for name, facts in document["groups"].items()},
        "entries": _columns(document["entries"], places, texts),
        "comparisons": [
            {
                **_placed(comparison, places, texts),
                "ranks": _columns(comparison["ranks"], places, texts),
                "pairs": _columns(comparison["pairs"], places, texts),
            }
            for comparison in document["comparisons"]
        ],
        "metric_names": list(places["metric"]),
        "group_names": list(places["group"]),
        "texts": texts.all(),
    }


class _Numbered:
    """Texts in the order they came, each once."""

    def __init__(self) -> None:
        self._at: dict[str, int] = {}

    def of(self, text: str) -> int:
        return self._at.setdefault(text, len(self._at))

    def pairs(self, facts: Mapping[str, str]) -> list[int]:
        return [self.of(text) for pair in facts.items() for text in pair]

    def all(self) -> list[str]:
        return list(self._at)


def _places(names: Iterable[str]) -> dict[str, int]:
    return {name: at for at, name in enumerate(names)}


def _columns(rows: Sequence[Mapping[str, Any]], places: Mapping[str, Mapping[str, int]], texts: _Numbered) -> Any:
    placed = [_placed(row, places, texts) for row in rows]
    return {key: [row[key] for row in placed] for key in (placed[0] if placed else ())}


def _placed(row: Mapping[str, Any], places: Mapping[str, Mapping[str, int]], texts: _Numbered) -> dict[str, Any]:
    return {key: _cell(key, value, places, texts) for key, value in row.items()}


def _cell(key: str, value: Any, places: Mapping[str, Mapping[str, int]], texts: _Numbered) -> Any:
    if key in places:
        return places[key][value]
    if key == "judge":
        return texts.of(value)
    if key == "marks":
        return [texts.of(mark) for mark in value]
    if key in _NUMBERS and value is not None:
        return float(f"{value:.{_DIGITS}g}")
    return value
