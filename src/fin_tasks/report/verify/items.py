"""The verifier's options, the rows of a submission, and the records of what was established about them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from fin_tasks.benchmarks.scored_task import SCORINGS
from fin_tasks.errors import DataError
from fin_tasks.judging.item import Judged
from fin_tasks.judging.judge import JudgeModel
from fin_tasks.judging.rubric import Rubric

from .. import Fields
from ..samples import Sample, read_samples

Status = Literal["failed", "not verified", "warning", "verified"]
"""What was established about an item. Only oddities have warnings."""

EXIT_STATUS: Mapping[Status, int] = {"failed": 1, "not verified": 3, "verified": 0}
"""The exit status of the command, from the worst status to the best. Warnings change nothing."""

_MAX_DETAILS = 100
_MAX_DETAIL = 200  # characters
_MAX_REPLIES = 20


class Options(NamedTuple):
    """What the verifier names: how the tasks were to be asked, and who judges."""

    metadata: Fields
    n_rows: int | None = None
    """How many of the first rows were to be asked; None for all."""
    revision: str | None = None
    """Revision of gold data that the verifier recorded before."""
    judge: JudgeModel | None = None
    """The verifier's own judge."""
    n_judged: int | None = 50
    """How many responses of a task the judge is asked about; None for all."""
    program_seconds: float = 3600
    """How long the programs of a task may run, all together."""


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


Outcome = Literal["refused", "claimed", "checked"]


class Finding(NamedTuple):
    """What was found about a task or a run of a submission."""

    name: str
    outcome: Outcome
    sentence: str
    rows: Sequence[str] = ()
    """The rows that it is about, each with the reason."""


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


def worst_of(statuses: Iterable[Status]) -> Status:
    """Return the worst status, apart from warnings."""
    known = set(statuses)
    return next((status for status in EXIT_STATUS if status in known), "verified")


@dataclass(frozen=True)
class Row:
    """The responses to a document, and the claims about them by scoring."""

    doc: Fields
    responses: list[str]
    """A response that was lost is empty."""
    prompt: str | None
    """What was sent; None if the file does not say."""
    claims: dict[str, Sample] = field(default_factory=dict)

    def judged(self, index: int, rubric: Rubric) -> Judged:
        """Return what a judge said about a response."""
        reading = self.claims["robust"].readings[index]
        return Judged(self.responses[index], _replies(reading), rubric=rubric)


def _replies(record: Fields) -> tuple[str, ...]:
    texts = record.get("replies")
    if not isinstance(texts, list):
        return ()
    return tuple(map(str, texts[:_MAX_REPLIES]))


Rows = Mapping[str, Row]
"""Rows by the document's id."""


def read_rows(path: Path) -> tuple[dict[str, Row], list[str]]:
    """Return the rows of a samples file, and a text for each line that contradicts another.

    Raises:
        DataError: The file cannot be read, or holds no texts with a reading of each.
    """
    rows: dict[str, Row] = {}
    problems = []
    for sample in read_samples(path):
        responses = ["" if text is None else text for text in sample.responses]
        are_texts = all(isinstance(text, str) for text in responses)
        n_responses = len(responses)
        if not are_texts or not n_responses or len(sample.readings) != n_responses:
            raise DataError(
                f"{sample.where}: expected texts and a reading of each, got {responses!r:.80}."
            )
        row = rows.setdefault(sample.id, Row(sample.doc, responses, sample.prompt))
        if (row.responses, row.prompt) != (responses, sample.prompt):
            problems.append(
                f"{sample.id}: the scorings have different responses or prompts"
            )
        if sample.scoring in row.claims or sample.scoring not in SCORINGS:
            problems.append(f"{sample.id}: one line more for {sample.scoring!r:.40}")
        row.claims[sample.scoring] = sample
    return rows, problems
