"""Run folders of VLMEvalKit, its own or the packaged one's, as entries equal to lm-eval's for the same scores."""

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from fin_tasks.errors import DataError
from fin_tasks.report.comparability import facts_of
from fin_tasks.report.entry import RunFacts, RunRead, Scores
from fin_tasks.report.estimates import Unit, largest, unit_of
from fin_tasks.report.item_scores import SCALE, VARIANTS, read_items, read_judged
from fin_tasks.report.json_fields import MAX_METRICS, name_of, number, read_capped, whole
from fin_tasks.report.kit_files import TASKS, KitRun
from fin_tasks.report.lm_eval_entries import UnitRead
from fin_tasks.report.lm_eval_results import Claim, TaskClaims
from fin_tasks.report.redaction import without_secrets
from fin_tasks.report.row_scores import FileScores
from fin_tasks.report.runs import MAX_RESULTS, Problem, benchmark_of
from fin_tasks.report.settings import Setting, setting_of
from fin_tasks.report.task_entries import TaskRead, entries_of, small
from fin_tasks.report.variants import variants_of

__all__ = ["claims_of_rows", "read_kit_run"]

_VERSION = "vlmeval_version"
_NO_ROWS = FileScores(variants={}, digest="")
_BROKEN = "its items file is broken or missing, so the value rests on its totals alone"


def read_kit_run(found: KitRun) -> UnitRead:
    """Read results of ours beside VLMEvalKit's predictions: a data set that a model was asked.

    Args:
        found: Of `kit_files.find_kit_runs`. Nothing but our own files is read: `..._score.json` with the totals and
            what they were made with, and `..._items.jsonl` with the rows.

    Returns:
        One run. Totals that its rows do not bear out are marked.

    Raises:
        DataError: The totals cannot be used.
    """
    problems: list[Problem] = []
    return UnitRead(runs=(_run(found, problems),), problems=tuple(problems))


def claims_of_rows(task: str, scores: Mapping[str, Scores], *, version: str = "") -> TaskClaims:
    """State the means of rows as a task's claims, for metrics that its totals do not have."""
    rows = len(next(iter(scores.values())).ids) if scores else 0
    variants = {
        variant: {metric: Claim(_mean(values), None) for metric, values in one.values.items()}
        for variant, one in scores.items()
    }
    return TaskClaims(
        task=task, variants=variants, higher_is_better={}, rows=rows, of=rows, version=version, members=()
    )


def _run(found: KitRun, problems: list[Problem]) -> RunRead:
    task = TASKS[found.dataset]
    read, marks = _rows(found, problems)
    claims = _claims(found, task, read)
    if not any(claims.variants.values()):
        raise DataError(f"{found.score}: expected totals such as overall or acc_robust, found none.")
    setting = _setting(found, task)
    samples = found.items if read.variants else None
    digest = hashlib.sha256(read_capped(found.score, most=MAX_RESULTS)).hexdigest()
    facts = RunFacts(
        id=_id(digest, read.digest, task),
        source="VLMEvalKit",
        model=without_secrets(found.model),
        task=variants_of(task, setting).task,
        date=found.date,
        path=found.shown(found.score),
        samples=found.shown(samples) if samples else "",
        provenance=setting,
        claims=_id(digest, task),
    )
    whole = TaskRead(
        claims=claims,
        setting=setting,
        facts=facts_of(setting, version=claims.version, rows=claims.rows, of=claims.of),
        variants=variants_of(task, setting),
        scores=read.variants,
        digest=read.digest,
        marks=marks,
    )
    return RunRead(
        facts=facts, entries=tuple(entries_of(facts, task, whole)), scores=small(read.variants), samples=samples
    )


