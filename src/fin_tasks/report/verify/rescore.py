"""Score a submission again: documents, filters and totals are those of the task as lm-eval loads it."""

import inspect
import json
import logging
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from lm_eval.api.group import Group
from lm_eval.tasks import TaskManager
from tqdm import tqdm

import fin_tasks
from fin_tasks import report
from fin_tasks.adapters.lm_eval_filters import AskJudge
from fin_tasks.answers.cut_off import CutOffResponse, mark_reading
from fin_tasks.answers.types import Reading
from fin_tasks.benchmarks import benchmark_named, task_folders
from fin_tasks.benchmarks.breakdowns import (
    Breakdowns,
    PartValue,
    document_values,
    fields_of,
    summarize,
)
from fin_tasks.errors import DataError, FinTasksError
from fin_tasks.judging.item import no_response
from fin_tasks.judging.judge import JudgeModel
from fin_tasks.judging.rubric import rubric_names
from fin_tasks.report.conditions import settings_of, with_sample
from fin_tasks.report.model import OTHER, Run, TaskResult, headline, largest
from fin_tasks.report.samples import read_samples
from fin_tasks.report.verify import checks as check
from fin_tasks.report.verify.checks import Checks, Counted, Row, Rows, Scored
from fin_tasks.report.verify.judged import check_judged, kept_judgments

_OURS = {
    "data_dir",
    "windows_dir",
    "encoder",
    "math_types",
    "source",
    "unknown",
}  # files or addresses: ours to choose
_MOST_ABOVE_THE_JUDGE = 0.1  # of the scale, on average


def verify(
    paths: Sequence[Path],
    *,
    options: Mapping[str, Any] | None = None,
    judge: JudgeModel | None = None,
    judge_rows: int = 50,
    seed: int = 0,
) -> Checks:
    """Score all runs in files and folders again and compare them with what they claim.

    `options`, such as `source` and `data_dir`, replace those of the submission. The judge, if any, is asked again
    about `judge_rows` rows of each judged task; `seed` draws them. Raise DataError if no run is found.
    """
    for name in (
        "lm_eval",
        "fin_tasks.adapters.lm_eval_filters",
    ):  # their advice is about asking models
        logging.getLogger(name).setLevel(logging.ERROR)
    found, checks = report.read(paths), Checks()
    for problem in found.problems:
        checks.add("files", "fail", problem.message)
    for run in tqdm(found.runs, desc="Verifying", unit="run", disable=None):
        again: dict[str, _Task] = {}
        for result in sorted(run.tasks, key=lambda one: bool(one.members)):  # groups last
            checks.run, checks.task = run.name, result.task
            if result.benchmark == OTHER.name:
                checks.add("scores", "warn", "a task that fin-tasks does not have; not verified")
                continue
            try:
                if result.members:
                    _check_group(checks, result, again)
                else:
                    again[result.task] = task = _Task(checks, run, result, options or {})
                    task.check()
                    task.check_judge(judge, judge_rows, seed)
                    checks.tasks += 1
            except (FinTasksError, RecursionError) as error:
                again.pop(result.task, None)
                checks.add("scores", "not checked", str(error))
    return checks


