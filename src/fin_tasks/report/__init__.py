"""Reading what harnesses wrote, and the pages, tables and checks made of it."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .model import Report

Json = dict[str, Any]
"""An object of JSON."""

Fields = Mapping[str, Any]
"""An object of JSON that is only read."""

AnyPath = str | Path
Paths = AnyPath | Iterable[AnyPath]
"""One file or folder, or several."""


def read(
    paths: Paths,
    *,
    page: Path | None = None,
    hidden: Sequence[str] = (),
    corrections: AnyPath | None = None,
) -> "Report":
    """Read all runs in files and folders: run folders as lm-eval writes them, and logs of inspect_ai.

    Raise DataError if there are none. The report's problems say what is wrong with single files.
    Samples are written into the folder `page`, if there is one, for the page of a report. Hidden runs are left out:
    results files or folders, relative to the folder that is read. `corrections` is a file of questions that leave,
    or that have another truth.
    """
    # This imports pandas, which takes half a second that writing a run folder does not need.
    from fin_tasks.benchmarks.corrections import read_corrections

    from .reader import read_report

    corrected = read_corrections(corrections) if corrections else None
    listed = [paths] if isinstance(paths, AnyPath) else paths
    return read_report([Path(path) for path in listed], page, hidden, corrected)


def hash_of(value: object) -> str:
    """Return a short hash of a JSON value."""
    text = json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
