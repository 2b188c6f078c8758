"""The values of each task of each run, and their entries on a leaderboard."""

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pandas import DataFrame

from fin_tasks.stats.means import Estimate

from . import cut_off
from .chart_reading import Share
from .conditions import Conditions, conditions_of, differences, setting_id, setting_text
from .corrections import Corrections, note_of
from .leaderboard_model import BoardTask, Entry
from .model import (
    COLUMNS,
    KNOWN_BENCHMARKS,
    WEIGHTED,
    Report,
    Run,
    TaskResult,
    headline,
    metric_of,
)
from .question_corrections import correction_note, uncorrected_value
from .redact import printable
from .values import Value, values_of

_USED = ("run", "task", "scoring", "doc_id", "source")  # text columns
_MIN_SOURCES = 20  # with fewer, an interval is markedly too narrow
_MAX_NOTE = 100  # characters
_FAMILY = re.compile(
    r"claude|deepseek|gemini|gemma|glm|gpt|grok|internvl|llama|llava|mi[sx]tral|phi|qwen"
)
"""Families of models, by a word in their names."""


class Scored(NamedTuple):
    """A task of a run under one scoring."""

    run: Run
    result: TaskResult
    task: BoardTask
    values: Mapping[str, Value]
    rows: DataFrame
    """The headline and the source of each row; the index is the same number for a document in all runs."""
    n_scored: int
    """Rows with a value of the headline."""
    n_unscored: int
    group: str
    """What results share that may be compared."""
    correction_note: str
    """How many questions are excluded or have another truth; empty if none."""
    uncorrected: float | None
    """The headline under the published truths; None if this report corrected none."""


def scored_tasks(
    report: Report, *, any_decoding: bool = False
) -> dict[str, list[Scored]]:
    """Return all tasks of all runs under each scoring in which they have a value, by the id of the task.

    With `any_decoding` runs may be compared whatever their decoding.
    """
    headlines = _headlines_of(report)
    report = _by_document(report)
    by_task = defaultdict[str, list[Scored]](list)
    for run, result in report.results:
        conditions = conditions_of(result)
        main_metric = headlines[result.benchmark, conditions]
        named = [*result.totals, *result.breakdowns, *result.aggregates]
        for scoring in dict.fromkeys([*named, "paper", "robust"]):
            rows = report.rows_of(result, scoring)
            values = values_of(rows, result, scoring, main_metric)
            if not values:
                continue
            counted = rows.reindex(columns=[main_metric, "source"])
            n_scored = int(counted[main_metric].count())
            scored = Scored(
                run=run,
                result=result,
                task=task_of(result.benchmark, conditions, scoring, main_metric),
                values=values,
                rows=counted,
                n_scored=n_scored,
                n_unscored=len(counted) - n_scored if main_metric in rows else 0,
                group=setting_id(result, any_decoding=any_decoding),
                correction_note=correction_note(report, result),
                uncorrected=uncorrected_value(report, result, scoring, main_metric),
            )
            by_task[scored.task.id].append(scored)
    return by_task


def _by_document(report: Report) -> Report:
    """Return a report whose rows stand under a number for each document, with the text columns that values need."""
    rows = report.rows
    if rows.empty:
        return report
    tasks = rows["task"].cat.codes.to_numpy(np.int64)
    documents = tasks << 32 | rows["doc_id"].cat.codes.to_numpy()
    unused = [name for name in COLUMNS if name not in _USED]
    return replace(report, rows=rows.drop(columns=unused).set_axis(documents))


def _headlines_of(report: Report) -> dict[tuple[str, Conditions], str]:
    """Return the headline of each task: that of most models, so that no single run can change it."""
    models = defaultdict[tuple[str, Conditions], dict[str, set[str]]](dict)
    for run, result in report.results:
        models_by_headline = models[result.benchmark, conditions_of(result)]
        models_by_headline.setdefault(headline(result), set()).add(run.model)
    headlines = {}
    for task, models_by_headline in models.items():
        headlines[task] = max(
            models_by_headline, key=lambda name: len(models_by_headline[name])
        )
    return headlines


def task_of(
    benchmark: str,
    conditions: Conditions,
    scoring: str,
    main_metric: str,
) -> BoardTask:
    """Return a task as a leaderboard has it."""
    sized_tasks = KNOWN_BENCHMARKS[benchmark].sized_tasks
    name = conditions.task.removeprefix(f"{benchmark}_")
    task = BoardTask(
        id=conditions.id(scoring),
        asked=conditions.id(),
        benchmark=benchmark,
        **conditions._asdict(),
        scoring=scoring,
        headline=main_metric,
    )
    sized = re.fullmatch(sized_tasks, name)
    if sized_tasks and sized:
        task.family = sized["family"]
        task.window = int(sized["size"] or 0) or None
    return task


