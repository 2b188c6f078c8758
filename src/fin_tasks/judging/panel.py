"""Panels of judges: several judges grade a response, and their votes become one score."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import krippendorff
import numpy as np
import pandas as pd

from .item import Facts, Judged, Points, Verdict, missing_reason
from .rubric import Rubric

_OVERALL = "overall"
SEPARATOR = " + "
"""Stands between the judges in the name of a panel."""


@dataclass(frozen=True)
class Vote:
    """What one judge of a panel said about a response."""

    judge: str
    points: Points | None
    """None if no reply is a score."""
    reason: str
    """Why no reply is a score."""
    replies: tuple[str, ...]


def join_panel(members: Sequence[Judged]) -> Judged:
    """Return a judged response with all judges' replies; it failed if all judges failed."""
    first = next((member for member in members if not member.error), members[0])
    return replace(first, judge="", panel=tuple(members))


def votes_of(
    judged: Judged,
    rubric: Rubric,
    read: Callable[[Rubric, Judged], Verdict] = Rubric.read,
) -> tuple[Vote, ...]:
    """Read the vote of each judge of a panel; no votes if one judge was asked."""
    if missing_reason(judged.response):
        return ()
    votes = []
    for member in judged.panel:
        verdict = read(rubric, member)
        points = None if verdict.reason else verdict.score
        votes.append(Vote(member.judge, points, member.error, member.replies))
    return tuple(votes)


def verdict_of(votes: Sequence[Vote], rubric: Rubric) -> Verdict | None:
    """Return the median of the votes, or the mean if the rubric says so; None without votes."""
    points = [_by_dimension(vote.points) for vote in votes]
    if not any(points):
        return None
    scores = pd.DataFrame(points).agg(rubric.panel).to_dict()
    return Verdict(scores if rubric.dimensions else scores[_OVERALL])


def panel_facts(judged: Sequence[Judged], rubric: Rubric) -> Facts:
    """Return the judges' votes, failures and means, and how far they agree.

    Nothing is returned if one judge was asked. Agreement is None where it is not defined.
    """
    points_by_judge = defaultdict(list)
    for row in judged:
        for vote in votes_of(row, rubric):
            points = _by_dimension(vote.points)
            points_by_judge[vote.judge].append(points.get(_OVERALL))
    if not points_by_judge:
        return {}
    table = pd.DataFrame(points_by_judge, dtype=float)
    judges = []
    for name, column in table.items():
        n_votes = int(column.count())
        mean = column.mean() if n_votes else None
        failed = len(column) - n_votes
        judges.append({"judge": name, "votes": n_votes, "failed": failed, "mean": mean})
    return {
        "panel": {
            "judges": judges,
            "alpha": _alpha(table),
            "effective_votes": _n_effective(table),
        }
    }


def _by_dimension(points: Points | None) -> Mapping[str, float]:
    if points is None:
        return {}
    return points if isinstance(points, Mapping) else {_OVERALL: points}


def _alpha(table: pd.DataFrame) -> float | None:
    """Return Krippendorff's alpha of rows with two votes or more."""
    paired = table[table.count(axis=1) > 1]
    if paired.stack().nunique() < 2:
        return None
    votes = paired.to_numpy().T
    return float(krippendorff.alpha(votes, level_of_measurement="interval"))


def _n_effective(table: pd.DataFrame) -> float | None:
    """Return how many independent votes these votes are worth, by their mean correlation.

    A judge that always gives the same points does not count.
    """
    varied = table.loc[:, table.nunique() > 1]
    n = varied.shape[1]
    pairs = varied.corr().to_numpy()[np.triu_indices(n, 1)]
    known = pairs[~np.isnan(pairs)]
    if not len(known):
        return None
    return float(n / (1 + (n - 1) * max(known.mean(), 0)))
