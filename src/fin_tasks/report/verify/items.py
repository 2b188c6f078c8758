"""What the verifier names, and the list of what was established about a task of a submission."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fin_tasks.judging.judge import JudgeModel
from fin_tasks.report.verify.submission import Fields

Status = Literal["failed", "not verified", "warning", "verified"]
"""What was established about an item. Only oddities have warnings."""

EXIT_STATUS: Mapping[Status, int] = {
    "failed": 1,
    "not verified": 3,
    "verified": 0,
}
"""The exit status of the command, from the worst status to the best. Warnings change nothing."""

_MAX_DETAILS = 100
_MAX_DETAIL = 200  # characters


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the verifier names: how the tasks were to be asked, and who judges."""

    metadata: Fields
    n_rows: int | None = None
    """How many of the first rows were to be asked; None for all."""
    revision: str | None = None
    """Revision of gold data that the verifier recorded before."""
    judge: JudgeModel | None = None
    """The verifier's own judge."""
    n_judged: int = 50
    """How many responses of a task the judge is asked about."""


@dataclass(frozen=True)
class Item:
    """An item of the list, with the evidence in a sentence and the rows that it is about."""

    name: str
    status: Status
    evidence: str
    details: Sequence[str] = ()


def item_of(
    name: str,
    details: Sequence[str],
    wrong: str,
    right: str,
    status: Status = "failed",
) -> Item:
    """Return an item that is verified if there are no details."""
    if not details:
        return Item(name, "verified", right)
    texts = [detail[:_MAX_DETAIL] for detail in details[:_MAX_DETAILS]]
    return Item(name, status, f"{len(details):,} {wrong}", texts)


@dataclass(frozen=True)
class TaskList:
    """The list of a task of a run."""

    run: str
    """Id of the run, a hash of its results file."""
    path: str
    """Name of the results file."""
    model: str
    task: str
    status: Status
    """The worst status of all items."""
    items: Sequence[Item]


@dataclass(frozen=True)
class Verification:
    """The lists of all tasks of a submission, and what is wrong with its files."""

    status: Status
    """The worst status of all tasks; a file that cannot be used is a failure."""
    problems: Sequence[str]
    tasks: Sequence[TaskList]
    files: Mapping[str, str]
    """SHA-256 of each file that was read, by its path."""


def worst_of(statuses: Iterable[Status]) -> Status:
    """Return the worst status, apart from warnings."""
    known = set(statuses)
    return next((status for status in EXIT_STATUS if status in known), "verified")
