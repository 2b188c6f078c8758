"""Score responses that somebody saved, for any task, by id or in the order of the documents."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from fin_tasks.adapters.task_defaults import METRIC_METADATA
from fin_tasks.adapters.task_file import TaskFile
from fin_tasks.answers.cut_off import mark_response
from fin_tasks.benchmarks.contract import Document, id_of
from fin_tasks.benchmarks.scored_task import ScoredTask, score_task
from fin_tasks.data.tables import read_csv, read_json
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.judging.judge import answer_reader_from
from fin_tasks.sandbox import Runner, open_runner
from fin_tasks.settings import Settings

if TYPE_CHECKING:
    from pandas import DataFrame

Response: TypeAlias = str | Sequence[str | None] | None
"""A response, or several to one document; None if the model gave none."""
Responses: TypeAlias = "Mapping[str, Response] | Iterable[Response] | DataFrame"

_COLUMNS = ("id", "response")
_ALIASES = {"id": "question_id", "response": "output"}
"""What FinanceMath and lm-eval's samples call the columns."""
_JUDGE_OPTIONS = ("judge_", "reader_")
"""Metadata that the facts about a judge repeat."""


@dataclass(frozen=True, kw_only=True)
class SavedRun:
    """Scored responses to one task, and what results say about the task."""

    scored: ScoredTask
    provenance: Mapping[str, Any]
    metadata: Mapping[str, Any]

    def summary(self) -> dict[str, Any]:
        """Return how many documents were scored, and the totals by variant and metric."""
        scored = self.scored
        totals = scored.totals()
        summary: dict[str, Any] = {
            "task": scored.name,
            "n": len(scored.docs),
            "n_all": scored.n_all,
        }
        for variant in scored.values:
            summary[variant] = {name: totals[f"{name},{variant}"] for name in scored.metrics}
        return {**summary, **scored.reader_facts()}


def score_responses(
    task: str, responses: Responses, metadata: Mapping[str, Any] | None = None
) -> SavedRun:
    """Score the responses to a task's documents, several to a document by their mean.

    Args:
        task: Name of the task.
        responses: By id; or one for each document, in their order; or a table with the columns `id`
            and `response`. Documents without a response are left out, and None is a response that
            the model did not give: `robust` leaves it unscored.
        metadata: Options as in lm-eval, with those of a model that reads answers.
    """
    options = dict(metadata or {})
    task_file = TaskFile(task)
    if task_file.judge:
        raise ConfigError(
            f"{task}: its responses are scored by a judge. Save them as a file, and ask the judge "
            "with `fin-tasks judge`."
        )
    settings = Settings.from_environ()
    reader = answer_reader_from(options, settings)
    docs, provenance = task_file.load(options)
    answered, texts = _match(task, docs, responses)
    failed = [place for place, own in enumerate(texts) if set(own) == {None}]
    named = {name: options[name] for name in METRIC_METADATA if name in options}
    with _sandbox(task_file, settings) as runner:
        scored = score_task(
            task_file.benchmark,
            task,
            answered,
            [["" if text is None else text for text in own] for own in texts],
            options={**task_file.options, **named},
            run_programs=runner.run if runner else None,
            answer_reader=reader if task_file.answer_reader else None,
            failed=failed,
        )
    facts = {name: value for name, value in options.items() if not name.startswith(_JUDGE_OPTIONS)}
    if runner:
        facts["sandbox"] = {"tier": runner.tier, "reason": runner.reason}
    scored = replace(scored, n_all=len(docs))
    return SavedRun(scored=scored, provenance=provenance, metadata=facts)


def read_responses(file: Path) -> dict[str, list[str | None]]:
    """Read the responses in a file by id: CSV, JSON lines or a JSON list with `id` and `response`.

    Several rows of one id are several responses. `finish_reason` says which were cut off. A file of
    lm-eval's samples is read, too.
    """
    if file.suffix == ".csv":
        rows: Sequence[Mapping[str, Any]] = [record.cells for record in read_csv(file, _COLUMNS)]
    else:
        rows = read_json(file, _COLUMNS, aliases=_ALIASES)
    return _by_id(str(file), rows)


def _sandbox(task_file: TaskFile, settings: Settings) -> AbstractContextManager[Runner | None]:
    if not task_file.runs_programs:
        return nullcontext()
    return open_runner(tier=settings.sandbox, workers=settings.sandbox_workers)


def _match(
    task: str, docs: Sequence[Document], responses: Responses
) -> tuple[list[Document], list[list[str | None]]]:
    """Return the documents that have responses, and the responses to each."""
    texts_by_id = _texts_by_id(task, docs, responses)
    known = {id_of(doc) for doc in docs}
    strangers = [name for name in texts_by_id if name not in known]
    if strangers:
        raise DataError(
            f"{task}: expected ids of its documents, such as {id_of(docs[0])!r}; no document has the "
            f"id {strangers[0]!r:.80} (and {len(strangers) - 1:,} other ids)."
        )
    if not texts_by_id:
        raise DataError(f"{task}: expected at least one response, got none.")
    answered = [doc for doc in docs if id_of(doc) in texts_by_id]
    return answered, [texts_by_id[id_of(doc)] for doc in answered]


def _texts_by_id(
    task: str, docs: Sequence[Document], responses: Responses
) -> dict[str, list[str | None]]:
    columns = getattr(responses, "columns", None)
    if columns is not None:
        missing = [name for name in _COLUMNS if name not in columns]
        if missing:
            got = ", ".join(map(str, columns))
            raise DataError(
                f"{task}: expected a table with the columns id and response, got {got}."
            )
        table: Any = responses
        return _by_id(task, table.to_dict("records"))
    if isinstance(responses, Mapping):
        pairs = responses.items()
        return {str(name): _texts(f"{task}, {name}", response) for name, response in pairs}
    listed = [responses] if isinstance(responses, str) else list(responses)
    if len(listed) != len(docs):
        raise DataError(
            f"{task}: expected a response to each of {len(docs):,} documents, got {len(listed):,}. "
            "Give them by id if some are missing."
        )
    ids = [id_of(doc) for doc in docs]
    return {
        name: _texts(f"{task}, {name}", response)
        for name, response in zip(ids, listed, strict=True)
    }


def _by_id(where: str, rows: Iterable[Mapping[str, Any]]) -> dict[str, list[str | None]]:
    texts_by_id: dict[str, list[str | None]] = {}
    for row in rows:
        name = str(row["id"])
        texts = _texts(f"{where}, {name}", row["response"])
        reason = row.get("finish_reason")
        texts = [None if text is None else mark_response(text, reason) for text in texts]
        texts_by_id.setdefault(name, []).extend(texts)
    return texts_by_id


def _texts(where: str, response: Any) -> list[str | None]:
    """Return the responses in nested lists, as lm-eval's samples have them."""
    if isinstance(response, list | tuple) and response:
        return [text for inner in response for text in _texts(where, inner)]
    if response is None or response != response:  # a missing cell of a table is NaN
        return [None]
    if not isinstance(response, str):
        raise DataError(f"{where}: expected text as response, got {response!r:.80}.")
    return [response]
