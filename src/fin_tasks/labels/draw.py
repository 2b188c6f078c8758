"""Draw the rows of a study from a run, or from a benchmark's documents."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from fin_tasks import report
from fin_tasks.benchmarks import benchmark_named
from fin_tasks.benchmarks.contract import id_of
from fin_tasks.data.documents import draw_rows
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.labels.study import Allowed, Study
from fin_tasks.report.model import TaskResult, headline
from fin_tasks.report.samples import Sample, read_samples

_PROVENANCE = ("split", "data", "scorer")


class Row(BaseModel):
    """A row that people label."""

    id: str = ""
    doc_id: str
    task: str
    doc: dict[str, Any]
    facts: dict[str, list[str]]
    """What shares are broken down by: its task, its breakdowns, and whether it is right."""
    response: str = ""
    labels: dict[str, str | float] = {}
    """What was decided in an earlier round, by question."""

    @property
    def kind(self) -> str:
        """Return its `task` in the benchmark's own words, else the task of lm-eval."""
        return self.facts["task"][0]


class Draw(BaseModel):
    """The rows of a study. People who label must not see it, as it holds the right answers."""

    study: Study
    model: str = ""
    provenance: dict[str, dict[str, Any]] = {}
    """By task."""
    rows: list[Row] = []

    def open_columns(self, row: Row) -> list[str]:
        """Return the cells of a row that are still to be filled in."""
        return [column for column in self.study.columns() if column not in row.labels]

    def open_rows(self) -> list[Row]:
        """Return the rows with cells that are still to be filled in."""
        return [row for row in self.rows if self.open_columns(row)]

    def allowed(self, column: str, row: Row) -> Allowed:
        """Return what a cell may hold."""
        if self.study.questions:
            return Allowed(self.study.questions[column].allowed)
        answer = self.study.answers[row.kind]
        if column == "minutes":
            return Allowed([], answer.minutes)
        return answer.allowed(len(row.doc.get("choices") or ()))


def draw(
    study: Study,
    run: Path | None,
    *,
    n: int | None,
    seed: int,
    options: Mapping[str, Any],
) -> Draw:
    """Draw n rows, or as many as the study asks for, at random from each stratum.

    The questions are the benchmark's documents with the options `source`, `data_dir` and `split`.
    The responses are those of the run.
    """
    drawn = Draw(study=study)
    if run is not None:
        rows = _rows_of_run(drawn, run, options)
    elif "response" in study.show or study.wrong:
        problem = f"the study {study.name} is about responses"
        raise ConfigError(f"label draw: {problem}. Name a run folder.")
    else:
        rows = []
        for task in study.tasks:
            rows += _questions(drawn, task, options)
    if not rows:
        problem = "expected rows for the study, got none"
        raise DataError(f"label draw: {problem}. Check RUN, --data-dir and --split.")
    drawn.rows = _sample(study, rows, n, seed)
    _number(drawn)
    return drawn


def _sample(
    study: Study,
    rows: Sequence[Row],
    n: int | None,
    seed: int,
) -> list[Row]:
    strata: dict[str, list[Row]] = defaultdict(list)
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
    # Rounding where strata end, and not their sizes, makes the sizes add up.
    ends = [round(share * end) for end in accumulate(weights.values())]
    sizes = np.diff(ends, prepend=0).tolist()
    drawn = []
    for name, size in zip(weights, sizes, strict=True):
        if size:
            # The same id may stand for questions of two tasks.
            drawn += draw_rows(
                study.benchmark,
                strata[name],
                size,
                seed,
                lambda row: f"{row.task} {row.doc_id}",
            )
    return drawn


def _number(drawn: Draw) -> None:
    """Give the rows ids that differ from those of other draws."""
    texts = [drawn.study.name, drawn.model]
    texts += [row.doc_id for row in drawn.rows]
    digest = sha256(json.dumps(texts).encode())
    prefix = digest.hexdigest()[:4]
    for number, row in enumerate(drawn.rows, start=1):
        row.id = f"{prefix}-{number:04d}"


def _rows_of_run(
    drawn: Draw,
    path: Path,
    options: Mapping[str, Any],
) -> list[Row]:
    """Return questions with the responses of a run, and note its model."""
    runs = report.read([path]).runs
    drawn.model = runs[0].model
    rows: list[Row] = []
    for run in runs:
        for result in run.tasks:
            if result.samples is None or result.task not in drawn.study.tasks:
                continue
            if result.task in drawn.provenance or run.model != drawn.model:
                expected = "expected results of one model, each task once"
                raise DataError(f"{path}: {expected}, got more of {result.task}.")
            questions = _questions(drawn, result.task, options)
            rows += _with_responses(drawn.study, result, questions)
    return rows


def _with_responses(
    study: Study,
    result: TaskResult,
    questions: Sequence[Row],
) -> list[Row]:
    questions_by_id = {row.doc_id: row for row in questions}
    metric = headline(result)
    rows = []
    for sample in read_samples(result.samples):
        # The lines of all variants hold the same responses, so the first one is enough.
        row = questions_by_id.pop(sample.id, None)
        if row is None:
            continue
        row.response = response_of(sample)
        score = sample.metrics.get(metric)
        if score is not None:
            row.facts["response"] = ["right" if score > 0 else "wrong"]
        if score == 0 or not study.wrong:
            rows.append(row)
    return rows


def response_of(sample: Sample) -> str:
    """Return the first response in a line of samples, empty if it has none."""
    return str(next(iter(sample.responses), ""))


def _questions(
    drawn: Draw,
    task: str,
    options: Mapping[str, Any],
) -> list[Row]:
    """Return the documents of a task as rows, and note their provenance."""
    benchmark = benchmark_named(drawn.study.benchmark)
    task_options = dict(drawn.study.tasks[task])
    for name, value in options.items():
        if value is not None:
            task_options[name] = value
    (documents,) = benchmark.load(**task_options).values()
    facts = json.loads(documents.info.description)
    provenance = {name: facts[name] for name in _PROVENANCE if name in facts}
    drawn.provenance[task] = provenance
    rows = []
    for doc in documents:
        row = Row(
            doc_id=id_of(doc),
            task=task,
            doc=doc,
            facts={"task": [doc.get("task") or task], **benchmark.parts_of(doc)},
        )
        rows.append(row)
    return rows
