"""A leaderboard's document made small for a page: columns instead of objects, and each text once."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

__all__ = ["compact"]

_DIGITS = 4
"""Of a number in the page, which shows as many; `leaderboard.json` has them all."""

_NUMBERS = ("value", "low", "high")
_OF_PAIR = ("n", "difference", "low", "high", "p", "p_holm")
_TEXTS = ("judge", "source", "date")


def compact(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with its long lists as columns; `data.js` reads it.

    Runs, entries, ranks and pairs become objects of lists; a list of one value throughout becomes that value. Ids
    become places in `runs`, `tasks`, `models` and the `metric_names`, `group_names`, and `texts` added here; what a
    run or a group is made of becomes a flat list of places in `texts`: key, value, key, value. The pairs of a
    comparison become those of its `members`, each with all that follow it; None where a pair was not compared.

    Example:
        >>> found = compact({"runs": [], "tasks": [{"id": "t"}], "models": [], "metrics": {"acc": {}}, "groups": {},
        ...                  "entries": [{"task": "t", "metric": "acc", "value": 0.12345678}], "comparisons": []})
        >>> found["entries"]
        {'rows': 1, 'task': 0, 'metric': 0, 'value': 0.1235}
    """
    texts = _Numbered()
    places = {
        "run": _places(run["id"] for run in document["runs"]),
        "task": _places(task["id"] for task in document["tasks"]),
        "model": _places(model["name"] for model in document["models"]),
        "metric": _places(document["metrics"]),
        "group": _places(["", *document["groups"]]),
    }
    runs = [
        {**run, "provenance": texts.pairs(run["provenance"]), "task": texts.of(run["task"])} for run in document["runs"]
    ]
    of_run = {name: at for name, at in places.items() if name == "model"}
    return {
        **document,
        "models": [{**model, "runs": len(model["runs"])} for model in document["models"]],
        "runs": _columns(runs, of_run, texts),
        "groups": {name: texts.pairs(facts) for name, facts in document["groups"].items()},
        "entries": _columns(document["entries"], places, texts),
        "comparisons": [
            {
                **_placed(comparison, places, texts),
                "ranks": _columns(comparison["ranks"], places, texts),
                **_triangle(comparison["pairs"], places["run"]),
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
    return {
        "rows": len(rows),
        **{key: _once([row[key] for row in placed]) for key in (placed[0] if placed else ())},
    }


def _once(column: list[Any]) -> Any:
    """Return the value of a column that has only one, unless that is a list itself."""
    same = not isinstance(column[0], list) and all(value == column[0] for value in column)
    return column[0] if same else column


def _triangle(pairs: Sequence[Mapping[str, Any]], runs: Mapping[str, int]) -> dict[str, Any]:
    """Order pairs so that their place says whose they are."""
    members = list(dict.fromkeys(pair[side] for pair in pairs for side in ("first", "second")))
    found = {(pair["first"], pair["second"]): pair for pair in pairs}
    found |= {(second, first): _turned(pair) for (first, second), pair in found.items()}
    ordered = [found.get(ends) for ends in combinations(members, 2)]
    columns = {
        key: _once([None if pair is None else _short(pair[key]) for pair in ordered] or [None]) for key in _OF_PAIR
    }
    return {"members": [runs[member] for member in members], "pairs": {"rows": len(ordered), **columns}}


def _turned(pair: Mapping[str, Any]) -> dict[str, Any]:
    """See a pair from its second."""

    def minus(number: float | None) -> float | None:
        return None if number is None else -number

    ends = {"difference": pair["difference"], "low": pair["high"], "high": pair["low"]}
    return {**pair, **{key: minus(number) for key, number in ends.items()}}


def _placed(row: Mapping[str, Any], places: Mapping[str, Mapping[str, int]], texts: _Numbered) -> dict[str, Any]:
    return {key: _cell(key, value, places, texts) for key, value in row.items()}


def _cell(key: str, value: Any, places: Mapping[str, Mapping[str, int]], texts: _Numbered) -> Any:
    if key in places:
        return places[key][value]
    if key in _TEXTS:
        return texts.of(value)
    if key == "marks":
        return [texts.of(mark) for mark in value]
    return _short(value) if key in _NUMBERS else value


def _short(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    short = float(f"{value:.{_DIGITS}g}")
    return int(short) if short.is_integer() else short
