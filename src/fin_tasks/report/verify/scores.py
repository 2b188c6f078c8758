"""Score the responses of a submission with the installed task, and compare its claims."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd
import yaml
from pydantic import BaseModel

from fin_tasks.benchmarks import task_folders
from fin_tasks.benchmarks.contract import Document, id_of
from fin_tasks.benchmarks.scored_task import Breakdowns, ScoredTask, score_task
from fin_tasks.benchmarks.task_file import TaskFile, task_names
from fin_tasks.errors import SandboxError
from fin_tasks.judging.item import Item as Question
from fin_tasks.judging.item import Judged, missing_reason
from fin_tasks.judging.judge import JudgeStep
from fin_tasks.report import Fields, Json
from fin_tasks.sandbox import Status as ProgramStatus
from fin_tasks.sandbox import time_for_programs
from fin_tasks.saved.run_folder import sample_lines
from fin_tasks.stats.averages import average

from ..model import TaskResult
from ..samples import Sample, sample_of
from .items import Item, Options, Rows, Status, item_of

# Only the model's server knows what was cut off. Reasons and rules explain a score.
_NOT_COMPARED = ("cut_off", "reason", "rule", "replies")
# A program ends in these ways on some machines and not on others.
_BY_MACHINE = ("timeout", "memory", "broken")


class InstalledTask(NamedTuple):
    """A task as it is installed here, with the documents that it asks by id."""

    file: TaskFile
    docs: Mapping[str, Document]
    provenance: Fields
    step: JudgeStep | None
    """How a judge is asked, or a model that reads answers."""
    n_all: int
    """How many documents the task has, asked or not."""


def load_task(name: str, options: Options) -> InstalledTask:
    """Load a task with the verifier's options, and only its first rows if a number is given."""
    file = TaskFile(name)
    docs, provenance = file.load(options.metadata)
    docs_by_id = {id_of(doc): doc for doc in docs[: options.n_rows]}
    step = file.judge_step(options.metadata)
    return InstalledTask(file, docs_by_id, provenance, step, len(docs))


class RecordedReplies(JudgeStep):
    """Gives responses the replies in a submission, and asks nobody."""

    def __init__(self, task: InstalledTask, step: JudgeStep, rows: Rows) -> None:
        super().__init__(step.item, step.rubric)
        self.judged: dict[Question, tuple[Document, Judged]] = {}
        for row_id, row in rows.items():
            doc = task.docs[row_id]
            for index, text in enumerate(row.responses):
                question = self.item(doc, text)
                if question:
                    self.judged[question] = (doc, row.judged(index, step.rubric))

    def judge_once(self, items: Sequence[Question]) -> list[Judged]:
        """Return the replies about each item."""
        return [self.judged[item][1] for item in items]


def score_rows(
    task: InstalledTask,
    rows: Rows,
    step: JudgeStep | None,
    *,
    program_seconds: float,
    judge_may_fail: bool = False,
) -> ScoredTask:
    """Score all responses; a response without a score counts as wrong under both scorings.

    If the judge may fail, the responses that it did not score stay unscored, unless they are missing.

    Raises:
        ProgramTimeError: The programs took longer than they may, all together.
        SandboxError: The sandbox broke, so that programs have no score through no fault of theirs.
    """
    with time_for_programs(program_seconds):
        scored = score_task(
            task.file,
            [task.docs[row_id] for row_id in rows],
            [row.responses for row in rows.values()],
            step=step,
        )
    readings_by_row = chain.from_iterable(scored.readings.values())
    n_broken = 0
    for reading in chain.from_iterable(readings_by_row):
        # Only the readings of programs have a status.
        n_broken += getattr(reading, "status", None) == ProgramStatus.broken
    if n_broken:
        raise SandboxError(f"the sandbox broke on {n_broken:,} programs. Verify again.")
    return _with_lost_as_wrong(scored, judge_may_fail=judge_may_fail)


def _with_lost_as_wrong(scored: ScoredTask, *, judge_may_fail: bool) -> ScoredTask:
    """Give the rows with an unscored response the values of a wrong one."""
    wrong = {}
    for name, metric in scored.metrics.items():
        if metric.higher_is_better and metric.aggregate is average:
            wrong[name] = 0.0
    values = {}
    for scoring, readings in scored.readings.items():
        values[scoring] = list(scored.values[scoring])
        for number, row_readings in enumerate(readings):
            texts = scored.responses[number]
            is_lost = not judge_may_fail or any(map(missing_reason, texts))
            if is_lost and any(reading.unscored for reading in row_readings):
                values[scoring][number] = {**values[scoring][number], **wrong}
    return replace(scored, values=values)


def check_scores(scored: ScoredTask, rows: Rows) -> Item:
    """Compare the claims about each row with our scores."""
    wrong: list[str] = []
    unproven: list[str] = []
    row_ids = list(rows)
    for line in sample_lines(scored):
        row_id = row_ids[line["doc_id"]]
        ours = sample_of(row_id, line)
        row_texts = rows[row_id].responses
        claim = rows[row_id].claims[ours.scoring]
        differences = _differences(claim, ours)
        if differences:
            is_open = any(map(_is_open, row_texts, claim.readings, ours.readings))
            details = unproven if is_open else wrong
            details.append(f"{row_id}, {ours.scoring}: {'; '.join(differences[:3])}")
    evidence = (
        f"the responses to {len(rows):,} questions get the claimed scores here, too"
    )
    if wrong:
        return item_of(
            "scores",
            wrong,
            "scores are not those that the responses get here",
            evidence,
        )
    return item_of(
        "scores",
        unproven,
        "scores cannot be proven: a response or a reply of the judge is missing, or a program was stopped",
        evidence,
        "not verified",
    )


