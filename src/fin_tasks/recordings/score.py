"""Score recordings by both scorers as ordinary runs, with what the authors say of each response."""

import json
import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from fin_tasks.answers.cut_off import FailedResponse
from fin_tasks.benchmarks import benchmark_named
from fin_tasks.benchmarks.contract import Document, id_of
from fin_tasks.benchmarks.scored_task import SCORINGS
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.errors import FinTasksError
from fin_tasks.saved.columns import Json
from fin_tasks.saved.files import SavedRow, read_saved_rows
from fin_tasks.saved.recordings import (
    read_financemath,
    read_financereasoning,
    read_xfinbench,
    score_recording,
)
from fin_tasks.saved.run_folder import SavedRun, folder_of, write_run
from fin_tasks.saved.scoring import score_documents

from . import MODEL_PREFIX
from .catalog import Recorded

MADE_BY = "fin-tasks recordings"
_UPSTREAM = {"set": "upstream"}
_Documents: TypeAlias = tuple[Sequence[Document], Mapping[str, Any]]
"""Documents and their provenance."""
_log = logging.getLogger(__name__)


class Scorer:
    """Scores recordings whose files lie below a folder; documents are loaded once for all models."""

    def __init__(self, folder: Path, *, data_dir: Path | None = None) -> None:
        self._folder = folder
        self._data_dir = data_dir
        self._loaded: dict[str, _Documents | None] = {}

    def score(self, recorded: Recorded) -> list[SavedRun]:
        """Score what one model answered in one way; each window size of DynoStock is a task."""
        paths = [self._folder / file.path for file in recorded.files]
        benchmark = recorded.repository.benchmark
        if benchmark == "dynostock":
            runs = _dynostock_runs(paths)
        elif benchmark == "xfinbench":
            recording = read_xfinbench(paths[0], task="bool", data_dir=self._data_dir)
            runs = [score_recording(recording, {})]
        else:
            runs = [self._with_notes(recorded, paths[0])]
        facts = _facts_of(recorded)
        with_facts = []
        for run in runs:
            provenance = {**run.provenance, "recording": facts}
            with_facts.append(run._replace(provenance=provenance))
        return with_facts

    def _with_notes(self, recorded: Recorded, path: Path) -> SavedRun:
        """Score a file whose rows say what the authors think of each response."""
        rows = {row.id: row for row in read_saved_rows(path)}
        documents = self._documents(_task_of(recorded))
        run = (
            _scored_by_data_set(recorded, rows, documents)
            if documents
            else _scored_as_recorded(recorded, path)
        )
        notes = []
        for doc in run.scored.docs:
            notes.append(_note_of(rows[id_of(doc)].fields))
        return run._replace(notes=notes, metadata={**run.metadata, **_usage_of(notes)})

    def _documents(self, task: str) -> _Documents | None:
        """Return the documents of a task as the authors ask them; None if their files cannot be had."""
        if task not in self._loaded:
            self._loaded[task] = self._load(task)
        return self._loaded[task]

    def _load(self, task: str) -> _Documents | None:
        metadata = {"data_dir": str(self._data_dir)} if self._data_dir else {}
        try:
            return TaskFile(task).load({**metadata, "prompts": "upstream"})
        except FinTasksError as error:
            reason = error
        with suppress(FinTasksError):
            docs, provenance = TaskFile(task).load(metadata)
            if "question" in docs[0]:
                _log.warning("%s: without the authors' prompts (%s)", task, reason)
                questions = list(map(_without_prompts, docs))
                return questions, {**provenance, "prompts": _UPSTREAM}
        _log.warning(
            "%s: the questions are those of the recordings, as the authors' files are not here (%s)",
            task,
            reason,
        )
        return None


def _scored_as_recorded(recorded: Recorded, path: Path) -> SavedRun:
    """Score the responses to the questions that the file itself states."""
    read = read_financemath
    if recorded.repository.benchmark == "financereasoning":
        read = read_financereasoning
    mode: Literal["cot", "pot"] = "pot" if recorded.part.mode == "pot" else "cot"
    run = score_recording(read(path, mode=mode), {})
    return run._replace(provenance={**run.provenance, "prompts": _UPSTREAM})


def _scored_by_data_set(
    recorded: Recorded, rows: Mapping[str, SavedRow], documents: _Documents
) -> SavedRun:
    """Score the responses to the documents of a task; say how many of its questions the file states otherwise."""
    all_docs, provenance = documents
    docs = []
    responses = []
    n_differing = 0
    for doc in all_docs:
        row = rows.get(id_of(doc))
        if row is not None:
            docs.append(doc)
            responses.append(_first_text(row))
            n_differing += _differs(doc, row)
    if n_differing:
        text = "%s: %d of %d questions are not those of the data set of today."
        _log.warning(text, recorded.name, n_differing, len(docs))
        provenance = {**provenance, "differing_questions": n_differing}
    task = TaskFile(_task_of(recorded))
    run = score_documents(task, docs, responses, {}, provenance)
    return run._replace(scored=replace(run.scored, n_all=len(all_docs)))


