"""Checks a submission from end to end."""

import hashlib
import json
import platform
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fin_tasks
from fin_tasks.errors import DataError, FinTasksError
from fin_tasks.judging.setup import JudgeSetup
from fin_tasks.report.found_files import LmEvalRun, find_runs
from fin_tasks.report.lm_eval_results import ResultsFile, TaskClaims, read_results
from fin_tasks.report.runs import BENCHMARKS, MAX_RESULTS, Problem
from fin_tasks.report.verify.closeness import TOLERANCE
from fin_tasks.report.verify.findings import Finding, Place, Report, Status, finding, not_checked, passed
from fin_tasks.report.verify.group_checks import Made, Totals, check_groups
from fin_tasks.report.verify.judge_again import ask_again
from fin_tasks.report.verify.judged import ClaimedVerdicts
from fin_tasks.report.verify.own_data import OwnData, load_own, options_of
from fin_tasks.report.verify.patterns import THRESHOLDS, check_patterns, check_timing
from fin_tasks.report.verify.row_checks import check_asked, check_provenance, check_rows
from fin_tasks.report.verify.score_checks import (
    Compared,
    Rescored,
    check_aggregates,
    check_scores,
    claims_of,
    compare_row,
    totals,
)
from fin_tasks.report.verify.scoring import Asked, Programs, score
from fin_tasks.report.verify.submitted import Submitted, SubmittedRow, read_submitted
from fin_tasks.report.verify.task_files import TaskFile, group_file, task_file
from fin_tasks.report.verify.version_checks import check_versions, version_of
from fin_tasks.settings import Settings

__all__ = ["Against", "verify"]


@dataclass(frozen=True, kw_only=True)
class Against:
    """What a submission is checked against.

    Attributes:
        source: Where the benchmark's own documents come from; what the submission names where None.
        data_dir: The folder with them.
        options: Options of the tasks, before the submission's.
        judge: Who is asked again for verdicts; nobody where None. The rubric is the task's.
        judge_rows: How many rows of a task it is asked about.
        seed: Which rows these are.
    """

    source: str | None = None
    data_dir: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    judge: JudgeSetup | None = None
    judge_rows: int = 50
    seed: int = 0


