"""Score a submission again: documents, filters and totals are those of the task as lm-eval loads it."""

import importlib
import inspect
import json
import logging
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
from fin_tasks.report.model import Run, TaskResult
from fin_tasks.report.rows import read_samples, readings_of
from fin_tasks.report.verify import checks as check
from fin_tasks.report.verify.checks import Checks, Row, Status
from fin_tasks.report.verify.judged import ask_again, check_judged, kept_judgments
from fin_tasks.resources import task_yaml_dir

_OURS = ("data_dir", "windows_dir", "encoder", "math_types", "source")  # files or addresses: ours to choose
_LARGEST = {"dpi": 600, "top_k": 100}
_MOST_RESPONSES = 64  # to one document
Made = Mapping[str, Sequence[tuple[list[Any], Mapping[str, Any]]]]  # readings and metrics of rows, by variant


def verify(
    paths: Sequence[Path],
    *,
    options: Mapping[str, Any] | None = None,
    judge: JudgeModel | None = None,
    judge_rows: int = 50,
    seed: int = 0,
) -> Checks:
    """Score all runs of our tasks in files and folders again, and compare; raise DataError if there are none.

    `options`, such as `source` and `data_dir`, replace those of the submission. The judge, if any, is asked again
    about `judge_rows` rows of each task that a judge scored, which `seed` draws.
    """
    for name in ("lm_eval", "fin_tasks.adapters.lm_eval_filters"):  # their advice is about asking models
        logging.getLogger(name).setLevel(logging.ERROR)
    found, checks = report.read(paths), Checks()
    for problem in found.problems:
        checks.add("files", Status.failed, problem.message)
    for run in tqdm(found.runs, desc="Verifying", unit="run", disable=None):
        again: dict[str, _Task] = {}
        for result in sorted(run.tasks, key=lambda one: bool(one.members)):  # groups last
            checks.run, checks.task = run.name, result.task
            try:
                if result.members:
                    _check_group(checks, result, again)
                else:
                    work = _Task(checks, run, result, options or {})
                    work.check(judge, judge_rows, seed)
                    again[result.task] = work
                    checks.tasks += 1
            except (FinTasksError, RecursionError) as error:
                checks.add("scores", Status.unchecked, str(error))
    return checks


