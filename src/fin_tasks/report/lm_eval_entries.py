"""An lm-eval run, results and samples together, as entries."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fin_tasks.errors import DataError
from fin_tasks.report.comparability import facts_of, in_common
from fin_tasks.report.entry import RunFacts, RunRead
from fin_tasks.report.estimates import largest, unit_of
from fin_tasks.report.found_files import LmEvalRun
from fin_tasks.report.group_rows import rows_of_group
from fin_tasks.report.json_fields import read_capped
from fin_tasks.report.lm_eval_results import ResultsFile, TaskClaims, read_results
from fin_tasks.report.redaction import without_secrets
from fin_tasks.report.row_scores import FileScores, read_scores
from fin_tasks.report.runs import MAX_RESULTS, Problem, benchmark_of
from fin_tasks.report.settings import UNKNOWN, Setting, setting_of
from fin_tasks.report.task_entries import SAME, TaskRead, entries_of, small
from fin_tasks.report.variants import common_variants, variants_of

__all__ = ["UnitRead", "members_of", "read_run"]


@dataclass(frozen=True, kw_only=True)
class UnitRead:
    """What the files of one run hold.

    Attributes:
        runs: One per task and group.
        problems: Files, or parts of them, that cannot be used.
        notes: What is not known, in sentences.
    """

    runs: tuple[RunRead, ...]
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()


def read_run(found: LmEvalRun) -> UnitRead:
    """Read a run: values as its results file claims them, intervals and counts from its samples.

    A claim that its own rows do not bear out is marked. Without samples there are only values, with the interval that
    the standard error in the file gives; without a results file only the means of the rows.
    """
    problems: list[Problem] = []
    try:
        results, digest = _results(found)
    except (DataError, OSError, RecursionError) as error:
        left = f" Left out with it: {len(found.samples)} samples files." if found.samples else ""
        return UnitRead(runs=(), problems=(Problem(str(found.results), f"{error}{left}"),))
    if results is not None:
        problems += [Problem(str(found.results), message) for message in results.problems.values()]
    tasks: dict[str, TaskRead] = {}
    for task in _task_names(found, results):
        try:
            tasks[task] = _task(found, results, task, problems)
        except (DataError, OSError, RecursionError) as error:
            where = found.results or found.samples[task]
            message = str(error) if isinstance(error, DataError) else f"{where}, configs.{task:.80}: {error}"
            problems.append(Problem(str(where), message))
    made = [_run(found, results, digest, task, of_task) for task, of_task in tasks.items()]
    groups = [claims for claims in (results.tasks if results else ()) if claims.members]
    made += [_group_run(found, results, digest, claims, tasks, groups) for claims in groups if results is not None]
    return UnitRead(runs=tuple(made), problems=tuple(problems), notes=tuple(_notes(found, results, tasks)))


def _notes(found: LmEvalRun, results: ResultsFile | None, tasks: Mapping[str, TaskRead]) -> Iterator[str]:
    """Say what is not known, and what is not used."""
    if results is None:
        yield f"{found.folder}: samples without a results file, so what they were made with is not known."
        return
    if results.others:
        yield f"{found.results}: tasks of others left out: {results.others}."
    known = {claims.task for claims in results.tasks} | results.problems.keys()
    for task in sorted(found.samples.keys() - known):
        yield f"{found.samples[task]}: left out, as {found.results} has no task {task:.80}."
    for task, read in tasks.items():
        claimed = read.claims.variants if read.claims else {}
        if other := sorted(read.scores.keys() - claimed.keys()):
            yield (
                f"{found.samples[task]}: rows under {', '.join(other):.80} left out, as {found.results} has values "
                f"under {', '.join(claimed):.80}."
            )
    if alone := [task for task in tasks if task not in found.samples]:
        yield f"{found.results}: no samples of {', '.join(alone):.200}, so their values rest on this file alone."


def _results(found: LmEvalRun) -> tuple[ResultsFile | None, str]:
    if found.results is None:
        return None, ""
    content = read_capped(found.results, most=MAX_RESULTS)
    return read_results(found.results, content), hashlib.sha256(content).hexdigest()


def _task_names(found: LmEvalRun, results: ResultsFile | None) -> list[str]:
    if results is None:
        return sorted(found.samples)
    return [claims.task for claims in results.tasks if not claims.members]


def _task(found: LmEvalRun, results: ResultsFile | None, task: str, problems: list[Problem]) -> TaskRead:
    benchmark = benchmark_of(task)
    claims = next((claims for claims in results.tasks if claims.task == task), None) if results else None
    marks: list[str] = []
    read = FileScores(variants={}, digest="")
    if (path := found.samples.get(task)) is not None:
        try:
            read = read_scores(path, benchmark, claimed=claims.variants if claims else None)
            _check(path, benchmark, read, claims)
        except DataError as error:
            if claims is None:
                raise
            problems.append(Problem(str(path), str(error)))
            read = FileScores(variants={}, digest="")
            marks.append("its samples file is broken, so the value rests on the results file alone")
    setting = setting_of(results.raw, task, where=str(found.results)) if results else UNKNOWN
    asked = claims.rows if claims and claims.rows else _rows(read)
    facts = facts_of(setting, version=claims.version if claims else "", rows=asked, of=claims.of if claims else 0)
    return TaskRead(
        claims=claims,
        setting=setting,
        facts=facts,
        variants=variants_of(task, setting),
        scores=read.variants,
        digest=read.digest,
        marks=tuple(marks),
        weighted=read.weighted,
    )


def _check(path: Path, benchmark: str, read: FileScores, claims: TaskClaims | None) -> None:
    """Notice rows that are too few for what the results file says, and numbers that no metric can have."""
    rows = _rows(read)
    if claims is not None and claims.rows and claims.rows != rows:
        raise DataError(f"{path}: expected {claims.rows} documents, as its results file says, found {rows}.")
    for variant, scores in read.variants.items():
        for metric, values in scores.values.items():
            most = largest(unit_of(benchmark, metric))
            bad = np.flatnonzero((values < -SAME) | (values > most + SAME))
            if len(bad):
                row = f"{scores.ids[bad[0]]:.80}, {variant}, {metric}"
                raise DataError(f"{path}: expected numbers from 0 to {most:g}, got {values[bad[0]]:g} at {row}.")


def _rows(read: FileScores) -> int:
    return len(next(iter(read.variants.values())).ids) if read.variants else 0


def _run(found: LmEvalRun, results: ResultsFile | None, digest: str, task: str, read: TaskRead) -> RunRead:
    samples = found.samples.get(task) if read.scores else None
    facts = RunFacts(
        id=_id(digest, read.digest, task),
        source="lm-eval",
        model=results.model if results else without_secrets(found.folder.resolve().name),
        task=read.variants.task,
        date=found.date or (results.date if results else ""),
        path=found.shown(found.results) if found.results else "",
        samples=found.shown(samples) if samples else "",
        provenance=read.setting,
        claims=_id(digest, task) if digest else "",
    )
    entries = tuple(entries_of(facts, task, read))
    return RunRead(facts=facts, entries=entries, scores=small(read.scores), samples=samples)


def _group_run(
    found: LmEvalRun,
    results: ResultsFile,
    digest: str,
    claims: TaskClaims,
    tasks: Mapping[str, TaskRead],
    groups: list[TaskClaims],
) -> RunRead:
    names = members_of(claims.task, {group.task: group.members for group in groups})
    members = {name: tasks[name] for name in names if name in tasks}
    asked = list(members.values()) if len(members) == len(names) else []
    rows = rows_of_group(claims, asked)
    facts = in_common({name: member.facts for name, member in members.items()})
    read = TaskRead(
        claims=replace(claims, rows=claims.rows or sum(m.claims.rows for m in members.values() if m.claims)),
        setting=_shared([member.setting for member in members.values()]),
        facts={**facts, "version": claims.version} if claims.version else facts,
        variants=common_variants(claims.task, [member.variants for member in members.values()]),
        scores=rows.scores,
        digest=" ".join(member.digest for member in members.values()),
        weighted=rows.weighted,
        sources=any(member.shares_sources for member in members.values()),
    )
    run = _run(found, results, digest, claims.task, read)
    return replace(run, samples=None, facts=replace(run.facts, samples=""))


def members_of(group: str, groups: Mapping[str, Sequence[str]]) -> list[str]:
    """Name the tasks of a group, those of groups within it too; groups may stand within each other in a circle.

    Args:
        group: Its name.
        groups: What each group names as its own.

    Example:
        >>> members_of("all", {"all": ["a", "some"], "some": ["b", "all"]})
        ['a', 'b']
    """
    found: list[str] = []
    seen: set[str] = set()
    pending = [group]
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            if name in groups:
                pending += reversed(groups[name])
            else:
                found.append(name)
    return found


def _shared(settings: list[Setting]) -> Setting:
    if not settings:
        return {}
    first, *others = settings
    return {name: value for name, value in first.items() if all(other.get(name) == value for other in others)}


def _id(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
