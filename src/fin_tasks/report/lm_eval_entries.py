"""An lm-eval run, results and samples together, as entries."""

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fin_tasks.errors import DataError
from fin_tasks.report.comparability import facts_of, in_common
from fin_tasks.report.entry import Entry, RunFacts, RunRead, Scores
from fin_tasks.report.estimates import Estimate, estimate, from_stderr, largest, unit_of
from fin_tasks.report.found_files import LmEvalRun
from fin_tasks.report.lm_eval_results import Claim, ResultsFile, TaskClaims, read_results
from fin_tasks.report.row_scores import BOUNDS, FileScores, read_scores
from fin_tasks.report.runs import MAX_RESULTS, Problem, benchmark_of
from fin_tasks.report.samples import HEADLINES
from fin_tasks.report.settings import UNKNOWN, Setting, setting_of, without_secrets
from fin_tasks.report.variants import Variants, common_variants, variants_of
from fin_tasks.stats.executions import REASONS
from fin_tasks.stats.intervals import Interval

__all__ = ["UnitRead", "read_run"]

_LOWER_IS_BETTER = frozenset(
    {"bias_index", "bias_percentage", "no_answer", "no_response", "unscored", "judge_error", "context_cut"}
    | {"brier", "log_loss", "ece", *REASONS}
)
_MAX_FACTS = 5_000
_SAME = 1e-6
"""How far a claim may be from the mean of its rows."""


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


@dataclass(frozen=True, kw_only=True)
class _Task:
    """A task of a run while it is put together."""

    claims: TaskClaims | None
    setting: Setting
    facts: Mapping[str, str]
    variants: Variants
    scores: Mapping[str, Scores]
    digest: str
    marks: tuple[str, ...] = ()


def read_run(found: LmEvalRun) -> UnitRead:
    """Read a run: values as its results file claims them, intervals and counts from its samples.

    A claim that its own rows do not bear out is marked. Without samples there are only values, with the interval that
    the standard error in the file gives; without a results file only the means of the rows.
    """
    problems: list[Problem] = []
    notes: list[str] = []
    try:
        results, digest = _results(found)
    except (DataError, OSError, RecursionError) as error:
        left = f" Left out with it: {len(found.samples)} samples files." if found.samples else ""
        return UnitRead(runs=(), problems=(Problem(str(found.results), f"{error}{left}"),))
    if results is not None:
        problems += [Problem(str(found.results), message) for message in results.problems.values()]
        if results.others:
            notes.append(f"{found.results}: {results.others} tasks of others left out.")
    else:
        notes.append(f"{found.folder}: samples without a results file, so what they were made with is not known.")
    tasks: dict[str, _Task] = {}
    for task in _task_names(found, results):
        try:
            tasks[task] = _task(found, results, task, problems)
        except (DataError, OSError, RecursionError) as error:
            problems.append(Problem(str(found.results or found.samples[task]), str(error)))
    made = [_run(found, results, digest, task, of_task) for task, of_task in tasks.items()]
    groups = [claims for claims in (results.tasks if results else ()) if claims.members]
    made += [_group_run(found, results, digest, claims, tasks, groups) for claims in groups if results is not None]
    return UnitRead(runs=tuple(made), problems=tuple(problems), notes=tuple(notes))


def _results(found: LmEvalRun) -> tuple[ResultsFile | None, str]:
    if found.results is None:
        return None, ""
    size = found.results.stat().st_size
    if size > MAX_RESULTS:
        raise DataError(f"{found.results}: expected at most {MAX_RESULTS:,} bytes, got {size:,}.")
    content = found.results.read_bytes()
    return read_results(found.results, content), hashlib.sha256(content).hexdigest()


def _task_names(found: LmEvalRun, results: ResultsFile | None) -> list[str]:
    if results is None:
        return sorted(found.samples)
    return [claims.task for claims in results.tasks if not claims.members]


def _task(found: LmEvalRun, results: ResultsFile | None, task: str, problems: list[Problem]) -> _Task:
    benchmark = benchmark_of(task)
    claims = next((claims for claims in results.tasks if claims.task == task), None) if results else None
    marks: list[str] = []
    read = FileScores(variants={}, digest="")
    if (path := found.samples.get(task)) is not None:
        try:
            read = read_scores(path, benchmark)
            _check(path, benchmark, read, claims)
        except DataError as error:
            if claims is None:
                raise
            problems.append(Problem(str(path), str(error)))
            read = FileScores(variants={}, digest="")
            marks.append("its samples file is broken, so the value rests on the results file alone")
    setting = setting_of(results.raw, task) if results else UNKNOWN
    if len(setting) > _MAX_FACTS:
        raise DataError(
            f"{found.results}, configs.{task}: expected at most {_MAX_FACTS:,} facts, got {len(setting):,}."
        )
    asked = claims.rows if claims and claims.rows else _rows(read)
    facts = facts_of(setting, version=claims.version if claims else "", rows=asked, of=claims.of if claims else 0)
    return _Task(
        claims=claims,
        setting=setting,
        facts=facts,
        variants=variants_of(task, setting),
        scores=read.variants,
        digest=read.digest,
        marks=tuple(marks),
    )


