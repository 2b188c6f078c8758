"""VLMEvalKit's results that did not change are not read again either; odd letters in ids cost nothing."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from made_results import shares, write_results

from fin_tasks.report import vlmeval_entries
from fin_tasks.report.collect import Collected, collect
from fin_tasks.report.old_leaderboard import document
from fin_tasks.settings import Settings

_ITEM = {"answer": "B", "correct": True, "metrics": {"acc": 1.0, "unscored": 0.0}}


def write_kit(folder: Path, model: str, rows: int = 2) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    stem = folder / f"{model}_XFinBench_MCQ_V_exact"
    lines = (json.dumps({"index": str(at), "paper": _ITEM, "robust": _ITEM}) for at in range(rows))
    Path(f"{stem}_items.jsonl").write_text("\n".join(lines))
    totals = {"dataset": "XFinBench_MCQ_V", "n": rows, "acc_paper": 1.0, "acc_robust": 1.0, "rows_expected": rows}
    score = Path(f"{stem}_score.json")
    score.write_text(json.dumps(totals))
    return score


def gathered(runs: Path) -> Collected:
    settings = replace(Settings.from_environ({}), cache_dir=runs.parent / "cache")
    return collect([runs], settings=settings, published=False)


def test_the_kits_items_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    items = vlmeval_entries.read_items

    def counted(path: Path, benchmark: str) -> object:
        read.append(path.name[0])
        return items(path, benchmark)

    monkeypatch.setattr(vlmeval_entries, "read_items", counted)
    for model in ("a", "b"):
        write_kit(tmp_path / "runs", model)
    first = gathered(tmp_path / "runs")
    assert {entry.value for entry in first.entries if entry.metric == "acc"} == {1.0}
    assert read == ["a", "b"]
    second = gathered(tmp_path / "runs")
    assert read == ["a", "b"]
    assert (second.entries, second.runs, second.problems) == (first.entries, first.runs, first.problems)
    assert second.scores(second.runs[0].id)["paper"].ids == ("0", "1")
    score = write_kit(tmp_path / "runs", "b", rows=3)
    os.utime(score)
    assert {entry.n for entry in gathered(tmp_path / "runs").entries if entry.metric == "acc"} == {2, 3}
    assert read == ["a", "b", "b"]


def test_results_of_the_kit_without_totals_are_a_problem(tmp_path: Path) -> None:
    score = write_kit(tmp_path / "runs", "a")
    score.write_text(json.dumps({"dataset": "XFinBench_MCQ_V", "n": 0}))
    for _ in range(2):
        found = gathered(tmp_path / "runs")
        assert score.name in found.problems[0].message
        assert not found.runs


def test_half_characters_in_ids_stay_apart(tmp_path: Path) -> None:
    docs = [{"id": "\ud800"}, {"id": "\ud801"}, {"id": "é"}]
    write_results(tmp_path / "runs" / "a", "financemath", shares([1.0, 0.0, 1.0]), docs=docs, model="a")
    for _ in range(2):
        found = gathered(tmp_path / "runs")
        assert not found.problems
        assert found.scores(found.runs[0].id)["paper"].ids == ("\\ud800", "\\ud801", "é")


def test_a_report_tells_no_folder_above_the_one_given(tmp_path: Path) -> None:
    write_kit(tmp_path / "runs" / "sub", "a").write_text(json.dumps({"dataset": "XFinBench_MCQ_V", "n": 0}))
    write_results(tmp_path / "runs" / "b", "financemath", shares([1.0]), model="b")
    next((tmp_path / "runs" / "b").glob("results_*")).unlink()
    found = gathered(tmp_path / "runs")
    assert str(tmp_path) in found.problems[0].message
    made = document(found)
    assert made["problems"][0]["path"].startswith("sub/")
    assert made["notes"][0].startswith("b:")
    assert str(tmp_path) not in json.dumps(made)
