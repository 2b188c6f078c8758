"""What a check found, and what all checks together come to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

__all__ = ["SHOWN", "Finding", "Place", "Report", "Status", "finding", "not_checked", "passed"]

SHOWN = 10
"""Details of a finding that are kept; all are counted."""
_WIDEST = 400
"""Characters of a detail, which may quote a stranger's file."""


class Status(str, Enum):
    """A check's verdict."""

    passed = "pass"
    warned = "warn"
    """Something that may have an honest reason; somebody has to look."""
    failed = "fail"
    unchecked = "not checked"
    """Nothing is known, and the message says why."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A verdict of one check on one task of a run.

    Attributes:
        check: The check's name, a row of the table in docs/verify.md.
        task: The task; empty for what concerns the submission.
        run: The results or samples file that is meant, from the submission's folder.
        status: The verdict.
        message: What was found, in a sentence.
        details: Examples, at most `SHOWN`.
        count: How many there are.
    """

    check: str
    task: str
    run: str
    status: Status
    message: str
    details: tuple[str, ...] = ()
    count: int = 0

    def told(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "check": self.check,
            "task": self.task,
            "run": self.run,
            "verdict": self.status.value,
            "message": self.message,
            "count": self.count,
            "details": list(self.details),
        }


@dataclass(frozen=True, kw_only=True)
class Report:
    """All verdicts.

    Attributes:
        findings: In the order of the checks, run by run.
        tasks: How many tasks of runs were looked at.
        rows: How many rows were scored again, each counted once per variant.
        facts: By what they were checked: versions, sandbox, tolerances.
    """

    findings: tuple[Finding, ...]
    tasks: int
    rows: int
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> Status:
        """`fail` where a check failed; `not checked` where scores or judges could not be; else `warn` or `pass`."""
        found = {one.status for one in self.findings}
        if Status.failed in found:
            return Status.failed
        if self.unverified or self.unconfirmed:
            return Status.unchecked
        return Status.passed if found <= {Status.passed} else Status.warned

    @property
    def unverified(self) -> tuple[Finding, ...]:
        """Tasks whose scores, and groups whose totals, could not be worked out again."""
        return tuple(
            one for one in self.findings if one.check in ("scores", "groups") and one.status is Status.unchecked
        )

    @property
    def unconfirmed(self) -> tuple[Finding, ...]:
        """Tasks whose scores are a judge's, who was not asked again: they rest on the submission's word."""
        return tuple(one for one in self.findings if one.check == "judge" and one.status is Status.unchecked)

    @property
    def exit_code(self) -> int:
        """0 where nothing failed, 1 where something did, 2 where scores could not be checked, 3 where no judge was."""
        if self.verdict is Status.failed:
            return 1
        if self.unverified:
            return 2
        return 3 if self.unconfirmed else 0

    def told(self) -> dict[str, Any]:
        """Return it as JSON."""
        counts = {status.value: sum(one.status is status for one in self.findings) for status in Status}
        return {
            "verdict": self.verdict.value,
            "counts": counts,
            "tasks": self.tasks,
            "rows": self.rows,
            "facts": dict(self.facts),
            "checks": [one.told() for one in self.findings],
        }


@dataclass(frozen=True)
class Place:
    """What a check is about.

    Attributes:
        task: As in `Finding`.
        run: As in `Finding`.
    """

    task: str
    run: str


def passed(check: str, place: Place, message: str) -> Finding:
    """Return the verdict that all is as it should be."""
    return Finding(check=check, task=place.task, run=place.run, status=Status.passed, message=message)


def not_checked(check: str, place: Place, why: str) -> Finding:
    """Return the verdict that nothing is known."""
    return Finding(check=check, task=place.task, run=place.run, status=Status.unchecked, message=_short(why))


def finding(
    check: str,
    place: Place,
    message: str,
    details: Sequence[str] | Iterable[str],
    *,
    status: Status = Status.failed,
    fine: str = "",
) -> Finding:
    """Return the verdict that details decide: `status` where there are any, else a pass that says `fine`.

    Args:
        check: The check's name.
        place: What it is about.
        message: What it means that there are details; `{n}` is their number.
        details: One line each.
        status: The verdict where there are any.
        fine: What to say where there are none.
    """
    found = list(details)
    if not found:
        return passed(check, place, fine or "nothing found")
    shown = tuple(_short(detail) for detail in found[:SHOWN])
    said = message.replace("{n}", f"{len(found):,}")
    return Finding(
        check=check, task=place.task, run=place.run, status=status, message=said, details=shown, count=len(found)
    )


def _short(text: str) -> str:
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"
