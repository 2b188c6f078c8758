"""Gathers what the figures show: counts by model, bias and window size, from recordings, samples and replays."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.dynostock.lines import Line, labels_of, line_of
from fin_tasks.benchmarks.dynostock.plots import Series
from fin_tasks.benchmarks.dynostock.records import Condition
from fin_tasks.benchmarks.dynostock.replay import replay
from fin_tasks.benchmarks.dynostock.score import Counts
from fin_tasks.benchmarks.dynostock.windows import BIASES
from fin_tasks.errors import DataError
from fin_tasks.stats.intervals import Interval

__all__ = ["Found", "find_series"]

_MOST = 10**9


@dataclass(frozen=True, kw_only=True)
class Found:
    """What was found.

    Attributes:
        series: Bias to its series, in the order of the files.
        problems: What is wrong with files that could not be used, or rows of them.
        notes: What was left out on purpose.
    """

    series: Mapping[str, Sequence[Series]]
    problems: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Result:
    file: str
    condition: Condition
    window: int | None
    counts: Counts
    intervals: tuple[Interval, Interval] | None


def find_series(paths: Sequence[Path], *, parser: str) -> Found:
    """Read results and put them in order.

    Results that differ in anything but the window size (see `lines`) are series of their own. Of two results for one
    point the later file is taken, which is the newer one in lm-eval's folders. Windows without a signal are left out.

    Args:
        paths: What `replay.replay` takes, and files with what `fin-tasks replay dynostock --json` prints.
        parser: `paper` or `robust`; a replay has to have been made with the same.

    Raises:
        ConfigError: There is no such parser.
        DataError: None of the files can be read.
    """
    problems: list[str] = []
    notes: list[str] = []
    points: dict[str, dict[Line, dict[int, _Result]]] = {bias: {} for bias in BIASES}
    for result in _results(paths, parser, problems):
        condition, window = result.condition, result.window
        if condition.bias == "plain":
            notes.append(f"{result.file}: left out, as nothing about its windows leads astray.")
        elif condition.bias not in points or window is None:
            problems.append(
                f"{result.file}: expected windows of one bias and one size, got {condition.bias}, {window}."
            )
        elif not result.counts.total:
            problems.append(f"{result.file}: expected at least one window whose truth is known, found none.")
        else:
            of_line = points[condition.bias].setdefault(line_of(Path(result.file), condition), {})
            if window in of_line:
                notes.append(f"{of_line[window].file}: left out, {result.file} ran the same later.")
            of_line[window] = result
    series = {
        bias: [
            Series(
                model=label,
                counts={window: result.counts for window, result in sorted(of_line.items())},
                intervals={window: result.intervals for window, result in of_line.items() if result.intervals},
            )
            for label, of_line in zip(labels_of(list(by_line)), by_line.values(), strict=True)
        ]
        for bias, by_line in points.items()
        if by_line
    }
    return Found(series=series, problems=tuple(problems), notes=tuple(notes))


def _results(paths: Sequence[Path], parser: str, problems: list[str]) -> Iterator[_Result]:
    responses: list[Path] = []
    for path in paths:
        summary = _replay_of(path)
        if summary is None:
            responses.append(path)
            continue
        try:
            yield from _from_replay(path, summary, parser)
        except DataError as error:
            problems.append(str(error))
    if responses:
        replayed = replay(responses, parser=parser)
        for problem in replayed.problems:
            place = f", row {problem.row}" if problem.row is not None else ""
            problems.append(f"{problem.file}{place}: {problem.error}" if place else problem.error)
        for file in replayed.files:
            recording = file.recording
            yield _Result(
                file=str(recording.file),
                condition=recording.condition,
                window=recording.window,
                counts=file.counts,
                intervals=file.intervals if file.counts.total else None,
            )


def _replay_of(path: Path) -> Mapping[str, Any] | None:
    """Return the content of a file that `replay --json` printed; None for any other."""
    if path.suffix != ".json" or not path.is_file():
        return None
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None  # whoever reads it as responses will say what is wrong
    return content if isinstance(content, dict) and isinstance(content.get("files"), list) else None


def _from_replay(path: Path, summary: Mapping[str, Any], parser: str) -> Iterator[_Result]:
    if summary.get("parser") != parser:
        raise DataError(
            f"{path}: expected a replay with the parser {parser}, got {summary.get('parser')!r}. Name it as --parser."
        )
    for number, row in enumerate(summary["files"], start=1):
        where = f"{path}, file {number}"
        if not isinstance(row, dict):
            raise DataError(f"{where}: expected an object, got {row!r:.80}.")
        yield _Result(
            file=str(row.get("file")),
            condition=_condition(where, row),
            window=_whole(where, row, "window"),
            counts=_counts(where, row),
            intervals=_intervals(where, row),
        )


def _condition(where: str, row: Mapping[str, Any]) -> Condition:
    model, bias, mode, arm = (row.get(name) for name in ("model", "bias", "mode", "arm"))
    anonymised = row.get("anonymised")
    named = all(isinstance(text, str) for text in (mode, arm)) and isinstance(anonymised, bool)
    if not named or not all(text is None or isinstance(text, str) for text in (model, bias)):
        raise DataError(f"{where}: expected a replayed file's model, bias, mode, arm and anonymised, got {row!r:.200}.")
    return Condition(model=model, bias=bias, mode=str(mode), arm=str(arm), anonymised=bool(anonymised))


def _counts(where: str, row: Mapping[str, Any]) -> Counts:
    total, correct, led, no_answer = (
        _whole(where, row, name) for name in ("total", "correct", "wrong_by_bias", "no_answer")
    )
    if correct + led + no_answer > total:
        raise DataError(
            f"{where}: expected counts that add up to the total {total}, got {correct} + {led} + {no_answer}."
        )
    return Counts(total=total, correct=correct, wrong_by_bias=led, no_answer=no_answer)


def _intervals(where: str, row: Mapping[str, Any]) -> tuple[Interval, Interval] | None:
    names = ("accuracy_low", "accuracy_high", "bias_index_low", "bias_index_high")
    bounds = [row.get(name) for name in names]
    if bounds == [None] * 4:
        return None
    shares = [float(bound) for bound in bounds if isinstance(bound, (int, float)) and 0 <= bound <= 1]
    if len(shares) != len(names):
        raise DataError(f"{where}: expected {', '.join(names)} from 0 to 1, got {bounds!r:.120}.")
    return Interval(shares[0], shares[1]), Interval(shares[2], shares[3])


def _whole(where: str, row: Mapping[str, Any], name: str) -> int:
    value = row.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST:
        raise DataError(f"{where}, {name}: expected a whole number from 0 to {_MOST}, got {value!r:.80}.")
    return value
