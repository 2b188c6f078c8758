"""What `fin-tasks judge` wrote, with `--items` or `--json`, as entries."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.mme_finance.score import CATEGORIES
from fin_tasks.errors import DataError
from fin_tasks.report.comparability import facts_of
from fin_tasks.report.entry import RunFacts, RunRead
from fin_tasks.report.item_scores import read_judged
from fin_tasks.report.json_fields import name_of, number, read_capped, whole
from fin_tasks.report.lm_eval_results import Claim, TaskClaims
from fin_tasks.report.redaction import without_secrets
from fin_tasks.report.row_scores import FileScores
from fin_tasks.report.runs import MAX_RESULTS
from fin_tasks.report.samples import lines_of, sample_of
from fin_tasks.report.task_entries import TaskRead, entries_of, small
from fin_tasks.report.variants import variants_of
from fin_tasks.report.vlmeval_entries import claims_of_rows

__all__ = ["is_item", "is_summary", "read_judge_items", "read_judge_summary"]

_NAMELESS = "the file does not say whose responses were judged"
_TASKS = ("mme_finance_en", "mme_finance_zh")


def is_item(line: Mapping[str, Any]) -> bool:
    """Say whether an object is a line that `fin-tasks judge --items` writes."""
    return {"index", "score", "judge", "rubric", "failed"} <= line.keys()


def is_summary(value: Mapping[str, Any]) -> bool:
    """Say whether an object is what `fin-tasks judge --json` prints."""
    return {"overall", "overall_paper", "by_category", "judge", "rubric"} <= value.keys()


def read_judge_items(path: Path) -> RunRead:
    """Read judged items; every row must be by one judge and rubric.

    Raises:
        DataError: The file cannot be used.
    """
    told: dict[str, Any] = {}
    for at, line in lines_of(path):
        where = f"{path}, line {at}"
        item = sample_of(where, line)
        said = {name: item.get(name) for name in ("judge", "rubric", "rubric_sha256", "model")}
        if told and said != {name: told[name] for name in said}:
            other = next(name for name in said if said[name] != told[name])
            raise DataError(f"{where}, {other}: expected that of the rows before, got {said[other]!r:.80}.")
        # a row without a picture was judged without one, whatever the judge was told
        told = {**said, "image": bool(item.get("image")) or told.get("image", False)}
    read = read_judged(path)
    return _run(path, told, read, claims_of_rows("", read.variants))


def read_judge_summary(path: Path, value: Mapping[str, Any]) -> RunRead:
    """Read a summary: totals without rows, so without intervals.

    Raises:
        DataError: A field is none of those; the message names it.
    """
    n, unscored = (
        whole(f"{path}, {name}", value.get(name), least=least) for name, least in (("n", 1), ("unscored", 0))
    )
    robust = {"score": _claim(path, value, "overall"), "unscored": Claim(unscored / n, None)}
    paper = {"score": _claim(path, value, "overall_paper"), "unscored": Claim(0.0, None)}
    for by, names in _names(path, value).items():
        counts = value.get(f"counts_{by}")
        for name, metric in names.items():
            robust[metric] = _claim(path, value[by], name)
            if isinstance(counts, dict) and isinstance(counts.get(name), dict):
                paper[metric] = _claim(path, counts[name], "score_paper")
    claims = TaskClaims(
        task="",
        variants={"paper": paper, "robust": robust},
        higher_is_better={},
        rows=n,
        of=n,
        version="",
        members=(),
    )
    told = {name: value.get(name) for name in ("judge", "rubric", "rubric_sha256", "model")}
    digest = hashlib.sha256(read_capped(path, most=MAX_RESULTS)).hexdigest()
    pictures = value.get("pictures")
    return _run(
        path,
        {**told, "image": bool(pictures)},
        FileScores(variants={}, digest=digest),
        claims,
    )


def _names(path: Path, value: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Give the metric of each name that scores are told apart by; two names of one metric are left out."""
    found: dict[str, dict[str, str]] = {}
    for by in ("by_category", "by_type", "by_style"):
        names = value.get(by, {})
        if not isinstance(names, dict):
            raise DataError(f"{path}, {by}: expected an object, got {type(names).__name__}.")
        metrics = {name: metric for name in names if (metric := _metric(by, name))}
        ours = list(metrics.values())
        found[by] = {name: metric for name, metric in metrics.items() if ours.count(metric) == 1}
    return found


def _metric(by: str, name: str) -> str:
    if by == "by_category":
        return f"score_{CATEGORIES[name].short}" if name in CATEGORIES else ""
    ours = name
    return f"score_{by.removeprefix('by_')}_{ours.replace(' ', '_')}"


def _run(path: Path, told: Mapping[str, Any], read: FileScores, claims: TaskClaims) -> RunRead:
    rubric = told["rubric"]
    task = str(rubric).partition("@")[0]
    if task not in _TASKS:
        raise DataError(
            f"{path}, rubric: expected {' or '.join(_TASKS)}, whose scores are a benchmark's, got {rubric!r:.80}."
        )
    for name in ("judge", "rubric", "rubric_sha256", "model"):
        if told[name] is not None:
            name_of(f"{path}, {name}", told[name])
    names = ("judge", "rubric", "rubric_sha256", "image")
    setting = {
        f"judge.{'model' if name == 'judge' else name}": json.dumps(without_secrets(told[name]))
        for name in names
        if told[name] is not None
    }
    named = told["model"] is not None
    variants = variants_of(task, setting)
    facts = RunFacts(
        id=hashlib.sha256(f"{read.digest}\0{task}\0judge".encode()).hexdigest()[:16],
        source="judge",
        model=without_secrets(told["model"] if named else path.stem),
        task=variants.task,
        date="",
        path=path.name,
        samples=path.name if read.variants else "",
        provenance=setting,
    )
    whole = TaskRead(
        claims=replace(claims, task=task),
        setting=setting,
        facts=facts_of(setting, rows=claims.rows, of=claims.of),
        variants=variants,
        scores=read.variants,
        digest=read.digest,
        marks=() if named else (_NAMELESS,),
    )
    samples = path if read.variants else None
    return RunRead(
        facts=facts, entries=tuple(entries_of(facts, task, whole)), scores=small(read.variants), samples=samples
    )


def _claim(path: Path, value: Mapping[str, Any], name: str) -> Claim:
    return Claim(number(f"{path}, {name:.80}", value.get(name), most=100), None)
