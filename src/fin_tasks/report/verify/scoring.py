"""Scores responses with the functions that our tasks score them with, in the order their filters have them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fin_tasks import sandbox
from fin_tasks.errors import SandboxError
from fin_tasks.report.verify.task_files import Step, TaskFile
from fin_tasks.settings import Settings

__all__ = ["Asked", "Programs", "Read", "score"]

Read = Callable[[str, Step, Sequence["Asked"]], list[list[Any]]]
"""What becomes of responses that a judge reads: takes the variant, the filter and the rows."""

_RUNS = ("fin_tasks_run_programs",)
_JUDGED = ("fin_tasks_judge", "fin_tasks_rubric_judge")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A document and the responses to it.

    Attributes:
        doc: The benchmark's own document.
        responses: What the model wrote.
        claimed: By variant, the scored answers that the submission has.
    """

    doc: Mapping[str, Any]
    responses: tuple[str, ...]
    claimed: Mapping[str, tuple[Mapping[str, Any] | None, ...]]


@dataclass
class Programs:
    """Runs programs in the sandbox, each batch once: the variants of a task ask for the same.

    Attributes:
        settings: Which tier.
        tier: The tier that ran them; empty while none was.
        told: Told what is done, how much of it, and of how much.
    """

    settings: Settings
    tier: str = ""
    told: Callable[[str, int, int], None] | None = None

    def __post_init__(self) -> None:
        self._known: dict[tuple[str | None, ...], tuple[sandbox.Outcome, ...]] = {}

    def run(self, programs: tuple[str | None, ...], *, again: bool = False) -> tuple[sandbox.Outcome, ...]:
        """Run programs; where no sandbox works, all of them come back as broken.

        Args:
            programs: Their texts, None where a response holds none.
            again: Run them even where this batch has run before.
        """
        if again or programs not in self._known:
            self._known[programs] = self._run(programs)
        return self._known[programs]

    def _run(self, programs: tuple[str | None, ...]) -> tuple[sandbox.Outcome, ...]:
        try:
            with sandbox.open_runner(tier=self.settings.sandbox, workers=self.settings.sandbox_workers) as runner:
                self.tier = runner.tier
                return tuple(runner.run(programs, on_done=self._on_done(len(programs))))
        except SandboxError as error:
            return (sandbox.Outcome(status=sandbox.Status.broken, detail=str(error)),) * len(programs)

    def _on_done(self, count: int) -> Callable[[int], None] | None:
        told = self.told
        return None if told is None else lambda done: told("programs", done, count)


def score(
    task: TaskFile, rows: Sequence[Asked], *, programs: Programs, read: Read, again: bool = False
) -> dict[str, list[tuple[list[Mapping[str, Any]], Mapping[str, Any]]]]:
    """Score responses under every variant of a task.

    Args:
        task: The task.
        rows: Documents and responses.
        programs: Runs what has to be run.
        read: Has read what a judge reads.
        again: Run programs once more that have run before.

    Returns:
        Variant to, for each row, the scored answers and the document's metrics.
    """
    found = {}
    for variant, steps in task.pipelines.items():
        given: list[list[Any]] = [list(row.responses) for row in rows]
        for step in steps:
            given = _apply(step, variant, rows, given, programs, read, again=again)
        found[variant] = [(answers, task.values(row.doc, answers)) for row, answers in zip(rows, given, strict=True)]
    return found


def _apply(
    step: Step,
    variant: str,
    rows: Sequence[Asked],
    given: list[list[Any]],
    programs: Programs,
    read: Read,
    *,
    again: bool,
) -> list[list[Any]]:
    if step.function in _JUDGED:
        return read(variant, step, rows)
    if step.function in _RUNS:
        made = [
            [_programs(step, row.doc, response) for response in responses]
            for row, responses in zip(rows, given, strict=True)
        ]
        outcomes = iter(programs.run(tuple(text for row in made for texts in row for text in texts), again=again))
        ran = [[tuple(next(outcomes) for _ in texts) for texts in row] for row in made]
        return [list(map(sandbox.Ran, responses, row)) for responses, row in zip(given, ran, strict=True)]
    reader = step.arguments["reader"]
    return [
        [reader(row.doc, one, variant=step.arguments["variant"]) for one in answers]
        for row, answers in zip(rows, given, strict=True)
    ]


def _programs(step: Step, doc: Mapping[str, Any], response: str) -> tuple[str | None, ...]:
    return tuple(step.arguments["programs"](doc, response, variant=step.arguments["variant"]))
