"""Recorded responses scored again, and the command that does it."""

import json
import statistics
from pathlib import Path
from typing import Any

import pytest
from test_dynostock_records import row, sample, write, write_lines
from typer.testing import CliRunner

from fin_tasks.benchmarks.dynostock.replay import replay
from fin_tasks.benchmarks.dynostock.score import metric_values, metrics_of, read
from fin_tasks.cli import app
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.stats.metric import Metric

RIGHT, LED, OTHER, NONE = row(), row(response="0.2"), row(response="0.2", bias=1), row(response="no idea")
COUNTS = ("total", "correct", "wrong", "wrong_by_bias", "no_answer")


def recordings(folder: Path) -> list[Path]:
    return [
        write(folder / "recency" / "m" / "exp_recency_4.json", [RIGHT, LED, OTHER, NONE]),
        write(folder / "recency" / "m" / "exp_recency_8.json", [RIGHT, RIGHT, LED]),
        write(folder / "authority" / "m" / "exp_authority_4.json", [RIGHT, RIGHT]),
    ]


def test_counts_and_rates_of_a_file(tmp_path: Path) -> None:
    (file, *_) = replay(recordings(tmp_path)).summary()["files"]
    assert [file[name] for name in COUNTS] == [4, 1, 3, 1, 1]
    assert (file["accuracy"], file["bias_index"], file["bias_percentage"]) == (0.25, 1 / 3, 0.25)
    assert file["accuracy_low"] < 0.25 < file["accuracy_high"]
    assert file["bias_index_low"] < 1 / 3 < file["bias_index_high"]
    assert (file["model"], file["bias"], file["window"], file["unscored"], file["unusable"]) == (
        "m",
        "recency",
        4,
        0,
        0,
    )


def test_means_are_percentages_over_files_and_over_each_group(tmp_path: Path) -> None:
    summary = replay(recordings(tmp_path)).summary()
    accuracies, indices = [25.0, 200 / 3, 100.0], [100 / 3, 100.0, 0.0]
    assert summary["accuracy_mean"] == pytest.approx(statistics.fmean(accuracies))
    assert summary["accuracy_std"] == pytest.approx(statistics.pstdev(accuracies))
    assert summary["bias_index_mean"] == pytest.approx(statistics.fmean(indices))
    assert summary["bias_index_std"] == pytest.approx(statistics.pstdev(indices))
    recency, authority = summary["groups"]
    assert (recency["bias"], recency["files"], authority["bias"], authority["files"]) == ("recency", 2, "authority", 1)
    assert recency["accuracy_mean"] == pytest.approx(statistics.fmean(accuracies[:2]))
    assert (authority["accuracy_std"], authority["bias_index_mean"]) == (0.0, 0.0)


def test_samples_count_what_is_known_and_keep_arms_apart(tmp_path: Path) -> None:
    open_end = sample()
    open_end["doc"] = {**open_end["doc"], "truth": None}
    none = write_lines(tmp_path / "samples_a_1.jsonl", [sample(), sample(resps=[["0.2"]]), open_end])
    signal = sample()
    signal["doc"] = {**signal["doc"], "arm": "signal"}
    summary = replay([none, write_lines(tmp_path / "samples_b_1.jsonl", [signal])]).summary()
    assert [summary["files"][0][name] for name in (*COUNTS, "unscored")] == [2, 1, 1, 1, 0, 1]
    assert [group["arm"] for group in summary["groups"]] == ["none", "signal"]


def test_nothing_known_leaves_no_rates(tmp_path: Path) -> None:
    open_end = sample()
    open_end["doc"] = {**open_end["doc"], "truth": None}
    result = replay([write_lines(tmp_path / "samples_a_1.jsonl", [open_end])])
    summary = result.summary()
    assert (summary["files"][0]["total"], summary["files"][0]["accuracy"], summary["accuracy_mean"]) == (0, None, None)
    (item,) = result.items()
    assert (item["answer"], item["correct"], item["led"]) == (1, None, None)
    assert "-" in CliRunner().invoke(app, ["replay", "dynostock", str(tmp_path)]).stdout


