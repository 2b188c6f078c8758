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
from fin_tasks.saved.files import Json, SavedRow, read_saved_rows
from fin_tasks.saved.recordings import (
    read_financemath,
    read_financereasoning,
    read_xfinbench,
    score_recording,
)
from fin_tasks.saved.run_folder import SavedRun, folder_of, write_run
from fin_tasks.saved.scoring import score_documents

from .catalog import Recorded

MADE_BY = "fin-tasks recordings"
MODEL_PREFIX = "recorded/"
"""Before a model's name; `report/recorded.py` knows recorded models by it."""

_UPSTREAM = {"set": "upstream"}
_Asked: TypeAlias = tuple[Sequence[Document], Mapping[str, Any]]
"""Documents and their provenance."""
_log = logging.getLogger(__name__)


class Scorer:
    """Scores recordings whose files lie below a folder; documents are loaded once for all models."""

    def __init__(self, folder: Path, *, data_dir: Path | None = None) -> None:
        self._folder = folder
        self._data_dir = data_dir
        self._loaded: dict[str, _Asked | None] = {}

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
            runs = [self._with_own_questions(recorded, paths[0])]
        facts = _facts_of(recorded)
        return [
            run._replace(provenance={**run.provenance, "recording": facts})
            for run in runs
        ]

    def _with_own_questions(self, recorded: Recorded, path: Path) -> SavedRun:
        task = _task_of(recorded)
        rows = {row.id: row for row in read_saved_rows(path)}
        loaded = self._documents(task)
        if loaded is None:
            read = {
                "financemath": read_financemath,
                "financereasoning": read_financereasoning,
            }[recorded.repository.benchmark]
            run = score_recording(read(path, mode=_mode_of(recorded)), {})
            of_recording = {**run.provenance, "prompts": _UPSTREAM}
            run = run._replace(provenance=of_recording)
        else:
            docs, provenance = loaded
            n_differing = sum(_differs(doc, rows.get(id_of(doc))) for doc in docs)
            if n_differing:
                text = "%s: %d of %d questions are not those of the data set of today."
                _log.warning(text, recorded.name, n_differing, len(docs))
                provenance = {**provenance, "differing_questions": n_differing}
            docs = [doc for doc in docs if id_of(doc) in rows]
            responses = [_first_text(rows[id_of(doc)]) for doc in docs]
            run = score_documents(TaskFile(task), docs, responses, {}, provenance)
            run = run._replace(scored=replace(run.scored, n_all=len(loaded[0])))
        notes = [_note_of(rows[id_of(doc)].fields) for doc in run.scored.docs]
        return run._replace(notes=notes)

    def _documents(self, task: str) -> _Asked | None:
        """Return the documents of a task as the authors ask them; None if their files cannot be had."""
        if task not in self._loaded:
            self._loaded[task] = self._load(task)
        return self._loaded[task]

    def _load(self, task: str) -> _Asked | None:
        metadata = {"data_dir": str(self._data_dir)} if self._data_dir else {}
        try:
            return TaskFile(task).load({**metadata, "prompts": "upstream"})
        except FinTasksError as error:
            reason = error
        with suppress(FinTasksError):
            docs, provenance = TaskFile(task).load(metadata)
            if "question" in docs[0]:
                _log.warning("%s: without the authors' prompts (%s)", task, reason)
                asked = [_without_prompts(doc) for doc in docs]
                return asked, {**provenance, "prompts": _UPSTREAM}
        _log.warning(
            "%s: the questions are taken from the recordings, as the authors' own files are not here (%s)",
            task,
            reason,
        )
        return None


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
        scores = {by: totals.get(f"{metric},{by}") for by in SCORINGS}
        yield task, {"n": results["n-samples"][task]["effective"], **scores}


def _results_of(recorded: Recorded, out: Path) -> Json | None:
    """Return what a folder has of a recording; None if it has nothing, or something else."""
    facts = _facts_of(recorded)
    version = benchmark_named(recorded.repository.benchmark).version
    found = None
    folder = folder_of(out, MODEL_PREFIX + recorded.model)
    for path in sorted(folder.glob("results_*.json")):
        try:
            results = json.loads(path.read_bytes())
            for config in results["configs"].values():
                provenance = config["metadata"]["provenance"]
                is_same = provenance.get("recording") == facts
                if is_same and provenance.get("scorer", version) == version:
                    found = results
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            continue  # half written, or not ours
    return found


def _task_of(recorded: Recorded) -> str:
    name = recorded.repository.benchmark
    if recorded.part.level:
        name += f"_{recorded.part.level}"
    return f"{name}_pot" if recorded.part.mode == "pot" else name


def _mode_of(recorded: Recorded) -> Literal["cot", "pot"]:
    return "pot" if recorded.part.mode == "pot" else "cot"


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


def _differs(doc: Document, row: SavedRow | None) -> bool:
    """Return whether a recorded row states another question or truth than the document of its id."""
    if row is None:
        return False
    fields = row.fields
    asked = [fields.get("question") or "", fields.get("context") or ""]
    asked += fields.get("tables") or []
    if not all(str(text).strip() in doc["prompt"] for text in asked):
        return True
    try:
        truth = float(fields.get("ground_truth") or doc["ground_truth"])
    except (TypeError, ValueError):
        return True
    # A recording may write 0.9380000000000001.
    return not math.isclose(truth, doc["ground_truth"], rel_tol=1e-9)


def _first_text(row: SavedRow) -> list[str]:
    text = row.texts[0] if row.texts else None
    return [FailedResponse("the recording has no response") if text is None else text]


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
