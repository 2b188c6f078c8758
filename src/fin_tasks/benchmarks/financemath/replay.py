"""Replays recorded program-of-thought outputs and scores them as the authors did.

The records hold the reference result rounded to three decimals, but the published verdicts come from running each
item's `python_solution`. So do ours where a row has one, in the sandbox as well; a row without one, or with one that
does not run, falls back to `ground_truth`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.financemath.programs import extract_program
from fin_tasks.benchmarks.financemath.records import Record, read_records
from fin_tasks.benchmarks.financemath.scoring import paper_equal
from fin_tasks.sandbox import Outcome, Runner, Status, escape

__all__ = ["Item", "Replay", "read_records", "replay_pot"]

_UNSCORED = (Status.broken, Status.unsupported)


@dataclass(frozen=True, kw_only=True)
class Item:
    """One replayed response; `correct` is None where the runner, not the program, failed."""

    question_id: str | int
    outcome: Outcome
    truth: float
    correct: bool | None
    topic: str | None = None


@dataclass(frozen=True, kw_only=True)
class Replay:
    """A replayed file."""

    results: tuple[Item, ...]

    def summary(self) -> dict[str, Any]:
        """Count.

        Returns:
            `n` rows; `execution_rate` and `acc` as fractions of the rows that could be scored, None where there are
            none; `unscored`: rows that could not. Where rows name a topic also `by_topic`: `n`, `execution_rate` and
            `acc` of each, by name; a row without one counts in none.
        """
        counts: dict[str, Any] = {
            **_rates(self.results),
            "unscored": sum(item.correct is None for item in self.results),
        }
        topics = sorted({item.topic for item in self.results if item.topic is not None})
        if topics:
            # Escaped, as a summary is for showing and its keys come from the file.
            counts["by_topic"] = {
                escape(topic): _rates([item for item in self.results if item.topic == topic]) for topic in topics
            }
        return counts

    def items(self) -> list[dict[str, Any]]:
        """Return, per row, what was found, fit for strict JSON.

        Returns:
            `question_id` as in the file; `executed` and `acc`: 0 or 1, None where unscored; `value`: a finite number,
            None where there is none, or text, which "nan", "inf" and "-inf" are too, as JSON has no such numbers.
        """
        return [
            {
                "question_id": item.question_id,
                "executed": None if item.correct is None else int(item.outcome.ran),
                "value": _shown(item.outcome),
                "acc": None if item.correct is None else int(item.correct),
            }
            for item in self.results
        ]


def replay_pot(path: str | Path, *, runner: Runner, on_done: Callable[[int], None] | None = None) -> Replay:
    """Extract, run and score every recorded output of a file.

    Args:
        path: A JSON list, or JSON lines, of objects with `question_id`, `output` (a text, or a list whose first
            entry counts; none, null or blank is a response without a program), `ground_truth` and, best,
            `python_solution` and `topic`; anything else in them is ignored.
        runner: An open runner.
        on_done: Called as programs finish, with how many rows are settled so far.

    Raises:
        DataError: The file is not such a file; the message names file, row and field.
    """
    records = read_records(path)
    outcomes = runner.run([extract_program(record.output) for record in records], on_done=on_done)
    truths = runner.run([record.python_solution for record in records])
    items = (_item(record, outcome, truth) for record, outcome, truth in zip(records, outcomes, truths, strict=True))
    return Replay(results=tuple(items))


def _item(record: Record, outcome: Outcome, reference: Outcome) -> Item:
    exact = reference.number if reference.ran and reference.number is not None else record.ground_truth
    correct: bool | None = None
    if outcome.status not in _UNSCORED:
        correct = outcome.ran and outcome.number is not None and paper_equal(outcome.number, exact)
    return Item(question_id=record.question_id, outcome=outcome, truth=exact, correct=correct, topic=record.topic)


def _shown(outcome: Outcome) -> float | str | None:
    if outcome.is_number and outcome.number is not None and outcome.value is not None:
        number = float(outcome.value)
        return number if math.isfinite(number) else outcome.value
    return outcome.value


def _rates(items: Sequence[Item]) -> dict[str, int | float | None]:
    scored = [item for item in items if item.correct is not None]
    return {
        "n": len(items),
        "execution_rate": _share(sum(item.outcome.ran for item in scored), len(scored)),
        "acc": _share(sum(bool(item.correct) for item in scored), len(scored)),
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
