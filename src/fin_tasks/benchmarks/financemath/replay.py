"""Replays recorded program-of-thought outputs and scores them as the authors did.

The records hold the reference result rounded to three decimals, but the published verdicts come from running each
item's `python_solution`. So do ours where a row has one, in the sandbox as well; a row without one, or with one that
does not run, falls back to `ground_truth`.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.financemath.programs import extract_program
from fin_tasks.benchmarks.financemath.scoring import paper_equal
from fin_tasks.errors import DataError
from fin_tasks.sandbox import Outcome, Runner, Status

__all__ = ["Item", "Record", "Replay", "read_records", "replay_pot"]

_UNSCORED = (Status.broken, Status.unsupported)


@dataclass(frozen=True, kw_only=True)
class Record:
    """One recorded response and what it is compared with."""

    question_id: str
    output: str
    ground_truth: float
    python_solution: str | None


@dataclass(frozen=True, kw_only=True)
class Item:
    """One replayed response; `correct` is None where the runner, not the program, failed."""

    question_id: str
    outcome: Outcome
    truth: float
    correct: bool | None


@dataclass(frozen=True, kw_only=True)
class Replay:
    """A replayed file."""

    results: tuple[Item, ...]

    def summary(self) -> dict[str, int | float | None]:
        """Count.

        Returns:
            `n` rows; `execution_rate` and `acc` as fractions of the rows that could be scored, None where there are
            none; `unscored`: rows that could not.
        """
        scored = [item for item in self.results if item.correct is not None]
        return {
            "n": len(self.results),
            "execution_rate": _share(sum(item.outcome.ran for item in scored), len(scored)),
            "acc": _share(sum(bool(item.correct) for item in scored), len(scored)),
            "unscored": len(self.results) - len(scored),
        }

    def items(self) -> list[dict[str, Any]]:
        """Return per row: question_id, executed (0/1), value (float, text, or None), acc (0/1); None where unscored."""
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
        path: A JSON list, or JSON lines, of objects with `question_id`, `output` (a list, the first counts),
            `ground_truth` and, best, `python_solution`; anything else in them is ignored.
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
    return Item(question_id=record.question_id, outcome=outcome, truth=exact, correct=correct)


def _shown(outcome: Outcome) -> float | str | None:
    if outcome.is_number and outcome.number is not None and outcome.value is not None:
        return float(outcome.value)
    return outcome.value


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def read_records(path: str | Path) -> list[Record]:
    """Read and check a file of recorded outputs.

    Raises:
        DataError: It is missing, not JSON, empty, or a row lacks something.
    """
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file}: expected a readable JSON file in UTF-8, got {error}") from error
    rows = _rows(file, text)
    if not rows:
        raise DataError(f"{file}: expected at least one row, found none")
    return [_record(f"{file}, row {number}", row) for number, row in enumerate(rows, start=1)]


def _rows(file: Path, text: str) -> Sequence[Any]:
    if not text.lstrip().startswith("["):
        lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
        return [_parse(f"{file}, line {number}", line) for number, line in lines]
    rows: Sequence[Any] = _parse(str(file), text)
    return rows


def _parse(where: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: expected JSON, got {error}") from error


def _record(where: str, row: Any) -> Record:
    if not isinstance(row, dict):
        raise DataError(f"{where}: expected an object, got {row!r:.80}")
    output = _field(where, row, "output", list)
    if not output or not isinstance(output[0], str):
        raise DataError(f"{where}, field output: expected a list that starts with a text, got {output!r:.80}")
    truth = _field(where, row, "ground_truth", (int, float))
    if isinstance(truth, bool) or not abs(truth) <= sys.float_info.max:
        raise DataError(f"{where}, field ground_truth: expected a finite number, got {truth!r:.80}")
    solution = row.get("python_solution")
    if solution is not None and not isinstance(solution, str):
        raise DataError(f"{where}, field python_solution: expected a text or nothing, got {solution!r:.80}")
    return Record(
        question_id=_field(where, row, "question_id", str),
        output=output[0],
        ground_truth=float(truth),
        python_solution=solution,
    )


def _field(where: str, row: Mapping[str, Any], name: str, kind: type | tuple[type, ...]) -> Any:
    if name not in row:
        raise DataError(f"{where}, field {name}: expected it to be there, found only {', '.join(map(str, row))}")
    if not isinstance(row[name], kind):
        names = " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))
        raise DataError(f"{where}, field {name}: expected {names}, got {row[name]!r:.80}")
    return row[name]
