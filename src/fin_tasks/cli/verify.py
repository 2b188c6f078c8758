"""`fin-tasks verify`: check other people's results, and list what was established."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import fin_tasks
from fin_tasks.errors import ConfigError, FinTasksError

from .options import AsJson, CorrectionFile, DataDir, task_options
from .output import say, warn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fin_tasks.report.verify.admission import Verdict
    from fin_tasks.report.verify.items import Options

_SHOWN = 5  # details of an item
_MAX_ROWS = 100  # in JSON
_CANNOT_RUN = 2
_USUAL_JUDGE_ROWS = 50
_CONCLUSIONS = {
    "verified": "Everything is verified.",
    "not verified": "What is not verified may be right, but nothing here proves it.",
    "failed": "What failed is wrong, or cannot be used.",
}


def verify(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATHS...", help="Run folders.")
    ],
    data_dir: DataDir = None,
    corrections: CorrectionFile = None,
    source: Annotated[
        str | None,
        typer.Option(
            help="Where your gold data come from: upstream, data_dir or sample."
        ),
    ] = None,
    revision: Annotated[
        str | None,
        typer.Option(help="Revision of your gold data, as you recorded it before."),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of rows of each task that the run was expected to ask, from the first on. "
            "Default: all.",
        ),
    ] = None,
    sample_seed: Annotated[
        int | None,
        typer.Option(help="With --rows: random seed with which these rows were drawn."),
    ] = None,
    judge_model: Annotated[
        str | None,
        typer.Option(help="Ask this judge again about some judged responses."),
    ] = None,
    judge_base_url: Annotated[
        str | None, typer.Option(help="The judge's address.")
    ] = None,
    as_json: AsJson = False,
    metadata: Annotated[
        str,
        typer.Option(
            metavar="JSON",
            help="Options with which the tasks were expected to be asked.",
        ),
    ] = "{}",
    judge_rows: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many responses of a task to ask about. Default: 50, with --board all.",
        ),
    ] = None,
    program_minutes: Annotated[
        float,
        typer.Option(
            min=0.01,
            help="Minutes that all programs of a task together may run.",
        ),
    ] = 60,
    board: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the runs to this board, scored here, if nothing is refused.",
        ),
    ] = None,
    submitter: Annotated[
        str, typer.Option(help="With --board: who sent the submission.")
    ] = "",
) -> None:
    """Score other people's responses with your own data, prompts and scorers, and list what is verified.

    The exit status is 0 if everything is verified, 3 if something is not, 1 if something failed, and 2 if the command
    cannot run. With --board it is 0 for an admitted submission, 3 for one with claims, 1 for a refused one.

    Example: fin-tasks verify submissions/model-a --judge-model gpt-4o
    """
    from fin_tasks.judging.judge import judge_from
    from fin_tasks.report.verify.items import Options
    from fin_tasks.settings import Settings

    try:
        options = task_options(
            metadata, data_dir=data_dir, source=source, corrections=corrections
        )
        if sample_seed is not None:
            options |= {"sample_n": rows, "sample_seed": sample_seed}
            rows = None
        # A judge that only the environment names is not asked, as it may cost money.
        names = {"judge_model": judge_model, "judge_base_url": judge_base_url}
        judge = judge_from(names, Settings.from_environ()) if judge_model else None
        if board is None and judge_rows is None:
            judge_rows = _USUAL_JUDGE_ROWS
        named = Options(
            metadata=options,
            n_rows=rows,
            revision=revision,
            judge=judge,
            n_judged=judge_rows,
            program_seconds=60 * program_minutes,
        )
        status = (
            _admit(paths, board, named, submitter, as_json)
            if board
            else _verify(paths, named, as_json)
        )
    except (FinTasksError, OSError, ValueError) as error:
        warn(f"error: {error}")
        raise typer.Exit(_CANNOT_RUN) from error
    raise typer.Exit(status)


def _verify(paths: "Sequence[Path]", options: "Options", as_json: bool) -> int:
    """List what is verified of a submission, and return the exit status."""
    from fin_tasks.report.verify.items import EXIT_STATUS
    from fin_tasks.report.verify.verification import verify as verify_runs

    verification = verify_runs(paths, options)
    if as_json:
        content = {"fin_tasks": fin_tasks.__version__, **asdict(verification)}
        print(json.dumps(content, indent=1))
        return EXIT_STATUS[verification.status]
    for problem in verification.problems:
        say(f"failed        {problem}")
    for task in verification.tasks:
        say(f"{task.task}, {task.model} ({task.path})")
        for item in task.items:
            say(f"  {item.status:<13} {item.name}: {item.evidence}")
            for detail in item.details[:_SHOWN]:
                say(f"    {detail}")
            if len(item.details) > _SHOWN:
                say("    and more, which --json lists")
    say(_CONCLUSIONS[verification.status])
    return EXIT_STATUS[verification.status]


def _admit(
    paths: "Sequence[Path]",
    board: Path,
    options: "Options",
    submitter: str,
    as_json: bool,
) -> int:
    """Admit a submission to a board, or say why it is refused, and return the exit status."""
    from fin_tasks.report.verify.admission import admit

    if len(paths) != 1:
        raise ConfigError(
            f"--board: expected the folder of one submission, got {len(paths)} paths."
        )
    verdict = admit(paths[0], board, options, submitter=submitter)
    if as_json:
        refused = []
        for finding in verdict.refused:
            rows = finding.rows[:_MAX_ROWS]
            refused.append(finding._replace(rows=rows)._asdict())
        admitted = {}
        for folder, admission in verdict.admitted.items():
            admitted[folder] = admission.model_dump()
        content = {"refused": refused, "claims": verdict.claims, "admitted": admitted}
        print(json.dumps({"fin_tasks": fin_tasks.__version__, **content}, indent=1))
        return verdict.exit_status
    for finding in verdict.refused:
        say(f"refused  {finding.name}: {finding.sentence}")
        for row in finding.rows[:_SHOWN]:
            say(f"  {row:.200}")
        if len(finding.rows) > _SHOWN:
            say(f"  and {len(finding.rows) - _SHOWN:,} more")
    for folder, admission in verdict.admitted.items():
        say(f"{admission.model} is admitted to {folder}")
        for item in admission.items:
            say(f"  {item.status:<8} {item.name}: {item.sentence}")
    say(f"The submission is {_decision(verdict)}.")
    return verdict.exit_status


def _decision(verdict: "Verdict") -> str:
    if verdict.refused:
        return "refused, and the board is as it was"
    claims = ", ".join(verdict.claims)
    return f"admitted. Only claimed are: {claims}" if claims else "admitted"
