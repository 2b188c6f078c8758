"""Score a submission again: documents, filters and totals are those of the task as lm-eval loads it."""

import importlib
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
from fin_tasks.errors import DataError, FinTasksError
from fin_tasks.judging.item import no_response
from fin_tasks.judging.judge import JudgeModel
from fin_tasks.judging.rubric import rubric_names
from fin_tasks.report.comparable import settings_of
from fin_tasks.report.metrics import headline, largest
from fin_tasks.report.model import Run, TaskResult
from fin_tasks.report.rows import flat, prompt_of, read_samples, readings_of
from fin_tasks.report.verify import checks as check
from fin_tasks.report.verify.checks import Checks, Made, Row, Rows
from fin_tasks.report.verify.judged import check_judged, kept_judgments
from fin_tasks.resources import task_yaml_dir

_OURS = ("data_dir", "windows_dir", "encoder", "math_types", "source")  # files or addresses: ours to choose
_LARGEST = {"dpi": 600, "top_k": 100}
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
    for name in ("lm_eval", "fin_tasks.adapters.lm_eval_filters"):  # their advice is about asking models
        logging.getLogger(name).setLevel(logging.ERROR)
    found, checks = report.read(paths), Checks()
    for problem in found.problems:
        checks.add("files", "fail", problem.message)
    for run in tqdm(found.runs, desc="Verifying", unit="run", disable=None):
        again: dict[str, _Task] = {}
        for result in sorted(run.tasks, key=lambda one: bool(one.members)):  # groups last
            checks.run, checks.task = run.name, result.task
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

    def __init__(self, checks: Checks, run: Run, result: TaskResult, options: Mapping[str, Any]) -> None:
        if result.samples is None:
            raise DataError("no samples that can be read; run lm-eval with --log_samples.")
        self.checks, self.run, self.result = checks, run, result
        self.recorded = result.provenance.get("data", {}).get("origin") == "recording"
        self.rows: Rows = {}
        self.replies = ""  # how many a judge gave, when it was asked last
        self.totals: dict[str, Any] = {}  # as lm-eval names them
        self.task = _load(result.task, json.dumps({**_options(result), **options}))
        self.docs = {str(doc.get("id", doc.get("question_id"))): doc for doc in self.task.test_docs()}

    def check(self) -> None:
        """Compare everything that needs no judge."""
        checks, result, metadata = self.checks, self.result, self.task.config.metadata
        version = str(self.task.VERSION).removesuffix(".0")
        own = replace(result, settings=settings_of({"provenance": metadata["provenance"]}, version=version))
        check.check_data(checks, result.benchmark, metadata["provenance"])
        check.check_settings(checks, result, own, recorded=self.recorded)
        if (theirs := result.provenance.get("fin_tasks")) != fin_tasks.__version__:
            told = f"made by fin-tasks {theirs!r:.40}, verified by {fin_tasks.__version__}"
            checks.add("settings", "warn", told)
        self.rows = self._read_rows()
        if not all(self.rows.values()):
            raise DataError("a variant has no row of the benchmark, so nothing can be scored again.")
        counted = check.check_scores(checks, self.rows, self._score(self.rows))
        means = self.task.aggregation()
        for variant, of in counted.items():
            self.totals |= {f"{n},{variant}": means[n]([row[n] for row in of]) for n in of[0] if n in means}
        self.totals["sample_len"] = len(self.rows["robust"])
        _check_totals(checks, result, self.totals)

    def check_judge(self, judge: JudgeModel | None, most: int, seed: int) -> None:
        """Check who judged which response, and ask a judge again about at most so many rows, drawn by the seed."""
        checks, result = self.checks, self.result
        steps = [step for one in self.task._filters for make in one.filters if isinstance(step := make(), AskJudge)]
        if not steps or not (result.judge or not steps[0].optional):
            return
        check_judged(checks, result, self.rows["robust"], steps[0].rubric)
        if not result.judge:
            return
        if judge is None:
            told = f"judge {result.judge.get('model')!r:.80}: its replies give the scores; it was not asked again"
            checks.add("judge", "warn", f"{told} (--judge-model)")
            return
        rows = self.rows["robust"]
        scored = [row for row in rows if row.readings[0].get("replies") and not row.readings[0].get("unscored")]
        picked = random.Random(seed).sample(scored, min(most, len(scored)))  # noqa: S311
        steps[0].judge = judge
        metric = headline(result)
        now = [values[metric] for _, values in self._score({"robust": picked}, ask=True)["robust"]] if picked else []
        claims = [row.metrics.get(metric) for row in picked]
        pairs = [
            (claim, value)
            for claim, value in zip(claims, now, strict=True)
            if isinstance(claim, int | float) and value is not None
        ]
        told = f"{judge.model!r} asked about {len(picked)} rows: {self.replies}, {len(pairs)} scores"
        if not picked or 2 * len(pairs) < len(picked):
            checks.add("judge", "not checked", f"{told}, too few to compare")
            return
        higher = sum(claim - value for claim, value in pairs) / len(pairs) / largest(metric)
        checks.add(
            "judge",
            "fail" if higher > _MOST_ABOVE_THE_JUDGE else "pass",
            f"{told}; the submission's are higher by {higher:+.3f} of the scale",
        )

    def _read_rows(self) -> Rows:
        """Read the samples and compare documents, prompts and rows."""
        rows: dict[str, dict[str, Row]] = {ensemble.name: {} for ensemble in self.task._filters}
        strangers, changed, sent = [], [], []
        for sample in read_samples(self.result):
            given, variant = sample["doc"], sample.get("filter", "")
            name = str(given.get("id", given.get("question_id", sample.get("doc_id"))))
            if variant not in rows:
                raise DataError(f"row {name!r:.60}: expected the variants {sorted(rows)}, got {variant!r:.40}.")
            texts, readings = flat(sample.get("resps")), readings_of(sample.get("filtered_resps"))
            if not texts or len(readings) != len(texts) or not all(isinstance(text, str) for text in texts):
                raise DataError(
                    f"row {name!r:.60}: expected texts as resps, with a reading of each, got {texts!r:.80}."
                )
            if (doc := self.docs.get(name)) is None:
                strangers.append(f"{name!r:.60}")
                continue
            if any(of[name].responses != texts for of in rows.values() if name in of):
                changed.append(f"{name!r:.60}: the variants have different responses")
            fields = check.changed_fields(given, doc, recorded=self.recorded)
            changed += [f"{name!r:.60}: {field} {given.get(field)!r:.80}" for field in fields]
            metrics = {metric: sample.get(metric) for metric in sample["metrics"] if not metric.endswith("_stderr")}
            rows[variant][name] = Row(id=name, doc=doc, responses=texts, readings=readings, metrics=metrics)
            if variant == "paper" and (text := prompt_of(sample)) is not None:
                sent.append((name, text, doc))
        ordered = {variant: [of[name] for name in self.docs if name in of] for variant, of in rows.items()}
        fine = "documents are those of the benchmark"
        self.checks.none_of("documents", changed, "fields of documents or responses were changed", fine)
        self.checks.none_of("rows", strangers, "rows are not of the benchmark", "no foreign rows")
        check.check_rows(self.checks, self.result, ordered, self.docs, recorded=self.recorded)
        check.check_prompts(self.checks, sent, shots="fewshot" in self.result.settings)
        return ordered

    def _score(self, rows: Rows, *, ask: bool = False) -> Made:
        """Apply the task's filters and scorer to the responses. The judge's replies are those kept, or new ones."""
        made: dict[str, list[tuple[list[Any], Mapping[str, Any]]]] = {}
        for variant, of_variant in rows.items():
            docs = [row.doc for row in of_variant]
            now: Any = [row.responses for row in of_variant]
            (ensemble,) = (one for one in self.task._filters if one.name == variant)
            for step in (make() for make in ensemble.filters):
                kept = isinstance(step, AskJudge) and not ask
                now = kept_judgments(step, of_variant) if kept else step.apply(now, docs)
                if isinstance(step, AskJudge):
                    replies = [one for of in now for judged in of for one in getattr(judged, "replies", ())]
                    cached = sum(one.cached for one in replies)
                    self.replies = f"{len(replies) - cached} fresh replies, {cached} cached"
            scored = [self.task.process_results(doc, [of]) for doc, of in zip(docs, now, strict=True)]
            if self.run.harness == "VLMEvalKit" and variant == "robust":  # a response says that its request failed
                for row, values in zip(of_variant, scored, strict=True):
                    if any(text.strip() and no_response(text) for text in row.responses):
                        values.update(dict.fromkeys(values), unscored=1.0)
            made[variant] = [(list(of), values) for of, values in zip(now, scored, strict=True)]
        return made