@dataclass
class _Verifying:
    """One submission's check under way."""

    settings: Settings
    against: Against
    programs: Programs
    tasks: int = 0
    rows: int = 0

    def run(self, run: LmEvalRun) -> Iterator[Finding]:
        """Check one run of lm-eval."""
        name = run.shown(run.results or run.folder)
        place = Place("", name)
        results, problem = _results(run)
        if problem:
            yield finding("results", place, "the results file cannot be read", [problem])
        elif results is None:
            yield not_checked("results", place, "no results file beside the samples: nothing is claimed in total")
        else:
            wrong = [f"{task}: {why}" for task, why in results.problems.items()]
            yield finding(
                "results", place, "claims that cannot be", wrong, fine=f"{len(results.tasks)} tasks and groups"
            )
        raw: Mapping[str, Any] = results.raw if results else {}
        claims = {one.task: one for one in results.tasks} if results else {}
        made: dict[str, Made] = {}
        characters = 0
        for task_name in sorted(run.samples):
            try:
                checked = yield from self._task(run, task_name, raw, claims.get(task_name))
            except RecursionError:
                place_of = Place(task_name, run.shown(run.samples[task_name]))
                yield finding("samples", place_of, "the file cannot be read", ["its values are nested too deeply"])
                continue
            if checked is not None:
                characters += checked.characters
                made[task_name] = checked
        for task_name in claims:
            if task_name not in run.samples and group_file(task_name) is None:
                place_of = Place(task_name, name)
                yield not_checked("scores", place_of, "there are no samples of it: run lm-eval with --log_samples")
        if results:
            yield from check_groups(name, claims, made)
            yield from check_timing(place, raw, characters)

    def _task(
        self, run: LmEvalRun, name: str, raw: Mapping[str, Any], claims: TaskClaims | None
    ) -> Generator[Finding, None, Made | None]:
        path = run.samples[name]
        place = Place(name, run.shown(path))
        self.tasks += 1
        task = task_file(name)
        if task is None:
            yield finding("samples", place, "there is no such task", [f"{name}: no task of fin-tasks"])
            return None
        metadata = _metadata(raw, name)
        own, why = self._own(task, metadata)
        try:
            submitted = read_submitted(path, own.docs if own else {})
        except DataError as error:
            yield finding("samples", place, "the samples file cannot be read", [str(error)])
            return None
        yield passed("samples", place, f"{len(submitted.first):,} rows under each filter")
        yield from check_versions(place, task, metadata, raw, own)
        provenance = metadata.get("provenance")
        yield from check_provenance(place, own, provenance, _hash(provenance))
        yield from check_rows(place, task, submitted, own, raw)
        yield from check_asked(place, task, submitted, own, raw)
        characters = sum(len(text) for row in submitted.first for text in row.responses)
        if own is None:
            yield not_checked("scores", place, f"the benchmark's own documents could not be loaded: {why}")
            yield not_checked("aggregates", place, "the rows were not scored")
            return Made(characters=characters)
        made = yield from self._scores(place, task, submitted, own, metadata)
        yield check_aggregates(place, task, claims, made)
        return Made(characters=characters, rows=len(submitted.first), totals=made)

    def _own(self, task: TaskFile, metadata: Mapping[str, Any]) -> tuple[OwnData | None, str]:
        against = self.against
        options = options_of(task, metadata, source=against.source, data_dir=against.data_dir, given=against.options)
        try:
            return load_own(task, options), ""
        except FinTasksError as error:
            return None, str(error)

    def _scores(
        self, place: Place, task: TaskFile, submitted: Submitted, own: OwnData, metadata: Mapping[str, Any]
    ) -> Generator[Finding, None, Totals]:
        """Score every row again; returns the totals by variant."""
        rows = _joined(submitted, own)
        asked = [
            Asked(
                doc=own.docs[name],
                responses=next(iter(of_row.values())).responses,
                claimed={variant: row.scored for variant, row in of_row.items()},
            )
            for name, of_row in rows.items()
        ]
        read = ClaimedVerdicts(task=task, named=bool(metadata.get("judge") or metadata.get("judge_model")))
        scored = score(task, asked, programs=self.programs, read=read)
        compared: dict[str, list[Compared]] = {}
        volatile: dict[str, set[int]] = {}
        tier = _object(metadata.get("sandbox")).get("tier")
        for variant, of_variant in scored.items():
            made = [
                Rescored(row=of_row[variant], answers=answers, values=values, judged=_is_read(read, task, name))
                for (name, of_row), (answers, values) in zip(rows.items(), of_variant, strict=True)
                if variant in of_row
            ]
            compared[variant] = [compare_row(one, same_tier=tier == self.programs.tier) for one in made]
            self.rows += len(made)
        suspects = {
            at for of_variant in compared.values() for at, one in enumerate(of_variant) if one.wrong and not one.excuse
        }
        if suspects and self.programs.tier and all(len(of_row) == len(task.pipelines) for of_row in rows.values()):
            volatile = _volatile(task, asked, sorted(suspects), scored, self.programs, read)
        yield from check_scores(place, compared, volatile=volatile)
        yield from _judged(place, read, self.against, self.settings)
        if tier is not None:
            yield _sandbox(
                place, tier, self.programs.tier, [answer for of in scored.values() for row in of for answer in row[0]]
            )
        headline = next(iter(task.metrics)) if "acc" not in task.metrics else "acc"
        first = next(iter(compared.values()), [])
        right = [_float(one.values.get(headline)) for one in first]
        yield from check_patterns(place, submitted.first, own.docs, right)
        return {
            variant: totals(
                task,
                [
                    _counted(one, number in volatile.get(variant, ()), of_row)
                    for number, (one, of_row) in enumerate(zip(of_variant, _rows_of(rows, variant), strict=True))
                ],
            )
            for variant, of_variant in compared.items()
        }


def verify(
    submission: Path,
    *,
    settings: Settings,
    against: Against | None = None,
    on_run: Callable[[int, int], None] | None = None,
) -> Report:
    """Check everything in a submission that can be checked.

    Args:
        submission: A folder with results of lm-eval anywhere below, or one of its files.
        settings: The environment: sandbox and folders.
        against: What to check against.
        on_run: Told how many runs are checked, and of how many.

    Raises:
        DataError: There is nothing to check.
        ConfigError: An option that a task does not have.
    """
    problems: list[Problem] = []
    runs = [run for run in find_runs([submission], problems) if _has_ours(run)]
    findings = [
        finding("files", Place("", ""), "files that are not followed", [problem.message for problem in problems])
        for _ in problems[:1]
    ]
    if not runs and not findings:
        raise DataError(
            f"{submission}: expected results of {', '.join(BENCHMARKS)} tasks, found none. Run lm-eval with "
            "--output_path and --log_samples."
        )
    work = _Verifying(settings=settings, against=against or Against(), programs=Programs(settings=settings))
    for number, run in enumerate(runs, start=1):
        findings += work.run(run)
        if on_run is not None:
            on_run(number, len(runs))
    facts = {
        "fin_tasks": fin_tasks.__version__,
        "python": platform.python_version(),
        "lm_eval": version_of("lm_eval"),
        "sandbox": work.programs.tier,
        "tolerance": TOLERANCE,
        "thresholds": dict(THRESHOLDS),
    }
    return Report(findings=tuple(findings), tasks=work.tasks, rows=work.rows, facts=facts)


