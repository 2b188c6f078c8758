"""Whether a samples file has the rows it should have, about the documents they should be about."""

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from fin_tasks.report.verify.closeness import same
from fin_tasks.report.verify.findings import Finding, Place, Status, finding, not_checked, passed
from fin_tasks.report.verify.own_data import OwnData
from fin_tasks.report.verify.submitted import Submitted, SubmittedRow
from fin_tasks.report.verify.task_files import TaskFile

__all__ = ["check_asked", "check_provenance", "check_rows", "expected_ids"]

_PADDED = 64
"""Rows that may have more responses than others: of several processes lm-eval lets each ask its last row again."""
_LONG = 400
"""Characters beside our prompt from which on somebody should read them: chat templates have fewer."""


def expected_ids(own: OwnData, raw: Mapping[str, Any], task: str) -> tuple[list[str], str]:
    """Return the documents a run should have, and how it was limited; empty where it was not.

    Args:
        own: The benchmark's documents.
        raw: The results file, whose `config` says what lm-eval was limited to.
        task: The task's name.
    """
    ids = list(own.docs)
    config = raw.get("config")
    config = config if isinstance(config, dict) else {}
    samples, limit = config.get("samples"), config.get("limit")
    chosen = samples.get(task) if isinstance(samples, dict) else None
    if isinstance(chosen, list):
        places = [place for place in chosen if isinstance(place, int) and 0 <= place < len(ids)]
        return [ids[place] for place in places], f"{len(places)} rows chosen by number"
    if isinstance(limit, (int, float)) and not isinstance(limit, bool) and limit > 0 and math.isfinite(limit):
        count = math.ceil(len(ids) * limit) if limit < 1 else int(limit)
        if count < len(ids):
            return ids[:count], f"limit {limit:g}"
    return ids, ""


def check_rows(
    place: Place, task: TaskFile, submitted: Submitted, own: OwnData | None, raw: Mapping[str, Any]
) -> Iterator[Finding]:
    """Compare the rows of a file with those of the data set: missing, extra, twice, out of place."""
    yield finding(
        "variants",
        place,
        "the file does not have the task's filters",
        [
            *(f"{name}: missing" for name in task.pipelines if name not in submitted.variants),
            *(f"{name!r:.60}: not a filter of this task" for name in submitted.variants if name not in task.pipelines),
            *_uneven(submitted),
        ],
        fine=f"rows under {', '.join(submitted.variants)}, the same in each, with the same responses",
    )
    yield from _repeats(place, submitted)
    if own is None:
        yield not_checked("rows", place, "the benchmark's own documents could not be loaded")
        return
    expected, limited = expected_ids(own, raw, place.task)
    wanted, numbers = set(expected), {name: number for number, name in enumerate(own.docs)}
    details = []
    for variant, rows in submitted.variants.items():
        counts = Counter(row.id for row in rows)
        details += [f"{variant}: {name!r:.60} missing" for name in expected if name not in counts]
        details += [f"{variant}: {name!r:.60} is no row of the data set" for name in counts if name not in own.docs]
        details += [
            f"{variant}: {name!r:.60} beyond the {limited}" for name in counts if name in own.docs.keys() - wanted
        ]
        details += [f"{variant}: {name!r:.60} {count} times" for name, count in counts.items() if count > 1]
        details += [
            f"{variant}, line {row.line}: {row.id!r:.60} at place {row.place}, expected {numbers[row.id]}"
            for row in rows
            if row.id in numbers and row.place != numbers[row.id]
        ]
    details += _counts(place.task, raw, own, len(expected))
    yield finding(
        "rows",
        place,
        "{n} rows are missing, extra, twice or out of place",
        details,
        fine=f"{len(expected):,} rows, each once",
    )
    if limited:
        shown = f"{limited}: {len(expected):,} of the {len(own.docs):,} rows of the data set"
        yield finding("limit", place, "the run is not over the whole data set", [shown], status=Status.warned)


