"""Score the responses of a submission with the installed task, and compare its claims."""

import json
from collections.abc import (
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from functools import partial
from typing import Any

from fin_tasks.adapters.task_defaults import function_of
from fin_tasks.adapters.task_file import (
    TaskFile,
    rubric_of,
)
from fin_tasks.benchmarks.breakdowns import fields_of
from fin_tasks.benchmarks.contract import (
    Document,
    id_of,
)
from fin_tasks.benchmarks.scored_task import (
    VARIANTS,
    ScoredTask,
    with_outcomes,
)
from fin_tasks.judging.item import (
    Judged,
    Reply,
)
from fin_tasks.judging.step import (
    JudgeStep,
    has_result,
    text_of,
)
from fin_tasks.report.model import TaskResult
from fin_tasks.report.samples import Sample
from fin_tasks.report.verify.items import (
    Item,
    item_of,
)
from fin_tasks.report.verify.submission import (
    Fields,
    Rows,
)
from fin_tasks.sandbox import run_programs
from fin_tasks.settings import Settings

# Only the model's server knows what was cut off. Reasons and rules explain a score.
_NOT_COMPARED = ("cut_off", "reason", "rule", "replies")
# A program ends in these ways on some machines and not on others.
_BY_MACHINE = ("timeout", "memory", "broken", "unsupported")


@dataclass(frozen=True)
class InstalledTask:
    """A task as it is installed here, with the documents that it asks by id."""

    file: TaskFile
    docs: Mapping[str, Document]
    provenance: Fields
    step: JudgeStep | None
    """How a judge is asked, or a model that reads answers."""

    def function(
        self,
        name: str,
    ) -> Any:
        """Return a function that the task's file names."""
        return function_of(self.file.config[name])

    def with_replies(
        self,
        doc: Document,
        response: Any,
        replies: Sequence[str],
    ) -> Any:
        """Return a response with a judge's replies, if a judge is asked about such a response."""
        if self.step is None or has_result(response):
            return response
        text = text_of(response)
        if self.step.item(doc, text) is None or not (replies or self.file.judge):
            return response
        judged = tuple(Reply(text=reply, temperature=0.0) for reply in replies)
        return Judged(text, judged, rubric=self.step.rubric)


def load_task(
    name: str,
    metadata: Fields,
    n_rows: int | None,
) -> InstalledTask:
    """Load a task with the verifier's options, and only its first rows if a number is given."""
    file = TaskFile(name)
    docs, provenance = file.load(metadata)
    step = None
    asks = file.judge or file.answer_reader
    if asks:
        # The metadata `rubric` is one for a judge.
        options = metadata if file.judge else {}
        rubric = rubric_of(asks, file.options, options)
        step = JudgeStep(function_of(asks["item"]), rubric, None)
    return InstalledTask(file, {id_of(doc): doc for doc in docs[:n_rows]}, provenance, step)


def score_rows(
    task: InstalledTask,
    rows: Rows,
) -> ScoredTask:
    """Score all responses; a response without a score counts as wrong under both variants."""
    docs = [task.docs[row_id] for row_id in rows]
    metrics = task.function("metrics")(**task.file.options)
    wrong = {name: 0.0 for name, is_better in metrics.items() if is_better is True}
    readings: dict[str, list[list[Any]]] = {}
    values: dict[str, list[Fields]] = {}
    for variant in VARIANTS:
        readings[variant] = _readings(task, docs, rows, variant)
        values[variant] = []
        for doc, row_readings in zip(docs, readings[variant], strict=True):
            row_values = task.function("process_results")(doc, row_readings)
            if any(reading.unscored for reading in row_readings):
                row_values = {**row_values, **wrong}
            values[variant].append(row_values)
    return ScoredTask(
        name=task.file.name,
        docs=docs,
        responses=[row.responses for row in rows.values()],
        readings=readings,
        values=values,
        metrics=metrics,
    )


def _readings(
    task: InstalledTask,
    docs: Sequence[Document],
    rows: Rows,
    variant: str,
) -> list[list[Any]]:
    texts = [row.responses for row in rows.values()]
    responses: Sequence[Sequence[Any]] = texts
    if task.file.runs_programs:
        programs = partial(task.function("programs"), variant=variant)
        run = partial(run_programs, settings=Settings.from_environ())
        responses = with_outcomes(programs, docs, texts, run)
    readings = []
    for doc, row, row_responses in zip(docs, rows.values(), responses, strict=True):
        row_readings = []
        for index, response in enumerate(row_responses):
            judged = task.with_replies(doc, response, row.replies(index))
            row_readings.append(task.function("reader")(doc, judged, variant=variant))
        readings.append(row_readings)
    return readings


def check_scores(
    scored: ScoredTask,
    rows: Rows,
) -> Item:
    """Compare the claims about each row with our scores."""
    wrong: list[str] = []
    unproven: list[str] = []
    for variant in VARIANTS:
        figures = scored.breakdown_rows(variant)
        for index, (row_id, row) in enumerate(rows.items()):
            claim = row.claims[variant]
            readings = [fields_of(reading) for reading in scored.readings[variant][index]]
            values = {**figures[index], **scored.values[variant][index]}
            differences = _differences(claim, readings, values)
            if differences:
                is_open = any(map(_is_open, [*claim.readings, *readings]))
                details = unproven if is_open else wrong
                details.append(f"{row_id}, {variant}: {'; '.join(differences[:3])}")
    evidence = f"{len(rows):,} rows have the scores that we give to their responses"
    if wrong:
        return item_of("scores", wrong, "scores are not ours", evidence)
    no_proof = "scores have no proof: no response, no reply of a judge, or a stopped program"
    return item_of("scores", unproven, no_proof, evidence, "not verified")


def _is_open(reading: Fields) -> bool:
    return reading.get("unscored") is True or reading.get("status") in _BY_MACHINE


def _differences(
    claim: Sample,
    readings: Sequence[Fields],
    values: Fields,
) -> list[str]:
    differences = []
    pairs = zip([claim.metrics, *claim.readings], [values, *readings], strict=True)
    for theirs, ours in pairs:
        for name in different(theirs, ours):
            if name not in _NOT_COMPARED:
                difference = f"{name} {theirs[name]!r:.60}, ours {ours.get(name)!r:.60}"
                differences.append(difference)
    return differences


def check_totals(
    scored: ScoredTask,
    result: TaskResult,
    *,
    is_proven: bool,
) -> Item:
    """Compare the totals and the figures of parts in a results file with ours."""
    ours = scored.totals()
    for variant, parts in scored.breakdowns().items():
        for name, part in parts.items():
            ours[f"{name},{variant}"] = part["value"]
            ours[f"documents of {name},{variant}"] = part["n"]
    return compare_totals(result, ours, is_proven=is_proven)


def compare_totals(
    result: TaskResult,
    ours: Fields,
    *,
    is_proven: bool,
) -> Item:
    """Compare figures by name; without proof of the scores they are not verified."""
    claims: dict[str, Any] = {}
    for variant, totals in result.totals.items():
        for name, total in totals.items():
            claims[f"{name},{variant}"] = total
    for variant, parts in result.breakdowns.items():
        for name, part in parts.items():
            claims[f"{name},{variant}"] = part["value"]
            claims[f"documents of {name},{variant}"] = part["n"]
    details = []
    for name in different(claims, ours):
        if not name.startswith("cut_off,"):
            details.append(f"{name}: {claims[name]}, ours {ours.get(name)}")
    return item_of(
        "totals",
        details,
        "totals are not ours",
        f"{len(claims):,} totals follow from the responses",
        "failed" if is_proven else "not verified",
    )


def different(
    theirs: Fields,
    ours: Fields,
) -> list[str]:
    """Return the names whose values are not ours; numbers of nine equal digits are equal."""
    plain_theirs = _plain(theirs)
    plain_ours = _plain(ours)
    return [name for name in theirs if plain_theirs[name] != plain_ours.get(name)]


def _plain(values: Fields) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(
        json.dumps(values, default=str),
        parse_int=_digits,
        parse_float=_digits,
        parse_constant=lambda constant: None,
    )
    return plain


def _digits(number: str) -> str:
    return f"{float(number):.9g}"
