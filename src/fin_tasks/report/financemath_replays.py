"""FinanceMath's recordings scored again, as `fin-tasks replay financemath --json` prints them, as entries."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from fin_tasks.benchmarks.financemath.metrics import metrics_of
from fin_tasks.errors import DataError
from fin_tasks.report.comparability import facts_of
from fin_tasks.report.entry import RunFacts, RunRead, Scores
from fin_tasks.report.item_scores import VARIANTS
from fin_tasks.report.json_fields import name_of, number
from fin_tasks.report.lm_eval_results import Claim, TaskClaims
from fin_tasks.report.redaction import without_secrets
from fin_tasks.report.run_labels import REPLAYED
from fin_tasks.report.samples import spelled_out
from fin_tasks.report.settings import SAMPLE
from fin_tasks.report.task_entries import TaskRead, entries_of, small
from fin_tasks.report.variants import variants_of
from fin_tasks.report.vlmeval_entries import claims_of_rows

__all__ = ["is_financemath_replay", "read_financemath_replay"]

_MODES = {"cot": "financemath", "pot": "financemath_pot"}
"""Mode to the task that asks for it, as lm-eval's are named."""
_COUNTS = frozenset({"n", "execution_rate", "acc", "no_answer", "unscored"})


def is_financemath_replay(value: Mapping[str, Any]) -> bool:
    """Say whether an object is what `fin-tasks replay financemath --json` prints."""
    return value.keys() >= _COUNTS and ("robust_acc" in value or "paper_acc" in value)


def read_financemath_replay(path: Path, value: Mapping[str, Any]) -> RunRead:
    """Give the entries of a replayed file, as lm-eval's task of its mode has them.

    Values are those of its totals, so far as these have them; intervals and counts come from its rows.

    Raises:
        DataError: A field is none of a replay's; the message names it.
    """
    if "rows" not in value:
        raise DataError(
            f"{path}: expected model, mode and rows beside the totals, found only these. Replay the recordings again: "
            "an earlier version wrote this."
        )
    mode = value.get("mode")
    if not isinstance(mode, str) or mode not in _MODES:
        raise DataError(f"{path}, mode: expected {' or '.join(_MODES)}, got {mode!r:.80}.")
    task = _MODES[mode]
    scores = _scores(f"{path}, rows", value["rows"], list(metrics_of(mode=mode)))
    setting = _setting(path, value)
    variants = variants_of(task, setting)
    told = [value["rows"], value.get("model"), dict(setting)]
    facts = RunFacts(
        id=hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16],
        source="replay",
        model=without_secrets(name_of(f"{path}, model", value.get("model"))),
        task=variants.task,
        date="",
        path=path.name,
        provenance=setting,
    )
    claims = _claims(path, value, task, scores)
    whole = TaskRead(
        claims=claims,
        setting=setting,
        facts=facts_of({name: of for name, of in setting.items() if name != REPLAYED}, rows=claims.rows),
        variants=variants,
        scores=scores,
        digest="",
    )
    return RunRead(facts=facts, entries=tuple(entries_of(facts, task, whole)), scores=small(scores), samples=None)


def _scores(where: str, rows: Any, metrics: Sequence[str]) -> dict[str, Scores]:
    """Read what each row scored under the variants that all rows have."""
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise DataError(f"{where}: expected a list of objects, got {rows!r:.80}.")
    ids = tuple(_id(f"{where}.{place}.id", row.get("id")) for place, row in enumerate(rows))
    if len(set(ids)) < len(ids):
        ((twice, _),) = Counter(ids).most_common(1)
        raise DataError(f"{where}: expected each question once, got {twice!r:.80} twice. Replay each run by itself.")
    found = {}
    for variant in (name for name in VARIANTS if name in rows[0]):
        values = [_values(f"{where}.{place}.{variant}", row.get(variant), metrics) for place, row in enumerate(rows)]
        there = [name for name in metrics if any(name in of for of in values)]
        columns = {name: np.array([of.get(name, np.nan) for of in values]) for name in there}
        found[variant] = Scores(ids=ids, clusters=None, values=columns)
    if not found:
        raise DataError(f"{where}.0: expected metrics under {' or '.join(VARIANTS)}, got {sorted(rows[0])!r:.80}.")
    return found


def _id(where: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        raise DataError(f"{where}: expected a text or whole number, got {value!r:.80}.")
    return spelled_out(str(value))


def _values(where: str, told: Any, metrics: Sequence[str]) -> dict[str, float]:
    if not isinstance(told, dict) or not told.keys() <= set(metrics):
        raise DataError(f"{where}: expected an object of metrics such as acc, got {told!r:.80}.")
    numbers = {name: number(f"{where}.{name}", value, most=1) for name, value in told.items()}
    return {name: value for name, value in numbers.items() if value is not None}


def _claims(path: Path, value: Mapping[str, Any], task: str, scores: Mapping[str, Scores]) -> TaskClaims:
    """Take the totals as they are told, and the means of rows of all else."""
    of_rows = claims_of_rows(task, scores)
    variants = {}
    for variant, claims in of_rows.variants.items():
        total = "acc" if value.get("variant") == variant else f"{variant}_acc"
        said = {"acc": total, "execution_rate": "execution_rate"}
        totals = {
            metric: Claim(number(f"{path}, {name}", value[name], most=1), None)
            for metric, name in said.items()
            if name in value
        }
        variants[variant] = {**claims, **totals}
    return replace(of_rows, variants=variants)


def _setting(path: Path, value: Mapping[str, Any]) -> dict[str, str]:
    split, judge = value.get("split"), value.get("judge")
    told: dict[str, Any] = {"provenance.mode": value["mode"]}
    if split == SAMPLE:
        told["provenance.data.origin"] = SAMPLE
    elif split is not None:
        told["provenance.split"] = name_of(f"{path}, split", split)
    if judge is not None:
        if not isinstance(judge, dict):
            raise DataError(f"{path}, judge: expected an object or null, got {judge!r:.80}.")
        told["judge.model"] = name_of(f"{path}, judge.model", judge.get("model"))
        if judge.get("reads") == "all":  # lm-eval's task asks it about the rest alone
            told["judge.reads"] = "all"
    if value.get("truths") == "rounded":
        told["provenance.truths.robust"] = "ground_truth"
    told |= {f"provenance.{name}": value[name] for name in ("scorer", "fin_tasks") if _is_version(value.get(name))}
    # where a recording lay is nobody's business
    told[REPLAYED] = PurePosixPath(name_of(f"{path}, file", value.get("file")).replace("\\", "/")).name
    return {name: json.dumps(without_secrets(of) if isinstance(of, str) else of) for name, of in told.items()}


def _is_version(value: Any) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool) and len(str(value)) <= 40
