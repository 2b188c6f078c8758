"""How well a judge agrees with people (MME-Finance, section 4.3): rank correlation and mean absolute difference."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, pvariance

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from fin_tasks.errors import DataError
from fin_tasks.judging.saved import read_table

__all__ = ["Agreement", "agreement", "by_group", "combine", "read_judge", "read_people", "spearman"]

REVIEW = 2.0  # people whose scores have a larger variance look at the response again


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Two graders of the same responses; differences are in points, the second less the first."""

    n: int
    spearman: float | None  # None if one of them gives everything the same score
    low: float | None  # 95 % bootstrap interval of it, over responses
    high: float | None
    mean_absolute_difference: float | None
    bias: float | None


def agreement(people: Sequence[float], judge: Sequence[float], *, seed: int = 42) -> Agreement:
    """Compare two graders."""
    x, y = np.asarray(people, dtype=float), np.asarray(judge, dtype=float)
    value, n, rng = spearman(x, y), len(x), np.random.default_rng(seed)
    places = [rng.integers(n, size=n) for _ in range(2000)] if value is not None else []
    drawn = [found for at in places if (found := spearman(x[at], y[at])) is not None]
    low, high = np.quantile(drawn, [0.025, 0.975]).tolist() if drawn else (None, None)
    difference = y - x
    return Agreement(
        n=n,
        spearman=value,
        low=low,
        high=high,
        mean_absolute_difference=float(abs(difference).mean()) if n else None,
        bias=float(difference.mean()) if n else None,
    )


def spearman(x: npt.ArrayLike, y: npt.ArrayLike) -> float | None:
    """Return Spearman's rank correlation; None for fewer than two pairs or without differences.

    >>> spearman([1, 2, 3, 4], [1, 3, 2, 4])
    0.8
    """
    if np.size(x) < 2:
        return None
    ranks = [rankdata(np.asarray(one, dtype=float)) for one in (x, y)]
    left, right = (rank - rank.mean() for rank in ranks)
    spread = float(np.sqrt((left**2).sum() * (right**2).sum()))
    return float((left * right).sum()) / spread if spread > 0 else None


def combine(scores: Sequence[float]) -> tuple[float, bool]:
    """Return the score that most people gave, else the mean; and whether people are so far apart that it needs review.

    >>> combine([5, 5, 4]), combine([1, 2, 3]), combine([0, 5, 5])
    ((5, False), (2, False), (5, True))
    """
    (first, votes), *rest = Counter(scores).most_common()
    alone = votes > 1 and (not rest or rest[0][1] < votes)
    return (first if alone else mean(scores)), pvariance(scores) > REVIEW


def read_people(path: Path, annotators: Sequence[str] = ()) -> dict[str, list[float]]:
    """Read a table with `index` and a column per person; return each response's scores by its index."""
    rows = read_table(path)
    names = list(annotators) or [name for name in rows[0] if name not in ("index", "category", "task_category")]
    try:
        people = {row["index"]: [float(row[name]) for name in names if row[name].strip()] for row in rows}
    except (KeyError, ValueError) as error:
        raise DataError(
            f"{path}: expected the column index and numbers in {', '.join(names)}, got {error}. Name the people's "
            "columns with --annotators."
        ) from error
    return {index: scores for index, scores in people.items() if scores}


def read_judge(path: Path) -> dict[str, tuple[float | None, str]]:
    """Read a judge's samples file; return points and category of each response by its index."""
    found: dict[str, tuple[float | None, str]] = {}
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            doc, said = row["doc"], row["filtered_resps"][0]
            reading = json.loads(said[0] if isinstance(said, list) else said)
            # lm-eval's metric is a percentage, and its reading holds the points
            points = reading["answer"] if isinstance(reading["answer"], int) else row["score"]
            if row["filter"] == "robust":
                index, category = str(doc["id"]), str(doc.get("task_category") or doc.get("category") or "")
                found[index] = (None if reading.get("unscored") else points, category)
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise DataError(f"{path}: expected samples_*.jsonl of a judged task, got {error!r}.") from error
    return found


def by_group(
    people: Mapping[str, float], judge: Mapping[str, tuple[float | None, str]], groups: Mapping[str, str]
) -> dict[str, Agreement]:
    """Compare over all responses that both have scored, and over those of each group; `groups` maps categories."""
    pairs = [
        (people[i], score, groups.get(c, "")) for i, (score, c) in judge.items() if score is not None and i in people
    ]
    names = ["all", *sorted({group for *_, group in pairs if group})]
    chosen = {name: [(x, y) for x, y, group in pairs if name in ("all", group)] for name in names}
    return {name: agreement([x for x, _ in of], [y for _, y in of]) for name, of in chosen.items()}
