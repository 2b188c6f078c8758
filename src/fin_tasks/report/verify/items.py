"""The list of what was established about a task of a submission."""

from collections.abc import (
    Iterable,
    Mapping,
    Sequence,
)
from dataclasses import (
    asdict,
    dataclass,
    field,
)
from typing import (
    Any,
    Literal,
)

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
    items: Sequence[Item]


@dataclass
class Verification:
    """The lists of all tasks of a submission, and what is wrong with its files."""

    problems: list[str]
    tasks: list[TaskList] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    """SHA-256 of each file that was read, by its path."""

    @property
    def status(self) -> Status:
        """The worst status of all items; a file that cannot be used is a failure."""
        if self.problems:
            return "failed"
        return _worst(item for task in self.tasks for item in task.items)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON holds it."""
        values = {"status": self.status, **asdict(self)}
        for task, fields in zip(self.tasks, values["tasks"], strict=True):
            fields["status"] = _worst(task.items)
        return values


def _worst(items: Iterable[Item]) -> Status:
    statuses = {item.status for item in items}
    return next((status for status in EXIT_STATUS if status in statuses), "verified")
