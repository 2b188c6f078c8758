"""Agreement of a judge with people (MME-Finance, section 4.3): rank correlation and mean absolute difference."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, pvariance
from typing import Any

import numpy as np
from scipy.stats import rankdata

from fin_tasks.errors import DataError

_REVIEW = 2.0  # people look again at a response whose scores have a larger variance


def combine(scores: Sequence[float]) -> tuple[float, bool]:
    """Return the score that most people gave, else the mean; and whether the response needs a second look.

    >>> combine([5, 5, 4]), combine([1, 1, 3, 3]), combine([0, 5, 5])
    ((5, False), (2, False), (5, True))
    """
    (first, votes), *rest = Counter(scores).most_common()
    alone = not rest or rest[0][1] < votes
    return (first if alone else mean(scores)), pvariance(scores) > _REVIEW


def agreement(people: Sequence[float], judge: Sequence[float], *, seed: int = 42) -> dict[str, float | None]:
    """Compare two graders of the same responses; Spearman's correlation has a 95 % bootstrap interval over responses.

    Values that are not defined are None. The bias is the judge's mean minus the people's mean.
    """
    x, y = np.asarray(people, dtype=float), np.asarray(judge, dtype=float)
    value, n, rng = _spearman(x, y), len(x), np.random.default_rng(seed)
    places = [rng.integers(n, size=n) for _ in range(2000)] if value is not None else []
    drawn = [found for at in places if (found := _spearman(x[at], y[at])) is not None]
    low, high = np.quantile(drawn, [0.025, 0.975]).tolist() if drawn else (None, None)
    mad, bias = (float(abs(y - x).mean()), float((y - x).mean())) if n else (None, None)
    return {"n": n, "spearman": value, "low": low, "high": high, "mean_absolute_difference": mad, "bias": bias}


def _spearman(x: Any, y: Any) -> float | None:
    if len(x) < 2:
        return None
    left, right = (ranks - ranks.mean() for ranks in map(rankdata, (x, y)))
    spread = float(np.sqrt((left**2).sum() * (right**2).sum()))
    return float((left * right).sum()) / spread if spread > 0 else None


def compare(
    path: Path, people: Mapping[str, Sequence[float]], responses: Mapping[str, str], groups: Mapping[str, str]
) -> dict[str, dict[str, float | None]]:
    """Compare a judge's samples file with people's scores, over all responses and in each group; all keys are ids."""
    pairs = []
    for name, (points, response) in _judged(path).items():
        if points is not None and people.get(name):
            if response != responses[name]:
                raise DataError(f"{path}: expected the responses that people saw, got another response to {name}.")
            pairs.append((combine(people[name])[0], points, groups.get(name, "")))
    names = ["all", *sorted({group for *_, group in pairs if group})]
    parts = {name: [(x, y) for x, y, group in pairs if name in ("all", group)] for name in names}
    return {name: agreement([x for x, _ in of], [y for _, y in of]) for name, of in parts.items()}


def _judged(path: Path) -> dict[str, tuple[float | None, str]]:
    """Return the points that `robust` read, None if unscored, and the response, by id."""
    found: dict[str, tuple[float | None, str]] = {}
    try:
        for line in path.read_text(encoding="utf-8").strip().split("\n"):
            row = json.loads(line)
            if row["filter"] == "robust":
                (text,), (response,) = row["filtered_resps"][0], row["resps"][0]
                reading = json.loads(text)
                found[str(row["doc"]["id"])] = (None if reading["unscored"] else reading["answer"], response)
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise DataError(f"{path}: expected samples_*.jsonl of a judged task, got {error!r}.") from error
    return found
