"""Badges: what `verified.json` of `fin-tasks verify` says about the runs beside and below it."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from fin_tasks.data.files import sha256_of
from fin_tasks.errors import DataError

from .leaderboard_model import Badge
from .model import Problem, Report, Run
from .processes import for_each
from .redact import printable
from .verify.items import Verification

_NAME = "verified.json"

Badges = dict[str, Badge]
"""Badges by `TaskResult.id`."""


@dataclass(frozen=True)
class _Verified(Verification):
    fin_tasks: str
    date: str


def read_badges(report: Report) -> tuple[Badges, list[Problem]]:
    """Return the badges of all results that have one, and which files cannot be read."""
    runs_by_file = defaultdict[Path, list[Run]](list)
    for run in report.runs:
        files = (folder / _NAME for folder in run.path.parents)
        nearest = next(filter(Path.is_file, files), None)
        if nearest:
            runs_by_file[nearest].append(run)
    badges: Badges = {}
    problems = []
    outcomes = for_each(_read, runs_by_file.items(), "Reading badges")
    for file, outcome in outcomes.items():
        if isinstance(outcome, DataError):
            problems.append(Problem(printable(str(file)), str(outcome)))
        else:
            badges |= outcome
    return badges, problems


def _read(file: Path, runs: Sequence[Run]) -> Badges:
    verified = TypeAdapter(_Verified).validate_json(file.read_bytes())
    hashes = {(Path(path).name, sha256) for path, sha256 in verified.files.items()}
    lists = {(task.run, task.task): task for task in verified.tasks}
    badges = {}
    for run in runs:
        files = {run.path, *(result.samples or run.path for result in run.tasks)}
        has_same_files = all((path.name, sha256_of(path)) in hashes for path in files)
        for result in run.tasks:
            badge = Badge(
                status="verified other files",
                date=verified.date,
                fin_tasks=verified.fin_tasks,
                items={},
            )
            checked = lists.get((run.id, result.task))
            if has_same_files and checked:
                badge.status = checked.status
                badge.items |= {item.name: item.status for item in checked.items}
            badges[result.id] = badge
    return badges
