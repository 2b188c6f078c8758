"""Draw the rows of a study from a run, or from a benchmark's documents."""

import json
import logging
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from fin_tasks.benchmarks import benchmark_named
from fin_tasks.benchmarks.contract import id_of
from fin_tasks.data.documents import draw_rows
from fin_tasks.errors import ConfigError, DataError, FinTasksError
from fin_tasks.saved.origin import models_of
from fin_tasks.variants.build import Variant

from .cells import CellRule
from .file_rows import TaskResponses, responses_in
from .row import Row, row_of
from .run_rows import rows_of_run, short_provenance
from .study import Study, load_study

_log = logging.getLogger(__name__)


class Draw(BaseModel):
    """The rows of a study. People who label must not see it, as it holds the right answers."""

    study: Study
    model: str = ""
    provenance: dict[str, dict[str, Any]] = {}
    """By task."""
    rows: list[Row] = []
    n_rows: dict[str, int] = {}
    """How many rows of each task the draw was made from."""

    def id_prefix(self) -> str:
        """Return the start of the ids of its rows, which differs from that of every other draw."""
        doc_ids = [row.doc_id for row in self.rows]
        texts = [self.study.name, self.model, *doc_ids]
        return sha256(json.dumps(texts).encode()).hexdigest()[:4]

    def open_cells(self) -> dict[str, dict[str, CellRule]]:
        """Return the rules of the cells that are still to be filled in, by row and column."""
        cells = {}
        for row in self.rows:
            n_choices = len(row.doc.get("choices") or [])
            n_candidates = len(row.doc.get("candidates") or [])
            rules = self.study.cell_rules(row.kind, n_choices, n_candidates)
            for name in row.labels:
                rules.pop(name, None)
            if rules:
                cells[row.id] = rules
        return cells


def draw(
    study: Study,
    run: Path | None,
    *,
    n: int | None,
    seed: int,
    options: Mapping[str, Any],
    columns: Mapping[str, str] | None = None,
    strict: bool = False,
) -> Draw:
    """Draw n rows, by default as many as the study says, at random from its strata.

    Questions and responses are those of the run. Without a run, and for the responses in a file, whose `columns` may
    be named, the questions are the benchmark's documents with the options `source`, `data_dir` and `split`.
    """
    drawn = Draw(study=study)
    rows = []
    if run and run.is_file() and not run.name.startswith("results"):
        drawn.model = models_of([run])[0]
        for answered in responses_in(
            run, list(study.tasks), options, columns=columns or {}, strict=strict
        ):
            rows += _rows_of_answered(drawn, answered)
    elif run:
        found = rows_of_run(
            study, run, lambda task: _known_documents(drawn, task, options)
        )
        drawn.model, rows = found.model, found.rows
        drawn.provenance = found.provenance
    elif "response" in study.show or study.wrong:
        raise ConfigError(
            f"label draw: the study {study.name} is about responses. Name a run folder."
        )
    else:
        for task in study.tasks:
            rows += _rows_of_task(drawn, task, options)
    if not rows:
        raise DataError(
            f"label draw: expected rows for {study.name}, got none. "
            f"Check {run or 'RUN'}, --data-dir and --split."
        )
    _add_rows(drawn, rows, n, seed)
    if "gold_terms" in study.show or study.candidates:
        _add_terms(drawn, options)
    return drawn


def draw_variants(benchmark: str, variants: Sequence[Variant], seed: int) -> Draw:
    """Draw variants of a benchmark's questions for people who check them."""
    study = load_study("variants")
    study = study.model_copy(update={"benchmark": benchmark, "tasks": {benchmark: {}}})
    rows = []
    for variant in variants:
        fields = variant.fields
        context = fields.get("context", "")
        tables = fields.get("tables", ())
        texts = [variant.question, context, *tables]
        changes = [f"{change['from']} -> {change['to']}" for change in variant.changes]
        gold = [*changes, f"{variant.truth:.12g}", variant.program]
        doc = {"question": "\n\n".join(texts), "answer": "\n".join(gold)}
        facts = {"task": [benchmark]}
        rows.append(Row(doc_id=variant.id, task=benchmark, doc=doc, facts=facts))
    drawn = Draw(study=study)
    _add_rows(drawn, rows, None, seed)
    return drawn


def _add_rows(drawn: Draw, rows: Sequence[Row], n: int | None, seed: int) -> None:
    """Draw some of the rows from each stratum into a new draw, and give them their ids."""
    study = drawn.study
    strata = defaultdict(list)
    for row in rows:
        names = row.facts.get(study.strata) or [""]
        strata[names[0]].append(row)
    if isinstance(study.n, dict):
        weights = study.n
        goal = n or sum(weights.values())
    else:
        weights = {name: len(members) for name, members in strata.items()}
        goal = n or study.n
    share = goal / sum(weights.values())
    # Sums are rounded, and not the sizes, so that the sizes add up to the goal.
    ends = [round(share * end) for end in accumulate(weights.values())]
    sizes = np.diff(ends, prepend=0).tolist()
    for name, size in zip(weights, sizes, strict=True):
        if size:
            # Questions of two tasks may have the same id.
            drawn.rows += draw_rows(
                study.benchmark,
                strata[name],
                size,
                seed,
                lambda row: f"{row.task} {row.doc_id}",
            )
    drawn.n_rows = Counter(row.task for row in rows)
    prefix = drawn.id_prefix()
    for number, row in enumerate(drawn.rows, start=1):
        row.id = f"{prefix}-{number:04d}"


def _add_terms(drawn: Draw, options: Mapping[str, Any]) -> None:
    """Add the finance terms that people see to the documents of the drawn rows."""
    study = drawn.study
    terms = benchmark_named(study.benchmark).module("terms")
    if terms is None:
        raise ConfigError(
            f"study {study.name}: expected a benchmark with finance terms, got {study.benchmark}. "
            "Show neither gold_terms nor candidates."
        )
    docs = [row.doc for row in drawn.rows]
    texts = terms.terms_for_people(docs, study.candidates, options)
    for doc, terms_of_doc in zip(docs, texts, strict=True):
        doc |= terms_of_doc


def _known_documents(
    drawn: Draw, task: str, options: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return the benchmark's own documents of a task by id; none if its files are not here."""
    try:
        rows = _rows_of_task(drawn, task, options)
    except FinTasksError as error:
        _log.warning("%s: its rows are shown as the run holds them (%s)", task, error)
        return {}
    return {row.doc_id: row.doc for row in rows}


def _rows_of_answered(drawn: Draw, answered: TaskResponses) -> list[Row]:
    """Return the questions of a task with the responses of a file."""
    rows = []
    for row in _rows_of_task(drawn, answered.task, answered.options):
        score = answered.scores.get(row.doc_id)
        is_answered = row.doc_id in answered.responses
        if not is_answered or (drawn.study.wrong and score != 0):
            continue
        row.response = answered.responses[row.doc_id]
        if score is not None:
            row.facts["response"] = ["right" if score > 0 else "wrong"]
        rows.append(row)
    return rows


def _rows_of_task(
    drawn: Draw,
    task: str,
    options: Mapping[str, Any],
) -> list[Row]:
    """Return the documents of a task as rows, and note their provenance in the draw."""
    benchmark = benchmark_named(drawn.study.benchmark)
    all_options = {**drawn.study.tasks[task], **options}
    (documents,) = benchmark.load(**all_options).values()
    facts = json.loads(documents.info.description)
    drawn.provenance[task] = short_provenance(facts)
    rows = []
    for doc in documents:
        rows.append(row_of(benchmark, task, id_of(doc), doc, task))
    return rows
