"""`fin-tasks verify`: score other people's results again, and compare."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fin_tasks.cli.options import DataDir, Json, json_options, say
from fin_tasks.errors import FinTasksError

if TYPE_CHECKING:
    from fin_tasks.report.verify.checks import Checks

_SHOWN = 10  # details of a finding


def verify(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATHS...", help="Run folders of lm-eval or VLMEvalKit.")
    ],
    data_dir: DataDir = None,
    source: Annotated[
        str | None, typer.Option(help="auto, upstream, data_dir, sample; else the submission's.")
    ] = None,
    metadata: Annotated[
        str, typer.Option(metavar="JSON", help="Replaces options of the submission's tasks.")
    ] = "{}",
    judge_model: Annotated[
        str | None, typer.Option(help="Ask this judge again about some judged rows.")
    ] = None,
    judge_base_url: Annotated[str | None, typer.Option(help="The judge's address.")] = None,
    judge_rows: Annotated[
        int, typer.Option(min=1, help="How many rows of a task to ask about.")
    ] = 50,
    seed: Annotated[int, typer.Option(help="Decides which rows the judge is asked about.")] = 0,
    strict: Annotated[
        bool, typer.Option("--strict", help="Warnings change the exit status too.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all findings as JSON here.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Score other people's results again with the benchmark's own data and scorers, and compare.

    The exit status is 0 if nothing failed (there may be warnings), 1 if a check failed, 2 if something could not be
    checked. With --strict it is 1 for warnings, or 3 if the only warning is that no judge was asked again.

    Example: fin-tasks verify submissions/model-a
    """
    from fin_tasks.judging.judge import judge_from
    from fin_tasks.report.verify import rescore
    from fin_tasks.settings import Settings

    try:
        options = json_options(metadata)
        places = {"data_dir": str(data_dir) if data_dir else None, "source": source}
        options |= {name: value for name, value in places.items() if value is not None}
        # a judge that only the environment names is not asked, as it may cost money
        asked = {"judge_model": judge_model, "judge_base_url": judge_base_url}
        judge = judge_from(asked, Settings.from_environ()) if judge_model else None
        checks = rescore.verify(
            paths, options=options, judge=judge, judge_rows=judge_rows, seed=seed
        )
        found = {**checks.as_json(), "strict": strict}
        if out is not None:
            out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    except (FinTasksError, OSError, ValueError) as error:
        say(f"fin-tasks: error: {error}", error=True)
        raise typer.Exit(2) from error
    if as_json:
        print(json.dumps(found))
    else:
        say(*_lines(checks))
    raise typer.Exit(checks.exit_status(strict=strict))


def _lines(checks: "Checks") -> list[str]:
    lines, heading = [], None
    for one in checks.findings:
        if one.status == "pass" and one.check != "data":
            continue
        if heading != (one.run, one.task):
            heading = (one.run, one.task)
            lines.append(f"{one.task} ({one.run})" if one.task else "Files")
        lines.append(f"  {one.status.upper():<12}{one.check}: {one.message}")
        lines += [f"    {detail}" for detail in one.details[:_SHOWN]]
        if len(one.details) > _SHOWN:
            lines.append(f"    and {len(one.details) - _SHOWN:,} more")
    return [
        *lines,
        f"Tasks: {checks.tasks}. Scores computed again: {checks.rows:,}. Verdict: {checks.verdict.upper()}",
    ]
