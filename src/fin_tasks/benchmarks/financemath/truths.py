"""Truths at full precision: what each question's own program computes.

The file's truths are rounded to three decimals, which is coarse for a rate of 0.004. The programs are a stranger's and
run in the sandbox, once per process and file.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from fin_tasks.benchmarks.financemath.rows import Row
from fin_tasks.errors import SandboxError
from fin_tasks.sandbox import Outcome, open_runner
from fin_tasks.settings import Settings

__all__ = ["Truths", "find_truths"]


@dataclass(frozen=True, kw_only=True)
class Truths:
    """The truths of some rows.

    Attributes:
        values: One per row.
        rounded: Ids of rows whose truth is the file's rounded one, as their program gave no number.
        tier: The sandbox that ran the programs; None where none works here and every truth is the file's.
    """

    values: tuple[float, ...]
    rounded: tuple[str, ...]
    tier: str | None


def find_truths(rows: Sequence[Row], *, settings: Settings, notify: Callable[[str], None] | None = None) -> Truths:
    """Run the rows' solutions.

    Args:
        rows: The questions.
        settings: Which sandbox to use.
        notify: Told if no sandbox works here, or if it broke.
    """
    programs = tuple(row.python_solution or None for row in rows)
    try:
        tier, outcomes = _run(programs, settings.sandbox, settings.sandbox_workers)
    except SandboxError as error:
        if notify is not None:
            notify(
                f"financemath: no sandbox runs the reference programs, so truths are the file's rounded ones: {error}"
            )
        tier, outcomes = None, (None,) * len(rows)
    exact = [outcome.number if outcome is not None and outcome.ran else None for outcome in outcomes]
    pairs = list(zip(rows, exact, strict=True))
    return Truths(
        values=tuple(row.ground_truth if number is None else number for row, number in pairs),
        rounded=tuple(row.question_id for row, number in pairs if number is None),
        tier=tier,
    )


@lru_cache(maxsize=4)
def _run(programs: tuple[str | None, ...], tier: str, workers: int) -> tuple[str | None, tuple[Outcome | None, ...]]:
    with open_runner(tier=tier, workers=workers) as runner:
        return runner.tier, tuple(runner.run(programs))