def entries_of(
    scored: Scored,
    *,
    reference: TaskResult,
    why_not_ranked: str,
    is_shown: bool,
    ignored: tuple[str, ...],
    corrections: Corrections,
    out: Path | None,
    charts_read: Share | None = None,
) -> Iterator[Entry]:
    """Yield an entry for each value of a task, with doubts and remarks.

    `charts_read` is what the model reads of the charts of its forecasts. The settings are compared with those of the
    reference, except those that begin with an ignored text. `is_shown` is whether the run stands for its model. `out`
    is the folder of the report.
    """
    result = scored.result
    main_metric = scored.task.headline
    judge = [result.settings.get(name) for name in ("judge.model", "judge.rubric")]
    not_comparable = differences(result, reference, ignored)
    if not not_comparable and why_not_ranked:
        not_comparable = [f"not ranked: {why_not_ranked}"]
    path = scored.run.path.resolve()
    results_file = None
    if out and path.is_relative_to(out.resolve().parent):
        # A link works where results and report are moved or published together.
        results_file = printable(os.path.relpath(path, out))
    for metric, value in scored.values.items():
        estimate = value.estimate
        doubts = list(not_comparable)
        if value.claim is not None:
            doubts.insert(
                0,
                f"its results file claims {value.claim:.4g}, "
                f"its rows give {estimate.mean:.4g}",
            )
        corrected = corrections.of(result.id, scored.task.scoring, metric)
        remarks = [
            cut_off.note_of(value.cut_offs, metric),
            _remark_on_estimate(metric, estimate),
            note_of(corrected),
            scored.correction_note,
        ]
        if metric == WEIGHTED and charts_read:
            notes = doubts if charts_read.is_chance else remarks
            notes.append(charts_read.text())
        if metric == main_metric:
            remarks.append(_remark_on_judge(result, scored.run.model))
            remarks.append(_remark_on_recording(result))
            remarks.append(_remark_on_strata(result))
        yield Entry(
            task=scored.task.id,
            model=scored.run.model,
            run=result.id,
            metric=metric,
            value=estimate.mean,
            low=estimate.low,
            high=estimate.high,
            method=estimate.method,
            n=estimate.n,
            unscored=scored.n_unscored if metric == main_metric else 0,
            judge=", ".join(setting_text(text) for text in judge if text),
            group=scored.group,
            is_shown=is_shown,
            doubts=doubts,
            remarks=[remark for remark in remarks if remark],
            results_file=results_file,
            cut_off=value.cut_offs,
            corrected=corrected,
            question_corrections=scored.correction_note,
            uncorrected=scored.uncorrected if metric == main_metric else None,
        )


def _remark_on_recording(result: TaskResult) -> str:
    """Say who recorded the responses; empty if they are one's own."""
    recording = result.provenance.get("recording")
    if not isinstance(recording, Mapping):
        return ""
    facts = [recording.get(name) for name in ("repository", "date", "decoding")]
    text = "recorded by the authors ({}, {}) with their prompts; decoding {}".format(
        *facts
    )
    return text[:_MAX_NOTE]


def _remark_on_strata(result: TaskResult) -> str:
    """Say that a sample was drawn by strata; empty if it was not."""
    sample = result.provenance.get("sample")
    if not isinstance(sample, Mapping) or not sample.get("strata"):
        return ""
    return "a sample by strata: its interval, as of a plain sample, is rather too wide"


def _remark_on_judge(result: TaskResult, model: str) -> str:
    """Say that the judge is of the model's own family, such as `qwen`; empty if it is not."""
    judge = str(result.judge.get("model") or "")
    family = family_of(judge)
    if not family or family != family_of(model):
        return ""
    return f"the judge {judge} is of the model's own family, {family}"


def family_of(model: str) -> str:
    """Return the family of a model by a word in its name, such as `qwen`; empty if it has none."""
    name = model.rpartition("/")[2].lower()
    family = _FAMILY.search(name)
    return family[0] if family else ""


def _remark_on_estimate(metric: str, estimate: Estimate) -> str:
    if metric == WEIGHTED and estimate.mean == 0 and not estimate.n:
        return "no forecast is wrong, so there is no index; a mean over sizes counts it as 0"
    has_enough = estimate.clusters >= min(_MIN_SOURCES, estimate.n)
    if has_enough or not estimate.method or metric_of(metric).by:
        return ""
    return f"rough interval: the rows share only {estimate.clusters} sources"
