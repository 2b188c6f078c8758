"""Runs of our tasks, as lm-eval wrote them into any number of folders."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError
from fin_tasks.report.json_fields import from_json, read_capped
from fin_tasks.report.model_names import model_of
from fin_tasks.report.samples import Rows, read_samples
from fin_tasks.report.settings import SAMPLE, UNKNOWN, Setting, is_sample, of_rows_asked, setting_of
from fin_tasks.report.sources import SOURCES

__all__ = [
    "BENCHMARKS",
    "CONDITIONS",
    "MAX_RESULTS",
    "Found",
    "Problem",
    "Run",
    "benchmark_of",
    "read_runs",
]

BENCHMARKS = ("bizbench", "dynostock", "financemath", "mme_finance", "xfinbench")
"""What the names of our tasks start with."""
CONDITIONS = ("bm25", "dense", "hybrid", "oracle")
"""What task names end with where finance terms stand before the question; `none` is not written."""
MAX_RESULTS = 256 * 2**20
"""Bytes a results file may have."""

_SAMPLES = re.compile(r"samples_(?P<task>.+?)_(?P<date>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl")


@dataclass(frozen=True, kw_only=True)
class Run:
    """One task of one lm-eval run.

    Attributes:
        benchmark: One of `BENCHMARKS`.
        task: The task, as in the file's name.
        model: Its name, as lm-eval has it.
        date: When the run was, as in the file's name; empty where the name has none.
        setting: What it was run with, see `settings`.
        variants: Filter (`paper`, `robust`) to rows.
        path: The samples file.
    """

    benchmark: str
    task: str
    model: str
    date: str
    setting: Setting
    variants: Mapping[str, Rows]
    path: Path

    def fact(self, name: str) -> Any:
        """Return a fact of the setting; None where it has none of this name."""
        value = self.setting.get(name)
        return None if value is None else json.loads(value)

    def provenance(self, name: str) -> Any:
        """Return a fact of the provenance by its dotted name; None where there is none."""
        return self.fact(f"provenance.{name}")

    @property
    def condition(self) -> str:
        """What stands before the question: `none` or one of `CONDITIONS`."""
        said = self.provenance("retrieval.condition")
        return said if isinstance(said, str) else self._suffix or "none"

    @property
    def family(self) -> str:
        """The task without its condition: the same questions, asked the same way."""
        return self.task.removesuffix(f"_{self._suffix}")

    @property
    def label(self) -> str:
        """The condition with the options that decide which terms it finds, such as `bm25 (top 3, ties paper)`."""
        top_k, ties = self.provenance("retrieval.top_k"), self.provenance("retrieval.ties")
        options = [f"top {top_k}" if top_k is not None else "", f"ties {ties}" if ties is not None else ""]
        options += [self._named(part) for part in ("tokeniser", "encoder")]
        shown = ", ".join(option for option in options if option)
        return f"{self.condition} ({shown})" if shown and self.condition != "none" else self.condition

    def _named(self, part: str) -> str:
        retriever = f"retrieval.retriever.{part}"
        name = self.provenance(retriever) or self.provenance(f"{retriever}.name") or self._of_members(part)
        return name if isinstance(name, str) else ""

    def _of_members(self, part: str) -> Any:
        """Return a part's name where several retrievers are fused: that of the first member that has one."""
        members = self.provenance("retrieval.retriever.members")
        members = members if isinstance(members, list) else []
        of_members = [member.get(part) for member in members if isinstance(member, dict)]
        named = [one.get("name") if isinstance(one, dict) else one for one in of_members]
        return next((name for name in named if name), None)

    @property
    def _suffix(self) -> str:
        suffix = self.task.rpartition("_")[2]
        return suffix if suffix in CONDITIONS else ""

    @property
    def mode(self) -> str:
        """How answers are asked for: `cot`, `da`, `pot`; empty where the run does not say."""
        return str(self.provenance("style.mode") or self.provenance("mode") or "")

    @property
    def split(self) -> str:
        """The rows that were asked: a split, or `sample`; empty where the run does not say."""
        return SAMPLE if is_sample(self.setting) else str(self.provenance("split") or "")

    @property
    def data(self) -> str:
        """The revision of the questions, as JSON text; empty where it is not known."""
        if "provenance.data.revision" in self.setting:
            return self.setting["provenance.data.revision"]
        facts = {name: value for name, value in self.setting.items() if name.startswith("provenance.data.")}
        return json.dumps(facts, sort_keys=True) if facts else ""


@dataclass(frozen=True)
class Problem:
    """A file, or a pair of them, that could not be used, and why."""

    path: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Found:
    """The runs found.

    Attributes:
        runs: By benchmark, model, condition and task.
        problems: Files that are broken.
        notes: What was left out or is not known, in sentences.
    """

    runs: tuple[Run, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]


