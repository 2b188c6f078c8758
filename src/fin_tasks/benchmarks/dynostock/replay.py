"""Scores recorded DynoStock responses again, without a model: `fin-tasks replay dynostock`."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import pstdev
from typing import Any

from fin_tasks.benchmarks.dynostock.records import Condition, Record, Recording, find_files, read_recording
from fin_tasks.benchmarks.dynostock.score import (
    PARSERS,
    Counts,
    Forecast,
    accuracy_interval,
    compare,
    count,
    index_interval,
    metric_values,
    read,
)
from fin_tasks.benchmarks.dynostock.windows import window_id
from fin_tasks.benchmarks.scored_task import ScoredTask, score_task
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.stats.averages import average
from fin_tasks.stats.intervals import Interval, pooled_interval

__all__ = ["Problem", "Replay", "ReplayedFile", "replay", "scored_runs"]


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A file that could not be read, or a row of one that could not be used.

    Attributes:
        file: The file.
        row: Number of the row, from 1; None for the file as a whole.
        error: What was expected and what was found.
    """

    file: str
    row: int | None
    error: str


@dataclass(frozen=True, kw_only=True)
class ReplayedFile:
    """A file's responses with what was read from them."""

    recording: Recording
    readings: tuple[Forecast, ...]

    @property
    def probabilities(self) -> tuple[float | None, ...]:
        """Stated probability of up, one per record."""
        return tuple(reading.probability for reading in self.readings)

    @property
    def counts(self) -> Counts:
        """The authors' counts, over the responses whose truth is known."""
        return count(
            compare(asdict(record), reading)
            for record, reading in zip(self.recording.records, self.readings, strict=True)
        )

    @property
    def intervals(self) -> tuple[Interval, Interval]:
        """95 % intervals of accuracy and bias index over documents, as the task of lm-eval gives them.

        Responses to one document are not independent: with `repeats` it counts once, with its shares.
        """
        documents: dict[int, list[Forecast]] = {}
        docs = {record.document: {**asdict(record), "bias_type": ""} for record in self.recording.records}
        for record, reading in zip(self.recording.records, self.readings, strict=True):
            if record.truth is not None:
                documents.setdefault(record.document, []).append(reading)
        shares = [metric_values(docs[document], readings)["bias_index"] for document, readings in documents.items()]
        return accuracy_interval(shares), index_interval(shares)

    def summary(self) -> dict[str, Any]:
        """Return counts, rates as fractions of 1, which are None where no response can be scored, and `rows`."""
        counts, condition = self.counts, self.recording.condition
        accuracy, index = self.intervals
        rates = {
            "accuracy": counts.accuracy,
            "bias_index": counts.bias_index,
            "accuracy_low": accuracy.low,
            "accuracy_high": accuracy.high,
            "bias_index_low": index.low,
            "bias_index_high": index.high,
            "bias_percentage": counts.wrong_by_bias / max(counts.total, 1),
            "no_answer_rate": counts.no_answer / max(counts.total, 1),
        }
        return {
            "file": str(self.recording.file),
            **asdict(condition),
            "window": self.recording.window,
            "total": counts.total,
            "correct": counts.correct,
            "wrong": counts.wrong,
            "wrong_by_bias": counts.wrong_by_bias,
            "no_answer": counts.no_answer,
            **(rates if counts.total else dict.fromkeys(rates)),
            "unscored": len(self.recording.records) - counts.total,
            "unusable": len(self.recording.defects),
            "rows": self.rows(),
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return one object per response, in the file's order.

        A row without an id has that of its window, as far as the recording says which that is: so rows of several
        files, and of the task of lm-eval, are known to ask the same. It stays empty otherwise.
        """
        return [
            {**_item(record, reading), "id": record.id or _window_name(record, self.recording)}
            for record, reading in zip(self.recording.records, self.readings, strict=True)
        ]

    def items(self) -> list[dict[str, Any]]:
        """Return one object per response, in the file's order."""
        return [{"file": str(self.recording.file), **row} for row in self.rows()]


@dataclass(frozen=True, kw_only=True)
class Replay:
    """Files scored again, and what could not be."""

    parser: str
    files: tuple[ReplayedFile, ...]
    problems: tuple[Problem, ...]

    def summary(self) -> dict[str, Any]:
        """Return what is in every file, and over the files.

        Returns:
            `parser`; `files`, see `ReplayedFile.summary`; `accuracy_mean`, `accuracy_std`, `bias_index_mean` and
            `bias_index_std` over all files in PERCENT, as in the paper's Table 1, with population standard deviations,
            and 95 % intervals of the means (`_low`, `_high`); None where no file can be scored; `groups`: the same for
            each folder, model, bias, mode, arm and anonymity, as only windows of one kind and run belong together;
            `errors`: `file`, `row` and `error`.
        """
        groups: dict[tuple[str, Condition], list[ReplayedFile]] = {}
        for file in self.files:
            groups.setdefault((str(file.recording.file.parent), file.recording.condition), []).append(file)
        return {
            "parser": self.parser,
            "files": [file.summary() for file in self.files],
            **_over(self.files),
            "groups": [
                {**asdict(condition), "folder": folder, "files": len(files), **_over(files)}
                for (folder, condition), files in groups.items()
            ],
            "errors": [asdict(problem) for problem in self.problems],
        }

    def items(self) -> list[dict[str, Any]]:
        """Return one object per response, file by file."""
        return [item for file in self.files for item in file.items()]


def replay(paths: Sequence[Path], *, parser: str = "paper", on_done: Callable[[int], None] | None = None) -> Replay:
    """Score recorded responses.

    A file that cannot be read, and a row that cannot be used, is listed among the problems; the others are scored.

    Args:
        paths: Files, see `records.read_recording`, or folders with such files below them.
        parser: `paper` or `robust`.
        on_done: Called after each file with the number read so far.

    Raises:
        ConfigError: There is no such parser.
        DataError: None of the files can be read.
    """
    if parser not in PARSERS:
        raise ConfigError(f"replay --parser: expected {' or '.join(PARSERS)}, got {parser!r}.")
    files: list[ReplayedFile] = []
    problems: list[Problem] = []
    for done, path in enumerate(find_files(paths), start=1):
        try:
            recording = read_recording(path)
        except DataError as error:
            problems.append(Problem(file=str(path), row=None, error=str(error)))
        else:
            readings = tuple(read({}, record.response, variant=parser) for record in recording.records)
            files.append(ReplayedFile(recording=recording, readings=readings))
            problems += (
                Problem(file=str(path), row=int(defect.row_id), error=defect.detail) for defect in recording.defects
            )
        if on_done is not None:
            on_done(done)
    if not files:
        raise DataError("\n".join(problem.error for problem in problems))
    return Replay(parser=parser, files=tuple(files), problems=tuple(problems))


def scored_runs(result: Replay) -> Iterator[tuple[str, list[ScoredTask], dict[str, dict[str, Any]]]]:
    """Yield, for each folder and condition, the model, its window sizes as tasks, and their provenance."""
    runs: dict[tuple[Path, Condition], list[Recording]] = {}
    for file in result.files:
        runs.setdefault((file.recording.file.parent, file.recording.condition), []).append(file.recording)
    for (_, condition), recordings in runs.items():
        tasks, facts = [], {}
        for recording in recordings:
            task = _task_name(recording)
            docs: dict[int, dict[str, Any]] = {}
            responses: dict[int, list[str]] = {}
            names: Counter[str] = Counter()
            for record in recording.records:
                if record.document not in docs:
                    name = record.id or _window_name(record, recording) or f"{recording.file.name}:{record.document}"
                    names[name] += 1
                    again = f"#{names[name]}" if names[name] > 1 else ""  # a set may draw a window twice
                    docs[record.document] = _doc(name + again, record, recording)
                responses.setdefault(record.document, []).append(record.response)
            options = {"bias": condition.bias or "plain", "window": recording.window, "mode": condition.mode}
            tasks.append(score_task("dynostock", task, list(docs.values()), list(responses.values()), options=options))
            facts[task] = {
                "mode": condition.mode,
                "arm": condition.arm,
                "anonymise": condition.anonymised,
            }
        yield condition.model or "model", tasks, facts


def _task_name(recording: Recording) -> str:
    bias, text = recording.condition.bias, "_text" if recording.condition.mode == "text" else ""
    if bias in (None, "plain"):
        return f"dynostock_forecast{text}"
    return f"dynostock_{bias}_w{recording.window}{text}" if recording.window else f"dynostock_{bias}{text}"


def _window_name(record: Record, recording: Recording) -> str:
    bias, window = recording.condition.bias, recording.window
    known = bias and window and record.ticker and record.end
    return window_id(bias, window, record.ticker, record.end) if known and bias and window else ""


def _doc(name: str, record: Record, recording: Recording) -> dict[str, Any]:
    shown = {field: getattr(record, field) for field in ("ticker", "start", "end", "truth", "signal")}
    bias = {"bias_type": recording.condition.bias or "plain", "window": recording.window}
    return {"id": name, **shown, **bias, "mode": recording.condition.mode, "arm": recording.condition.arm}


def _over(files: Sequence[ReplayedFile]) -> dict[str, float | None]:
    """Return mean, population standard deviation and 95 % interval of the mean over files of equal weight."""
    scored = [(file.counts, file.intervals) for file in files if file.counts.total]
    found: dict[str, float | None] = {}
    for place, name in enumerate(("accuracy", "bias_index")):
        parts = [(1, getattr(counts, name), intervals[place]) for counts, intervals in scored]
        values = [value for _, value, _ in parts]
        interval = pooled_interval(parts) if parts else Interval(math.nan, math.nan)
        found[f"{name}_mean"] = _percent(average(values))
        found[f"{name}_std"] = _percent(pstdev(values) if values else math.nan)
        found |= {f"{name}_low": _percent(interval.low), f"{name}_high": _percent(interval.high)}
    return found


def _percent(fraction: float) -> float | None:
    return None if math.isnan(fraction) else 100 * fraction


def _item(record: Record, reading: Forecast) -> dict[str, Any]:
    scored = compare(asdict(record), reading)
    item = {name: value for name, value in asdict(record).items() if name != "response"}
    return {**item, **{name: getattr(scored, name) for name in ("answer", "probability", "correct", "led")}}