def write(recorded: Recorded, runs: Sequence[SavedRun], out: Path) -> Path:
    """Write the runs of a recorded model into a folder of results; return the results file."""
    return write_run(
        out, runs, model=f"{MODEL_PREFIX}{recorded.model}", made_by=MADE_BY
    )


def is_done(recorded: Recorded, out: Path) -> bool:
    """Return whether a folder has the results of a recording, scored from the same files by this version."""
    return _results_of(recorded, out) is not None


def scores_of(recorded: Recorded, out: Path) -> Iterator[tuple[str, Json]]:
    """Yield each task of a recording in a folder of results, with its questions and its two scores."""
    benchmark = benchmark_named(recorded.repository.benchmark)
    results = _results_of(recorded, out) or {"results": {}}
    for task, totals in results["results"].items():
        metrics = [name.partition(",")[0] for name in totals]
        metric = benchmark.headline(metrics)
        scores = {"n": results["n-samples"][task]["effective"]}
        for scoring in SCORINGS:
            scores[scoring] = totals.get(f"{metric},{scoring}")
        yield task, scores


def _results_of(recorded: Recorded, out: Path) -> Json | None:
    """Return what a folder has of a recording; None if it has nothing, or something else."""
    facts = _facts_of(recorded)
    version = benchmark_named(recorded.repository.benchmark).version
    newest = None
    folder = folder_of(out, MODEL_PREFIX + recorded.model)
    for path in sorted(folder.glob("results_*.json")):
        try:
            results = json.loads(path.read_bytes())
            for config in results["configs"].values():
                provenance = config["metadata"]["provenance"]
                is_same = provenance.get("recording") == facts
                if is_same and provenance.get("scorer", version) == version:
                    newest = results
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            continue  # half written, or not ours
    return newest


def _task_of(recorded: Recorded) -> str:
    name = recorded.repository.benchmark
    if recorded.part.level:
        name += f"_{recorded.part.level}"
    return f"{name}_pot" if recorded.part.mode == "pot" else name


def _facts_of(recorded: Recorded) -> Json:
    """Return what results say of a recording: who recorded it, and what is not known."""
    repository = recorded.repository
    return {
        "repository": repository.repository,
        "commit": repository.commit,
        "date": repository.date,
        "license": repository.license,
        "model": recorded.model,
        "prompts": "the authors'",
        "decoding": "unknown",
        "files": {file.path: file.sha256 for file in recorded.files},
    }


def _dynostock_runs(paths: Sequence[Path]) -> list[SavedRun]:
    from fin_tasks.benchmarks.dynostock.replay import ASKED, replay

    return [SavedRun(task, ASKED, {}) for _, task in replay(paths)]


def _without_prompts(doc: Document) -> Document:
    """Return a document that shows the question alone, because nobody knows what else was sent."""
    question = [doc.get("context"), doc["question"]]
    return {**doc, "system": "", "prompt": "\n\n".join(filter(None, question))}


def _differs(doc: Document, row: SavedRow) -> bool:
    """Return whether a recorded row states another question or truth than the document of its id."""
    fields = row.fields
    texts = [fields.get("question") or "", fields.get("context") or ""]
    texts += fields.get("tables") or []
    for text in texts:
        if str(text).strip() not in doc["prompt"]:
            return True
    truth = fields.get("ground_truth")
    if truth in (None, ""):
        return False
    try:
        # A recording may write 0.9380000000000001.
        return not math.isclose(float(truth), doc["ground_truth"], rel_tol=1e-9)
    except (TypeError, ValueError):
        return True


def _first_text(row: SavedRow) -> list[str]:
    text = row.texts[0] if row.texts else None
    return [FailedResponse("the recording has no response") if text is None else text]


def _usage_of(notes: Sequence[Json]) -> Json:
    """Return the tokens of all responses, if the file states those of each."""
    total = 0
    for note in notes:
        tokens = note.get("tokens")
        if not isinstance(tokens, int):
            return {}
        total += tokens
    return {"usage": {"response_tokens": total, "estimated": False}}


def _note_of(fields: Json) -> Json:
    """Return what the authors say of a response: their score, and tokens and reasoning if the file has them."""
    result = fields.get("result")
    score = result.get("acc") if isinstance(result, dict) else result
    note = {
        "authors_score": score,
        "tokens": fields.get("completion_tokens"),
        "reasoning": fields.get("reasoning_content"),
    }
    return {name: value for name, value in note.items() if value is not None}
