"""Runs in folders: whose they are, what they were run with, and which of them count."""

import json
import os
from pathlib import Path

import pytest
from made_runs import document, write_run

from fin_tasks.errors import DataError
from fin_tasks.report import runs as module
from fin_tasks.report.runs import read_runs
from fin_tasks.report.settings import setting_of

LATER = "2026-04-01T10-00-00.000001"


def test_a_run_says_what_it_is(tmp_path: Path) -> None:
    write_run(tmp_path / "a" / "b", "xfinbench_calc_pot_bm25", [1.0, 0.0], limit=2.0)
    (run,) = read_runs([tmp_path]).runs
    assert (run.benchmark, run.task, run.family) == ("xfinbench", "xfinbench_calc_pot_bm25", "xfinbench_calc_pot")
    assert (run.condition, run.label, run.mode) == ("bm25", "bm25 (top 3, ties paper)", "cot")
    assert (run.model, run.date) == ("made/model", "2026-03-01T10-00-00.123456")
    assert run.fact("limit") == 2.0
    assert run.data == '"d1"'
    assert set(run.variants) == {"paper", "robust"}


def test_the_condition_is_what_the_provenance_says(tmp_path: Path) -> None:
    write_run(tmp_path, "xfinbench_bool_bm25", [1.0], provenance={"retrieval": {"condition": "oracle"}})
    (run,) = read_runs([tmp_path]).runs
    assert run.condition == "oracle"


def test_a_model_without_a_name_goes_by_its_kind(tmp_path: Path) -> None:
    """lm-eval makes up a name per run for models that no argument names."""
    for name in ("abc123de", "xyz789uv"):
        write_run(tmp_path / name, "xfinbench_bool", [1.0], config={"model": "dummy", "model_args": {}}, model=name)
    assert {run.model for run in read_runs([tmp_path]).runs} == {"dummy"}
    write_run(
        tmp_path / "c", "xfinbench_mcq", [1.0], config={"model": "hf", "model_args": "pretrained=a/b,dtype=float"}
    )
    runs = {run.task: run for run in read_runs([tmp_path]).runs}
    assert runs["xfinbench_mcq"].model == "made/model"
    assert runs["xfinbench_mcq"].fact("model_args.dtype") == "float"


def test_addresses_speeds_and_secrets_are_no_part_of_the_setting() -> None:
    secrets = {"api_key": "s1", "token": "s2", "hf_token": "s3", "auth_token": "s4", "headers": {"x": "s5"}}
    arguments = {**secrets, "base_url": "u", "num_concurrent": 8, "tokenizer": "t", "max_tokens": 5}
    setting = setting_of({"config": {"model": "m", "model_args": arguments}}, "xfinbench_bool")
    named = {name for name in setting if name.startswith("model_args")}
    assert named == {"model_args.tokenizer", "model_args.max_tokens"}
    assert not any(secret in json.dumps(setting) for secret in ("s1", "s2", "s3", "s4", "s5"))


def test_of_the_same_run_twice_the_newest_counts(tmp_path: Path) -> None:
    old = write_run(tmp_path, "xfinbench_bool", [0.0])
    new = write_run(tmp_path, "xfinbench_bool", [1.0], date=LATER)
    write_run(tmp_path, "xfinbench_bool", [1.0], date=LATER.replace("-04-", "-05-"), limit=1.0)  # another setting
    found = read_runs([tmp_path])
    assert len(found.runs) == 2
    assert new in {run.path for run in found.runs}
    assert found.notes == (f"{old}: left out, {new} ran the same later.",)


def test_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    samples = write_run(tmp_path, "xfinbench_bool", [1.0])
    found = read_runs([tmp_path, samples, tmp_path / ".." / tmp_path.name])
    assert len(found.runs) == 1
    assert not found.notes


def test_without_its_results_file_a_run_goes_by_its_folder(tmp_path: Path) -> None:
    samples = write_run(tmp_path / "some-model", "xfinbench_bool_bm25", [1.0])
    next(samples.parent.glob("results_*")).unlink()
    found = read_runs([tmp_path])
    assert found.runs[0].model == "some-model"
    assert found.runs[0].condition == "bm25"
    assert "not known" in found.notes[0]


def test_samples_cut_between_lines_are_noticed(tmp_path: Path) -> None:
    good = write_run(tmp_path / "good", "xfinbench_mcq", [1.0])
    cut = write_run(tmp_path / "cut", "xfinbench_bool", [1.0, 0.0, 1.0])
    lines = cut.read_text().splitlines()
    cut.write_text("\n".join(lines[:2] + lines[3:5]) + "\n")
    found = read_runs([tmp_path])
    assert [run.path for run in found.runs] == [good]
    (problem,) = found.problems
    assert problem.path == str(cut)
    assert "expected 3 documents, as its results file says, found 2" in problem.message


@pytest.mark.parametrize("content", ["{", "[]", '"\\ud800', "[" * 100_000])
def test_broken_results_leave_their_samples_out(content: str, tmp_path: Path) -> None:
    samples = write_run(tmp_path, "xfinbench_bool", [1.0])
    next(tmp_path.glob("results_*")).write_text(content)
    found = read_runs([tmp_path])
    assert not found.runs
    assert found.problems[0].path == str(samples)
    assert "results_2026" in found.problems[0].message


def test_results_of_other_types_than_expected_are_read_for_what_they_say(tmp_path: Path) -> None:
    write_run(
        tmp_path, "xfinbench_bool", [1.0], config=[1], configs="x", model_name=7, **{"n-samples": 3, "n-shot": None}
    )
    (run,) = read_runs([tmp_path]).runs
    assert run.condition == "none"
    assert run.data == ""


def test_large_results_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run(tmp_path, "xfinbench_bool", [1.0])
    monkeypatch.setattr(module, "MAX_RESULTS", 10)
    assert "expected at most 10 bytes" in read_runs([tmp_path]).problems[0].message


def test_other_tasks_are_left_out_and_counted(tmp_path: Path) -> None:
    write_run(tmp_path, "gsm8k", [1.0], docs=[document(0)])
    with pytest.raises(DataError, match=r"found only other tasks \(1 files\)"):
        read_runs([tmp_path])
    write_run(tmp_path, "xfinbench_bool", [1.0])
    assert read_runs([tmp_path]).notes == ("1 samples files of other tasks left out.",)


def test_paths_that_are_not_there_or_empty_are_errors(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="found nothing there"):
        read_runs([tmp_path / "gone"])
    with pytest.raises(DataError, match=r"found none\. Run lm-eval with --output_path and --log_samples"):
        read_runs([tmp_path])


def test_progress_is_told_file_by_file(tmp_path: Path) -> None:
    for task in ("xfinbench_bool", "xfinbench_mcq"):
        write_run(tmp_path, task, [1.0])
    done: list[int] = []
    read_runs([tmp_path], on_done=done.append)
    assert done == [1, 2]


def test_a_pipe_is_waited_for_by_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "samples_xfinbench_bool_2026-03-01T10-00-00.123456.jsonl")
    with pytest.raises(DataError, match="such as a pipe"):
        read_runs([next(tmp_path.iterdir())])
