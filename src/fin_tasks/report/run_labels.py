"""What runs are called where a model has several of a task."""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePosixPath

from fin_tasks.report.entry import RunFacts

__all__ = ["REPLAYED", "labels_of"]

REPLAYED = "replayed"
"""The fact of a replay that says which recording was scored again."""


def labels_of(runs: Sequence[RunFacts], tasks: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Name runs by their model, and tell those apart of which two have values of one task under one variant.

    A run is told by its date, or by its hash beside others of that date. What was replayed from one folder is told as
    one, as its windows belong together: by the replay's file, and by the recordings' folder where a file has several.

    Args:
        runs: All there are; those of papers are told apart by their provenance and only named by their model.
        tasks: Run to what it has values of: task and variant.

    Returns:
        By run. A label stands for one run of a task and variant, but for papers.

    Example:
        >>> runs = [RunFacts(id=id, source="lm-eval", model="m", date=date, path="", provenance={})
        ...         for id, date in (("r1", "2026-03-01T10:00:00"), ("r2", "2026-04-01T10:00:00"), ("r3", ""))]
        >>> labels_of(runs, {"r1": ["bool"], "r2": ["bool"], "r3": ["mcq"]})
        {'r1': 'm (2026-03-01T10:00)', 'r2': 'm (2026-04-01T10:00)', 'r3': 'm'}
    """
    own = [run for run in runs if run.source != "published"]
    standing: dict[tuple[str, str], list[RunFacts]] = defaultdict(list)
    parts: dict[tuple[str, ...], list[RunFacts]] = defaultdict(list)
    for run in own:
        parts[_whole(run)].append(run)
        for task in tasks.get(run.id, ()):
            standing[run.model, task].append(run)
    rivals = {
        run.id: [other for task in tasks.get(run.id, ()) for other in standing[run.model, task] if other.id != run.id]
        for run in own
    }
    labels = {run.id: run.model for run in runs}
    for several in parts.values():
        if any(rivals[run.id] for run in several):
            for run in several:
                of_all = [other for part in several for other in rivals[part.id]]
                told_by = _told_by(run, of_all, rivals[run.id])
                labels[run.id] = f"{run.model} ({', '.join(told_by)})"
    return labels


def _told_by(run: RunFacts, of_whole: Sequence[RunFacts], rivals: Sequence[RunFacts]) -> list[str]:
    """Say what tells a run from others, of which `of_whole` are rivals of what it is a part of."""
    if run.source != "replay":
        told = [run.date[:16]] if run.date else []
        is_alike = any(other.date[:16] == run.date[:16] for other in rivals)
        return [*told, run.id[:8]] if is_alike or not told else told
    told = [run.path]
    if any(other.path == run.path for other in of_whole):
        told += filter(None, [_folder(run)])
    if any(_whole(other) == _whole(run) for other in rivals):
        told.append(run.id[:8])
    return told


def _whole(run: RunFacts) -> tuple[str, ...]:
    """Return what all parts of a replay have in common; any other run is one by itself."""
    return (run.model, run.path, _folder(run)) if run.source == "replay" else (run.id,)


def _folder(run: RunFacts) -> str:
    recording = run.provenance.get(REPLAYED)
    folder = str(PurePosixPath(json.loads(recording)).parent) if recording else ""
    return "" if folder == "." else folder
