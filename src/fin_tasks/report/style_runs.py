"""Runs lm-eval once per prompt style, and not again what is done; one command at a time in a style's folder.

What was run is written down as a hash, as the arguments of a model may hold keys.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import fin_tasks
from fin_tasks.benchmarks.xfinbench.prompts import STYLES
from fin_tasks.errors import ConfigError
from fin_tasks.report.held_run import alone_in, run_held

__all__ = ["Failure", "run_styles"]

_MARK = "run.json"
_OURS = ("--output_path", "-o", "--tasks", "-t")


@dataclass(frozen=True)
class Failure:
    """The run of a style that ended before its time, and the status lm-eval ended with."""

    style: str
    status: int


def run_styles(out: Path, *, tasks: str, arguments: Sequence[str], notify: Callable[[str], None]) -> Failure | None:
    """Run lm-eval in every style that has not been run yet, below `<out>/<style>`.

    A style counts as run when lm-eval ended well with the same arguments, by the same version of this package, and its
    results are still there.

    Args:
        out: Folder for the results, made where missing.
        tasks: Tasks, separated by commas.
        arguments: All others, as lm-eval's command line takes them; what they set as metadata is kept beside the style.
        notify: Told what is run and what is not.

    Returns:
        None when every style is there; else the first that failed, after which nothing is run.

    Raises:
        ConfigError: The arguments set what this command sets, a folder has results of other arguments, or another
            command runs in it.
    """
    for argument in arguments:
        if argument.partition("=")[0] in _OURS:
            raise ConfigError(
                f"sensitivity: {argument!r} after --, but tasks and folders are set here. "
                "Write `fin-tasks sensitivity OUT --tasks TASKS -- ...`."
            )
    digest = hashlib.sha256(json.dumps([fin_tasks.__version__, tasks, *arguments]).encode()).hexdigest()
    for style in STYLES:
        _finished(out / style, digest)  # other arguments are refused before anything is run
    for place, style in enumerate(STYLES, start=1):
        with alone_in(out / style) as held:
            done = _finished(out / style, digest)
            notify(f"Style {style} ({place} of {len(STYLES)}): {'is there already' if done else 'running lm-eval'}.")
            if done:
                continue
            _mark(out / style, digest, finished=False)
            # Its tables go to stderr, as what this command prints is the outcome.
            status = run_held(_command(out / style, style, tasks, arguments), held, stdout=sys.stderr)
            if status:
                return Failure(style, status)
            _mark(out / style, digest, finished=True)
    return None


def _finished(folder: Path, digest: str) -> bool:
    """Say whether a style is there.

    Raises:
        ConfigError: It is, but with other arguments: its results would be mixed up with new ones.
    """
    if not any(folder.rglob("samples_*.jsonl")):
        return False
    try:
        mark = json.loads((folder / _MARK).read_bytes())
    except (OSError, ValueError):
        mark = None
    if not isinstance(mark, dict) or mark.get("sha256") != digest:
        raise ConfigError(
            f"{folder}: expected results of the same arguments or none, found others. Choose another folder, or delete "
            "this one; without arguments after -- its results are collected as they are."
        )
    return bool(mark.get("finished"))


def _mark(folder: Path, digest: str, *, finished: bool) -> None:
    (folder / _MARK).write_text(json.dumps({"sha256": digest, "finished": finished}) + "\n", encoding="utf-8")


def _command(folder: Path, style: str, tasks: str, arguments: Sequence[str]) -> list[str]:
    return [
        *(sys.executable, "-m", "fin_tasks.cli", "lm-eval", *arguments),
        *("--tasks", tasks, "--output_path", str(folder), "--log_samples"),
        *("--metadata", json.dumps({"style": style})),  # lm-eval merges it with what the arguments set
    ]
