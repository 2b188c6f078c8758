"""What the maintainers of a board checked of a run: `admission.json` beside the run, which `verify --board` writes."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from fin_tasks.errors import DataError, escape
from fin_tasks.limited_file import read_limited_json

from .model import Problem, Run
from .processes import problem_of
from .redact import printable

FILE = "admission.json"
_MAX_MB = 1
_MAX_ITEMS = 200

_Text = Annotated[str, StringConstraints(max_length=2000)]


class AdmissionItem(BaseModel):
    """Something that was checked, or that the submission only claims."""

    name: _Text
    status: Literal["checked", "claimed"]
    sentence: _Text
    """For the page."""


class Admission(BaseModel, use_attribute_docstrings=True):
    """Who submitted a run, when it was admitted, and what was checked."""

    submission: _Text
    """Name of the submission's folder."""
    submitter: _Text = ""
    admitted_at: _Text = ""
    """ISO date and time by the clock of the maintainers."""
    sha256: _Text = ""
    """Of what was sent."""
    model: _Text
    """The model's name on the board; text of strangers."""
    items: list[AdmissionItem] = Field([], max_length=_MAX_ITEMS)


def with_admissions(runs: Sequence[Run]) -> tuple[list[Run], list[Problem]]:
    """Return the runs with their admissions, and what is wrong with admissions.

    A model's name belongs to the submission that brought it first. A run of another submission with that name is
    another model, with the submission in its name.
    """
    admissions: dict[Path, Admission | None] = {}
    problems = []
    for folder in dict.fromkeys(run.path.parent for run in runs):
        try:
            admissions[folder] = read_admission(folder / FILE)
        except DataError as error:
            problems.append(Problem(printable(str(folder / FILE)), str(error)))
            admissions[folder] = None
    admitted = []
    for run in runs:
        admission = admissions[run.path.parent]
        if admission:
            date = escape(admission.admitted_at) or run.date
            run = replace(run, admission=admission, date=date)
        admitted.append(run)
    owners: dict[str, str] = {}
    for run in sorted(admitted, key=lambda run: run.date):
        if run.admission:
            owners.setdefault(run.model, run.admission.submission)
    if not owners:
        return admitted, problems
    return [_of_board(run, owners) for run in admitted], problems


def _of_board(run: Run, owners: dict[str, str]) -> Run:
    """Return a run of a board: refused if it was not admitted, and under its own name if another one has the name."""
    if run.admission is None:
        return replace(run, model=f"{run.model} (not admitted)", is_refused=True)
    submission = run.admission.submission
    if owners[run.model] == submission:
        return run
    return replace(run, model=f"{run.model} ({escape(submission)})")


def read_admission(path: Path) -> Admission | None:
    """Read an admission; None if there is no file."""
    if not path.is_file():
        return None
    try:
        return Admission.model_validate_json(read_limited_json(path, _MAX_MB))
    except Exception as error:
        raise problem_of(path, error) from error
