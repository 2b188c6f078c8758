"""The rows that people may label: of a run, of a file of responses, or a benchmark's questions alone."""

import json
import logging
from collections.abc import Mapping
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
    def _can_be_labeled(self) -> Self:
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


class Source:
    """Where the rows of a study come from: a run, a file of responses, or the benchmark's questions alone.

    The options `source`, `data_dir` and `split` say which questions the benchmark has. Where a file or a run
    says it, the options are changed.
    """

    def __init__(self, study: Study, options: Mapping[str, Any]) -> None:
        self.study = study
        self.options = options
        self.model = ""
        self.rows: list[Row] = []
        self.provenance: dict[str, dict[str, Any]] = {}
        """Of the documents, by task."""
        self._benchmark = benchmark_named(study.benchmark)

    def add_questions(self) -> None:
        """Add the benchmark's questions."""
        for task in self.study.tasks:
            self.rows += self._documents(task, self.options)

    def add_file(
        self,
        path: Path,
        *,
        columns: Mapping[str, str],
        strict: bool,
    ) -> None:
        """Add the questions that a file has responses to; rows of no task are left out, which is logged."""
        saved = read_saved_rows(path, columns=columns, strict=strict)
        files = list(map(TaskFile, self.study.tasks))
        answered = answered_tasks(files, saved, self.options, path)
        if not answered.tasks:
            raise DataError(
                f"{path}: expected ids of questions of {', '.join(self.study.tasks)}, "
                f"got {saved[0].id or saved[0].question!r:.80}."
            )
        if answered.others:
            counts = f"{len(answered.others):,} of {len(saved):,} rows"
            leave_out(
                f"{path}: {counts} are of no task of the study and are left out.",
                strict=strict,
            )
        self.model = models_of([path])[0]
        self.options = answered.tasks[0].options
        for task in answered.tasks:
            scores = _scores_of(task, str(path), strict=strict)
            for row in self._documents(task.questions.file.name, task.options):
                texts = task.matched.texts_by_id.get(row.doc_id)
                if texts is not None:
                    row.response = texts[0] or ""
                    row.note_score(scores.get(row.doc_id))
                    self.rows.append(row)

    def add_run(self, path: Path) -> None:
        """Add the questions of a run with its responses, as the run itself holds them.

        The benchmark's own document adds what the run lacks, such as finance terms, only if it has the same id and
        asks the same question: another version of a set, or a user's own, may have other questions under the same
        ids.
        """
        loaded = report.read([path])
        self.model = loaded.runs[0].model
        for run, result in loaded.results:
            task = result.task
            if result.samples is None or task not in self.study.tasks:
                continue
            if task in self.provenance or run.model != self.model:
                raise DataError(
                    f"{path}: expected results of one model, each task once, got more of {task}."
                )
            has_source = self.options.get("source", "auto") != "auto"
            is_sample = result.provenance.get("split") == "sample"
            if is_sample and not has_source and "data_dir" not in self.options:
                self.options = {**self.options, "source": "sample"}
            known = {}
            try:
                for row in self._documents(task, self.options):
                    known[row.doc_id] = row.doc
            except FinTasksError as error:
                text = "%s: its rows are shown as the run holds them (%s)"
                _log.warning(text, task, error)
            self._note_provenance(task, result.provenance)
            self._add_samples(result, known)

    def _add_samples(
        self,
        result: TaskResult,
        known: Mapping[str, Document],
    ) -> None:
        """Add the rows of a task; samples without a question are left out."""
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
            row = self._row_of(result.task, sample.id, doc, sample.where)
            row.response = response_of(sample)
            row.note_score(sample.metrics.get(metric))
            rows[sample.id] = row
        self.rows += rows.values()

    def _documents(self, task: str, options: Mapping[str, Any]) -> list[Row]:
        """Return the benchmark's documents of a task as rows, and note their provenance."""
        all_options = {**self.study.tasks[task], **options}
        (documents,) = self._benchmark.load(**all_options).values()
        facts = json.loads(documents.info.description)
        self._note_provenance(task, facts)
        rows = []
        for doc in documents:
            rows.append(self._row_of(task, id_of(doc), doc, task))
        return rows

    def _note_provenance(self, task: str, facts: Mapping[str, Any]) -> None:
        self.provenance[task] = {}
        for name in ("split", "data", "scorer"):
            if name in facts:
                self.provenance[task][name] = facts[name]

    def _row_of(
        self,
        task: str,
        doc_id: str,
        doc: Document,
        where: str,
    ) -> Row:
        """Return a document as a row; raise DataError, which names the place, if people cannot label it."""
        kind = str(doc.get("task") or task)
        facts = {"task": [kind], **self._benchmark.groups_of(doc)}
        try:
            return Row(doc_id=doc_id, task=task, doc=dict(doc), facts=facts)
        except ValidationError as error:
            raise DataError(f"{where}: {first_problem(error)}.") from error


def response_of(sample: Sample) -> str:
    """Return the first response in a line of samples, empty if it has none."""
    return str(next(iter(sample.responses), ""))


def _is_term(term: Any) -> bool:
    return isinstance(term, Mapping) and isinstance(term.get("name"), str)


def _is_same_question(doc: Document, own: Document) -> bool:
    for name in _TEXTS:
        text = doc.get(name)
        own_text = own.get(name)
        if isinstance(text, str) and isinstance(own_text, str):
            return text.split() == own_text.split()
    return False


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
