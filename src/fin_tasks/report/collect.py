"""All that result files hold, as one table."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fin_tasks.errors import DataError
from fin_tasks.report.comparability import mark, mark_beside_papers, mark_reruns
from fin_tasks.report.entry import Entry, RunFacts, RunRead, Scores
from fin_tasks.report.found_files import LmEvalRun, find_runs, is_lm_evals
from fin_tasks.report.incremental import Kept, Unit, decode, encode, key_of
from fin_tasks.report.kit_files import KitRun, find_kit_runs
from fin_tasks.report.lm_eval_entries import UnitRead, read_run
from fin_tasks.report.other_files import read_files
from fin_tasks.report.published_entries import published as published_tables
from fin_tasks.report.redaction import without_secrets
from fin_tasks.report.runs import BENCHMARKS, Problem
from fin_tasks.report.vlmeval_entries import read_kit_run
from fin_tasks.settings import Settings

__all__ = ["Collected", "collect"]

_WORTH_PROCESSES = 512 * 2**20
"""Bytes to read from which on the start of other processes pays."""
_MOST_PROCESSES = 4
"""Each takes some 150 MB for the libraries it loads."""


@dataclass(frozen=True, kw_only=True)
class Collected:
    """What was found.

    Attributes:
        entries: Every value of every run, and of the papers' tables, by benchmark, task, variant and model.
        runs: What `Entry.run` names.
        problems: Files that are broken, and why.
        notes: What was left out or is not known, in sentences.
        read: The runs as they were read, by `RunFacts.id`; published rows are not among them.
        roots: Where the folders are that were given, with a slash behind; others need not know.
    """

    entries: tuple[Entry, ...]
    runs: tuple[RunFacts, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    read: Mapping[str, RunRead]
    roots: tuple[str, ...] = ()

    def scores(self, run: str) -> Mapping[str, Scores]:
        """Return what each row of a run scored, by variant; empty where only totals are known."""
        return self.read[run].scores if run in self.read else {}

    def shown(self, text: str) -> str:
        """Return a message as a report has it: files are told from the folders on that were given."""
        for root in self.roots:
            text = text.replace(root, "")
        return text

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
        DataError: A path does not exist, or there is nothing of ours at all.
    """
    paths = _outermost(paths)
    problems: list[Problem] = []
    units = [*map(_of_lm_eval, find_runs(paths, problems))]
    units += [_of_kit(found) for path in paths if path.is_dir() for found in find_kit_runs(path, problems)]
    reads = _read_all(units, Kept(settings.cache_dir / "report"), on_done)
    reads.append(read_files([path for path in paths if path.is_file() and not is_lm_evals(path)]))
    notes = [note for read in reads for note in read.notes]
    problems += [problem for read in reads for problem in read.problems]
    runs = {run.facts.id: run for run in _once([run for read in reads for run in read.runs], notes)}
    if not runs and not problems:
        raise DataError(
            f"{', '.join(map(str, paths))}: expected results of {', '.join(BENCHMARKS)} tasks, found none. Run lm-eval "
            "with --output_path and --log_samples, or name a run folder of VLMEvalKit."
        )
    all_runs = [*runs.values(), *(published_tables() if published else ())]
    facts = [run.facts for run in all_runs]
    marked = mark([entry for run in all_runs for entry in run.entries])
    entries = mark_reruns(mark_beside_papers(marked), facts)
    return Collected(
        entries=tuple(sorted(entries, key=_place)),
        runs=tuple(facts),
        # they go into the report, which others read
        problems=tuple(Problem(*without_secrets([one.path, one.message])) for one in problems),
        notes=tuple(without_secrets(notes)),
        read=runs,
        roots=_roots(paths),
    )


def _outermost(paths: Sequence[Path]) -> list[Path]:
    """Leave out what is named twice, and folders within others: they are read anyway."""
    named = {path.resolve(): path for path in reversed(paths)}
    folders = {real for real in named if real.is_dir()}
    return [path for real, path in reversed(named.items()) if real not in folders or folders.isdisjoint(real.parents)]