def _check(path: Path, benchmark: str, read: FileScores, claims: TaskClaims | None) -> None:
    """Notice rows that are too few for what the results file says, and numbers that no metric can have."""
    rows = _rows(read)
    if claims is not None and claims.rows and claims.rows != rows:
        raise DataError(f"{path}: expected {claims.rows} documents, as its results file says, found {rows}.")
    for variant, scores in read.variants.items():
        for metric, values in scores.values.items():
            most = largest(unit_of(benchmark, metric))
            bad = np.flatnonzero((values < -_SAME) | (values > most + _SAME))
            if len(bad):
                row = f"{scores.ids[bad[0]]:.80}, {variant}, {metric}"
                raise DataError(f"{path}: expected numbers from 0 to {most:g}, got {values[bad[0]]:g} at {row}.")


def _rows(read: FileScores) -> int:
    return len(next(iter(read.variants.values())).ids) if read.variants else 0


def _run(found: LmEvalRun, results: ResultsFile | None, digest: str, task: str, read: _Task) -> RunRead:
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
    )
    entries = tuple(_entries(facts, task, read))
    return RunRead(facts=facts, entries=entries, scores=_small(read.scores), samples=samples)


def _entries(run: RunFacts, task: str, read: _Task) -> Iterator[Entry]:
    claimed = read.claims.variants if read.claims else {}
    for variant in dict.fromkeys([*claimed, *read.scores]):
        claims = claimed.get(variant, {})
        scores = read.scores.get(variant)
        names = claims if read.claims else (scores.values if scores else {})
        for metric in names:
            if _base_of(metric, names) is None:
                entry = _entry(run, task, read, variant, metric, claims, scores)
                if entry.value is not None or metric in HEADLINES:
                    yield entry


def _entry(
    run: RunFacts,
    task: str,
    read: _Task,
    variant: str,
    metric: str,
    claims: Mapping[str, Claim],
    scores: Scores | None,
) -> Entry:
    benchmark = benchmark_of(task)
    unit = unit_of(benchmark, metric)
    claim = claims.get(metric)
    values = scores.values.get(metric) if scores and metric != "n_scored" else None
    measured = estimate(values, clusters=scores.clusters, unit=unit) if scores and values is not None else None
    value = claim.value if claim else _number(measured.mean if measured else math.nan)
    interval = _interval(metric, claims, measured, value, unit)
    n, unscored = _counts(metric, read, claims, scores, measured)
    marks = [*read.marks, *_not_borne_out(claim, measured)]
    return Entry(
        run=run.id,
        source=run.source,
        model=run.model,
        benchmark=benchmark,
        variant=variant,
        metric=metric,
        value=value,
        low=_number(interval.low) if value is not None else None,
        high=_number(interval.high) if value is not None else None,
        unit=unit,
        higher_is_better=_direction(read.claims, metric),
        n=n,
        unscored=unscored,
        marks=tuple(marks),
        facts=read.facts,
        **read.variants.fields,
    )


def _interval(
    metric: str, claims: Mapping[str, Claim], measured: Estimate | None, value: float | None, unit: Any
) -> Interval:
    """Take the interval over the rows; else the bounds that the task reports itself; else that of its stderr."""
    if measured is not None and not math.isnan(measured.interval.low):
        return measured.interval
    low, high = claims.get(f"{metric}_low"), claims.get(f"{metric}_high")
    if low and high and low.value is not None and high.value is not None:
        return Interval(low.value, high.value)
    claim = claims.get(metric)
    if measured is None and claim and value is not None:
        return from_stderr(value, claim.stderr, unit=unit)
    return Interval(math.nan, math.nan)