def _differences(claim: Sample, ours: Sample) -> list[str]:
    """Return a text for each metric and field of a reading that a line claims and that differs here."""
    texts = []
    claimed = [claim.metrics, *claim.readings]
    found = [ours.metrics, *ours.readings]
    for theirs, values in zip(claimed, found, strict=True):
        for name in different(theirs, values):
            if name not in _NOT_COMPARED:
                text = f"{name} {theirs[name]!r:.60}, here {values.get(name)!r:.60}"
                texts.append(text)
    return texts


def claimed_unscored(scored: ScoredTask, rows: Rows) -> list[str]:
    """Return the rows that have a score here, and none by the submission."""
    details = []
    for scoring, readings in scored.readings.items():
        for (row_id, row), row_readings in zip(rows.items(), readings, strict=True):
            claims = row.claims[scoring].readings
            pairs = zip(row.responses, claims, row_readings, strict=True)
            for text, claim, reading in pairs:
                if claim.get("unscored") is True and not reading.unscored:
                    details.append(f"{row_id}, {scoring}: {text!r:.60}")
    return details


def _is_open(response: str, claim: Fields, ours: Fields) -> bool:
    """Return whether two readings of a response may differ although nobody forged one."""
    if ours.get("status"):  # a program ran
        return ours["status"] in _BY_MACHINE or claim.get("status") in _BY_MACHINE
    is_lost = claim.get("unscored") is True and missing_reason(response) != ""
    return is_lost or ours.get("unscored") is True


def figures_of_parts(breakdowns: Breakdowns) -> dict[str, float]:
    """Return the values and sizes of parts, by name and scoring."""
    figures = {}
    for scoring, parts in breakdowns.items():
        for name, part in parts.items():
            figures[f"{name},{scoring}"] = part["value"]
            figures[f"documents of {name},{scoring}"] = part["n"]
    return figures


def check_totals(result: TaskResult, ours: Fields, status: Status = "failed") -> Item:
    """Compare the figures that a results file claims with ours; `status` is for figures that differ."""
    claims = {}
    for scoring, totals in result.totals.items():
        for name, total in totals.items():
            claims[f"{name},{scoring}"] = total
    claims |= figures_of_parts(result.breakdowns)
    details = []
    for name in different(claims, ours):
        if not name.startswith("cut_off,"):
            details.append(f"{name}: {claims[name]}, here {ours.get(name)}")
    evidence = (
        f"the {len(claims):,} figures of the results file follow from the responses"
    )
    return item_of(
        "totals",
        details,
        "figures of the results file do not follow from the responses",
        evidence,
        status,
    )


class _Mean(BaseModel):
    metric: str
    weight_by_size: bool = True
    filter_list: list[str] = []


class _Group(BaseModel):
    """A group of tasks, as lm-eval reads it in a task file."""

    group: str
    task: list[str]
    aggregate_metric_list: list[_Mean] = []


@cache
def _groups() -> Mapping[str, _Group]:
    """Return the groups of all benchmarks by name."""
    groups = {}
    for folder in task_folders():
        for file in folder.rglob("*.yaml"):
            # The base loader reads a tag such as `!function` as the text behind it.
            config = yaml.load(file.read_text("utf-8"), Loader=yaml.BaseLoader)  # noqa: S506
            if isinstance(config, dict) and "group" in config:
                group = _Group.model_validate(config)
                groups[group.group] = group
    return groups


def group_tasks(name: str) -> list[str]:
    """Return the tasks of a group; none if no group has this name."""
    group = _groups().get(name)
    return group.task if group else []


def group_totals(name: str, scored: Mapping[str, ScoredTask]) -> Json | None:
    """Average the totals of a group's tasks as lm-eval does; None if not all of them are there."""
    group = _groups().get(name)
    if not group or not scored.keys() >= set(group.task):
        return None
    tasks = [scored[task] for task in group.task]
    totals = pd.DataFrame([task.totals() for task in tasks], dtype=float)
    sizes = pd.Series([len(task.docs) for task in tasks])
    means = {}
    for mean in group.aggregate_metric_list:
        weights = sizes if mean.weight_by_size else sizes.clip(upper=1)
        for scoring in mean.filter_list:
            column = f"{mean.metric},{scoring}"
            known = totals[column].dropna()
            if len(known):
                means[column] = float(np.average(known, weights=weights[known.index]))
    return means


def check_group(result: TaskResult, scored: Mapping[str, ScoredTask]) -> Item:
    """Compare the totals of a group with ours."""
    if result.task in task_names():
        return Item("totals", "failed", "the results call a task a group of tasks")
    totals = group_totals(result.task, scored)
    if totals is None:
        return Item(
            "totals", "not verified", "not all tasks of the group have scores here"
        )
    return check_totals(result, totals)


def different(theirs: Fields, ours: Fields) -> list[str]:
    """Return the names whose values are not ours; numbers are compared to nine digits."""
    plain_theirs = _plain(theirs)
    plain_ours = _plain(ours)
    return [name for name in theirs if plain_theirs[name] != plain_ours.get(name)]


def _plain(values: Fields) -> Json:
    plain: Json = json.loads(
        json.dumps(values, default=str),
        parse_int=_digits,
        parse_float=_digits,
        parse_constant=lambda constant: None,
    )
    return plain


def _digits(number: str) -> str:
    return f"{float(number):.9g}"
