"""Runs that share a results file: copies of a run, or other samples beside a copied file."""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from . import hash_of
from .model import Run


def unique_runs(runs: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    """Return the runs, each once, and the copies that are left out.

    Logs of inspect_ai with the same id are one run. Two runs with the same results file are one run if their samples
    and their submission are the same, too, and the older one is kept; else they are two runs with ids of their own.
    """
    by_id = defaultdict[str, list[Run]](list)
    for run in runs:
        by_id[run.id].append(run)
    unique: list[Run] = []
    copies: list[Run] = []
    for members in by_id.values():
        if members[0].path.suffix == ".eval":
            unique.append(_joined(members))
        elif len(members) == 1:
            unique += members
        else:
            different: dict[str, Run] = {}
            for run in sorted(members, key=lambda run: run.date):
                first = different.setdefault(_content_id(run), run)
                if first is not run:
                    copies.append(run)
            unique += [run.with_id(identity) for identity, run in different.items()]
    return unique, copies


def _joined(logs: Sequence[Run]) -> Run:
    """Return one run with the tasks of several logs; of a task that several have, the last one counts."""
    tasks = {}
    for log in logs:
        tasks.update({result.task: result for result in log.tasks})
    return replace(logs[0], tasks=tuple(tasks.values()))


def _content_id(run: Run) -> str:
    """Return a hash of the results file, the samples and the submission of a run."""
    digests = [_digest_of(result.samples) for result in run.tasks]
    submission = run.admission.submission if run.admission else ""
    return hash_of([run.id, submission, digests])


def _digest_of(path: Path | None) -> str:
    if path is None or not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
