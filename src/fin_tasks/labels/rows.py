"""The rows that people may label: of a run, of a file of responses, or a benchmark's questions alone."""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ValidationError, model_validator

from fin_tasks import report
from fin_tasks.benchmarks import benchmark_named
from fin_tasks.benchmarks.contract import Document, id_of
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.errors import DataError, FinTasksError, first_problem
from fin_tasks.report.model import TaskResult, headline
from fin_tasks.report.samples import Sample, read_samples
from fin_tasks.saved.files import read_saved_rows
from fin_tasks.saved.json_records import leave_out
from fin_tasks.saved.matching import check_rows
from fin_tasks.saved.origin import models_of
from fin_tasks.saved.questions import AnsweredTask, answered_tasks
from fin_tasks.saved.scoring import score_matched

from .study import Study

_log = logging.getLogger(__name__)
_TEXTS = ("question", "prompt")
_PICTURES = ("image_path", "image_paths", "figure_path", "chart")
"""Paths, which are another machine's in a run that was made there."""


class Row(BaseModel):
    """A question that people label, with the response to it if a study is about responses."""

    id: str = ""
    doc_id: str
    task: str
    doc: dict[str, Any]
    facts: dict[str, list[str]]
    """What shares are broken down by: `task`, the benchmark's breakdowns, and `response`, which is right or wrong."""
    response: str = ""
    labels: dict[str, str | float] = {}
    """What was decided in an earlier round, by question."""

    @model_validator(mode="after")
    def _can_be_labelled(self) -> Self:
        choices = self.doc.get("choices") or []
        terms = self.doc.get("terms") or []
        if not self.facts.get("task") or not isinstance(choices, list):
            raise ValueError("expected facts with a task, and choices as a list")
        if not isinstance(terms, list) or not all(map(_is_term, terms)):
            raise ValueError("expected terms as a list of objects with a name")
        return self

    @property
    def kind(self) -> str:
        """The `task` of the document, such as `bool`; of a document without one, lm-eval's task."""
        return self.facts["task"][0]

    @property
    def is_wrong(self) -> bool:
        """Whether the response has a score, and is wrong."""
        return self.facts.get("response") == ["wrong"]

    def note_score(self, score: object) -> None:
        """Note whether the response is right, if it has a score."""
        if isinstance(score, int | float):
            self.facts["response"] = ["right" if score > 0 else "wrong"]


@dataclass
class Source:
    """What a study is drawn from."""

    model: str = ""
    rows: list[Row] = field(default_factory=list)
    provenance: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Of the documents, by task."""


def rows_of_benchmark(study: Study, options: Mapping[str, Any]) -> Source:
    """Return the benchmark's questions, which the options `source`, `data_dir` and `split` choose."""
    source = Source()
    for task in study.tasks:
        rows, source.provenance[task] = _documents(study, task, options)
        source.rows += rows
    return source


def rows_of_file(
    study: Study,
    path: Path,
    options: Mapping[str, Any],
    *,
    columns: Mapping[str, str],
    strict: bool,
) -> Source:
    """Return the questions that a file has responses to; rows of no task are left out, which is logged."""
    saved = read_saved_rows(path, columns=columns, strict=strict)
    files = list(map(TaskFile, study.tasks))
    answered = answered_tasks(files, saved, options, path)
    if not answered.tasks:
        raise DataError(
            f"{path}: expected ids of questions of {', '.join(study.tasks)}, "
            f"got {saved[0].id or saved[0].question!r:.80}."
        )
    if answered.others:
        leave_out(
            f"{path}: {len(answered.others):,} of {len(saved):,} rows are of no task of the study and are left out.",
            strict=strict,
        )
    source = Source(model=models_of([path])[0])
    for task in answered.tasks:
        name = task.questions.file.name
        scores = _scores_of(task, str(path), strict=strict)
        rows, source.provenance[name] = _documents(study, name, task.options)
        for row in rows:
            texts = task.matched.texts_by_id.get(row.doc_id)
            if texts is not None:
                row.response = texts[0] or ""
                row.note_score(scores.get(row.doc_id))
                source.rows.append(row)
    return source


