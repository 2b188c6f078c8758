"""Whether a model was asked what our task asks: documents, hashes and prompts of all rows."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from fin_tasks.report.verify.findings import Finding, Place, Status, finding, not_checked
from fin_tasks.report.verify.own_data import OwnData
from fin_tasks.report.verify.submitted import Submitted, SubmittedRow
from fin_tasks.report.verify.task_files import TaskFile

__all__ = ["check_asked"]

_MARKS = re.compile(r"<[|/]?\|?[\w ]{1,24}\|?>|\[/?[A-Z_]{1,24}\]|\b(?:system|user|assistant)\b")
"""What templates put around messages."""
_MOST_WORDS = 100
"""Characters beside our prompt and such marks from which on somebody should read them: default system messages, and the
dates of some templates, have fewer."""
_LONGEST = 400
"""Likewise, marks among them."""


def check_asked(
    place: Place, task: TaskFile, submitted: Submitted, own: OwnData | None, raw: Mapping[str, Any]
) -> Iterator[Finding]:
    """Compare documents, prompts and hashes with ours."""
    rows = [row for of_variant in submitted.variants.values() for row in of_variant]
    yield finding(
        "hashes",
        place,
        "{n} hashes do not belong to what they stand beside",
        [*_wrong_hashes(rows), *_wrong_total(place.task, rows, raw)],
        fine="documents, prompts and targets are those that were hashed",
    )
    if own is None:
        yield not_checked("documents", place, "the benchmark's own documents could not be loaded")
        yield not_checked("prompts", place, "the benchmark's own documents could not be loaded")
        return
    yield finding(
        "documents",
        place,
        "{n} rows hold another document than the benchmark's; they were scored by the benchmark's",
        [f"line {row.line}: {row.id!r:.60} differs in {', '.join(row.changed)}" for row in rows if row.changed],
        fine="every document is the benchmark's own",
    )
    yield from _prompts(place, task, [row for row in rows if row.id in own.docs], raw)


def _wrong_hashes(rows: list[SubmittedRow]) -> Iterator[str]:
    return (f"line {row.line}: {row.id!r:.60}: {', '.join(row.hashes)}" for row in rows if row.hashes)


def _wrong_total(task: str, rows: list[SubmittedRow], raw: Mapping[str, Any]) -> list[str]:
    hashes = raw.get("task_hashes")
    said = hashes.get(task) if isinstance(hashes, dict) else None
    if said is None:
        return []
    in_file = sorted(rows, key=lambda row: row.line)  # several processes each write all their filters
    made = hashlib.sha256("".join(row.all_hashes for row in in_file).encode("utf-8", "replace")).hexdigest()
    return [] if said == made else [f"results, task_hashes.{task}: {said!r:.20} is not the hash of these rows"]


def _prompts(place: Place, task: TaskFile, rows: list[SubmittedRow], raw: Mapping[str, Any]) -> Iterator[Finding]:
    usual = Counter(row.beside for row in rows if row.beside is not None).most_common(1)
    template = usual[0][0] if usual else ""
    strange = [f"line {row.line}: {row.id!r:.60} was not asked our question" for row in rows if row.beside is None]
    strange += [
        f"line {row.line}: {row.id!r:.60} says beside our prompt {row.beside!r:.120}, others {template!r:.60}"
        for row in rows
        if row.beside is not None and row.beside != template
    ]
    generations = Counter(row.generation for row in rows)
    strange += [
        f"{count} rows were generated with {said:.120}" for said, count in generations.items() if len(generations) > 1
    ]
    fine = "asked as ours ask" + (f"; beside it every prompt says {template!r:.160}" if template else "")
    yield finding("prompts", place, "{n} prompts are not as ours make them", strange, fine=fine)
    yield from _shots(place, task, raw)
    yield from _system(place, template, raw)


def _shots(place: Place, task: TaskFile, raw: Mapping[str, Any]) -> Iterator[Finding]:
    """Compare the number of examples with the task's: lm-eval has it at that whatever `--num_fewshot` says."""
    shots = raw.get("n-shot")
    said = shots.get(place.task) if isinstance(shots, dict) else None
    if raw and (isinstance(said, bool) or not isinstance(said, int) or said != task.shots):
        shown = f"n-shot: expected {task.shots}, which lm-eval keeps to, got {said!r:.40}"
        yield finding("shots", place, "the prompts are said to hold examples that nobody can check", [shown])


def _system(place: Place, template: str, raw: Mapping[str, Any]) -> Iterator[Finding]:
    """Show what every prompt says beside ours, where it is more than a chat template's usual words."""
    words = _MARKS.sub(" ", template).strip()
    shown = []
    if said := raw.get("system_instruction"):
        shown.append(f"system_instruction: {said!r:.200}")
    if len(words) > _MOST_WORDS or len(template) > _LONGEST:
        shown.append(f"{len(template):,} characters, the same in each row: {template!r:.300}")
    if shown:
        yield finding("system", place, "the prompts say more than ours", shown, status=Status.warned)
