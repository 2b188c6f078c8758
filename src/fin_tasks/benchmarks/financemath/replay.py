"""Replays recorded responses, programs or chains of thought, and scores them as the authors did and more strictly.

The records hold the reference result rounded to three decimals. The published verdicts on programs come from running
each item's `python_solution`, those on chains of thought from the rounded number; `paper` follows both. `robust`
compares with the result at full precision in either mode. A row without a solution, or with one that does not run,
falls back to `ground_truth`. Solutions run in the sandbox as programs do.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from fin_tasks.answers.numbers import number_from_float
from fin_tasks.benchmarks.financemath.extraction import as_written
from fin_tasks.benchmarks.financemath.programs import extract_program
from fin_tasks.benchmarks.financemath.reading import Judge, Reading, read_all
from fin_tasks.benchmarks.financemath.records import Record, read_records
from fin_tasks.benchmarks.financemath.scoring import paper_equal, robust_equal
from fin_tasks.sandbox import Outcome, Runner, Status, escape

__all__ = ["Item", "Replay", "read_records", "replay_cot", "replay_pot"]

T = TypeVar("T")

_UNSCORED = (Status.broken, Status.unsupported)


@dataclass(frozen=True, kw_only=True)
class Item:
    """One replayed response.

    Attributes:
        question_id: As in the file.
        answered: Whether the program ran, or the response gives a number; None where the runner, not the program,
            failed, or where the rules found no number and the judge failed.
        value: What was compared: a program's result, or the number as the response writes it; None where there is none.
        truth: The reference result that `paper` compares with.
        correct: `paper`; None where `answered` is.
        robust_correct: `robust`; None where `answered` is.
        topic: The question's field, if the file has it.
        read_by: `rules` or `judge`, None for programs and for responses that neither could read.
        judge_error: How the judge failed, where it did.
        number: `value` as a number to compare; None where it is none.
        status: How a program ended, as `sandbox.Status` has it; None for a chain of thought.
    """

    question_id: str | int
    answered: bool | None
    value: float | str | None
    truth: float
    correct: bool | None
    robust_correct: bool | None
    topic: str | None = None
    read_by: str | None = None
    judge_error: str | None = None
    number: float | None = None
    status: str | None = None


@dataclass(frozen=True, kw_only=True)
class Replay:
    """A replayed file.

    Attributes:
        results: Its rows.
        mode: `cot` or `pot`.
        variant: Which comparison is called `acc`: `paper` or `robust`.
        judged: Whether a judge was asked.
        misfit: Why the responses seem to be of the other mode; None where they do not.
    """

    results: tuple[Item, ...]
    mode: str
    variant: str = "paper"
    judged: bool = False
    misfit: str | None = None

    def summary(self) -> dict[str, Any]:
        """Count.

        Returns:
            `n` rows; `execution_rate` (programs that ran, or responses with an answer that could be read), `acc` of the
            chosen variant and `robust_acc` (or `paper_acc`) of the other one, as fractions of the rows that could be
            scored, None where there are none; `no_answer`: rows that count against `execution_rate`; `unscored`: rows
            that could not be scored. Where rows name a topic also `by_topic`: the rates of each, by name; a row without
            one counts in none. With a judge `read_by_judge` and `judge_failed` rows.
        """
        counts: dict[str, Any] = {
            **self._rates(self.results),
            "no_answer": sum(item.answered is False for item in self.results),
            "unscored": sum(item.correct is None for item in self.results),
        }
        if self.judged:
            counts["read_by_judge"] = sum(item.read_by == "judge" for item in self.results)
            counts["judge_failed"] = sum(item.judge_error is not None for item in self.results)
        topics = sorted({item.topic for item in self.results if item.topic is not None})
        if topics:
            counts["by_topic"] = {
                escape(topic): self._rates([item for item in self.results if item.topic == topic]) for topic in topics
            }
        return counts

    def items(self) -> list[dict[str, Any]]:
        """Return, per row, what was found, fit for strict JSON.

        Returns:
            `question_id` as in the file; `executed` (programs) or `answered` (chains of thought), `acc` and the other
            variant's `robust_acc` (or `paper_acc`): 0 or 1, None where unscored; `value`: a finite number, None where
            there is none, or a program's text, which "nan", "inf" and "-inf" are too, as JSON has no such numbers;
            `read_by` for chains of thought, and `judge_error` where a judge was asked.
        """
        return [self._shown(item) for item in self.results]

    def _shown(self, item: Item) -> dict[str, Any]:
        answered = "executed" if self.mode == "pot" else "answered"
        shown: dict[str, Any] = {
            "question_id": item.question_id,
            answered: _bit(item.answered),
            "value": item.value,
            **self._both(_bit(item.correct), _bit(item.robust_correct)),
        }
        if self.mode == "cot":
            shown["read_by"] = item.read_by
        if self.judged:
            shown["judge_error"] = item.judge_error
        return shown

    def _rates(self, items: Sequence[Item]) -> dict[str, int | float | None]:
        scored = [item for item in items if item.correct is not None]
        paper = _share(sum(bool(item.correct) for item in scored), len(scored))
        robust = _share(sum(bool(item.robust_correct) for item in scored), len(scored))
        return {
            "n": len(items),
            "execution_rate": _share(sum(bool(item.answered) for item in scored), len(scored)),
            **self._both(paper, robust),
        }

    def _both(self, paper: T, robust: T) -> dict[str, T]:
        return {"acc": robust, "paper_acc": paper} if self.variant == "robust" else {"acc": paper, "robust_acc": robust}


def replay_pot(
    path: str | Path, *, runner: Runner, variant: str = "paper", on_done: Callable[[int], None] | None = None
) -> Replay:
    """Extract, run and score every recorded program of a file.

    Args:
        path: A JSON list, or JSON lines, of objects with `question_id`, `output` (a text, or a list whose first
            entry counts; none, null or blank is a response without a program), `ground_truth` and, best,
            `python_solution` and `topic`; anything else in them is ignored. Or lm-eval's samples of `financemath_pot`.
        runner: An open runner.
        variant: Which comparison is called `acc`: `paper` or `robust`.
        on_done: Called as programs finish, with how many rows are settled so far.

    Raises:
        DataError: The file is not such a file; the message names file, row and field.
    """
    records = read_records(path)
    outcomes = runner.run([extract_program(record.output) for record in records], on_done=on_done)
    truths = runner.run([record.python_solution for record in records])
    items = tuple(
        _program_item(record, outcome, _exact(record, truth))
        for record, outcome, truth in zip(records, outcomes, truths, strict=True)
    )
    misfit = None
    if not any(item.answered or item.answered is None for item in items) and not _programs(records):
        misfit = (
            f"none of {len(items)} responses holds a program that runs. Chains of thought are scored with --mode cot"
        )
    return Replay(results=items, mode="pot", variant=variant, misfit=misfit)


def replay_cot(
    path: str | Path,
    *,
    runner: Runner | None,
    variant: str = "paper",
    judge: Judge | None = None,
    judge_all: bool = False,
) -> Replay:
    """Read and score every recorded chain of thought of a file.

    Args:
        path: As for `replay_pot`; responses end in a number instead of holding a program.
        runner: Runs the reference solutions, for `robust`; where None, the rounded results stand in for them.
        variant: Which comparison is called `acc`: `paper` or `robust`.
        judge: Reads the responses in which the rules find no answer; nobody does where None. Where it fails such a
            response is unscored.
        judge_all: The judge reads every response; the rules' reading stands where it fails.

    Raises:
        DataError: The file is not such a file; the message names file, row and field.
        EndpointError: The judge replied to nothing.
    """
    records = read_records(path)
    solutions = [record.python_solution for record in records]
    outcomes: Sequence[Outcome | None] = [None] * len(records) if runner is None else runner.run(solutions)
    readings = read_all([record.output for record in records], judge=judge, judge_all=judge_all)
    items = (
        _response_item(record, reading, _exact(record, outcome))
        for record, reading, outcome in zip(records, readings, outcomes, strict=True)
    )
    misfit = None
    if 2 * (programs := _programs(records)) > len(records):
        misfit = f"{programs} of {len(records)} responses define solution(). Programs are scored with --mode pot"
    return Replay(results=tuple(items), mode="cot", variant=variant, judged=judge is not None, misfit=misfit)


def _programs(records: Sequence[Record]) -> int:
    return sum("def solution" in record.output for record in records)


def _exact(record: Record, reference: Outcome | None) -> float:
    if reference is None or not reference.ran or reference.number is None:
        return record.ground_truth
    return reference.number


def _program_item(record: Record, outcome: Outcome, exact: float) -> Item:
    scored = outcome.status not in _UNSCORED
    number = outcome.number if outcome.ran else None
    written = None if number is None else number_from_float(number)
    return Item(
        question_id=record.question_id,
        answered=outcome.ran if scored else None,
        value=_result(outcome),
        truth=exact,
        correct=number is not None and paper_equal(number, exact) if scored else None,
        robust_correct=written is not None and robust_equal(written, exact) if scored else None,
        topic=record.topic,
        number=number,
        status=outcome.status.value,
    )


def _response_item(record: Record, reading: Reading, exact: float) -> Item:
    number, unread = reading.number, reading.read_by is None
    return Item(
        question_id=record.question_id,
        answered=None if unread else number is not None,
        value=None if number is None else as_written(number),
        truth=record.ground_truth,
        correct=None if unread else number is not None and paper_equal(as_written(number), record.ground_truth),
        robust_correct=None if unread else number is not None and robust_equal(number, exact),
        topic=record.topic,
        read_by=reading.read_by,
        judge_error=reading.judge_error,
        number=None if number is None else as_written(number),
    )


def _result(outcome: Outcome) -> float | str | None:
    if outcome.is_number and outcome.number is not None and outcome.value is not None:
        number = float(outcome.value)
        return number if math.isfinite(number) else outcome.value
    return outcome.value


def _bit(value: bool | None) -> int | None:
    return None if value is None else int(value)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
