"""Checks one run of lm-eval: its samples against our own data and scorers, its results against its samples."""

from collections.abc import Generator, Iterator, Mapping
from typing import Any

from fin_tasks.errors import DataError, FinTasksError
from fin_tasks.report.found_files import LmEvalRun
from fin_tasks.report.lm_eval_results import ResultsFile, TaskClaims, read_results
from fin_tasks.report.runs import MAX_RESULTS
from fin_tasks.report.verify.against import Verifying
from fin_tasks.report.verify.asked_checks import check_asked
from fin_tasks.report.verify.findings import Finding, Place, finding, not_checked, passed
from fin_tasks.report.verify.group_checks import Made, check_groups
from fin_tasks.report.verify.own_data import provenance_hash
from fin_tasks.report.verify.patterns import check_timing
from fin_tasks.report.verify.rescoring import rescored
from fin_tasks.report.verify.row_checks import check_rows
from fin_tasks.report.verify.submitted import read_submitted
from fin_tasks.report.verify.task_files import group_file, task_file
from fin_tasks.report.verify.total_checks import check_aggregates
from fin_tasks.report.verify.version_checks import check_provenance, check_versions

__all__ = ["check_lm_eval_run", "results_of"]


def check_lm_eval_run(work: Verifying, run: LmEvalRun) -> Iterator[Finding]:
    """Check one run.

    Args:
        work: The check under way.
        run: The run.
    """
    name = run.shown(run.results or run.folder)
    place = Place("", name)
    results, problem = results_of(run)
    if problem:
        yield finding("results", place, "the results file cannot be read", [problem])
    elif results is None:
        yield not_checked("results", place, "no results file beside the samples: nothing is claimed in total")
    else:
        wrong = [f"{task}: {why}" for task, why in results.problems.items() if not _is_bypass(results.raw, task)]
        yield finding("results", place, "claims that cannot be", wrong, fine=f"{len(results.tasks)} tasks and groups")
    raw: Mapping[str, Any] = results.raw if results else {}
    claims = {one.task: one for one in results.tasks} if results else {}
    made: dict[str, Made] = {}
    characters = 0
    for task_name in sorted(run.samples):
        try:
            checked = yield from _task(work, run, task_name, raw, claims.get(task_name))
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


def results_of(run: LmEvalRun) -> tuple[ResultsFile | None, str]:
    """Read a run's results file; None where it has none or it cannot be read, with the reason."""
    if run.results is None:
        return None, ""
    try:
        size = run.results.stat().st_size
        if size > MAX_RESULTS:
            return None, f"{run.shown(run.results)}: expected at most {MAX_RESULTS:,} bytes, got {size:,}."
        return read_results(run.results, run.results.read_bytes()), ""
    except (OSError, FinTasksError) as error:
        return None, str(error)


def _task(
    work: Verifying, run: LmEvalRun, name: str, raw: Mapping[str, Any], claims: TaskClaims | None
) -> Generator[Finding, None, Made | None]:
    path = run.samples[name]
    place = Place(name, run.shown(path))
    work.tasks += 1
    task = task_file(name)
    if task is None:
        yield finding("samples", place, "there is no such task", [f"{name}: no task of fin-tasks"])
        return None
    metadata = _metadata(raw, name)
    own, why = work.own(task, metadata)
    try:
        size = path.stat().st_size
        submitted = read_submitted(
            path, own.docs if own else {}, on_bytes=lambda done: work.tell(place.run, min(done, size), size)
        )
    except DataError as error:
        yield finding("samples", place, "the samples file cannot be read", [str(error)])
        return None
    yield passed("samples", place, f"{len(submitted.first):,} rows under each filter")
    if submitted.is_unscored:
        yield not_checked("scores", place, "made with --predict_only, so there are no scores; run lm-eval without it")
        return None
    yield from check_versions(place, task, metadata, raw, own)
    provenance = metadata.get("provenance")
    yield from check_provenance(place, own, provenance, provenance_hash(provenance))
    yield from check_rows(place, task, submitted, own, raw)
    yield from check_asked(place, task, submitted, own, raw)
    characters = sum(len(text) for row in submitted.first for text in row.responses)
    if own is None:
        yield not_checked("scores", place, f"the benchmark's own documents could not be loaded: {why}")
        yield not_checked("aggregates", place, "the rows were not scored")
        return Made(characters=characters)
    made = yield from rescored(work, place, task, submitted, own, metadata)
    yield check_aggregates(place, task, claims, raw, made, rows=len(submitted.first))
    return Made(characters=characters, rows=len(submitted.first), totals=made)


def _is_bypass(raw: Mapping[str, Any], task: str) -> bool:
    """Whether lm-eval claims nothing of a task but that its metrics were passed by, with `--predict_only`."""
    said = _object(_object(raw.get("results")).get(task))
    return any(name.startswith("bypass,") for name in said) and not any(name.startswith("acc,") for name in said)


def _metadata(raw: Mapping[str, Any], task: str) -> Mapping[str, Any]:
    return _object(_object(_object(raw.get("configs")).get(task)).get("metadata"))


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