def _counts(
    metric: str, read: _Task, claims: Mapping[str, Claim], scores: Scores | None, measured: Estimate | None
) -> tuple[int, int]:
    """Count rows with a value, and rows without one because they could not be scored.

    Of a part of the rows it is not known which of the unscored belong to it: all of the task's are told.
    """
    if scores is not None:
        rows = len(scores.ids)
        headline = next((scores.values[name] for name in HEADLINES if name in scores.values), None)
        unscored = int(np.isnan(headline).sum()) if headline is not None else 0
        n = measured.n if measured else rows - unscored
        return n, min(unscored, rows - n)
    rows = read.claims.rows if read.claims else 0
    rate = claims.get("unscored", Claim(None, None)).value or 0.0
    unscored = round(rate * rows)
    return (rows - unscored, unscored) if metric in (*HEADLINES, "bias_index") else (0, unscored)


def _not_borne_out(claim: Claim | None, measured: Estimate | None) -> list[str]:
    if claim is None or measured is None:
        return []
    mean = _number(measured.mean)
    if claim.value is None or mean is None:
        same = claim.value is None and mean is None
    else:
        same = abs(claim.value - mean) <= _SAME * max(1.0, abs(mean))
    return [] if same else [f"claims {_shown(claim.value)}, but its rows give {_shown(mean)}"]


def _shown(value: float | None) -> str:
    return "no value" if value is None else f"{value:.6g}"


def _group_run(
    found: LmEvalRun,
    results: ResultsFile,
    digest: str,
    claims: TaskClaims,
    tasks: Mapping[str, _Task],
    groups: list[TaskClaims],
) -> RunRead:
    names = _members(claims.task, {group.task: group.members for group in groups})
    members = {name: tasks[name] for name in names if name in tasks}
    facts = in_common({name: member.facts for name, member in members.items()})
    read = _Task(
        claims=replace(claims, rows=claims.rows or sum(m.claims.rows for m in members.values() if m.claims)),
        setting=_shared([member.setting for member in members.values()]),
        facts={**facts, "version": claims.version} if claims.version else facts,
        variants=common_variants(claims.task, [member.variants for member in members.values()]),
        scores=_pooled(claims, list(members.values())) if len(members) == len(names) else {},
        digest=" ".join(member.digest for member in members.values()),
    )
    run = _run(found, results, digest, claims.task, read)
    return replace(run, samples=None, facts=replace(run.facts, samples=""))


def _members(group: str, groups: Mapping[str, tuple[str, ...]], *, depth: int = 0) -> list[str]:
    """Name the tasks of a group, those of groups within it too."""
    if group not in groups or depth > len(groups):
        return [group]
    return list(dict.fromkeys(name for one in groups[group] for name in _members(one, groups, depth=depth + 1)))


def _pooled(claims: TaskClaims, members: list[_Task]) -> dict[str, Scores]:
    """Put the rows of a group's tasks together, where the group's value is the mean over all of them."""
    pooled: dict[str, Scores] = {}
    for variant, claimed in claims.variants.items():
        of_members = [member.scores[variant] for member in members if variant in member.scores]
        ids = tuple(name for scores in of_members for name in scores.ids)
        if len(of_members) < len(members) or not ids or len(set(ids)) < len(ids):
            continue
        clusters = [name for scores in of_members for name in scores.clusters or ()]
        values = {}
        for metric, claim in claimed.items():
            if claim.value is None or not all(metric in scores.values for scores in of_members):
                continue
            together = np.concatenate([scores.values[metric] for scores in of_members])
            there = together[~np.isnan(together)]
            # where unscored rows are left out, lm-eval weights tasks by rows asked: that is no mean over rows
            if len(there) and abs(there.mean() - claim.value) <= _SAME * max(1.0, claim.value):
                values[metric] = together
        if values:
            pooled[variant] = Scores(ids=ids, clusters=tuple(clusters) if clusters else None, values=values)
    return pooled


def _shared(settings: list[Setting]) -> Setting:
    if not settings:
        return {}
    first, *others = settings
    return {name: value for name, value in first.items() if all(other.get(name) == value for other in others)}


def _small(scores: Mapping[str, Scores]) -> dict[str, Scores]:
    """Halve what scores take once all that needs their last digits is computed."""
    return {
        variant: replace(one, values={metric: values.astype(np.float32) for metric, values in one.values.items()})
        for variant, one in scores.items()
    }


def _base_of(metric: str, names: Mapping[str, object]) -> str | None:
    """Return the metric that a metric is a bound of, None where it is none; a spread over tasks stands for itself."""
    bases = (metric.removesuffix(end) for end in BOUNDS if end != "_std" and metric.endswith(end))
    return next((base for base in bases if base in names), None)


def _direction(claims: TaskClaims | None, metric: str) -> bool | None:
    known = claims.higher_is_better if claims else {}
    return known.get(metric, metric not in _LOWER_IS_BETTER)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _id(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
