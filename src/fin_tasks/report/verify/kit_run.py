"""Checks one run of VLMEvalKit: predictions, results and what they claim, against our own data and scorers."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import fin_tasks
from fin_tasks.benchmarks.response_scores import text_of
from fin_tasks.errors import DataError
from fin_tasks.judging.asked import Asked
from fin_tasks.judging.kept_responses import CUT
from fin_tasks.judging.saved_questions import same_question
from fin_tasks.report.kit_files import TASKS, KitRun
from fin_tasks.report.verify.against import Verifying
from fin_tasks.report.verify.closeness import same
from fin_tasks.report.verify.findings import Finding, Place, Status, finding, not_checked, passed
from fin_tasks.report.verify.graded import check_graded
from fin_tasks.report.verify.judge_again import check_judge, check_unscored
from fin_tasks.report.verify.kit_scores import (
    KitScores,
    score_judged,
    score_read,
    was_cut_later,
    wrong_tables,
    wrong_totals,
)
from fin_tasks.report.verify.kit_submitted import KitRow, KitSubmitted, read_kit
from fin_tasks.report.verify.own_data import OwnData, provenance_hash
from fin_tasks.report.verify.patterns import check_patterns
from fin_tasks.report.verify.submitted import SubmittedRow
from fin_tasks.report.verify.task_files import TaskFile, task_file
from fin_tasks.report.verify.version_checks import check_provenance, check_versions

__all__ = ["as_sample", "check_documents", "check_kit_run", "check_verdicts", "kit_names"]


def check_kit_run(work: Verifying, run: KitRun) -> Iterator[Finding]:
    """Check one run.

    Args:
        work: The check under way.
        run: The run.
    """
    place = Place(run.dataset, run.shown(run.score))
    work.tasks += 1
    task = task_file(TASKS[run.dataset])
    if task is None:  # TASKS names tasks of ours
        raise DataError(f"{TASKS[run.dataset]}: expected a task's file, found none. Reinstall fin-tasks.")
    provenance = run.totals.get("provenance")
    own, why = work.own(task, _metadata(provenance))
    names = kit_names(own) if own else {}
    work.tell(place.run, 0, 1)
    try:
        submitted = read_kit(run, names)
    except (DataError, RecursionError) as error:
        yield finding("samples", place, "the run's files cannot be read", [str(error)])
        yield not_checked("scores", place, "the run's files cannot be read")
        return
    yield passed("samples", place, f"{len(submitted.rows):,} predictions and {len(submitted.items):,} results")
    yield from _versions(place, task, run, own)
    yield from check_provenance(place, own, provenance, provenance_hash(provenance))
    if own is None:
        for check in ("rows", "documents", "prompts", "scores", "aggregates"):
            yield not_checked(check, place, f"the benchmark's own documents could not be loaded: {why}")
        return
    yield from _rows(place, submitted, own, names)
    yield from _asked(place, run, submitted, own, names)
    yield from _scores(work, place, run, submitted, task, own, names)
    work.tell(place.run, 1, 1)


def _scores(
    work: Verifying,
    place: Place,
    run: KitRun,
    submitted: KitSubmitted,
    task: TaskFile,
    own: OwnData,
    names: Mapping[str, str],
) -> Iterator[Finding]:
    rows = list({names[row.index]: row for row in reversed(submitted.rows) if row.index in names}.values())[::-1]
    docs = [own.docs[names[row.index]] for row in rows]
    if not rows:
        yield not_checked("scores", place, "no prediction is of a row of the data set")
        return
    items = {str(item.get("index")): (where, item) for where, item in reversed(submitted.items)}
    counted = {"rows_expected": len(own.docs), "missing": len(own.docs) - len(rows)}
    judged = task.name.startswith("mme_finance")
    cut = [row.index for row, doc in zip(rows, docs, strict=True) if was_cut_later(row, items, doc)]
    if cut and not judged:
        why = f"{len(cut):,} responses, {cut[0]!r:.60} first, are not whole: {CUT}"
        yield not_checked("scores", place, why)
        return
    if judged:
        ours = score_judged(task, docs, rows, items, counted, run.totals)
    else:
        ours = score_read(task, docs, rows, items, counted)
    work.rows += len(rows) * (1 if judged else 2)
    fine = f"{len(rows):,} rows score what our scorers give"
    yield finding("scores", place, "{n} rows do not score what is claimed", ours.wrong, fine=fine)
    wrong = [*wrong_totals(ours.totals, run.totals), *wrong_tables(ours.tables, submitted.tables)]
    told = f"{len(ours.totals)} totals and {len(submitted.tables)} tables are those of the rows"
    yield finding("aggregates", place, "{n} totals are not those of the rows", wrong, fine=told)
    if judged:
        yield from check_verdicts(work, place, ours, task)
    yield from check_unscored(place, ours.failed, ours.silent, len(rows), judged=judged)
    samples = [as_sample(at, row, doc) for at, (row, doc) in enumerate(zip(rows, docs, strict=True))]
    yield from check_patterns(place, samples, own.docs, ours.right)


def check_verdicts(work: Verifying, place: Place, ours: KitScores, task: TaskFile) -> Iterator[Finding]:
    """Tell whether verdicts agree with themselves and are of these responses, and have some given again."""
    message = "{n} verdicts of the judge do not agree with themselves"
    fine = f"{len(ours.judged):,} verdicts agree with the judge's replies"
    yield finding("verdicts", place, message, ours.verdicts, fine=fine)
    yield from check_graded(place, ours.graded)
    yield from check_judge(
        place, ours.judged, work.against, work.settings, rubric=f"mme_finance_{task.options['language']}"
    )


def _rows(place: Place, submitted: KitSubmitted, own: OwnData, names: Mapping[str, str]) -> Iterator[Finding]:
    """Compare predictions and results with the data set: missing, extra, twice."""
    order = list(names)
    counts = Counter(row.index for row in submitted.rows)
    there = [index for index in order if index in counts]
    lacking = [index for index in order if index not in counts]
    is_start = there == order[: len(there)] and bool(there)
    wrong = [f"predictions: {index!r:.60} missing" for index in ([] if is_start else lacking)]
    wrong += [f"predictions: {index!r:.60} is no row of the data set" for index in counts if index not in names]
    wrong += [f"predictions: {index!r:.60} {count} times" for index, count in counts.items() if count > 1]
    of_items = Counter(str(item.get("index")) for _, item in submitted.items)
    expected = {names[index] for index in there}
    wrong += [f"items: {name!r:.60} missing" for name in sorted(expected - of_items.keys())]
    wrong += [f"items: {name!r:.60} has no prediction" for name in sorted(of_items.keys() - expected)]
    wrong += [f"items: {name!r:.60} {count} times" for name, count in of_items.items() if count > 1]
    fine = f"{len(there):,} rows, each once"
    yield finding("rows", place, "{n} rows are missing, extra or twice", wrong, fine=fine)
    if lacking and is_start:
        shown = [f"the first {len(there):,} of the {len(own.docs):,} rows of the data set"]
        yield finding("limit", place, "the run is not over the whole data set", shown, status=Status.warned)
    yield finding(
        "responses",
        place,
        "{n} responses that were kept are not those of the predictions",
        submitted.unlike,
        fine="the responses that were kept are those of the predictions",
    )


def _asked(
    place: Place, run: KitRun, submitted: KitSubmitted, own: OwnData, names: Mapping[str, str]
) -> Iterator[Finding]:
    """Compare questions, answers and the hash of all that was asked with ours."""
    yield check_documents(place, [row for row in submitted.rows if row.index in names], own, names)
    questions = {index: _question(own.docs[name]) for index, name in names.items()}
    if submitted.asked is None:
        shown = "no _asked.json beside the predictions: a run writes it first of all"
        yield finding("prompts", place, "nothing says what the model was asked", [shown], status=Status.warned)
        return
    texts = {index: text_of(own.docs[name]) for index, name in names.items()}
    ours = Asked.of(run.dataset, own.provenance, questions=questions, texts=texts)
    said = submitted.asked
    facts = said.get("facts")
    theirs = facts if isinstance(facts, dict) else {}
    different = sorted(name for name in {*theirs, *ours.facts} if not same(theirs.get(name), ours.facts.get(name)))
    different = [
        f"facts.{name:.60}: expected {ours.facts.get(name)!r:.80}, got {theirs.get(name)!r:.80}" for name in different
    ]
    if said.get("sha256") != ours.sha256:
        different.append(f"sha256: expected {ours.sha256:.16}, got {said.get('sha256')!r:.20}")
    yield finding("prompts", place, "the model was asked something else", different, fine="asked as ours ask")


def check_documents(place: Place, rows: Sequence[KitRow], own: OwnData, names: Mapping[str, str]) -> Finding:
    """Compare the questions and answers of predictions with ours."""
    docs = {row.index: own.docs[names[row.index]] for row in rows}
    wrong = [line for row in rows for line in _changed(row, docs[row.index], _question(docs[row.index]))]
    if any("question" not in row.fields for row in rows):
        shown = "no column question: they may be answers to others"
        return finding("documents", place, "not all questions are in the predictions", [shown], status=Status.warned)
    message = "{n} rows hold another question or answer than the benchmark's; ours were scored by"
    return finding("documents", place, message, wrong, fine="questions and answers are the benchmark's own")


def _changed(row: KitRow, doc: Mapping[str, Any], question: str) -> Iterator[str]:
    for column, ours in (("question", question), ("answer", _answer(doc))):
        if column in row.fields and not same_question(row.fields[column], ours):
            yield f"{PurePosixPath(row.where).name}: {row.index!r:.60} differs in {column}: {row.fields[column]!r:.80}"


def _question(doc: Mapping[str, Any]) -> str:
    return str(doc["question"]) if "image_path" in doc else text_of(doc)


def _answer(doc: Mapping[str, Any]) -> str:
    """Return what the prediction table names as answer, as adapters.vlmeval_datasets writes it."""
    answer = next((doc[name] for name in ("answer", "ground_truth", "truth") if name in doc), None)
    return "" if answer is None else str(answer)


def _versions(place: Place, task: TaskFile, run: KitRun, own: OwnData | None) -> Iterator[Finding]:
    """As for lm-eval's runs, whose harness names its version."""
    said = run.totals.get("task_version")
    try:
        version: Any = float(said) if isinstance(said, (str, int, float)) else said
    except ValueError:
        version = said
    raw = {"versions": {place.task: version}, "lm_eval_version": fin_tasks.__version__}
    yield from check_versions(place, task, {"provenance": run.totals.get("provenance")}, raw, own)


def _metadata(provenance: Any) -> dict[str, Any]:
    """Gather options from the provenance: the kit writes down no others."""
    facts = provenance if isinstance(provenance, dict) else {}
    prompts = facts.get("prompts")
    chosen = {"prompts": prompts["set"]} if isinstance(prompts, dict) and isinstance(prompts.get("set"), str) else {}
    return {**facts, **chosen, "provenance": provenance}


def kit_names(own: OwnData) -> dict[str, str]:
    """Map indices as the kit has them to documents: it takes them for whole numbers where all of them are."""
    names = list(own.docs)
    if all(name.isascii() and name.isdigit() for name in names):
        return {str(int(name)): name for name in names}
    return dict(zip(names, names, strict=True))


def as_sample(place: int, row: KitRow, doc: Mapping[str, Any]) -> SubmittedRow:
    """Give a prediction the form in which patterns are looked for."""
    return SubmittedRow(
        line=place + 1,
        id=str(doc.get("id")),
        place=place,
        responses=(row.response,),
        claimed={},
        scored=(),
        changed=(),
        hashes=(),
        all_hashes="",
        beside="",
        generation="null",
    )