def read_runs(paths: Iterable[Path], *, on_done: Callable[[int], None] | None = None) -> Found:
    """Read runs.

    Args:
        paths: Samples files, or folders with `samples_*.jsonl` anywhere below; the results file of the same run is
            looked for beside each.
        on_done: Told how many files are read.

    Returns:
        The runs of our tasks. Of two runs of the same task, model and setting only the newest is kept; a note says so.

    Raises:
        DataError: A path does not exist, or there is no samples file of our tasks at all.
    """
    notes: list[str] = []
    problems: list[Problem] = []
    runs: list[Run] = []
    for done, path in enumerate(_samples_files(list(paths), notes), start=1):
        try:
            runs.append(_run(path, notes))
        except DataError as error:
            problems.append(Problem(str(path), str(error)))
        if on_done is not None:
            on_done(done)
    return Found(runs=tuple(_newest(runs, notes)), problems=tuple(problems), notes=tuple(notes))


def benchmark_of(task: str) -> str:
    """Return the benchmark that a task of ours belongs to; empty for tasks of others.

    Example:
        >>> benchmark_of("mme_finance_en"), benchmark_of("xfinbench"), benchmark_of("xfinbenchmark_x")
        ('mme_finance', 'xfinbench', '')
    """
    return next((name for name in BENCHMARKS if task == name or task.startswith(f"{name}_")), "")


def _samples_files(paths: Sequence[Path], notes: list[str]) -> list[Path]:
    found: dict[Path, Path] = {}
    for path in paths:
        if not path.exists():
            raise DataError(f"{path}: expected lm-eval's output folder or a samples file, found nothing there.")
        if not (path.is_dir() or path.is_file()):
            raise DataError(f"{path}: expected a folder or a file, found something else, such as a pipe.")
        files = [file for file in path.rglob("samples_*.jsonl") if file.is_file()] if path.is_dir() else [path]
        found |= {file.resolve(): file for file in files}
    ours = [file for file in found.values() if benchmark_of(_task(file)[0])]
    if not ours:
        seen = f"only other tasks ({len(found)} files)" if found else "none"
        raise DataError(
            f"{', '.join(map(str, paths))}: expected samples_*.jsonl of {', '.join(BENCHMARKS)} tasks, found "
            f"{seen}. Run lm-eval with --output_path and --log_samples."
        )
    if len(ours) < len(found):
        notes.append(f"{len(found) - len(ours)} samples files of other tasks left out.")
    return sorted(ours)


def _task(path: Path) -> tuple[str, str]:
    """Return task and date of a samples file, as its name has them."""
    match = _SAMPLES.fullmatch(path.name)
    return (match["task"], match["date"]) if match else (path.stem.removeprefix("samples_"), "")


def _run(path: Path, notes: list[str]) -> Run:
    task, date = _task(path)
    results = _results_of(path, date)
    if results is None:
        notes.append(f"{path}: no results file of the same run beside it, so what it was run with is not known.")
    variants = read_samples(path, source=SOURCES.get(benchmark_of(task)))
    if results is not None:
        _check_count(path, task, results, variants)
    return Run(
        benchmark=benchmark_of(task),
        task=task,
        model=model_of(results) if results else path.resolve().parent.name,
        date=date,
        setting=setting_of(results, task, where=str(path)) if results else UNKNOWN,
        variants=variants,
        path=path,
    )


def _results_of(samples: Path, date: str) -> dict[str, Any] | None:
    path = samples.with_name(f"results_{date}.json")
    if not date or not path.is_file():
        return None
    content = read_capped(path, most=MAX_RESULTS)
    try:
        results = from_json(content)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: expected lm-eval's results as JSON, got {error}.") from error
    if not isinstance(results, dict):
        raise DataError(f"{path}: expected an object, got {type(results).__name__}.")
    return results


def _check_count(path: Path, task: str, results: Mapping[str, Any], variants: Mapping[str, Rows]) -> None:
    """Notice a samples file that was cut between two lines, which every line of it would let pass."""
    counts = results.get("n-samples")
    of_task = counts.get(task) if isinstance(counts, dict) else None
    expected = of_task.get("effective") if isinstance(of_task, dict) else None
    rows = len(next(iter(variants.values())))
    if isinstance(expected, int) and expected != rows:
        raise DataError(f"{path}: expected {expected} documents, as its results file says, found {rows}.")


def _newest(runs: Sequence[Run], notes: list[str]) -> list[Run]:
    kept: dict[tuple[Any, ...], Run] = {}
    for run in sorted(runs, key=lambda run: (run.date, run.path)):
        known = run.setting != UNKNOWN  # else by nothing but its folder
        folder = None if known else run.path.resolve().parent
        key = (run.model, run.task, tuple(sorted(of_rows_asked(run.setting).items())), folder)
        if key in kept:
            notes.append(f"{kept[key].path}: left out, {run.path} ran the same later.")
        kept[key] = run
    return sorted(kept.values(), key=_place)


def _place(run: Run) -> tuple[Any, ...]:
    conditions = ("none", *CONDITIONS)
    place = conditions.index(run.condition) if run.condition in conditions else len(conditions)
    return (run.benchmark, run.model, place, run.label, run.mode, run.task, run.path)