def _check_group(checks: Checks, group: TaskResult, again: Mapping[str, _Task]) -> None:
    """Average the totals of a group's tasks as lm-eval does, and compare."""
    entry, tasks = _manager("{}").task_index.get(group.task), _tasks_of(group.task)
    if not group.totals:
        return
    if entry is None or not set(tasks) <= again.keys():
        checks.add("totals", "not checked", f"not all tasks of the group were scored again: {', '.join(tasks)}")
        return
    ours = Group.from_config({name: one for name, one in entry.cfg.items() if name != "task"})
    for name in tasks:
        ours.add(again[name].task)
    totals: Any = ours.aggregate({name: again[name].totals for name in tasks})
    _check_totals(checks, group, totals)


def _check_totals(checks: Checks, result: TaskResult, ours: Mapping[str, Any]) -> None:
    claimed = {f"{name},{variant}": value for variant, of in result.totals.items() for name, value in of.items()}
    known = {name: value if isinstance(value, int | float) else None for name, value in ours.items()}
    wrong = [
        f"{name}: {value!r:.40}, ours {known.get(name, 'none')!r:.40}"
        for name, value in claimed.items()
        if name not in known or not check.same(value, known[name])
    ]
    checks.none_of("totals", wrong, "totals are not ours", f"{len(claimed):,} totals are ours")


