"""Draw the rows of a study from a run, or from a benchmark's documents."""

import hashlib
import importlib
import json
import logging
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from fin_tasks import report
from fin_tasks.data import documents
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.labels.study import Study

__all__ = ["Draw", "Row", "draw", "load_draw"]

_log = logging.getLogger(__name__)


class Row(BaseModel):
    """A row that people label; shares are broken down by its facts."""

    id: str
    doc_id: str
    task: str
    doc: dict[str, Any]
    facts: dict[str, list[str]]
    response: str


class Draw(BaseModel):
    """The rows of a study with everything that merging needs. It holds the gold answers: people must not see it."""

    study: Study
    seed: int
    model: str
    provenance: dict[str, dict[str, Any]]  # by task
    rows: list[Row]


def draw(study: Study, run: Path | None, *, n: int | None, seed: int, options: Mapping[str, Any]) -> Draw:
    """Draw n rows, or as many as the study wants, at random from each stratum.

    `options` are `source`, `data_dir` and `split` of the documents, from which rows are drawn if there is no run.
    """
    if run is None and ("response" in study.show or study.select != "all"):
        raise ConfigError(f"label draw: the study {study.name} is about responses. Name a run folder.")
    model, rows, provenance = _responses(study, run, options) if run else _documents(study, options)
    if not rows or len({row.doc_id for row in rows}) < len(rows):
        expected = f"rows of {', '.join(study.tasks)}, with their questions and each id once"
        raise DataError(f"label draw: expected {expected}, got {len(rows)}. Check RUN, --data-dir and --split.")
    strata: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        strata[row.facts.get(study.strata, [""])[0]].append(row)
    # Rows are shared out in proportion; the largest remainders are rounded up, strata without a row first.
    weights = study.n if isinstance(study.n, dict) else {name: len(of) for name, of in strata.items()}
    goal = n or (study.n if isinstance(study.n, int) else sum(study.n.values()))
    exact = {name: goal * weight / sum(weights.values()) for name, weight in weights.items()}
    sizes = {name: int(one) for name, one in exact.items()}
    for name in sorted(exact, key=lambda one: (sizes[one] > 0, sizes[one] - exact[one]))[: goal - sum(sizes.values())]:
        sizes[name] += 1
    kept: set[str] = set()
    for name, size in sizes.items():
        if size:
            kept |= {r.doc_id for r in documents.draw(study.benchmark, strata[name], size, seed, lambda r: r.doc_id)}
    if len(kept) < goal:
        _log.warning("label draw: expected %d rows, there are only %d.", goal, len(kept))
    drawn = [row for row in rows if row.doc_id in kept]
    name = hashlib.sha256(json.dumps([study.name, model, *sorted(kept)]).encode()).hexdigest()[:4]
    for place, row in enumerate(drawn, 1):
        row.id = f"{name}-{place:04d}"
    return Draw(study=study, seed=seed, model=model, provenance=provenance, rows=drawn)


def load_draw(path: Path) -> Draw:
    """Read the file that `label draw` wrote beside the sheets."""
    try:
        return Draw.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise DataError(f"{path}: expected the .draw.json file of `fin-tasks label draw`, got {error}.") from error


def _responses(study: Study, path: Path, options: Mapping[str, Any]) -> tuple[str, list[Row], dict[str, Any]]:
    from fin_tasks.report.lm_eval import read_samples
    from fin_tasks.report.values import headline

    found = report.read([path])
    named = [(run, one) for run in found.runs for one in run.tasks if one.samples and one.task in study.tasks]
    models = {run.model for run, _ in named}
    if len(models) != 1:
        expected = f"one model's responses to {', '.join(study.tasks)}"
        raise DataError(f"{path}: expected {expected}, got {', '.join(sorted(models)) or 'none'}.")
    rows: list[Row] = []
    for _, result in named:
        variant = "paper" if "paper" in result.totals else next(iter(result.totals), "")
        table, metric = found.rows_of(result, variant), headline(study.benchmark, result)
        scores = dict(zip(table["doc_id"], table[metric], strict=True)) if metric in table else {}
        for sample in read_samples(result):
            row = _row(result.task, sample["doc"], sample.get("doc_id"), sample.get("resps"))
            score = scores.get(row.doc_id)
            chosen = {"all": True, "wrong": score == 0, "figure": bool(row.doc.get("figure"))}[study.select]
            if sample.get("filter", variant) == variant and chosen:
                row.facts |= {} if score is None else {"response": ["right" if score > 0 else "wrong"]}
                rows.append(row)
    if lacking := {row.doc_id for row in rows if not _whole(row.doc)}:  # replayed recordings have no questions
        known = {row.doc_id: row.doc for row in _documents(study, options)[1]}
        missing = lacking - known.keys()
        if missing:
            _log.warning("label draw: %d rows left out, as their questions or figures are missing.", len(missing))
        rows = [row for row in rows if row.doc_id not in missing]
        for row in rows:
            row.doc |= known.get(row.doc_id, {})
            row.facts = {**_row(row.task, row.doc).facts, **row.facts}
    return models.pop(), rows, {}


def _documents(study: Study, options: Mapping[str, Any]) -> tuple[str, list[Row], dict[str, Any]]:
    load = importlib.import_module(f"fin_tasks.benchmarks.{study.benchmark}.data").load
    rows: list[Row] = []
    provenance = {}
    for kinds in study.documents:
        asked = {**kinds, **{name: value for name, value in options.items() if value is not None}}
        try:
            (data,) = load(**asked).values()
        except DataError as error:  # the bank of finance terms is not public
            if asked.pop("knowledge", None) is None:
                raise
            _log.warning("label draw: finance terms are shown by their ids: %s", error)
            (data,) = load(**asked).values()
        task = "_".join(filter(None, (study.benchmark, kinds.get("subset") or kinds.get("language"))))
        facts = json.loads(data.info.description)
        provenance[task] = {name: facts[name] for name in ("split", "data", "scorer") if name in facts}
        rows += [_row(task, doc) for doc in data]
    return "", rows, provenance


def _whole(doc: Mapping[str, Any]) -> bool:
    return bool((doc.get("question") or doc.get("prompt")) and (doc.get("figure_path") or not doc.get("figure")))


def _row(task: str, doc: Mapping[str, Any], number: Any = None, response: Any = "") -> Row:
    while isinstance(response, list):  # lm-eval's nested lists
        response = response[0] if response else ""
    given = {"task": doc.get("task") or task, "capability": doc.get("capabilities")}
    given |= {name: doc.get(name) for name in ("category", "topic")}
    facts = {name: list(map(str, one)) if isinstance(one, list) else [str(one)] for name, one in given.items() if one}
    doc_id = str(doc.get("id", doc.get("question_id", number)))
    return Row(id="", doc_id=doc_id, task=task, doc=dict(doc), facts=facts, response=str(response or ""))