def rows_of_run(
    study: Study,
    path: Path,
    options: Mapping[str, Any],
) -> Source:
    """Return the questions of a run with its responses, as the run itself holds them.

    The benchmark's own document adds what the run lacks, such as finance terms, only if it has the same id and asks
    the same question: another version of a set, or a user's own, may have other questions under the same ids.
    """
    loaded = report.read([path])
    source = Source(model=loaded.runs[0].model)
    for run, result in loaded.results:
        task = result.task
        if result.samples is None or task not in study.tasks:
            continue
        if task in source.provenance or run.model != source.model:
            raise DataError(
                f"{path}: expected results of one model, each task once, got more of {task}."
            )
        source.provenance[task] = _short_provenance(result.provenance)
        known = {}
        try:
            rows, _ = _documents(study, task, options)
            known = {row.doc_id: row.doc for row in rows}
        except FinTasksError as error:
            text = "%s: its rows are shown as the run holds them (%s)"
            _log.warning(text, task, error)
        source.rows += _rows_of_samples(study, result, known)
    return source


def response_of(sample: Sample) -> str:
    """Return the first response in a line of samples, empty if it has none."""
    return str(next(iter(sample.responses), ""))


def _documents(
    study: Study,
    task: str,
    options: Mapping[str, Any],
) -> tuple[list[Row], dict[str, Any]]:
    """Return the benchmark's documents of a task as rows, and their provenance."""
    benchmark = benchmark_named(study.benchmark)
    all_options = {**study.tasks[task], **options}
    (documents,) = benchmark.load(**all_options).values()
    rows = []
    for doc in documents:
        rows.append(_row_of(study, task, id_of(doc), doc, task))
    facts = json.loads(documents.info.description)
    return rows, _short_provenance(facts)


def _rows_of_samples(
    study: Study,
    result: TaskResult,
    known: Mapping[str, Document],
) -> list[Row]:
    """Return the rows of a task; samples without a question are left out."""
    metric = headline(result)
    rows: dict[str, Row] = {}
    for sample in read_samples(result.samples):
        # The lines of both scorings hold the same responses, so the first one is enough.
        has_question = any(isinstance(sample.doc.get(name), str) for name in _TEXTS)
        if sample.id in rows or not has_question:
            continue
        doc = sample.doc
        own = known.get(sample.id)
        if own is not None and _is_same_question(doc, own):
            pictures = {name: own[name] for name in _PICTURES if own.get(name)}
            doc = {**own, **doc, **pictures}
        row = _row_of(study, result.task, sample.id, doc, sample.where)
        row.response = response_of(sample)
        row.note_score(sample.metrics.get(metric))
        rows[sample.id] = row
    return list(rows.values())


def _row_of(
    study: Study,
    task: str,
    doc_id: str,
    doc: Document,
    where: str,
) -> Row:
    """Return a document as a row; raise DataError, which names the place, if people cannot label it."""
    groups = benchmark_named(study.benchmark).groups_of(doc)
    facts = {"task": [str(doc.get("task") or task)], **groups}
    try:
        return Row(doc_id=doc_id, task=task, doc=dict(doc), facts=facts)
    except ValidationError as error:
        raise DataError(f"{where}: {first_problem(error)}.") from error


def _is_term(term: Any) -> bool:
    return isinstance(term, Mapping) and isinstance(term.get("name"), str)


def _is_same_question(doc: Document, own: Document) -> bool:
    for name in _TEXTS:
        text = doc.get(name)
        own_text = own.get(name)
        if isinstance(text, str) and isinstance(own_text, str):
            return text.split() == own_text.split()
    return False


def _short_provenance(facts: Mapping[str, Any]) -> dict[str, Any]:
    names = ("split", "data", "scorer")
    return {name: facts[name] for name in names if name in facts}


def _scores_of(
    task: AnsweredTask, where: str, *, strict: bool
) -> dict[str, float | None]:
    """Return the value of the headline by id; empty if a judge scores the task."""
    questions, matched, options = task
    benchmark = questions.file.benchmark
    if questions.file.judge:
        for message in check_rows(matched, questions.docs, benchmark, where):
            leave_out(message, strict=strict)
        return {}
    scored = score_matched(questions, matched, options, where, strict=strict).scored
    metric = benchmark.headline(list(scored.metrics))
    scores = {}
    for doc, values in zip(scored.docs, scored.values["paper"], strict=True):
        scores[id_of(doc)] = values.get(metric)
    return scores
