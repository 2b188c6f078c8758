"""What a submission is checked against, and what is told of the work under way."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fin_tasks.errors import FinTasksError
from fin_tasks.report.verify.own_data import OwnData, encoder_lacking, load_own, options_of
from fin_tasks.report.verify.scoring import Programs
from fin_tasks.report.verify.task_files import TaskFile
from fin_tasks.settings import Settings

__all__ = ["Against", "Told", "Verifying"]

Told = Callable[[str, int, int], None]
"""Told what is being done to which file, how much of it is done, and of how much."""


@dataclass(frozen=True, kw_only=True)
class Against:
    """What a submission is checked against.

    Attributes:
        source: Where the benchmark's own documents come from; what the submission names where None.
        data_dir: The folder with them.
        options: Options of the tasks, before the submission's.
    """

    source: str | None = None
    data_dir: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Verifying:
    """One submission's check under way.

    Attributes:
        settings: The environment.
        against: What to check against.
        programs: Runs programs in the sandbox.
        told: Told of progress.
        tasks: How many tasks of runs were looked at so far.
        rows: How many rows were scored again so far.
    """

    settings: Settings
    against: Against
    programs: Programs
    told: Told | None = None
    tasks: int = 0
    rows: int = 0

    def own(self, task: TaskFile, metadata: Mapping[str, Any]) -> tuple[OwnData | None, str]:
        """Load a task's documents; None where that cannot be, with the reason.

        Args:
            task: The task.
            metadata: What a submission says that it was run with.
        """
        against = self.against
        options = options_of(task, metadata, source=against.source, data_dir=against.data_dir, given=against.options)
        if lacking := encoder_lacking(metadata, options):
            return None, lacking
        try:
            return load_own(task, options), ""
        except FinTasksError as error:
            return None, str(error)

    def tell(self, what: str, done: int, total: int) -> None:
        """Tell whoever listens."""
        if self.told is not None:
            self.told(what, done, total)
