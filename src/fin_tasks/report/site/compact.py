"""A leaderboard's document made small for a page: columns instead of objects, and each text once."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fin_tasks.report.site.pair_columns import once, pair_columns, short

__all__ = ["compact"]

_NUMBERS = ("value", "low", "high")
_TEXTS = ("judge", "source", "date")


def compact(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with its long lists as columns; `data.js` reads it.

    Runs, entries, ranks and pairs become objects of lists; a list of one value throughout becomes that value. Ids
    become places in `runs`, `tasks`, `models` and the `metric_names`, `group_names`, and `texts` added here; what a
    run or a group is made of becomes a flat list of places in `texts`: key, value, key, value. The pairs of a
    comparison become those of its `members`, see `pair_columns`.

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
        {
            **run,
            "provenance": texts.pairs(run["provenance"]),
            "task": texts.of(run["task"]),
            "label": "" if run["label"] == run["model"] else run["label"],
            "samples": _beside(run["path"], run["samples"]),
        }
        for run in document["runs"]
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
                "ranks": {
                    **_columns(comparison["ranks"], places, texts),
                    # with all digits, as differences are worked out from them
                    "value": once([place["value"] for place in comparison["ranks"]]),
                },
                **pair_columns(comparison, places["run"], alpha=document["alpha"]),
            }
            for comparison in document["comparisons"]
        ],
        "metric_names": list(places["metric"]),
        "group_names": list(places["group"]),
        "texts": texts.all(),
    }


def _beside(path: str, samples: str) -> str:
    """Name a samples file from the folder that the run's file is in, where it is there too: `./name`.

    Example:
        >>> _beside("a/results.json", "a/samples.jsonl"), _beside("a/results.json", "b/samples.jsonl")
        ('./samples.jsonl', 'b/samples.jsonl')
    """
    folder, slash, _ = path.rpartition("/")
    rest = samples.removeprefix(folder + slash)
    return f"./{rest}" if slash and samples != rest and not path.startswith("./") else samples


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
        **{key: once([row[key] for row in placed]) for key in (placed[0] if placed else ())},
    }


def _placed(row: Mapping[str, Any], places: Mapping[str, Mapping[str, int]], texts: _Numbered) -> dict[str, Any]:
    return {key: _cell(key, value, places, texts) for key, value in row.items()}


def _cell(key: str, value: Any, places: Mapping[str, Mapping[str, int]], texts: _Numbered) -> Any:
    if key in places:
        return places[key][value]
    if key in _TEXTS:
        return texts.of(value)
    if key == "marks":
        return [texts.of(mark) for mark in value]
    return short(value) if key in _NUMBERS else value
