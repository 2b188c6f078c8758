"""Intervals of groups, and where rows are only partly there: nothing looks more certain than its rows make it."""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_boards import run
from made_results import DATE, shares, write_results
from typer.testing import CliRunner

from fin_tasks.cli import app
from fin_tasks.report.collect import Collected, collect
from fin_tasks.report.entry import Entry
from fin_tasks.report.estimates import Weighted, estimate, estimate_weighted, from_stderr
from fin_tasks.report.old_leaderboard import document
from fin_tasks.report.report_files import write_csv
from fin_tasks.settings import Settings
from fin_tasks.stats.stratified import stratified_mean

W4, W8, GROUP = "dynostock_recency_w4", "dynostock_recency_w8", "dynostock_recency"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return replace(Settings.from_environ({}), cache_dir=tmp_path / "cache")


def one(found: Collected, metric: str, task: str) -> Entry:
    (entry,) = [e for e in found.entries if (e.metric, e.task, e.variant) == (metric, task, "robust")]
    return entry


def documents(rows: int, task: str, *, of_ticker: int = 5) -> list[dict[str, Any]]:
    return [{"id": f"{task}{at}", "ticker": f"T{at // of_ticker}"} for at in range(rows)]


def write_group(folder: Path, tasks: Mapping[str, Sequence[float]], value: float, **more: Any) -> None:
    """A run of some tasks, and their group with a value and the standard error that takes rows for independent."""
    for place, (task, values) in enumerate(tasks.items()):
        last = place == len(tasks) - 1
        groups = {GROUP: {"acc,robust": value, "acc_stderr,robust": 0.02, **more}} if last else None
        docs = documents(len(values), task)
        write_results(folder, task, shares(values), docs=docs, groups=groups, members={GROUP: list(tasks)})


