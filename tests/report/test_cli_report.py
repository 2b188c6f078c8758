"""`fin-tasks report`, as a user runs it."""

import csv
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from made_runs import write_run
from typer.testing import CliRunner

from fin_tasks.cli import app
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.report import report_files
from fin_tasks.report.earlier import RECORD
from fin_tasks.report.schema import check

HOSTILE = "=cmd|'/c calc'!A1<script>"


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Three models on the same statements, the last by a hostile name."""
    for place, (model, right) in enumerate((("org/a", 30), ("org/b", 12), (HOSTILE, 3))):
        values = [float(at < right) for at in range(40)]
        write_aggregates(tmp_path / "results" / str(place), "xfinbench_bool", values, model=model)
    return tmp_path / "results"


def write_aggregates(folder: Path, task: str, values: list[float], **facts: Any) -> Path:
    """A run with the totals that lm-eval writes beside the rows."""
    mean = sum(values) / len(values)
    totals = {
        f"{metric},{variant}": of
        for variant in ("paper", "robust")
        for metric, of in (("acc", mean), ("unscored", 0.0))
    }
    better = {task: {"acc": True, "unscored": False}}
    return write_run(
        folder, task, values, results={task: totals}, higher_is_better=better, versions={task: 1.0}, **facts
    )


def call(*arguments: object) -> tuple[int, str, str]:
    found = CliRunner().invoke(app, ["report", *map(str, arguments), "--no-samples"], catch_exceptions=False)
    return found.exit_code, found.stdout, found.stderr


def test_a_report_is_written_and_told_in_ten_lines(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, said, _ = call(results, "--out", out, "--title", "Statements", "--baseline", "org/b", "--no-published")
    assert code == 0
    assert len(said.splitlines()) <= 10
    assert "3 runs of 3 models" in said
    document = json.loads((out / "leaderboard.json").read_text("utf-8"))
    check(document)
    assert (document["title"], document["baseline"]) == ("Statements", "org/b")
    values = {one["model"]: one["value"] for one in document["entries"] if one["metric"] == "acc"}
    assert values == {"org/a": 30 / 40, "org/b": 12 / 40, HOSTILE: 3 / 40}
    assert sorted(path.name for path in out.iterdir()) == [
        RECORD,
        "figures",
        "index.html",
        "leaderboard.csv",
        "leaderboard.json",
        "tables",
    ]
    assert (out / "figures" / "xfinbench_models.png").read_bytes().startswith(b"\x89PNG")
    assert "<script>" not in (out / "tables" / "xfinbench_main.md").read_text("utf-8")


def test_figures_that_are_missing_are_explained(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    told = {"results": {"xfinbench_bool": {"acc,robust": 0.5, "acc_stderr,robust": 0.1}}, "model_name": "m"}
    (tmp_path / "r" / "results.json").write_text(json.dumps(told))
    code, said, _ = call(tmp_path / "r", "--out", tmp_path / "out", "--no-published")
    assert code == 0
    assert not (tmp_path / "out" / "figures").exists() or not list((tmp_path / "out" / "figures").iterdir())
    assert "no figure has them; --mix draws them" in said
    _, said, _ = call(tmp_path / "r", "--out", tmp_path / "out", "--no-published", "--mix")
    assert list((tmp_path / "out" / "figures").iterdir())
    assert "--mix" not in said


def test_one_of_something_is_told_as_one(tmp_path: Path) -> None:
    write_aggregates(tmp_path / "r", "xfinbench_bool", [1.0, 0.0])
    (path,) = (tmp_path / "r").rglob("results_*.json")
    whole = json.loads(path.read_text("utf-8"))
    whole["results"] |= {"gsm8k": {"exact_match,strict": 0.3}}
    path.write_text(json.dumps(whole), encoding="utf-8")
    code, said, _ = call(tmp_path / "r", "--out", tmp_path / "out", "--no-published")
    assert code == 0
    assert said.startswith("1 run of 1 model: ")
    assert "tasks of others left out: 1." in said
    assert not re.search(r"\b1 \w+s\b", said)


def test_the_csv_is_tidy_and_no_spreadsheet_runs_it(results: Path, tmp_path: Path) -> None:
    call(results, "--out", tmp_path / "out", "--no-published")
    with (tmp_path / "out" / "leaderboard.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    headlines = [row for row in rows if row["metric"] == "acc" and row["variant"] == "robust"]
    assert {row["model"] for row in headlines} == {"org/a", "org/b", f"'{HOSTILE}"}
    first = next(row for row in headlines if row["model"] == "org/a")
    assert (float(first["value"]), first["n"], first["data_revision"], first["fin_tasks"]) == (
        0.75,
        "40",
        "d1",
        "0.1.0",
    )
    assert float(first["low"]) < 0.75 < float(first["high"])


def test_the_csv_says_which_harness_and_leaves_out_what_is_not_known(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    claims = {"acc,robust": 0.5, "acc_stderr,robust": 0.1}
    both = {"dynostock_recency_w4": claims, "xfinbench_bool": claims}
    told: dict[str, Any] = {"results": both, "model_name": "m", "lm_eval_version": "0.4.13"}
    facts = {"data": {"files": {"a.csv": "1"}}, "prompts": {"set": "house", "sha256": "c" * 64}}
    told["configs"] = {"dynostock_recency_w4": {"metadata": {"provenance": facts}}}
    (tmp_path / "r" / "results.json").write_text(json.dumps(told))
    assert call(tmp_path / "r", "--out", tmp_path / "out", "--no-published")[0] == 0
    with (tmp_path / "out" / "leaderboard.csv").open(encoding="utf-8", newline="") as file:
        (row,) = [row for row in csv.DictReader(file) if row["benchmark"] == "dynostock" and row["metric"] == "acc"]
    assert (row["harness_version"], row["n"], row["prompts_sha256"]) == ("0.4.13", "", "c" * 64)
    assert len(row["data_revision"]) == 64  # of all files together
    tables = "".join(path.read_text("utf-8") for path in (tmp_path / "out" / "tables").glob("*.md"))
    assert "(n=0)" not in tables
    assert "(n not known)" in tables


def test_nothing_is_written_among_results(results: Path, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in results.rglob("*")}
    for out in (results, results / "0"):
        with pytest.raises(ConfigError, match="expected a folder apart from the results"):
            call(results, "--out", out)
    report = tmp_path / "out"
    assert call(results, "--out", report, "--no-published")[0] == 0
    for inside in (report, report / "tables"):
        with pytest.raises(ConfigError, match="expected a folder apart from the results"):
            call(results, inside, "--out", report)
    assert {path: path.stat().st_mtime_ns for path in results.rglob("*")} == before
    assert call(results, "--out", results / "report", "--no-published")[0] == 0
    assert call(results, "--out", results / "report", "--no-published")[0] == 0


def test_json_says_what_was_done(results: Path, tmp_path: Path) -> None:
    code, said, _ = call(results, "--out", tmp_path / "out", "--json")
    summary = json.loads(said)
    assert code == 0
    assert (summary["models"], summary["runs"], summary["problems"]) == (3, 3, [])
    assert summary["different"] > 0
    assert "leaderboard.json" in summary["files"]


def test_a_broken_file_is_named_and_the_rest_reported(results: Path, tmp_path: Path) -> None:
    broken = next((results / "1").glob("samples_*.jsonl"))
    broken.write_bytes(broken.read_bytes()[:-40])
    code, said, errors = call(results, "--out", tmp_path / "out", "--no-published")
    assert code == 1
    assert broken.name in errors
    document = json.loads((tmp_path / "out" / "leaderboard.json").read_text("utf-8"))
    assert document["problems"]
    assert {"org/a", HOSTILE} <= {one["name"] for one in document["models"]}
    assert "Written to" in said


def test_a_failed_run_leaves_the_old_report(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    call(results, "--out", out)
    (out / "CNAME").write_text("example.org")
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}

    def fails(*_: object, **__: object) -> None:
        raise DataError("no figures today")

    with monkeypatch.context() as patched:
        patched.setattr(report_files, "write_figures", fails)
        with pytest.raises(DataError, match="no figures today"):
            call(results, "--out", out)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    renamed = Path.rename
    failed: list[Path] = []

    def fails_late(self: Path, target: Path) -> Path:
        if self.name == "index.html" and target.parent == out and not failed:
            failed.append(self)
            raise OSError("disk full")
        return renamed(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", fails_late)
        with pytest.raises(OSError, match="disk full"):
            call(results, "--out", out)
    assert failed
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert call(results, "--out", out, "--title", "Anew")[0] == 0
    assert '"title":"Anew"' in (out / "leaderboard.json").read_text("utf-8")
    assert (out / "CNAME").read_text() == "example.org"
    assert not list(out.glob(".report-*"))


def test_files_that_are_no_report_are_not_replaced(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "tables").mkdir(parents=True)
    (out / "tables" / "mine.md").write_text("keep")
    with pytest.raises(ConfigError, match="tables would be replaced"):
        call(results, "--out", out)
    assert os.listdir(out) == ["tables"]  # noqa: PTH208


def test_what_cannot_be_asked_for_is_said_before_anything_is_written(results: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"--baseline: expected one of .*org/a.*, got 'org/c'"):
        call(results, "--out", tmp_path / "out", "--baseline", "org/c")
    with pytest.raises(DataError, match="found nothing there"):
        call(tmp_path / "nowhere", "--out", tmp_path / "other")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="expected results of"):
        call(tmp_path / "empty", "--out", tmp_path / "out")
    assert not (tmp_path / "out" / "leaderboard.json").exists()
    assert not (tmp_path / "other").exists()
