"""Draw the rows of a study at random."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from fin_tasks.benchmarks import benchmark_named
from fin_tasks.data.documents import draw_rows
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.variants.build import Variant

from .cells import CellRule
from .rows import Row, Source
from .study import Study, load_study


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
    source = Source(study, options)
    if run and run.is_file() and not run.name.startswith("results"):
        source.add_file(run, columns=columns or {}, strict=strict)
    elif run:
        source.add_run(run)
    elif "response" in study.show or study.wrong:
        raise ConfigError(
            f"label draw: the study {study.name} is about responses. Name a run folder."
        )
    else:
        source.add_questions()
    if study.wrong:
        source.rows = [row for row in source.rows if row.is_wrong]
    if not source.rows:
        raise DataError(
            f"label draw: expected rows for {study.name}, got none. "
            f"Check {run or 'RUN'}, --data-dir and --split."
        )
    drawn = _drawn_from(source, n, seed)
    if "gold_terms" in study.show or study.candidates:
        _add_terms(drawn, source.options)
    return drawn


def draw_variants(
    benchmark: str,
    variants: Sequence[Variant],
    seed: int,
) -> Draw:
    """Draw variants of a benchmark's questions for people who check them."""
    study = load_study("variants")
    study = study.model_copy(update={"benchmark": benchmark, "tasks": {benchmark: {}}})
    source = Source(study, {})
    for variant in variants:
        fields = variant.fields
        context = fields.get("context", "")
        tables = fields.get("tables", ())
        texts = [variant.question, context, *tables]
        changes = [f"{change['from']} -> {change['to']}" for change in variant.changes]
        gold = [*changes, f"{variant.truth:.12g}", variant.program]
        doc = {"question": "\n\n".join(texts), "answer": "\n".join(gold)}
        facts = {"task": [benchmark]}
        row = Row(doc_id=variant.id, task=benchmark, doc=doc, facts=facts)
        source.rows.append(row)
    return _drawn_from(source, None, seed)


def _drawn_from(source: Source, n: int | None, seed: int) -> Draw:
    """Draw some of the rows from each stratum, and give them their ids."""
    study = source.study
    strata = defaultdict(list)
    for row in source.rows:
        names = row.facts.get(study.strata) or [""]
        strata[names[0]].append(row)
    if isinstance(study.n, dict):
        weights = study.n
        goal = n or sum(weights.values())
    else:
        weights = {name: len(members) for name, members in strata.items()}
        goal = n or study.n
    # Sums are rounded, and not the sizes, so that the sizes add up to the goal.
    ends = np.cumsum(list(weights.values()))
    rounded_ends = np.round(goal / ends[-1] * ends).astype(int)
    sizes = np.diff(rounded_ends, prepend=0).tolist()
    drawn = Draw(study=study, model=source.model, provenance=source.provenance)
    drawn.n_rows = Counter(row.task for row in source.rows)
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
    prefix = drawn.id_prefix()
    for number, row in enumerate(drawn.rows, start=1):
        row.id = f"{prefix}-{number:04d}"
    return drawn


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