def _rows(found: KitRun, problems: list[Problem]) -> tuple[FileScores, tuple[str, ...]]:
    if found.items is None:
        return _NO_ROWS, (_BROKEN,)
    try:
        if benchmark_of(TASKS[found.dataset]) == "mme_finance":
            read = read_judged(found.items, scale=_scale(found))
        else:
            read = read_items(found.items, benchmark_of(TASKS[found.dataset]))
        rows, said = len(next(iter(read.variants.values())).ids), _count(found, "n")
        if said != rows:
            raise DataError(f"{found.items}: expected {said} rows, as {found.score.name} says, found {rows}.")
    except DataError as error:
        problems.append(Problem(str(found.items), str(error)))
        return _NO_ROWS, (_BROKEN,)
    return read, ()


def _claims(found: KitRun, task: str, read: FileScores) -> TaskClaims:
    version: Any = found.totals.get("task_version")
    made = claims_of_rows(task, read.variants, version=f"{float(version):g}" if _is_number(version) else "")
    said = _judged_totals(found) if benchmark_of(task) == "mme_finance" else _totals(found, benchmark_of(task))
    variants = {variant: {**made.variants.get(variant, {}), **said[variant]} for variant in VARIANTS}
    n = _count(found, "n")
    of = n if found.totals.get("rows_expected") is None else _count(found, "rows_expected")
    return TaskClaims(
        task=task,
        variants=variants,
        higher_is_better={},
        rows=n,
        of=of,
        version=made.version,
        members=(),
    )


def _totals(found: KitRun, benchmark: str) -> dict[str, dict[str, Claim]]:
    totals: dict[str, dict[str, Claim]] = {}
    for variant in VARIANTS:
        names = [name for name in found.totals if name.endswith(f"_{variant}")]
        if len(names) > MAX_METRICS:
            raise DataError(f"{found.score}: expected at most {MAX_METRICS:,} totals, got {len(names):,}.")
        metrics = {name: name_of(f"{found.score}, {name:.80}", name).removesuffix(f"_{variant}") for name in names}
        totals[variant] = {
            metric: Claim(_total(found, name, unit_of(benchmark, metric)), None) for name, metric in metrics.items()
        }
    return totals


def _judged_totals(found: KitRun) -> dict[str, dict[str, Claim]]:
    names = {"paper": "overall_paper", "robust": "overall"}
    return {
        variant: {"score": Claim(_total(found, name, "points"), None)} if name in found.totals else {}
        for variant, name in names.items()
    }


def _setting(found: KitRun, task: str) -> Setting:
    """Gather what lm-eval's results file of the same task would say."""
    totals = found.totals
    judging = totals.get("judging")
    judge = {
        "model": totals.get("judge"),
        "rubric": totals.get("rubric"),
        "rubric_sha256": totals.get("rubric_sha256"),
        "image": totals.get("image"),
        **({name: judging.get(name) for name in ("temperatures", "max_tokens")} if isinstance(judging, dict) else {}),
    }
    metadata = {"provenance": totals.get("provenance"), **({"judge": judge} if totals.get("judge") else {})}
    results = {"config": {"model": "VLMEvalKit"}, "configs": {task: {"metadata": metadata}}}
    return setting_of({**results, _VERSION: totals.get(_VERSION)}, task, where=str(found.score))


def _scale(found: KitRun) -> tuple[float, float]:
    judging = found.totals.get("judging")
    said = judging.get("scale") if isinstance(judging, dict) else None
    if said is None:
        return SCALE
    if not (
        isinstance(said, list) and len(said) == 2 and all(map(_is_number, said)) and float(said[0]) < float(said[1])
    ):
        raise DataError(f"{found.score}, judging.scale: expected the lowest and the highest score, got {said!r:.80}.")
    return float(said[0]), float(said[1])


def _total(found: KitRun, name: str, unit: Unit) -> float | None:
    return number(f"{found.score}, {name:.80}", found.totals[name], most=largest(unit))


def _count(found: KitRun, name: str) -> int:
    return whole(f"{found.score}, {name}", found.totals.get(name), least=1)


def _is_number(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def _mean(values: Any) -> float | None:
    there = values[~np.isnan(values)]
    return math.fsum(there.tolist()) / len(there) if len(there) else None


def _id(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
