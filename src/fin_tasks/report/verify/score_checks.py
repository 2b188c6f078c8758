"""Whether claimed scores are what our scorers make of the responses, row by row."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fin_tasks.report.verify.closeness import same, shown
from fin_tasks.report.verify.findings import Finding, Place, Status, finding
from fin_tasks.report.verify.submitted import SubmittedRow

__all__ = ["Compared", "Rescored", "check_scores", "claims_of", "compare_row", "status_of"]

_LARGEST = 1e300
MOST_EXCUSED = 0.1
"""Share of row scores that may prove nothing; more of them prove that the run cannot be verified."""
MOST_EXCUSED_ROWS = 3
_ENDED_BY_MACHINE = ("timeout", "memory", "broken")
"""Ends of a program that another machine, or a busier one, may bring about or not."""


@dataclass(frozen=True, kw_only=True)
class Rescored:
    """A row, and what our scorers make of it.

    Attributes:
        row: As it was handed in.
        answers: Our scored answers.
        values: Our metrics.
        judged: Whether a judge's reading was taken from the submission.
    """

    row: SubmittedRow
    answers: Sequence[Any]
    values: Mapping[str, Any]
    judged: bool = False


@dataclass(frozen=True, kw_only=True)
class Compared:
    """What the comparison of one row found.

    Attributes:
        wrong: What differs; empty where nothing does.
        excuse: Why the difference proves nothing; empty where there is none.
        values: What counts towards totals: ours, or the claims where nothing is proven.
    """

    wrong: str
    excuse: str
    values: Mapping[str, Any]


def compare_row(one: Rescored, *, same_tier: bool) -> Compared:
    """Compare a row's claims with our metrics.

    Args:
        one: The row.
        same_tier: Whether its programs ran in the same kind of sandbox.
    """
    claimed = one.row.claimed
    wrong = [name for name, value in one.values.items() if not same(claimed.get(name), value)]
    for name in claimed.keys() - one.values.keys():
        # `<metric>_stderr` is the value once more, see adapters.lm_eval; no other metric is the task's
        metric = name.removesuffix("_stderr")
        if metric == name or not same(claimed[name], one.values.get(metric)):
            wrong.append(name)
    if not wrong:
        return Compared(wrong="", excuse="", values=one.values)
    name, more = wrong[0], f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
    said = f"{name} is {shown(one.values.get(name))}, claimed {shown(claimed.get(name))}{more}"
    told = f"line {one.row.line}: {one.row.id!r:.60}: {said}"
    excuse = _excuse(one, same_tier=same_tier)
    values = claims_of(one.row, one.values) if excuse else one.values
    return Compared(wrong=told, excuse=excuse, values=values)


def claims_of(row: SubmittedRow, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a row claims for each of our metrics; what is no number in place of one is not taken."""
    return {name: _claim(row.claimed.get(name), value) for name, value in values.items()}


def _claim(claimed: Any, ours: Any) -> Any:
    plain = isinstance(claimed, (int, float)) and not isinstance(claimed, bool) and abs(claimed) <= _LARGEST
    return claimed if (plain and not isinstance(ours, list)) or claimed is None else ours


def _excuse(one: Rescored, *, same_tier: bool) -> str:
    if one.judged:
        return "read by a judge"
    ours = list(map(status_of, one.answers))
    theirs = [(answer or {}).get("status") for answer in one.row.scored]
    right = one.row.claimed.get("acc") not in (None, 0.0)
    for mine, other in zip(ours, theirs, strict=False):
        if right and other in (*_ENDED_BY_MACHINE, "unsupported", "forbidden"):
            return ""  # such a program cannot have been right
        if mine in _ENDED_BY_MACHINE or other in ("timeout", "memory"):
            return f"a program ended by the machine's limits (here {mine}, there {other!r:.20})"
        if mine == "unsupported" or (not same_tier and other in ("unsupported", "forbidden", "broken")):
            return f"a program that one sandbox runs and another does not (here {mine}, there {other!r:.20})"
    return ""


def check_scores(
    place: Place, compared: Mapping[str, Sequence[Compared]], *, volatile: Mapping[str, set[int]]
) -> Iterator[Finding]:
    """Tell what comparing the rows found.

    Args:
        place: The task.
        compared: By variant, one per row.
        volatile: By variant, places of rows whose programs give something else each time they run.
    """
    wrong, excused = [], []
    for variant, rows in compared.items():
        for number, one in enumerate(rows):
            if not one.wrong:
                continue
            if one.excuse or number in volatile.get(variant, ()):
                why = one.excuse or "a program that gives something else each time"
                excused.append(f"{variant}, {one.wrong} ({why})")
            else:
                wrong.append(f"{variant}, {one.wrong}")
    count = sum(map(len, compared.values()))
    yield finding(
        "scores",
        place,
        "{n} rows do not score what is claimed",
        wrong,
        fine=f"{count - len(excused):,} row scores are what our scorers give",
    )
    if excused:
        many = len(excused) > max(MOST_EXCUSED_ROWS, MOST_EXCUSED * count)
        yield finding(
            "programs",
            place,
            "{n} row scores could not be reproduced, " + ("too many of them" if many else "which proves nothing"),
            excused,
            status=Status.failed if many else Status.warned,
        )


def status_of(answer: Any) -> str | None:
    """Return how the program behind a reading ended."""
    found: str | None = answer.get("status") if isinstance(answer, Mapping) else getattr(answer, "status", None)
    return found