def _roots(paths: Sequence[Path]) -> tuple[str, ...]:
    folders = {path if path.is_dir() else path.parent for path in paths}
    real = {str(folder.resolve()) for folder in folders} | {str(folder) for folder in folders if folder.is_absolute()}
    return tuple(f"{name.rstrip('/')}/" for name in sorted(real, key=len, reverse=True) if name.strip("/"))


def _of_lm_eval(run: LmEvalRun) -> Unit:
    place = (str(run.root.resolve()), str(run.folder.resolve()), run.date)
    return Unit(place=place, files=run.files, read=partial(read_run, run))


def _of_kit(run: KitRun) -> Unit:
    place = (str(run.root.resolve()), str(run.score.resolve()))
    return Unit(place=place, files=tuple(filter(None, (run.score, run.items))), read=partial(_read_kit, run))


def _read_kit(run: KitRun) -> UnitRead:
    try:
        return read_kit_run(run)
    except DataError as error:
        return UnitRead(runs=(), problems=(Problem(str(run.score), str(error)),))


def _read_all(found: Sequence[Unit], kept: Kept, on_done: Callable[[int, int], None] | None) -> list[UnitRead]:
    """Read files, those that are unchanged from what is kept, large ones side by side; in their order."""
    reads: dict[int, UnitRead] = {}
    pending: list[int] = []

    def tell() -> None:
        if on_done is not None:
            on_done(len(reads), len(found))

    for place, unit in enumerate(found):
        read = kept.load(unit)
        if read is None:
            pending.append(place)
        else:
            reads[place] = read
            tell()
    for place, key, content in _read_anew({place: found[place] for place in pending}):
        if key:
            kept.save(found[place], key, content)
        reads[place] = decode(content)
        tell()
    kept.prune(found)
    return [reads[place] for place in range(len(found))]


def _read_anew(runs: Mapping[int, Unit]) -> Iterator[tuple[int, bytes, bytes]]:
    size = sum(_size(run) for run in runs.values())
    if size < _WORTH_PROCESSES or len(runs) < 2:
        yield from (_read_one(place, run) for place, run in runs.items())
        return
    from joblib import Parallel, cpu_count, delayed

    # the largest first, so that none of them is left for the end; each process holds one line and one run's numbers
    order = sorted(runs, key=lambda place: -_size(runs[place]))
    workers = Parallel(n_jobs=min(cpu_count(), _MOST_PROCESSES, len(runs)), return_as="generator_unordered")
    yield from workers(delayed(_read_one)(place, runs[place]) for place in order)


def _read_one(place: int, unit: Unit) -> tuple[int, bytes, bytes]:
    """Read files; returns their place, the key to keep it under (empty for none), and what was read as bytes."""
    try:
        key = key_of(unit)  # before reading: what changes meanwhile must be read again
        return place, key, encode(unit.read())
    except (OSError, ValueError, OverflowError) as error:
        path = str(unit.files[0])
        problem = Problem(path, f"{path}: expected files that can be read, got {error}.")
        return place, b"", encode(UnitRead(runs=(), problems=(problem,)))


def _size(unit: Unit) -> int:
    return sum(file.stat().st_size for file in unit.files if file.exists())


def _once(runs: Sequence[RunRead], notes: list[str]) -> Iterator[RunRead]:
    """Leave out copies of runs: of the same totals the one with rows, of the same files the one with a date."""
    kept: dict[str, RunRead] = {}
    for run in sorted(runs, key=lambda run: (not run.scores, not run.facts.date)):  # in their order otherwise
        claims = run.facts.claims or run.facts.id
        same = kept.get(run.facts.id) if run.scores else kept.get(claims)
        if same is None:
            kept.setdefault(claims, run)
            kept[run.facts.id] = run
        else:
            paths = [one.facts.path or one.facts.samples for one in (run, same)]
            notes.append(f"{paths[0]}: left out, {run.facts.task} is the same as in {paths[1]}.")
    return (run for run in runs if kept.get(run.facts.id) is run)


def _place(entry: Entry) -> tuple[str, ...]:
    table = (entry.benchmark, entry.task, entry.split, entry.mode, entry.style, entry.retrieval, entry.arm)
    return (*table, entry.variant, entry.model, entry.run)