class _Task:
    """One task of a run, and the same task as lm-eval loads it from our files."""

    def __init__(self, checks: Checks, run: Run, result: TaskResult, options: Mapping[str, Any]) -> None:
        if result.samples is None:
            raise DataError("no samples that can be read; run lm-eval with --log_samples.")
        self.checks, self.run, self.result = checks, run, result
        self.recorded = result.provenance.get("data", {}).get("origin") == "recording"
        self.docs: dict[str, Mapping[str, Any]] = {}
        self.totals: dict[str, Any] = {}  # as lm-eval names them
        options = {**_options(result), **options}
        try:
            self.task = _load(result.task, json.dumps(options))
            self.docs = {str(doc.get("id", doc.get("question_id"))): doc for doc in self.task.test_docs()}
        except FinTasksError as error:
            if not self.recorded:
                raise
            told = "NOT VERIFIED: scored with the gold answers of the file, as our own cannot be had"
            checks.add("data", Status.warned, f"{told}: {error}")
            self.task = _load(result.task, json.dumps({**options, "source": "sample"}))

    def check(self, judge: JudgeModel | None, judge_rows: int, seed: int) -> None:
        checks, result = self.checks, self.result
        metadata = self.task.config.metadata
        version = str(self.task.VERSION).removesuffix(".0")
        own = replace(result, settings=settings_of({"provenance": metadata["provenance"]}, version=version))
        if lacking := _other_encoder(result.settings, own.settings):
            raise DataError(lacking)
        if self.docs:
            check.check_data(checks, result.benchmark, metadata["provenance"], recorded=self.recorded)
            check.check_settings(checks, result, own, recorded=self.recorded)
        if (theirs := result.provenance.get("fin_tasks")) != fin_tasks.__version__:
            told = f"made by fin-tasks {theirs!r:.40}, verified by {fin_tasks.__version__}"
            checks.add("versions", Status.warned, told)
        rows = self._rows()
        if not rows:
            raise DataError("no row is of the benchmark, so nothing can be scored again.")
        made = self._score(rows)
        counted = check.check_scores(checks, rows, made, self._doubtful(rows, made))
        means = self.task.aggregation()
        for variant, of in counted.items():
            self.totals |= {f"{n},{variant}": means[n]([row[n] for row in of]) for n in of[0] if n in means}
        self.totals["sample_len"] = len(rows)
        _check_totals(checks, result, self.totals)
        steps = [step for one in self.task._filters for make in one.filters if isinstance(step := make(), AskJudge)]
        if steps and steps[0].judging is not None and (result.judge or not steps[0].optional):
            rubric = steps[0].judging.rubric
            check_judged(checks, result, rows, rubric, asked=judge is not None)
            if judge is not None and result.judge:
                ask_again(checks, self.task, steps[0], rows, judge, rubric, n=judge_rows, seed=seed)
        check.check_responses(checks, rows)

    def _rows(self) -> list[Row]:
        """Read the samples and compare documents, prompts and rows."""
        rows: dict[str, Row] = {}
        strangers, changed, sent = [], [], []
        variants = {ensemble.name for ensemble in self.task._filters}
        for sample in read_samples(self.result):
            given, variant = sample["doc"], sample.get("filter", "")
            name = str(given.get("id", given.get("question_id", sample.get("doc_id"))))
            texts = _responses(sample, name)
            if variant not in variants:
                raise DataError(f"row {name!r:.60}: expected the variants {sorted(variants)}, got {variant!r:.40}.")
            if (doc := self.docs.get(name)) is None and not self.recorded:
                strangers.append(name)
                continue
            row = rows.setdefault(name, Row(name, doc or given, doc is not None, texts))
            if row.responses != texts:
                changed.append(f"{name!r:.60}: the variants have different responses")
            fields = check.changed_fields(given, row.doc, recorded=self.recorded) if doc else []
            changed += [f"{name!r:.60}: {field} {given.get(field)!r:.80}" for field in fields]
            row.claimed[variant] = {n: sample.get(n) for n in sample["metrics"] if not n.endswith("_stderr")}
            row.readings[variant] = readings_of(sample.get("filtered_resps"))
            if variant == "paper" and (text := check.prompt_of(sample)) is not None and doc:
                sent.append((name, text, doc))
        same = "documents are those of the benchmark" if self.docs else "variants have the same responses"
        self.checks.none_of("documents", changed, "fields of documents or responses were changed", same)
        foreign = [f"{one!r:.60}" for one in dict.fromkeys(strangers)]
        self.checks.none_of("rows", foreign, "rows are not of the benchmark", "no foreign rows")
        check.check_rows(self.checks, self.result, rows, self.docs, recorded=self.recorded)
        check.check_prompts(self.checks, sent, shots="fewshot" in self.result.settings)
        order = {name: at for at, name in enumerate(self.docs)}
        return sorted(rows.values(), key=lambda row: order.get(row.id, len(order)))

    def _score(self, rows: Sequence[Row]) -> Made:
        """Apply the task's filters and scorer to the responses; a judge's replies are those that were kept."""
        found: dict[str, list[tuple[list[Any], Mapping[str, Any]]]] = {}
        docs = [row.doc for row in rows]
        try:
            for ensemble in self.task._filters:
                now: Any = [row.responses for row in rows]
                for make in ensemble.filters:
                    step = make()
                    now = kept_judgments(step, rows) if isinstance(step, AskJudge) else step.apply(now, docs)
                pairs = [(list(of), self.task.process_results(d, [of])) for d, of in zip(docs, now, strict=True)]
                found[ensemble.name] = pairs
        except (KeyError, TypeError) as error:  # documents of recordings hold what their command needs
            raise DataError(
                f"documents lack {error}; name the benchmark's data with --data-dir or --source."
            ) from error
        if self.run.harness == "VLMEvalKit" and "robust" in found:  # it notes in the response that a request failed
            for at, row in enumerate(rows):
                if any(text.strip() and no_response(text) for text in row.responses):
                    readings, values = found["robust"][at]
                    found["robust"][at] = (readings, {**dict.fromkeys(values), "unscored": 1.0})
        return found

    def _doubtful(self, rows: Sequence[Row], made: Made) -> set[int]:
        """Run the programs of rows that differ twice more; return those with another result each time."""
        if not self.task.config.unsafe_code:
            return set()
        suspects = [
            at
            for at, row in enumerate(rows)
            if any(
                not check.same(claimed.get(name), made[variant][at][1].get(name))
                for variant, claimed in row.claimed.items()
                for name in claimed
            )
        ]
        if not suspects:
            return set()
        again = self._score([rows[at] for at in suspects] * 2)
        return {
            at
            for place, at in enumerate(suspects)
            for variant, of in again.items()
            if len({str(one[0]) for one in (made[variant][at], of[place], of[place + len(suspects)])}) > 1
        }


def _check_group(checks: Checks, group: TaskResult, again: Mapping[str, _Task]) -> None:
    """Average the totals of a group's tasks as lm-eval does, and compare."""
    entry, tasks = _manager("{}").task_index.get(group.task), _tasks_of(group.task)
    if not group.totals or entry is None or not set(tasks) <= again.keys():
        if group.totals:
            checks.add("totals", Status.unchecked, f"not all tasks of the group were scored again: {', '.join(tasks)}")
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


def _other_encoder(theirs: Mapping[str, str], ours: Mapping[str, str]) -> str:
    """Say which file of the run's own has to be named by whoever verifies: an encoder, or mathematical types."""
    names = [name for name in theirs if name.endswith("encoder.name") and theirs[name] != ours.get(name)]
    names += ["math_types"] if "math_types" in theirs.keys() - ours.keys() else []
    option = names[0].split(".")[-2:][0] if names else ""
    return f"a submission does not choose files: name yours, --metadata '{{\"{option}\": ...}}'." if names else ""


def _responses(sample: Mapping[str, Any], name: str) -> list[str]:
    of_requests = sample.get("resps")
    texts = of_requests[0] if isinstance(of_requests, list) and len(of_requests) == 1 else None
    if not isinstance(texts, list) or not 0 < len(texts) <= _MOST_RESPONSES or not all(type(x) is str for x in texts):
        raise DataError(f"row {name!r:.60}: expected 1 to {_MOST_RESPONSES} texts as resps, got {of_requests!r:.80}.")
    return texts


def _tasks_of(group: str) -> list[str]:
    """Name the tasks of one of our groups and of the groups in it."""
    entry = _manager("{}").task_index.get(group)
    if entry is None or "group" not in (entry.cfg or {}):
        return [group] if entry else []
    return [task for member in entry.cfg["task"] for task in _tasks_of(member)]
