"""Whether claimed scores are what our scorers make of the responses, row by row and in total."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fin_tasks.report.lm_eval_results import Claim, TaskClaims
from fin_tasks.report.verify.closeness import same
from fin_tasks.report.verify.findings import Finding, Place, Status, finding, not_checked
from fin_tasks.report.verify.submitted import SubmittedRow
from fin_tasks.report.verify.task_files import TaskFile
from fin_tasks.stats.averages import average, standard_error
from fin_tasks.stats.metric import Metric

__all__ = ["Compared", "Rescored", "check_aggregates", "check_scores", "claims_of", "compare_row", "totals"]

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
    answers: Sequence[Mapping[str, Any]]
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
    said = f"{name} is {_shown(one.values.get(name))}, claimed {_shown(claimed.get(name))}{more}"
    shown = f"line {one.row.line}: {one.row.id!r:.60}: {said}"
    excuse = _excuse(one, same_tier=same_tier)
    values = claims_of(one.row, one.values) if excuse else one.values
    return Compared(wrong=shown, excuse=excuse, values=values)


def claims_of(row: SubmittedRow, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a row claims for each of our metrics; what is no number in place of one is not taken."""
    return {name: _claim(row.claimed.get(name), value) for name, value in values.items()}


def _claim(claimed: Any, ours: Any) -> Any:
    plain = isinstance(claimed, (int, float)) and not isinstance(claimed, bool) and abs(claimed) <= _LARGEST
    return claimed if (plain and not isinstance(ours, list)) or claimed is None else ours


def _excuse(one: Rescored, *, same_tier: bool) -> str:
    if one.judged:
        return "read by a judge"
    ours = [answer.get("status") for answer in one.answers]
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


def totals(task: TaskFile, values: Sequence[Mapping[str, Any]]) -> dict[str, Claim]:
    """Work out a task's metrics over rows, as the task does.

    Args:
        task: The task.
        values: Each row's metrics, in the documents' order.
    """
    found: dict[str, Claim] = {}
    for name, metric in task.metrics.items():  # in the order of declaration: some go by what came before
        of_rows = [row.get(name) for row in values]
        if isinstance(metric, Metric):
            stderr = None if metric.stderr is None else metric.stderr(of_rows)
            found[name] = Claim(_number(metric.aggregate(of_rows)), _number(stderr))
        else:
            found[name] = Claim(_number(average(of_rows)), _number(standard_error(of_rows)))
    return found


def check_aggregates(
    place: Place, task: TaskFile, claims: TaskClaims | None, ours: Mapping[str, Mapping[str, Claim]]
) -> Finding:
    """Compare a task's claimed totals with those over the rows' scores.

    Args:
        place: The task.
        task: The task.
        claims: What the results file says; None where it says nothing of the task.
        ours: Variant to metric to total.
    """
    if claims is None:
        return not_checked("aggregates", place, "there is no results file that claims anything of this task")
    wrong, count = [], 0
    for variant, metrics in ours.items():
        said = claims.variants.get(variant, {})
        for name, right in metrics.items():
            if name.endswith("_stderr"):
                continue  # declared by hand; compared as the error of its metric
            count += 1
            stderr = metrics.get(f"{name}_stderr", Claim(right.stderr, None)).value
            claim = said.get(name)
            if claim is None:
                if right.value is not None:
                    wrong.append(f"{name},{variant}: not among the results; it is {_shown(right.value)}")
            elif not same(claim.value, right.value):
                wrong.append(f"{name},{variant}: is {_shown(right.value)}, claimed {_shown(claim.value)}")
            elif not same(claim.stderr, stderr) and not _no_error(task, name):
                wrong.append(f"{name}_stderr,{variant}: is {_shown(stderr)}, claimed {_shown(claim.stderr)}")
        wrong += [f"{name},{variant}: no metric of the task" for name in said if name not in metrics]
    wrong += [f"{name!r:.60}: no filter of the task" for name in claims.variants if name not in ours]
    return finding(
        "aggregates", place, "{n} totals are not those of the rows", wrong, fine=f"{count} totals are those of the rows"
    )


def _no_error(task: TaskFile, name: str) -> bool:
    """Whether a metric has no standard error of ours: lm-eval may write one of its own."""
    metric = task.metrics[name]
    return isinstance(metric, Metric) and metric.stderr is None and f"{name}_stderr" not in task.metrics


def _number(value: Any) -> float | None:
    if value is None or isinstance(value, str):  # N/A
        return None
    # as it is: a `Spread` remembers what groups need
    return None if math.isnan(value) else value


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else f"{value!r:.60}"
