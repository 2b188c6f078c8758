"""Figures of parts in lm-eval's files: those of version 0.2, and those of runs without samples."""

import json
import shutil
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from honest_runs import right_or_wrong
from in_process import run, saved

from fin_tasks import report
from fin_tasks.benchmarks import benchmark_of
from fin_tasks.benchmarks.scored_task import document_values
from fin_tasks.errors import DataError
from fin_tasks.report.leaderboard import board
from fin_tasks.report.samples import sample_of
from fin_tasks.report.tables import values_table

TASKS = ("xfinbench_text", "financemath_pot", "dynostock_recency_w4_text")


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    return run(*TASKS, answer=right_or_wrong)


@pytest.fixture
def folder(found: Mapping[str, Any], tmp_path: Path) -> Path:
    return saved(deepcopy(dict(found)), tmp_path / "run")


def values(folder: Path) -> pd.DataFrame:
    """Return the known values of a report, sorted."""
    table = values_table(board(report.read([folder]), papers=False))
    keys = ["task", "mode", "scoring", "metric"]
    table = table[table["value"].notna()].sort_values(keys, ignore_index=True)
    return table[[*keys, "value", "low", "high", "n"]]


def as_version_0_2(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return results as they were: all figures are metrics of the harness."""
    old: dict[str, Any] = deepcopy(dict(found))
    for task, samples in old["samples"].items():
        benchmark = benchmark_of(task)
        assert benchmark is not None
        for sample in samples:
            metrics = {name: sample[name] for name in sample["metrics"]}
            readings = sample_of("", sample).readings
            sample["figures"] = document_values(
                benchmark, sample["doc"], readings, metrics
            )
        names = sorted({name for sample in samples for name in sample["figures"]})
        for sample in samples:
            sample |= {**dict.fromkeys(names), **sample.pop("figures")}
            sample["metrics"] += names
        breakdowns = old["configs"][task]["metadata"].pop("breakdowns")
        for scoring in ("paper", "robust"):
            for name in names:
                part = breakdowns[scoring].get(name, {"value": "N/A"})
                old["results"][task][f"{name},{scoring}"] = part["value"]
    return old


def test_reports_of_older_files_show_the_same(
    found: Mapping[str, Any], folder: Path, tmp_path: Path
) -> None:
    older = saved(as_version_0_2(found), tmp_path / "old")
    now = values(folder)
    before = values(older)
    shown = {
        "acc_TU",
        "acc_err_TU",
        "acc_em_table",
        "acc_risk",
        "timeout",
        "follows_signal",
    }
    assert shown <= set(now["metric"])
    # How many documents a calibration error is over was not known.
    before.loc[before["metric"] == "ece", "n"] = now.loc[now["metric"] == "ece", "n"]
    pd.testing.assert_frame_equal(now, before)


def test_without_samples_the_figures_of_parts_are_claims(
    folder: Path, tmp_path: Path
) -> None:
    bare = shutil.copytree(folder, tmp_path / "bare")
    for file in bare.rglob("samples_*.jsonl"):
        file.unlink()
    keys = ["task", "mode", "scoring", "metric"]
    both = values(bare).merge(values(folder), on=keys, suffixes=("", "_by_rows"))
    assert {"acc_TU", "acc_risk", "syntax", "ece", "read_by_model"} <= set(
        both["metric"]
    )
    assert both["value"].tolist() == pytest.approx(both["value_by_rows"].tolist())
    parts = both[both["metric"].isin(["acc_TU", "acc_risk"])]
    assert parts["n"].tolist() == parts["n_by_rows"].tolist()
    assert parts["low"].isna().all()


@pytest.mark.parametrize(
    "claim",
    [
        "text",
        {"paper": []},
        {"paper": {"acc_TU": 0.5}},
        {"paper": {"acc_TU": {"value": "0.5 or so", "n": 3}}},
        {"paper": {"acc_TU": {"value": 0.5, "n": -1}}},
        {"paper": {"acc_TU": {"value": float("inf"), "n": 3}}},
    ],
)
def test_claims_that_are_no_figures_are_named(folder: Path, claim: object) -> None:
    (file,) = folder.rglob("results_*.json")
    results = json.loads(file.read_text())
    results["configs"]["financemath_pot"]["metadata"]["breakdowns"] = claim
    file.write_text(json.dumps(results))
    name = r"results_.*configs\.financemath_pot\.metadata\.breakdowns"
    with pytest.raises(DataError, match=name):
        report.read([folder])