def test_parsers(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", [row(response="Final prediction: 70%, of 2014-01-30")])
    assert replay([path]).items()[0]["probability"] == 1.0
    assert replay([path], parser="robust").items()[0]["probability"] == 0.7
    with pytest.raises(ConfigError, match="expected paper or robust, got 'bold'"):
        replay([path], parser="bold")


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(app, ["replay", "dynostock", *map(str, arguments)], env={"COLUMNS": "80"})


def test_the_command_writes_a_run_folder(tmp_path: Path) -> None:
    files = recordings(tmp_path)
    done = run(*files, "--json", "--out", tmp_path / "out")
    assert done.exit_code == 0
    assert json.loads(done.stdout) == replay(files).summary()
    found = sorted((tmp_path / "out").rglob("samples_*.jsonl"))
    lines = [json.loads(line) for path in found for line in path.read_text(encoding="utf-8").splitlines()]
    paper = [line for line in lines if line["filter"] == "paper"]
    assert len(paper) == len(lines) / 2 == 9
    assert {line["acc"] for line in paper} == {0.0, 1.0}
    assert [line["reason"] for line in paper if line["answer"] is None] == ["no answer: no probability in the response"]
    results = [json.loads(path.read_text()) for path in (tmp_path / "out").rglob("results_*.json")]
    assert all("acc,paper" in task for one in results for task in one["results"].values())


def test_the_command_as_a_table(tmp_path: Path) -> None:
    recordings(tmp_path)
    done = run(tmp_path)
    assert done.exit_code == 0
    assert "45.8 ± 20.8" in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert "m, authority" in done.stdout


def test_a_broken_file_and_a_broken_row_are_listed_and_the_others_reported(tmp_path: Path) -> None:
    good, *_ = recordings(tmp_path)
    torn = tmp_path / "torn.json"
    torn.write_text('[{"gt":', encoding="utf-8")
    odd = write(tmp_path / "odd.json", [RIGHT, row(gt="\x1b[31m")])
    done = run(good, torn, odd, tmp_path / "absent.json", "--json")
    assert done.exit_code == 1
    summary = json.loads(done.stdout)
    assert [file["total"] for file in summary["files"]] == [4, 1]
    assert [(Path(error["file"]).name, error["row"]) for error in summary["errors"]] == [
        ("torn.json", None),
        ("odd.json", 2),
        ("absent.json", None),
    ]
    assert "odd.json, row 2: field gt: expected 0 or 1" in done.stderr
    assert "3 file(s) or row(s) left out" in done.stderr
    assert "\x1b" not in done.output
    with pytest.raises(DataError, match=r"torn\.json"):
        replay([torn])


def test_markup_of_strangers_is_shown_as_it_is(tmp_path: Path) -> None:
    write(tmp_path / "recency" / "[red]m[" / "exp_recency_4.json", [RIGHT])
    assert "[red]m[" in run(tmp_path).stdout


def test_folders_of_one_name_are_groups_of_their_own(tmp_path: Path) -> None:
    for run_folder, rows in (("b", [RIGHT]), ("a", [LED])):
        write(tmp_path / run_folder / "m" / "exp_recency_4.json", rows)
    groups = replay([tmp_path]).summary()["groups"]
    assert [(group["model"], group["files"], group["accuracy_mean"]) for group in groups] == [
        ("m", 1, 0.0),
        ("m", 1, 100.0),
    ]
    shown = "".join(run(tmp_path).stdout.split())
    assert "a/m,recency" in shown
    assert "b/m,recency" in shown


def test_intervals_with_repeats_are_the_tasks_own(tmp_path: Path) -> None:
    texts = [["0.7"] * 4, ["0.2"] * 4, ["0.2", "0.7", "0.7", "0.7"], ["", "0.2", "0.2", "0.7"], ["0.9"] * 4] * 4
    rows = [sample(doc_id=place, resps=[responses]) for place, responses in enumerate(texts)]
    (file,) = replay([write_lines(tmp_path / "samples_a_1.jsonl", rows)], parser="robust").summary()["files"]
    doc = rows[0]["doc"]
    reported = [metric_values(doc, [read(doc, text, variant="robust") for text in of]) for of in texts]
    metrics = metrics_of(bias="recency")
    for ours, theirs in (("accuracy", "acc"), ("bias_index", "bias_index")):
        for bound in ("low", "high"):
            metric = metrics[f"{theirs}_{bound}"]
            assert isinstance(metric, Metric)
            assert file[f"{ours}_{bound}"] == metric.aggregate([values[f"{theirs}_{bound}"] for values in reported])
    assert file["total"] == 80
    assert file["accuracy_high"] - file["accuracy_low"] > 0.35


def test_tables_are_in_order_whatever_the_order_of_files(tmp_path: Path) -> None:
    files = [
        write(tmp_path / bias / model / f"exp_{bias}_{window}.json", [RIGHT])
        for window in (12, 4)
        for bias in ("recency", "authority")
        for model in ("z", "a")
    ]
    shown = run(*files).stdout
    wanted = ["a, authority", "a, recency", "z, authority", "z, recency"]
    assert [line.strip() for line in shown.splitlines() if line.strip() in wanted] == wanted
    assert shown.index("│  4 │") < shown.index("│ 12 │")
    assert [file["file"] for file in json.loads(run(*files, "--json").stdout)["files"]] == [str(file) for file in files]


def test_a_cut_file_is_scored_as_far_as_it_goes(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "samples_a_1.jsonl", [sample(), sample()])
    path.write_bytes(path.read_bytes()[:-20])
    done = run(path, "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["files"][0]["total"] == 1
    assert "row 2: expected JSON" in done.stderr


def test_variant_is_another_name_of_parser(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", [row(response="Final prediction: 70%")])
    assert json.loads(run(path, "--variant", "robust", "--json").stdout)["parser"] == "robust"