class _Task:
    """One task of a run, and the same task as lm-eval loads it from our files."""

    def __init__(
        self, checks: Checks, run: Run, result: TaskResult, options: Mapping[str, Any]
    ) -> None:
        if result.samples is None:
            raise DataError("no samples that can be read; run lm-eval with --log_samples.")
        if result.task not in _manager("{}").all_subtasks:
            raise DataError(
                f"{result.task!r:.80}: no task of fin-tasks {fin_tasks.__version__} has this name."
            )
        self.checks, self.run, self.result = checks, run, result
        self.recorded = result.provenance.get("data", {}).get("origin") == "recording"
        self.rows: Rows = {}
        self.totals: dict[str, Any] = {}  # as lm-eval names them
        self.parts: dict[str, dict[str, PartValue]] = {}  # by variant and name
        self.benchmark = benchmark_named(result.benchmark)
        manager = _manager(json.dumps({**_options(result), **options}, sort_keys=True))
        self.task: Any = manager.load([result.task])["tasks"][result.task]
        self.docs = {
            str(doc.get("id", doc.get("question_id"))): doc for doc in self.task.test_docs()
        }

    def check(self) -> None:
        """Compare everything that needs no judge."""
        checks, result, provenance = (
            self.checks,
            self.result,
            self.task.config.metadata["provenance"],
        )
        version = str(self.task.VERSION).removesuffix(".0")
        own = replace(result, settings=settings_of({"provenance": provenance}, version=version))
        check.check_data(checks, result.benchmark, provenance)
        check.check_settings(checks, result, own, recorded=self.recorded)
        if (theirs := result.provenance.get("fin_tasks")) != fin_tasks.__version__:
            told = f"made by fin-tasks {theirs!r:.40}, verified by {fin_tasks.__version__}"
            checks.add("settings", "warn", told)
        self.rows = self._read_rows()
        if not all(self.rows.values()):
            raise DataError(
                "a variant has no row of the benchmark, so nothing can be scored again."
            )
        for variant, rows in self.rows.items():
            counted = check.check_scores(checks, variant, rows, self._score(variant, rows))
            self.totals |= self._totals_of(variant, [row.metrics for row in counted])
            self.parts[variant] = self._parts_of(rows, counted)
        self.totals["sample_len"] = len(self.rows["robust"])
        _check_totals(checks, result, {**self.totals, **_named(self.parts)})

    def _totals_of(self, variant: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the metrics of the task as lm-eval names them."""
        totals = {}
        for name, aggregate in self.task.aggregation().items():
            if name in rows[0]:
                totals[f"{name},{variant}"] = aggregate([row[name] for row in rows])
        return totals

    def _parts_of(self, rows: Sequence[Row], counted: Sequence[Counted]) -> dict[str, PartValue]:
        """Return the figures of the parts of the task."""
        figures = []
        for row, (readings, metrics) in zip(rows, counted, strict=True):
            figures.append(document_values(self.benchmark, row.doc, readings, metrics))
        return summarize(self.benchmark, figures)

    def check_judge(self, judge: JudgeModel | None, most: int, seed: int) -> None:
        """Check who judged which response, and ask a judge again about at most so many rows, drawn by the seed."""
        checks, result, rows = self.checks, self.result, self.rows["robust"]
        steps = [
            step
            for one in self.task._filters
            for make in one.filters
            if isinstance(step := make(), AskJudge)
        ]
        if not steps or not self._was_judged(steps[0]):
            return
        check_judged(checks, result, rows, steps[0].rubric)
        if not result.judge:
            return
        if judge is None:
            told = f"judge {result.judge.get('model')!r:.80}: its replies give the scores; it was not asked again"
            checks.add("judge", "warn", f"{told} (--judge-model)")
            return
        metric = headline(result)
        scored = [
            row
            for row in rows
            if row.readings[0].get("replies") and not row.readings[0].get("unscored")
        ]
        picked = random.Random(seed).sample(scored, min(most, len(scored)))  # noqa: S311
        steps[0].judge, before = judge, replace(judge.usage)
        now = (
            [values[metric] for _, values in self._score("robust", picked, ask=True)]
            if picked
            else []
        )
        pairs = [
            (row.metrics[metric], value)
            for row, value in zip(picked, now, strict=True)
            if isinstance(row.metrics.get(metric), int | float) and value is not None
        ]
        fresh = judge.usage.requests - before.requests - (judge.usage.failed - before.failed)
        told = f"{fresh} fresh replies, {judge.usage.cached - before.cached} cached, {len(pairs)} scores"
        told = f"{judge.model!r} asked about {len(picked)} rows: {told}"
        if not picked or 2 * len(pairs) < len(picked):
            checks.add("judge", "not checked", f"{told}, too few to compare")
            return
        higher = sum(claim - value for claim, value in pairs) / len(pairs) / largest(metric)
        told += f"; the submission's are higher by {higher:+.3f} of the scale"
        checks.add("judge", "fail" if higher > _MOST_ABOVE_THE_JUDGE else "pass", told)

    def _was_judged(self, step: AskJudge) -> bool:
        """Return whether responses went to the step: a judge is needed, a model that reads answers is not."""
        return bool(self.result.judge) or not step.optional

    def _read_rows(self) -> Rows:
        """Read the samples and compare documents, prompts and rows."""
        rows: dict[str, dict[str, Row]] = {ensemble.name: {} for ensemble in self.task._filters}
        strangers, changed, sent = [], [], []
        for sample in read_samples(self.result.samples):
            given, variant, name = sample.doc, sample.variant, sample.id
            if variant not in rows:
                raise DataError(
                    f"row {name!r:.60}: expected the variants {sorted(rows)}, got {variant!r:.40}."
                )
            texts, readings = sample.responses, sample.readings
            if (
                not texts
                or len(readings) != len(texts)
                or not all(isinstance(text, str) for text in texts)
            ):
                raise DataError(
                    f"row {name!r:.60}: expected texts and a reading of each, got resps {texts!r:.80}."
                )
            if (doc := self.docs.get(name)) is None:
                strangers.append(f"{name!r:.60}")
                continue
            if any(of[name].responses != texts for of in rows.values() if name in of):
                changed.append(f"{name!r:.60}: the variants have different responses")
            fields = check.changed_fields(given, doc, recorded=self.recorded)
            changed += [f"{name!r:.60}: {field} {given.get(field)!r:.80}" for field in fields]
            metrics = dict(sample.metrics)
            rows[variant][name] = Row(
                id=name, doc=doc, responses=texts, readings=readings, metrics=metrics
            )
            if variant == "paper" and (text := sample.prompt) is not None:
                sent.append((name, text, doc))
        ordered = {
            variant: [of[name] for name in self.docs if name in of] for variant, of in rows.items()
        }
        fine = "documents are those of the benchmark"
        self.checks.none_of(
            "documents", changed, "fields of documents or responses were changed", fine
        )
        self.checks.none_of("rows", strangers, "rows are not of the benchmark", "no foreign rows")
        check.check_rows(self.checks, self.result, ordered, self.docs, recorded=self.recorded)
        check.check_prompts(self.checks, sent, shots="fewshot" in self.result.settings)
        return ordered

    def _score(self, variant: str, rows: Sequence[Row], *, ask: bool = False) -> list[Scored]:
        """Apply the task's filters and scorer to the responses. The judge's replies are those kept, or new ones."""
        docs = [row.doc for row in rows]
        now: Any = [row.responses for row in rows]
        (ensemble,) = (one for one in self.task._filters if one.name == variant)
        for step in (make() for make in ensemble.filters):
            if isinstance(step, AskJudge) and not ask and self._was_judged(step):
                now = kept_judgments(step, rows, now)
            else:
                now = step.apply(now, docs)
        scored: list[Scored] = []
        for row, unmarked in zip(rows, now, strict=True):
            readings = _with_cut_offs(row, unmarked)
            values = self.task.process_results(row.doc, [readings])
            failed = any(text.strip() and no_response(text) for text in row.responses)
            if (
                failed and self.run.harness == "VLMEvalKit" and variant == "robust"
            ):  # the response says so
                values = {**dict.fromkeys(values), "unscored": 1.0}
            fields = [fields_of(reading) for reading in readings]
            # Files of earlier versions have figures of parts among the metrics.
            figures = document_values(self.benchmark, row.doc, fields, values)
            scored.append((readings, {**figures, **values}))
        return scored


def _with_cut_offs(row: Row, readings: Sequence[Reading]) -> list[Reading]:
    """Mark the readings of responses that were cut off; only who asked the model knows of all."""
    marked = []
    for response, theirs, ours in zip(row.responses, row.readings, readings, strict=True):
        is_claimed = theirs.get("cut_off") is True
        marked.append(mark_reading(ours, CutOffResponse(response) if is_claimed else response))
    return marked


def _check_group(checks: Checks, group: TaskResult, again: Mapping[str, _Task]) -> None:
    """Average the totals of a group's tasks as lm-eval does, and compare."""
    config = getattr(_manager("{}").task_index.get(group.task), "cfg", None) or {}
    if not group.totals:
        return
    if "group" not in config or not again.keys() >= set(config["task"]):
        checks.add("totals", "not checked", "not all tasks of the group were scored again")
        return
    ours = Group.from_config({name: one for name, one in config.items() if name != "task"})
    for name in config["task"]:
        ours.add(again[name].task)
    totals: Any = ours.aggregate({name: one.totals for name, one in again.items()})
    _check_totals(checks, group, totals)


def _check_totals(checks: Checks, result: TaskResult, ours: Mapping[str, Any]) -> None:
    """Compare the totals that a results file claims, and figures of parts, with ours."""
    claims: dict[str, float | None] = dict(_named(result.breakdowns))
    for variant, totals in result.totals.items():
        for name, value in totals.items():
            claims[f"{name},{variant}"] = value
    wrong = []
    for name, claim in claims.items():
        own = ours.get(name)
        if not isinstance(own, int | float):
            own = None
        if not check.same(claim, own):
            wrong.append(f"{name}: {claim!r:.40}, ours {own!r:.40}")
    checks.none_of("totals", wrong, "totals are not ours", f"{len(claims):,} totals are ours")


def _named(breakdowns: Breakdowns) -> dict[str, float]:
    """Return the figures of parts as lm-eval names metrics, and the number of their documents."""
    named: dict[str, float] = {}
    for variant, parts in breakdowns.items():
        for name, part in parts.items():
            named[f"{name},{variant}"] = part["value"]
            named[f"documents of {name},{variant}"] = part["n"]
    return named


@lru_cache(maxsize=16)
def _manager(metadata: str) -> TaskManager:
    return TaskManager(
        metadata=json.loads(metadata), include_path=task_folders(), include_defaults=False
    )


def _options(result: TaskResult) -> dict[str, Any]:
    """Return what the submission says the task was loaded with: plain values only, no file, address or package."""
    load = benchmark_named(result.benchmark).load
    known = {*inspect.signature(load).parameters, "sampling", "blank_image"} - _OURS
    data = result.provenance.get("data", {})
    taken = {
        "split": result.provenance.get("split"),
        "data_revision": data.get("commit"),
        **result.metadata,
    }
    sample = with_sample(result.provenance).get("sample")
    if isinstance(sample, Mapping):
        taken |= {"sample_n": sample.get("n"), "sample_seed": sample.get("seed")}
    found = {name: taken[name] for name in known & taken.keys() if _is_plain(taken[name])}
    if data.get("origin") == "sample":
        found["source"] = "sample"
    if found.get("split") in ("sample", "own", "unknown"):
        del found["split"]
    rubric = str(result.judge.get("rubric", "")).partition("@")[0]
    if rubric in rubric_names() or rubric.startswith("mme_finance_upstream_"):
        found["rubric"] = rubric if rubric in rubric_names() else "upstream"
    return found


def _is_plain(value: Any) -> bool:
    if isinstance(value, int):
        return 0 <= value <= 10_000_000
    return (
        isinstance(value, str)
        and re.fullmatch(r"[\w .-]{0,100}", value) is not None
        and ".." not in value
    )