def _repeats(place: Place, submitted: Submitted) -> Iterator[Finding]:
    """Compare how many responses rows have: whoever asks some rows more often can choose."""
    usual = Counter(len(row.responses) for row in submitted.first).most_common(1)[0][0]
    others = [row for row in submitted.first if len(row.responses) != usual]
    shown = [f"line {row.line}: {row.id!r:.60} has {len(row.responses)}, others {usual}" for row in others]
    if len(others) > _PADDED or any(len(row.responses) < usual for row in others):
        yield finding("repeats", place, "{n} rows do not have as many responses as the others", shown)
    elif others or usual > 1:
        means = [f"{usual} responses to each question; scores are means over them"] if usual > 1 else []
        message = "rows have several responses: from several processes, or repeats"
        yield finding("repeats", place, message, [*means, *shown], status=Status.warned)


def _counts(task: str, raw: Mapping[str, Any], own: OwnData, expected: int) -> list[str]:
    counts = raw.get("n-samples")
    said = counts.get(task) if isinstance(counts, dict) else None
    if not isinstance(said, dict):
        return []
    wrong = []
    for name, right in (("original", len(own.docs)), ("effective", expected)):
        if said.get(name) != right:
            wrong.append(f"results, n-samples.{name}: expected {right}, got {said.get(name)!r:.40}")
    return wrong


def _uneven(submitted: Submitted) -> Iterator[str]:
    """Rows that are not the same under every filter: the model answered once."""
    first = {row.id: row.responses for row in submitted.first}
    for variant, rows in list(submitted.variants.items())[1:]:
        for row in rows:
            if row.id not in first:
                yield f"{variant}, line {row.line}: {row.id!r:.60} is not under the first filter"
            elif row.responses != first[row.id]:
                yield f"{variant}, line {row.line}: {row.id!r:.60} has another response than under the first filter"
        yield from (f"{variant}: {name!r:.60} is missing" for name in first.keys() - {row.id for row in rows})


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
    made = hashlib.sha256("".join(row.all_hashes for row in rows).encode("utf-8", "replace")).hexdigest()
    return [] if said == made else [f"results, task_hashes.{task}: {said!r:.20} is not the hash of these rows"]


def _prompts(place: Place, task: TaskFile, rows: list[SubmittedRow], raw: Mapping[str, Any]) -> Iterator[Finding]:
    shots = raw.get("n-shot")
    examples = shots.get(place.task) if isinstance(shots, dict) else None
    usual = Counter(row.beside for row in rows if row.beside is not None).most_common(1)
    template = usual[0][0] if usual else ""
    strange = [f"line {row.line}: {row.id!r:.60} was not asked our question" for row in rows if row.beside is None]
    if not examples:
        strange += [
            f"line {row.line}: {row.id!r:.60} says beside our prompt {row.beside!r:.120}, others {template!r:.60}"
            for row in rows
            if row.beside is not None and row.beside != template
        ]
    generations = Counter(row.generation for row in rows)
    strange += [
        f"{count} rows were generated with {said:.120}" for said, count in generations.items() if len(generations) > 1
    ]
    yield finding("prompts", place, "{n} prompts are not as ours make them", strange, fine="asked as ours ask")
    if isinstance(examples, int) and examples != task.shots:
        shown = f"{examples} examples before each question, where lm-eval keeps to the {task.shots} of the task"
        yield finding("shots", place, "the prompts hold examples that nobody can check", [shown])
    elif template and len(template) > _LONG:
        shown = f"{len(template):,} characters, the same in each row: {template!r:.200}"
        yield finding("system", place, "the prompts say more than ours", [shown], status=Status.warned)


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
    if wrong:
        yield finding("data", place, "the run is about other data or prompts than it was checked against", wrong)
    else:
        yield passed("data", place, "data and prompts are those it was checked against")


def _portable(value: Any) -> Any:
    """Leave out what depends on the machine: the tier that computed truths, and where files came from."""
    if isinstance(value, dict):
        return {name: _portable(inner) for name, inner in value.items() if name not in ("sandbox", "origin", "commit")}
    return value