@pytest.mark.parametrize(("rows", "value"), [((60, 60), 0.5), ((40, 120), 0.5), ((40, 120), 0.7)])
def test_how_far_tasks_are_apart_makes_their_mean_no_less_certain(
    tmp_path: Path, settings: Settings, rows: tuple[int, int], value: float
) -> None:
    """Whether all rows count alike, or all tasks."""
    tasks = {
        task: ([share] * 9 + [1 - share]) * (of // 10)
        for (task, share), of in zip([(W4, 0.0), (W8, 1.0)], rows, strict=True)
    }
    write_group(tmp_path / "r", tasks, value)
    found = collect([tmp_path / "r"], settings=settings, published=False)
    assert not found.problems
    entry = one(found, "acc", GROUP)
    assert (entry.value, entry.marks, entry.n) == (value, (), sum(rows))
    values = np.concatenate([np.array(of) for of in tasks.values()])
    of_task = np.repeat([0, 1], rows)
    weights = np.ones(sum(rows)) if value != 0.5 else 1 / np.repeat(np.array(rows, dtype=float), rows)
    codes = np.concatenate([np.arange(of) // 5 for of in rows])
    expected = stratified_mean(values, strata=of_task, clusters=codes, weights=weights)
    assert (entry.low, entry.high) == pytest.approx((expected.low, expected.high))
    assert entry.low is not None and entry.high is not None
    apart = estimate(values, clusters=[f"T{code}" for code in codes], unit="fraction").interval
    assert entry.high - entry.low < 0.8 * (apart.high - apart.low)
    kept = found.scores(entry.run).get("robust")
    assert (kept is not None) == (value == np.mean(values))  # which pairs of models are tested on, as before


def test_a_group_with_rows_of_some_tasks_looks_no_more_certain(tmp_path: Path, settings: Settings) -> None:
    tasks = {W4: [1.0, 0.0, 1.0, 1.0, 0.0] * 6, W8: [0.0, 1.0, 0.0, 0.0, 1.0] * 6}
    for name in ("whole", "partly", "alone"):
        write_group(tmp_path / name, tasks, 0.5)
    (tmp_path / "partly" / f"samples_{W8}_{DATE}.jsonl").unlink()
    for samples in (tmp_path / "alone").glob("samples_*"):
        samples.unlink()
    for name, known in (("whole", True), ("partly", False), ("alone", True)):
        entry = one(collect([tmp_path / name], settings=settings, published=False), "acc", GROUP)
        assert entry.value == 0.5
        assert (entry.low is not None) == known


@pytest.mark.parametrize("of_ticker", [1, 5])
def test_bounds_that_know_no_tickers_do_not_stand_in_for_rows_that_do(
    tmp_path: Path, settings: Settings, of_ticker: int
) -> None:
    claims = {"bias_index,robust": 0.4, "bias_index_low,robust": 0.2, "bias_index_high,robust": 0.7}
    docs = documents(30, W4, of_ticker=of_ticker)
    write_results(tmp_path / "r", W4, shares([1.0, 0.0] * 15), docs=docs, claims=claims)
    entry = one(collect([tmp_path / "r"], settings=settings, published=False), "bias_index", W4)
    assert (entry.value, entry.low, entry.high) == ((0.4, 0.2, 0.7) if of_ticker == 1 else (0.4, None, None))


def test_brier_scores_are_at_most_1(tmp_path: Path, settings: Settings) -> None:
    rows = [{"acc": 1.0, "brier": value} for value in (0.9, 0.01, 0.25, 0.0)]
    write_results(tmp_path / "r", W4, rows, docs=documents(4, W4, of_ticker=1))
    entry = one(collect([tmp_path / "r"], settings=settings, published=False), "brier", W4)
    assert (entry.unit, entry.value) == ("number", pytest.approx(0.29))
    assert entry.low is not None and entry.high is not None
    assert 0 < entry.low < 0.29 < entry.high < 1
    assert from_stderr(0.9, 0.2, unit="number", metric="brier").high == 1
    weighted = Weighted(values=np.array([0.9, 0.0, 0.1]), weights=np.array([1.0, 2.0, 2.0]), clusters=None)
    assert estimate_weighted(weighted, unit="number", metric="brier").interval.high < 1


def test_a_value_of_nothing_or_full_marks_keeps_its_interval_to_the_csv(tmp_path: Path) -> None:
    clusters = [f"T{at // 2}" for at in range(600)]
    entries, runs = [], []
    for held in range(1, 301):
        for value in (0.0, 1.0):
            read = run(f"m{held}", "xfinbench_bool", {"acc": [value]}, split=f"s{held}", mode=f"v{value:g}")
            found = estimate(np.full(2 * held, value), clusters=clusters[: 2 * held], unit="fraction").interval
            entries.append(replace(read.entries[0], low=found.low, high=found.high))
            runs.append(read)
    facts = tuple(read.facts for read in runs)
    read = {one.facts.id: replace(one, scores={}) for one in runs}
    whole = Collected(entries=tuple(entries), runs=facts, problems=(), notes=(), read=read)
    write_csv(document(whole), tmp_path / "leaderboard.csv")
    with (tmp_path / "leaderboard.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 600
    for row in rows:
        assert row["low" if row["value"] == "0.0" else "high"] == row["value"]
        assert float(row["high"]) > 0 and float(row["low"]) < 1


def test_a_run_that_gets_nothing_right_has_intervals(tmp_path: Path) -> None:
    for held in (7, 9, 18, 24, 68):
        rows = [{"acc": 0.0, "no_answer": 1.0, "unscored": 0.0}] * (2 * held)
        docs = documents(2 * held, f"w{held}", of_ticker=2)
        write_results(tmp_path / "r", f"dynostock_recency_w{held}", rows, docs=docs)
    arguments = ["report", str(tmp_path / "r"), "--out", str(tmp_path / "out"), "--no-samples", "--no-published"]
    assert CliRunner().invoke(app, arguments, catch_exceptions=False).exit_code == 0
    with (tmp_path / "out" / "leaderboard.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["variant"] == "robust"]
    assert {(row["metric"], row["value"], row["low"]) for row in rows if row["value"] == "0.0"} == {
        ("acc", "0.0", "0.0"),
        ("unscored", "0.0", "0.0"),
    }
    assert {row["high"] for row in rows if row["value"] == "1.0"} == {"1.0"}
    entries = json.loads((tmp_path / "out" / "leaderboard.json").read_text("utf-8"))["entries"]
    assert all(entry["low"] is not None for entry in entries)


@pytest.mark.parametrize(("low", "high", "kept"), [(7e-18, 0.1, True), (0.01, 0.1, False)])
def test_bounds_off_by_rounding_hold_a_value_of_0(low: float, high: float, kept: bool) -> None:
    read = run("m", "xfinbench_bool", {"acc": [0.0]}, split="test")
    entry = replace(read.entries[0], low=low, high=high)
    whole = Collected(entries=(entry,), runs=(read.facts,), problems=(), notes=(), read={})
    (made,) = document(whole)["entries"]
    assert (made["low"] is not None) == kept


def test_rows_without_sources_stand_alone_beside_those_with_some(tmp_path: Path, settings: Settings) -> None:
    """FinanceMath's questions share nothing that is known."""
    tasks = [W4, "financemath"]
    for place, task in enumerate(tasks):
        docs = documents(40, task) if task == W4 else [{"id": f"{task}{at}"} for at in range(40)]
        groups = {GROUP: {"acc,robust": 0.5, "acc_stderr,robust": 0.02}} if place else None
        write_results(
            tmp_path / "r",
            task,
            shares([0.0, 1.0] * 20),
            docs=docs,
            groups=groups,
            members={GROUP: [W4, "financemath"]},
        )
    found = collect([tmp_path / "r"], settings=settings, published=False)
    assert not found.problems
    entry = one(found, "acc", GROUP)
    codes = np.concatenate([np.arange(40) // 5, 8 + np.arange(40)])
    expected = stratified_mean(np.tile([0.0, 1.0], 40), strata=np.repeat([0, 1], 40), clusters=codes)
    assert (entry.value, entry.n) == (0.5, 80)
    assert (entry.low, entry.high) == pytest.approx((expected.low, expected.high))
