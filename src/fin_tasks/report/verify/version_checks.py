"""Checks what a submission was made with: versions of task and scorer, data, prompts and options."""

from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import fin_tasks
from fin_tasks.report.verify.closeness import same
from fin_tasks.report.verify.findings import Finding, Place, Status, finding, not_checked, passed
from fin_tasks.report.verify.own_data import OwnData
from fin_tasks.report.verify.task_files import TaskFile

__all__ = ["check_provenance", "check_versions", "version_of"]


def check_versions(
    place: Place, task: TaskFile, metadata: Mapping[str, Any], raw: Mapping[str, Any], own: OwnData | None
) -> Iterator[Finding]:
    """Compare the versions that a results file states with those here.

    Args:
        place: The task.
        task: As it is here.
        metadata: Of the task in the results file.
        raw: The results file; empty where there is none.
        own: The benchmark's own data, where they could be loaded.
    """
    if not raw:
        yield not_checked("versions", place, "no results file says what the run was made with")
        return
    provenance = _object(metadata.get("provenance"))
    said = _object(raw.get("versions")).get(place.task)
    wrong = [] if same(said, float(task.version)) else [f"task version: expected {task.version}, got {said!r:.40}"]
    if own is not None and provenance.get("scorer") != own.provenance.get("scorer"):
        wrong.append(f"scorer: expected {own.provenance.get('scorer')}, got {provenance.get('scorer')!r:.40}")
    yield finding(
        "versions",
        place,
        "made with another version of the task: scores may differ for that alone",
        wrong,
        fine=f"task version {task.version}",
    )
    unsure = []
    if provenance.get("fin_tasks") != fin_tasks.__version__:
        unsure.append(
            f"fin_tasks: this is {fin_tasks.__version__}, the run was made with {provenance.get('fin_tasks')!r:.40}"
        )
    if not isinstance(raw.get("lm_eval_version"), str):
        unsure.append(f"lm_eval_version: expected a version, got {raw.get('lm_eval_version')!r:.40}")
    if unsure:
        yield finding("packages", place, "package versions differ or are not known", unsure, status=Status.warned)


def check_provenance(place: Place, own: OwnData | None, provenance: Any, made: str | None) -> Iterator[Finding]:
    """Compare what a run says of its data and prompts with ours, and its hash with what it says."""
    if not isinstance(provenance, dict):
        yield finding("data", place, "the results do not say which data were asked", ["no provenance"])
        return
    wrong = []
    if made != provenance.get("hash"):
        wrong.append(f"provenance.hash: {provenance.get('hash')!r:.20} is not the hash of the provenance")
    if own is None:
        if wrong:
            yield finding("data", place, "the provenance was changed", wrong)
        yield not_checked("data", place, "the benchmark's own documents could not be loaded")
        return
    ours = {name: value for name, value in own.provenance.items() if name not in ("hash", "fin_tasks", "scorer")}
    wrong += [
        f"provenance.{name}: expected {value!r:.120}, got {provenance.get(name)!r:.120}"
        for name, value in ours.items()
        if not same(_portable(value), _portable(provenance.get(name)))
    ]
    wrong += [
        f"provenance.{name!r:.60}: nothing that a run writes" for name in provenance.keys() - own.provenance.keys()
    ]
    if wrong:
        yield finding("data", place, "the run is about other data or prompts than it was checked against", wrong)
    else:
        yield passed("data", place, "data and prompts are those it was checked against")


def _portable(value: Any) -> Any:
    """Leave out what depends on the machine: the tier that computed truths, and where files came from."""
    if isinstance(value, dict):
        return {name: _portable(inner) for name, inner in value.items() if name not in ("sandbox", "origin", "commit")}
    return value


def version_of(package: str) -> str:
    """Return a package's version; empty where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
