"""What was read of a run, kept on the disk, so that a run whose files are unchanged is not read again.

A kept run is one line of JSON, with all but the scores, and the scores after it as they lie in memory: nothing in it is
ever executed. It counts only as it was written, for files of the same path, size and times of change, and for the same
reader.
"""

import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from fin_tasks.report.earlier import code_version, key_of_part
from fin_tasks.report.entry import Entry, RunFacts, RunRead, Scores
from fin_tasks.report.lm_eval_entries import UnitRead
from fin_tasks.report.runs import Problem

__all__ = ["Kept", "Unit", "decode", "encode", "key_of", "reader_version"]

_ENTRY_FIELDS = tuple(field.name for field in fields(Entry) if field.name not in ("facts", "marks"))


@dataclass(frozen=True)
class Unit:
    """Files that are read together: a run of lm-eval, or a data set of one of VLMEvalKit's.

    Attributes:
        place: What tells it from all others.
        files: All that decide what is read, the one that names it first.
        read: Reads them; other processes can be given it.
    """

    place: tuple[str, ...]
    files: tuple[Path, ...]
    read: Callable[[], UnitRead]


_ENTRY, _PART = ".run", ".part"
_DAY = 24 * 3600.0
_KEPT = 90 * _DAY


class Kept:
    """Runs that were read before.

    Args:
        folder: Where they are, made where it is missing; a folder that cannot be written keeps nothing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, unit: Unit) -> UnitRead | None:
        """Return what was read of files; None where they have changed since, or were never read."""
        try:
            content = self._path(unit).read_bytes()
            head, _, rest = content.partition(b"\n")
            if head != _head(key_of(unit), rest):  # changed since, or not as it was written
                return None
            return decode(rest)
        except (OSError, ValueError, KeyError, TypeError):  # never kept, or gone: it is read again
            return None

    def save(self, unit: Unit, key: bytes, content: bytes) -> None:
        """Keep what was read, as `encode` gave it, for files that were as `key` says."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._folder, suffix=_PART, delete=False) as file:
                try:
                    file.write(_head(key, content) + b"\n" + content)
                    file.close()
                    Path(file.name).replace(self._path(unit))
                except OSError:
                    Path(file.name).unlink(missing_ok=True)
        except OSError:  # a full or read-only disk costs time at the next report, nothing else
            return

    def prune(self, used: Iterable[Unit]) -> None:
        """Remove what no report asked for in a long time, and what writers that were killed left.

        Args:
            used: What was asked for now.
        """
        now = time.time()
        try:
            for path in map(self._path, used):
                if path.is_file() and now - path.stat().st_mtime > _DAY:
                    os.utime(path)
            for path in self._folder.iterdir():
                if path.suffix in (_ENTRY, _PART) and now - path.stat().st_mtime > _KEPT:
                    path.unlink(missing_ok=True)
        except OSError:  # gone in the meantime, or not ours to remove
            return

    def _path(self, unit: Unit) -> Path:
        return self._folder / f"{key_of_part(unit.place)}{_ENTRY}"


def key_of(unit: Unit) -> bytes:
    """Return what has to be unchanged for what was read to count; OSError where a file is gone."""
    stats = [(str(file), file.stat()) for file in unit.files]
    # the time of change in the file system cannot be set back, as that of the content can
    files = [[path, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino] for path, stat in stats]
    return orjson.dumps([reader_version(), files])


def _head(key: bytes, content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode() + b" " + key


def reader_version() -> str:
    """Return what stands for all code that decides what is read from a file."""
    return f"{code_version()} {np.__version__} {version('scipy')}"


def encode(read: UnitRead) -> bytes:
    """Write what was read of a run as bytes.

    Raises:
        ValueError: A text of it is no Unicode, such as half of a character that takes two.
    """
    arrays: list[bytes] = []
    runs = [_run_to_json(run, arrays) for run in read.runs]
    problems = [[problem.path, problem.message] for problem in read.problems]
    try:
        head = orjson.dumps({"runs": runs, "problems": problems, "notes": read.notes})
    except orjson.JSONEncodeError as error:
        raise ValueError(f"names and settings that are Unicode, got half of a character in one ({error})") from error
    return head + b"\n" + b"".join(arrays)


def decode(content: bytes) -> UnitRead:
    """Read what `encode` wrote.

    Raises:
        ValueError: It is something else, or cut short.
    """
    head, _, numbers = content.partition(b"\n")
    said = orjson.loads(head)
    values = np.frombuffer(numbers, dtype="<f4")
    at = 0
    runs = []
    for run in said["runs"]:
        read, at = _run_from_json(run, values, at)
        runs.append(read)
    if at != len(values):
        raise ValueError(f"expected {at} numbers, got {len(values)}")
    problems = tuple(Problem(path, message) for path, message in said["problems"])
    return UnitRead(runs=tuple(runs), problems=problems, notes=tuple(said["notes"]))


def _run_to_json(run: RunRead, arrays: list[bytes]) -> dict[str, Any]:
    scores = {}
    known: list[Sequence[str]] = []  # the variants of a task have the same rows
    for variant, one in run.scores.items():
        arrays += [np.ascontiguousarray(values, dtype="<f4").tobytes() for values in one.values.values()]
        scores[variant] = {
            "ids": _place(known, one.ids),
            "clusters": None if one.clusters is None else _place(known, one.clusters),
            "metrics": list(one.values),
        }
    return {
        "facts": asdict(run.facts),
        "entries": [[*(getattr(entry, name) for name in _ENTRY_FIELDS), entry.marks] for entry in run.entries],
        "group_facts": dict(run.entries[0].facts) if run.entries else {},
        "scores": scores,
        "names": known,
        "samples": None if run.samples is None else str(run.samples),
    }


def _run_from_json(run: Any, values: Any, at: int) -> tuple[RunRead, int]:
    names = [tuple(map(sys.intern, some)) for some in run["names"]]
    scores = {}
    for variant, one in run["scores"].items():
        ids = names[one["ids"]]
        columns = {}
        for metric in one["metrics"]:
            columns[metric] = values[at : at + len(ids)]
            at += len(ids)
            if len(columns[metric]) != len(ids):
                raise ValueError("expected more numbers")
        clusters = None if one["clusters"] is None else names[one["clusters"]]
        scores[variant] = Scores(ids=ids, clusters=clusters, values=columns)
    facts = run["group_facts"]
    entries = tuple(
        Entry(**dict(zip(_ENTRY_FIELDS, entry, strict=False)), marks=tuple(entry[-1]), facts=facts)
        for entry in run["entries"]
    )
    samples = None if run["samples"] is None else Path(run["samples"])
    return RunRead(facts=RunFacts(**run["facts"]), entries=entries, scores=scores, samples=samples), at


def _place(known: list[Sequence[str]], names: Sequence[str]) -> int:
    for place, some in enumerate(known):
        if some is names or some == names:
            return place
    known.append(names)
    return len(known) - 1
