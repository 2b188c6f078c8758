"""`fin-tasks verify`: a submission's numbers, worked out again."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fin_tasks.cli.options import Json
from fin_tasks.errors import ConfigError, FinTasksError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fin_tasks.report.verify.findings import Finding, Report

__all__ = ["verify"]

_COULD_NOT_RUN = 2
_WIDEST = 50
"""Characters of a file's name before the progress bar."""


def verify(
    submission: Annotated[
        Path,
        typer.Argument(
            metavar="SUBMISSION",
            help="Folder with results in lm-eval's format, made with --log_samples.",
        ),
    ],
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder with the benchmark's own files; else FIN_TASKS_DATA.")
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="auto, upstream, data_dir or sample; else what the submission names.")
    ] = None,
    metadata: Annotated[
        str | None,
        typer.Option(metavar="JSON", help="Options of the tasks, as lm-eval's --metadata, before the submission's."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings fail too.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Show checks that passed, too.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the verdicts as JSON here.")] = None,
    as_json: Json = False,
) -> None:
    """Check results that others made: every score again from the responses, rows, documents, prompts, hashes, patterns.

    Ends with 0 where nothing failed, 1 where a check failed, 2 where scores could not be checked, 3 where all is well
    but scores are a judge's, whose replies are taken on trust.
    """
    try:
        report = _verified(
            submission,
            data_dir=data_dir,
            source=source,
            options=_options(metadata),
        )
        told = {**report.told(), "strict": strict}
        if out is not None:
            _write(out, told)
    except FinTasksError as error:
        from fin_tasks.sandbox import escape

        print(f"fin-tasks: error: {escape(str(error))}", file=sys.stderr)
        raise typer.Exit(_COULD_NOT_RUN) from error
    if as_json:
        print(json.dumps(told, allow_nan=False))
    else:
        _show(report, every=every)
    code = report.exit_code
    raise typer.Exit(1 if strict and code == 0 and report.verdict.value == "warn" else code)


def _verified(submission: Path, **said: Any) -> "Report":
    from tqdm import tqdm

    from fin_tasks.report.verify.submission import Against, verify
    from fin_tasks.sandbox import escape
    from fin_tasks.settings import Settings

    settings = Settings.from_environ()
    against = Against(**said)
    with tqdm(desc="Verifying", unit="", unit_scale=True, disable=None) as bar:
        shown = ""

        def advance(what: str, done: int, total: int) -> None:
            nonlocal shown
            if what != shown:
                shown = what
                bar.set_description_str(escape(what)[-_WIDEST:], refresh=False)
                bar.reset(total=total)
            bar.update(done - bar.n)

        return verify(submission, settings=settings, against=against, told=advance)


def _options(metadata: str | None) -> dict[str, Any]:
    try:
        options = json.loads(metadata) if metadata is not None else {}
    except ValueError as error:
        raise ConfigError(f"--metadata: expected a JSON object, got {metadata!r:.80} ({error}).") from error
    if not isinstance(options, dict):
        raise ConfigError(f"--metadata: expected a JSON object, got {metadata!r:.80}.")
    return options


def _write(out: Path, told: dict[str, Any]) -> None:
    try:
        out.write_text(json.dumps(told, allow_nan=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"--out {out}: expected a file that can be written, got {error.strerror}.") from error


def _show(report: "Report", *, every: bool) -> None:
    from fin_tasks.sandbox import escape

    for line in _lines(report, every=every):
        print(escape(line))


def _lines(report: "Report", *, every: bool) -> "Iterator[str]":
    heading = None
    for one in report.findings:
        if one.status.value == "pass" and not every:
            continue
        if heading != (one.run, one.task):
            heading = (one.run, one.task)
            yield f"{one.task or 'run'} ({one.run or 'submission'})"
        yield from _finding(one)
    counts = report.told()["counts"]
    yield ", ".join(f"{count} {name}" for name, count in counts.items()) + "."
    yield f"{report.tasks} tasks, {report.rows:,} row scores worked out again: {report.verdict.value.upper()}."


def _finding(one: "Finding") -> "Iterator[str]":
    yield f"  {one.status.value.upper():<12}{one.check}: {one.message}"
    for detail in one.details:
        yield f"    {detail}"
    if one.count > len(one.details):
        yield f"    and {one.count - len(one.details):,} more"
