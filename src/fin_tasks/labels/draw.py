"""Draw the rows of a study from a run, or from a benchmark's documents."""

import hashlib
import importlib
import json
import logging
from collections import defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from fin_tasks import report
from fin_tasks.data import documents
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.labels.study import Study
from fin_tasks.report.rows import read_samples
from fin_tasks.report.values import headline

__all__ = ["Draw", "Row", "draw", "load_draw"]

Responses = dict[str, dict[str, tuple[str, float | None]]]  # task to document to response and score
_log = logging.getLogger(__name__)


class Row(BaseModel):
    """A row that people label. Its facts, such as its task, break shares down."""

    id: str = ""
    doc_id: str
    task: str
    doc: dict[str, Any]
    facts: dict[str, list[str]]
    response: str = ""


class Draw(BaseModel):
    """The rows of a study. People who label must not see it, as it holds the gold answers."""

    study: Study
    model: str
    provenance: dict[str, dict[str, Any]]  # by task
    rows: list[Row]


def draw(study: Study, run: Path | None, *, n: int | None, seed: int, options: Mapping[str, Any]) -> Draw:
    """Draw n rows, or as many as the study wants, at random from each stratum.

    The questions are the benchmark's documents, with the options `source`, `data_dir` and `split`; the responses are
    those of the run.
    """
    if run is None and ("response" in study.show or study.wrong):
        raise ConfigError(f"label draw: the study {study.name} is about responses. Name a run folder.")
    model, responses = _responses(study, run) if run else ("", {task: {} for task in study.tasks})
    rows, provenance = _documents(study, options, responses)
    if run:
        rows = [row for row in rows if row.doc_id in responses[row.task]]
        for row in rows:
            row.response, score = responses[row.task][row.doc_id]
            row.facts |= {} if score is None else {"response": ["right" if score > 0 else "wrong"]}
        if left := sum(map(len, responses.values())) - len(rows):
            _log.warning("label draw: %d responses left out, as their questions are not in the documents.", left)
        if study.wrong:
            rows = [row for row in rows if row.facts.get("response") == ["wrong"]]
    if not rows:
        raise DataError("label draw: expected rows for the study, got none. Check RUN, --data-dir and --split.")
    strata: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        strata[row.facts.get(study.strata, [""])[0]].append(row)
    weights = study.n if isinstance(study.n, dict) else {name: len(own) for name, own in strata.items()}
    total = sum(weights.values())
    goal = n or (study.n if isinstance(study.n, int) else total)
    drawn: list[Row] = []
    passed = 0
    for name, weight in weights.items():
        # Rounding where strata end, and not their sizes, makes the sizes add up.
        size = round(goal * (passed + weight) / total) - round(goal * passed / total)
        passed += weight
        if size:
            drawn += documents.draw(study.benchmark, strata[name], size, seed, lambda row: row.doc_id)
    if len(drawn) < goal:
        _log.warning("label draw: expected %d rows, there are only %d.", goal, len(drawn))
    ids = [study.name, model, *(row.doc_id for row in drawn)]
    prefix = hashlib.sha256(json.dumps(ids).encode()).hexdigest()[:4]
    for number, row in enumerate(drawn, 1):
        row.id = f"{prefix}-{number:04d}"
    return Draw(study=study, model=model, provenance=provenance, rows=drawn)


def load_draw(path: Path) -> Draw:
    """Read the file that `label draw` wrote beside the sheets."""
    try:
        return Draw.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise DataError(f"{path}: expected the .draw.json file of `fin-tasks label draw`, got {error}.") from error


def _responses(study: Study, path: Path) -> tuple[str, Responses]:
    found = report.read([path])
    named = [(run.model, one) for run in found.runs for one in run.tasks if one.samples and one.task in study.tasks]
    models = sorted({model for model, _ in named})
    if len(models) != 1 or len({one.task for _, one in named}) < len(named):
        expected = f"one model's responses to {', '.join(study.tasks)}, each task once"
        raise DataError(f"{path}: expected {expected}, got {len(named)} results of {', '.join(models) or 'no model'}.")
    responses: Responses = {}
    for _, result in named:
        own = responses.setdefault(result.task, {})
        variant = "paper" if "paper" in result.totals else next(iter(result.totals), "")
        for sample in read_samples(result):
            if sample.get("filter", variant) == variant:
                own[_id_of(sample["doc"])] = (sample["resps"][0][0], sample.get(headline(study.benchmark, result)))
    return models[0], responses


def _documents(study: Study, options: Mapping[str, Any], tasks: Collection[str]) -> tuple[list[Row], dict[str, Any]]:
    load = importlib.import_module(f"fin_tasks.benchmarks.{study.benchmark}.data").load
    given = {name: value for name, value in options.items() if value is not None}
    rows: list[Row] = []
    provenance = {}
    for task, own in study.tasks.items():
        if task not in tasks:
            continue
        (data,) = load(**own, **given).values()
        about = json.loads(data.info.description)
        provenance[task] = {name: about[name] for name in ("split", "data", "scorer") if name in about}
        for doc in data:
            facts = {"task": [doc.get("task") or task]}
            facts |= {name: [doc[name]] for name in ("category", "topic") if doc.get(name)}
            facts |= {"capability": doc["capabilities"]} if doc.get("capabilities") else {}
            rows.append(Row(doc_id=_id_of(doc), task=task, doc=doc, facts=facts))
    return rows, provenance


def _id_of(doc: Mapping[str, Any]) -> str:
    return str(doc["id"] if "id" in doc else doc["question_id"])
