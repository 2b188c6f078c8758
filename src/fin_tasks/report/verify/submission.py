"""Checks a submission from end to end, whichever harness made it."""

import platform
from pathlib import Path

import fin_tasks
from fin_tasks.errors import DataError
from fin_tasks.report.found_files import LmEvalRun, find_runs
from fin_tasks.report.runs import BENCHMARKS, Problem
from fin_tasks.report.verify.against import Against, Told, Verifying
from fin_tasks.report.verify.closeness import TOLERANCE
from fin_tasks.report.verify.findings import Place, Report, finding
from fin_tasks.report.verify.lm_eval_run import check_lm_eval_run, results_of
from fin_tasks.report.verify.patterns import THRESHOLDS
from fin_tasks.report.verify.scoring import Programs
from fin_tasks.report.verify.version_checks import version_of
from fin_tasks.settings import Settings

__all__ = ["Against", "verify"]


def verify(
    submission: Path,
    *,
    settings: Settings,
    against: Against | None = None,
    told: Told | None = None,
) -> Report:
    """Check everything in a submission that can be checked.

    Args:
        submission: A folder with results in lm-eval's format anywhere below, or one of these files.
        settings: The environment: sandbox and folders.
        against: What to check against.
        told: Told what is being done, how much of it is done, and of how much.

    Raises:
        DataError: There is nothing to check.
        ConfigError: An option that a task does not have.
    """
    problems: list[Problem] = []
    runs = [run for run in find_runs([submission], problems) if _has_ours(run)]
    findings = [
        finding("files", Place("", ""), "files that cannot be used", [problem.message for problem in problems])
        for _ in problems[:1]
    ]
    if not runs and not findings:
        raise DataError(
            f"{submission}: expected results of {', '.join(BENCHMARKS)} tasks, found none. Run lm-eval with "
            "--output_path and --log_samples."
        )
    programs = Programs(settings=settings, told=told)
    work = Verifying(settings=settings, against=against or Against(), programs=programs, told=told)
    for run in runs:
        findings += check_lm_eval_run(work, run)
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
    results, problem = results_of(run)
    return bool(problem) or bool(results and (results.tasks or results.problems))
