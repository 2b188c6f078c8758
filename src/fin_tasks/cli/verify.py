"""`fin-tasks verify`: check other people's results, and list what was established."""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import typer

import fin_tasks
from fin_tasks.errors import FinTasksError

from .options import say, task_options, warn

_SHOWN = 5  # details of an item
_CANNOT_RUN = 2


def verify(
    paths: list[Path],
    data_dir: Path | None,
    source: str | None,
    revision: str | None,
    rows: int | None,
    sample_seed: int | None,
    judge_model: list[str] | None,
    judge_base_url: str | None,
    out: Path | None,
    as_json: bool,
    metadata: str = "{}",
    judge_rows: int = 50,
) -> None:
    """Score other people's responses with your own data, prompts and scorers, and list what is established.

    The exit status is 0 if everything is verified, 3 if something is not, 1 if something failed, and 2 if the command
    cannot run.

    Example: fin-tasks verify submissions/model-a --judge-model gpt-4o --out submissions/model-a/verified.json
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
        content = {
            "fin_tasks": fin_tasks.__version__,
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "options": options,
            **asdict(verification),
        }
        text = json.dumps(content, indent=1)
        if out:
            out.write_text(f"{text}\n", "utf-8")
    except (FinTasksError, OSError, ValueError) as error:
        warn(f"error: {error}")
        raise typer.Exit(_CANNOT_RUN) from error
    status = EXIT_STATUS[verification.status]
    if as_json:
        print(text)
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