def _has_ours(run: LmEvalRun) -> bool:
    if run.samples:
        return True
    results, problem = _results(run)
    return bool(problem) or bool(results and (results.tasks or results.problems))


def _results(run: LmEvalRun) -> tuple[ResultsFile | None, str]:
    if run.results is None:
        return None, ""
    try:
        size = run.results.stat().st_size
        if size > MAX_RESULTS:
            return None, f"{run.shown(run.results)}: expected at most {MAX_RESULTS:,} bytes, got {size:,}."
        return read_results(run.results, run.results.read_bytes()), ""
    except (OSError, FinTasksError) as error:
        return None, str(error)


def _metadata(raw: Mapping[str, Any], task: str) -> Mapping[str, Any]:
    return _object(_object(_object(raw.get("configs")).get(task)).get("metadata"))


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _hash(provenance: Any) -> str | None:
    """Make the hash of a provenance as `data.documents.dataset_of` does."""
    if not isinstance(provenance, dict):
        return None
    facts = {name: value for name, value in provenance.items() if name != "hash"}
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def _joined(submitted: Submitted, own: OwnData) -> dict[str, dict[str, SubmittedRow]]:
    """Put the rows of all variants together by document; of a row that comes twice the first counts."""
    found: dict[str, dict[str, SubmittedRow]] = {}
    for variant, rows in submitted.variants.items():
        for row in rows:
            if row.id in own.docs:
                found.setdefault(row.id, {}).setdefault(variant, row)
    return found


def _rows_of(rows: Mapping[str, Mapping[str, SubmittedRow]], variant: str) -> list[SubmittedRow]:
    return [of_row[variant] for of_row in rows.values() if variant in of_row]


def _counted(one: Compared, is_volatile: bool, row: SubmittedRow) -> Mapping[str, Any]:
    return claims_of(row, one.values) if is_volatile else one.values


def _volatile(
    task: TaskFile,
    asked: Sequence[Asked],
    suspects: Sequence[int],
    scored: Mapping[str, Sequence[tuple[Any, Mapping[str, Any]]]],
    programs: Programs,
    read: ClaimedVerdicts,
) -> dict[str, set[int]]:
    """Run the programs of rows that differ once more, and return those that give something else this time."""
    again = score(task, [asked[at] for at in suspects], programs=programs, read=read, again=True)
    found: dict[str, set[int]] = {}
    for variant, rows in again.items():
        for at, (answers, _) in zip(suspects, rows, strict=True):
            before = [answer.get("value") for answer in scored[variant][at][0]]
            if [answer.get("value") for answer in answers] != before:
                found.setdefault(variant, set()).add(at)
    return found


def _is_read(read: ClaimedVerdicts, task: TaskFile, name: str) -> bool:
    return name in read.taken and "judge_error" in task.metrics and "score" not in task.metrics


def _judged(place: Place, read: ClaimedVerdicts, against: Against, settings: Settings) -> Iterator[Finding]:
    if read.wrong:
        message = "{n} verdicts of the judge do not agree with themselves"
        yield finding("verdicts", place, message, dict.fromkeys(read.wrong))
    elif read.taken:
        yield passed("verdicts", place, f"{len(read.taken):,} verdicts agree with the judge's replies")
    if not read.taken:
        return
    if against.judge is None or not read.items:
        why = "nobody was asked again" if against.judge is None else "only verdicts by a rubric can be asked for again"
        yield not_checked("judge", place, f"whether the judge said so is not known: {why}")
        return
    try:
        yield ask_again(place, read.items, against.judge, settings, rows=against.judge_rows, seed=against.seed)
    except FinTasksError as error:
        yield not_checked("judge", place, f"the judge did not reply: {error}")


def _sandbox(place: Place, claimed: Any, tier: str, answers: Sequence[Mapping[str, Any]]) -> Finding:
    skipped = sum(answer.get("status") in ("broken", "unsupported") for answer in answers)
    said = f"programs ran in {tier or 'no sandbox'}, those of the run in {claimed!r:.40}"
    shown = [f"{skipped} programs could not be run here"] if skipped or not tier else []
    shown += [said] if tier != claimed else []
    return finding(
        "sandbox", place, "programs were not run as the submission ran them", shown, status=Status.warned, fine=said
    )


def _float(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None
