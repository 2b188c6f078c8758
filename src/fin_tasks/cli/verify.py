"""`fin-tasks verify`: check other people's results, and list what was established."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

import fin_tasks
from fin_tasks.errors import FinTasksError

from .options import AsJson, DataDir, task_options
from .output import say, warn

_SHOWN = 5  # details of an item
_CANNOT_RUN = 2


def verify(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATHS...", help="Run folders.")
    ],
    data_dir: DataDir = None,
    source: Annotated[
        str | None,
        typer.Option(help="Where your gold data are: upstream, data_dir or sample."),
    ] = None,
    revision: Annotated[
        str | None,
        typer.Option(help="Revision of your gold data that you recorded before."),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of rows of each task that were to be asked, from the first. "
            "Default: all.",
        ),
    ] = None,
    sample_seed: Annotated[
        int | None,
        typer.Option(
            help="With --rows: the rows were to be drawn at random with this seed."
        ),
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
            help="Options with which the tasks were to be asked.",
        ),
    ] = "{}",
    judge_rows: Annotated[
        int,
        typer.Option(min=1, help="How many responses of a task to ask about."),
    ] = 50,
) -> None:
    """Score other people's responses with your own data, prompts and scorers, and list what is established.

    The exit status is 0 if everything is verified, 3 if something is not, 1 if something failed, and 2 if the command
    cannot run.

    Example: fin-tasks verify submissions/model-a --judge-model gpt-4o
    """
    from fin_tasks.judging.judge import judge_from
    from fin_tasks.report.verify.items import EXIT_STATUS, Options
    from fin_tasks.report.verify.verification import verify as verify_runs
    from fin_tasks.settings import Settings

    try:
        options = task_options(metadata, data_dir=data_dir, source=source)
        if sample_seed is not None:
            options |= {"sample_n": rows, "sample_seed": sample_seed}
            rows = None
        # A judge that only the environment names is not asked, as it may cost money.
        names = {"judge_model": judge_model, "judge_base_url": judge_base_url}
        judge = judge_from(names, Settings.from_environ()) if judge_model else None
        verification = verify_runs(
            paths,
            Options(
                metadata=options,
                n_rows=rows,
                revision=revision,
                judge=judge,
                n_judged=judge_rows,
            ),
        )
    except (FinTasksError, OSError, ValueError) as error:
        warn(f"error: {error}")
        raise typer.Exit(_CANNOT_RUN) from error
    status = EXIT_STATUS[verification.status]
    if as_json:
        content = {"fin_tasks": fin_tasks.__version__, **asdict(verification)}
        print(json.dumps(content, indent=1))
        raise typer.Exit(status)
    for problem in verification.problems:
        say(f"failed        {problem}")
    for task in verification.tasks:
        say(f"{task.task}, {task.model} ({task.path})")
        for item in task.items:
            say(f"  {item.status:<13} {item.name}: {item.evidence}")
            for detail in item.details[:_SHOWN]:
                say(f"    {detail}")
    say(f"The submission is {verification.status}.")
    raise typer.Exit(status)
