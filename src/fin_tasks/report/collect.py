"""All that result files hold, as one table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fin_tasks.report.entry import Entry, RunFacts, RunRead, Scores
from fin_tasks.report.runs import Problem
from fin_tasks.settings import Settings

__all__ = ["Collected", "collect"]


@dataclass(frozen=True, kw_only=True)
class Collected:
    """What was found.

    Attributes:
        entries: Every value of every run, and of the papers' tables, by benchmark, task, variant and model.
        runs: What `Entry.run` names.
        problems: Files that are broken, and why.
        notes: What was left out or is not known, in sentences.
        read: The runs as they were read, by `RunFacts.id`; published rows are not among them.
    """

    entries: tuple[Entry, ...]
    runs: tuple[RunFacts, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    read: Mapping[str, RunRead]

    def scores(self, run: str) -> Mapping[str, Scores]:
        """Return what each row of a run scored, by variant; empty where only totals are known."""
        return self.read[run].scores if run in self.read else {}

    def samples(self, run: str) -> Path | None:
        """Return where the rows of a run are on this machine."""
        return self.read[run].samples if run in self.read else None


def collect(
    paths: Sequence[Path],
    *,
    settings: Settings,
    published: bool = True,
    on_done: Callable[[int, int], None] | None = None,
) -> Collected:
    """Read results of lm-eval and VLMEvalKit, and the papers' tables.

    Args:
        paths: Files, or folders with such files anywhere below.
        settings: Where what was read is kept, so that unchanged files are not read again (`cache_dir`).
        published: Add the papers' tables.
        on_done: Told how many runs are read, and of how many.

    Raises:
        DataError: A path does not exist.
    """
    raise NotImplementedError
