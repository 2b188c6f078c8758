"""Checks what `fin-tasks judge --items` wrote against the predictions it is about, and against our own data."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError
from fin_tasks.judging.predictions import Responses
from fin_tasks.judging.saved_questions import find_index, same_question
from fin_tasks.report.verify.against import Verifying
from fin_tasks.report.verify.findings import Finding, Place, Status, finding, not_checked, passed
from fin_tasks.report.verify.graded import Graded, check_graded
from fin_tasks.report.verify.judge_again import check_unscored
from fin_tasks.report.verify.judge_files import Items, JudgeFile, made_with, predictions_of, read_items
from fin_tasks.report.verify.kit_run import as_sample, check_documents, check_verdicts, kit_names
from fin_tasks.report.verify.kit_scores import score_judged
from fin_tasks.report.verify.kit_submitted import KitRow
from fin_tasks.report.verify.own_data import OwnData
from fin_tasks.report.verify.patterns import check_patterns
from fin_tasks.report.verify.task_files import TaskFile, task_file

__all__ = ["check_judge_file"]

_RUBRICS = ("mme_finance_en", "mme_finance_zh")
"""Which have the name of a task; another may be a file's path, and no file that a submission names is opened."""
_OTHER_DATA = 0.5
"""Share of questions that differ from ours from which on they are those of other data: items do not say which."""
_MAY_DECLINE = re.compile(r".+_(?:MMEFinance|MMfin)(?:_CN)?_NA|samples_mme_finance_(?:en|zh)_na_\d{4}-.+")
"""Names of predictions on the tasks that allow "Not Applicable" everywhere."""


def check_judge_file(work: Verifying, file: JudgeFile) -> Iterator[Finding]:
    """Check one file of items.

    Args:
        work: The check under way.
        file: The file.
    """
    place = Place("", file.shown)
    work.tasks += 1
    work.tell(place.run, 0, 1)
    try:
        items = read_items(file)
    except (DataError, RecursionError) as error:
        yield finding("samples", place, "the judge's items cannot be read", [str(error)])
        yield not_checked("scores", place, "the judge's items cannot be read")
        return
    found = predictions_of(file, items)
    if found is None:
        why = (
            "no file beside the items, or in a folder below, has predictions with these indices, each once, and none "
            "elsewhere in the submission has half of the responses that were judged"
        )
        yield not_checked("scores", place, why)
        return
    path, read = found
    shown = path.relative_to(file.root).as_posix()
    task = _task(items[0][1].get("rubric"), path)
    place = Place(task.name if task else "", file.shown)
    yield passed("samples", place, f"{len(items):,} results, of the {len(read.responses):,} predictions in {shown}")
    own, why = _own(work, file, path, task, read)
    order, whole = (list(kit_names(own)), "the data set") if own else (list(read.responses), "the predictions")
    yield from _rows(place, items, read, order, whole=whole)
    if task is None or own is None:
        yield from check_graded(place, _graded(items, read))
        for check in ("documents", "scores"):
            yield not_checked(check, place, f"the benchmark's own documents are not known: {why}")
    else:
        yield from _scores(work, place, items, read, task, own)
    work.tell(place.run, 1, 1)


def _task(rubric: Any, predictions: Path) -> TaskFile | None:
    name = str(rubric).partition("@")[0]
    if name not in _RUBRICS:
        return None
    return task_file(f"{name}_na" if _MAY_DECLINE.fullmatch(predictions.stem) else name)


def _own(
    work: Verifying, file: JudgeFile, predictions: Path, task: TaskFile | None, read: Responses
) -> tuple[OwnData | None, str]:
    """Load the documents that predictions are about; None where that is not known, with the reason."""
    if task is None:
        return None, "the rubric is none of ours"
    own, why = work.own(task, made_with(file, predictions))
    if own is None:
        return None, why
    names = kit_names(own)
    questions = {index: own.docs[name]["question"] for index, name in names.items()}
    known = [(found, row) for index, row in read.rows.items() if (found := find_index(index, names)) is not None]
    other = sum(
        "question" in row.fields and not same_question(row.fields["question"], questions[index]) for index, row in known
    )
    if other > len(known) * _OTHER_DATA:
        return None, f"{other:,} of {len(known):,} questions are others; name the data with --source or --data-dir"
    return own, ""


def _rows(place: Place, items: Items, read: Responses, order: Sequence[str], *, whole: str) -> Iterator[Finding]:
    """Compare items with the rows that there are: missing, extra, twice, without prediction."""
    known = dict.fromkeys(order)
    counts = Counter(find_index(_index(item), known) or _index(item) for _, item in items)
    there = [index for index in order if index in counts]
    lacking = [index for index in order if index not in counts]
    is_start = there == order[: len(there)] and bool(there)
    wrong = [f"items: {index!r:.60} missing" for index in ([] if is_start else lacking)]
    wrong += [f"items: {index!r:.60} is no row of {whole}" for index in counts if index not in known]
    wrong += [f"items: {index!r:.60} {count} times" for index, count in counts.items() if count > 1]
    unsaid = [_index(item) for _, item in items if _index(item) not in read.responses]
    wrong += [f"items: {index!r:.60} has no prediction" for index in unsaid]
    yield finding("rows", place, "{n} rows are missing, extra or twice", wrong, fine=f"{len(there):,} rows, each once")
    if lacking and is_start:
        shown = [f"the first {len(there):,} of the {len(order):,} rows of {whole}"]
        yield finding("limit", place, "not all rows were judged", shown, status=Status.warned)


def _graded(items: Items, read: Responses) -> list[Graded]:
    return [
        Graded.of(f"{where}: {index!r:.60}", read.responses[index], item, is_cut=index in read.cut)
        for where, item in items
        if (index := _index(item)) in read.responses
    ]


def _scores(
    work: Verifying, place: Place, items: Items, read: Responses, task: TaskFile, own: OwnData
) -> Iterator[Finding]:
    """Compare with our own documents: all of them there, asked as ours are, and counted as ours are."""
    names = kit_names(own)
    claimed: dict[str, tuple[str, Mapping[str, Any]]] = {}
    rows: list[KitRow] = []
    for where, item in items:
        index = find_index(_index(item), names)
        if index is not None and names[index] not in claimed and _index(item) in read.responses:
            claimed[names[index]] = where, {**item, "index": names[index]}
            rows.append(_row(index, _index(item), read))
    if not rows:
        yield not_checked("scores", place, "no item is of a row of the data set")
        return
    yield check_documents(place, rows, own, names)
    docs = [own.docs[names[row.index]] for row in rows]
    ours = score_judged(task, docs, rows, claimed, {}, {"judge": items[0][1].get("judge")}, of_kit=False)
    work.rows += len(rows)
    fine = f"{len(rows):,} rows score what our scorers give"
    yield finding("scores", place, "{n} rows do not score what is claimed", ours.wrong, fine=fine)
    yield from check_verdicts(work, place, ours, task)
    yield from check_unscored(place, ours.failed, ours.silent, len(rows))
    samples = [as_sample(at, row, doc) for at, (row, doc) in enumerate(zip(rows, docs, strict=True))]
    yield from check_patterns(place, samples, own.docs, ours.right)


def _row(index: str, saved: str, read: Responses) -> KitRow:
    row, is_cut = read.rows[saved], saved in read.cut
    return KitRow(where=row.where, index=index, response=read.responses[saved], cut=is_cut, fields=row.fields)


def _index(item: Mapping[str, Any]) -> str:
    return str(item.get("index"))