@lru_cache(maxsize=16)
def _manager(metadata: str) -> TaskManager:
    return TaskManager(metadata=json.loads(metadata), include_path=task_yaml_dir(), include_defaults=False)


def _load(name: str, metadata: str) -> Any:
    if name not in _manager("{}").all_subtasks:
        raise DataError(f"{name!r:.80}: no task of fin-tasks {fin_tasks.__version__} has this name.")
    return _manager(metadata).load([name])["tasks"][name]


def _options(result: TaskResult) -> dict[str, Any]:
    """Return what the submission says the task was loaded with: plain values only, no file, address or package."""
    load = importlib.import_module(f"fin_tasks.benchmarks.{result.benchmark}.data").load
    known = {*inspect.signature(load).parameters, "sampling", "blank_image"} - {*_OURS, "unknown"}
    facts, data = result.provenance, result.provenance.get("data", {})
    taken = {**({"split": facts["split"]} if facts.get("split", "sample") != "sample" else {}), **result.metadata}
    if data.get("origin") == "upstream" and re.fullmatch(r"[0-9a-f]{40}", str(data.get("commit"))):
        taken["data_revision"] = data["commit"]
    rubric = str(result.judge.get("rubric", "")).partition("@")[0]
    if rubric in rubric_names() or rubric.startswith("mme_finance_upstream_"):
        taken["rubric"] = rubric if rubric in rubric_names() else "upstream"
    found = {name: taken[name] for name in sorted(known & taken.keys()) if _plain(name, taken[name])}
    found |= {"rubric": taken["rubric"]} if "rubric" in taken else {}
    return {**found, "source": "sample"} if data.get("origin") == "sample" else found


def _plain(name: str, value: Any) -> bool:
    if isinstance(value, int):
        return 0 <= value <= _LARGEST.get(name, 10_000_000)
    return isinstance(value, str) and re.fullmatch(r"[\w .-]{0,100}", value) is not None and ".." not in value


def _tasks_of(group: str) -> list[str]:
    """Name the tasks of one of our groups and of the groups in it."""
    entry = _manager("{}").task_index.get(group)
    if entry is None or "group" not in (entry.cfg or {}):
        return [group] if entry else []
    return [task for member in entry.cfg["task"] for task in _tasks_of(member)]
