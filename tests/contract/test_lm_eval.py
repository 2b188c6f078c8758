"""The real lm-eval, run as a user runs it, with its dummy model and one that answers as told."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SAMPLE = '{"source": "sample"}'
ALL = "xfinbench_bool,xfinbench_mcq,xfinbench_calc,xfinbench_calc_pot"


def command(
    *arguments: str, cwd: Path, entry: tuple[str, ...] = ("fin-tasks", "lm-eval"), **environ: str
) -> subprocess.CompletedProcess[str]:
    program = str(Path(sys.executable).with_name(entry[0]))
    env = {**{k: v for k, v in os.environ.items() if not k.startswith("FIN_TASKS")}, "HF_HUB_OFFLINE": "1", **environ}
    return subprocess.run(
        [program, *entry[1:], *arguments], cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=300
    )


def results_of(folder: Path) -> dict[str, Any]:
    (path,) = folder.rglob("results_*.json")
    return dict(json.loads(path.read_text()))


@pytest.fixture(scope="module")
def dummy_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dummy")
    done = command(
        *("--model", "dummy", "--tasks", "xfinbench_text,xfinbench_calc_pot", "--metadata", SAMPLE, "--limit", "4"),
        *("--confirm_run_unsafe_code", "--output_path", "out", "--log_samples"),
        cwd=out,
    )
    assert done.returncode == 0, done.stderr
    return out / "out"


def test_results_hold_both_variants_with_standard_errors(dummy_run: Path) -> None:
    results = results_of(dummy_run)["results"]
    for task in ALL.split(","):
        for variant in ("paper", "robust"):
            assert results[task][f"acc,{variant}"] == 0.0
            assert results[task][f"acc_stderr,{variant}"] == 0.0
            failed_program = (task, variant) == ("xfinbench_calc_pot", "paper")  # it has the answer 0 there
            assert results[task][f"no_answer,{variant}"] == 1.0 - failed_program
            assert results[task][f"unscored,{variant}"] == 0.0
    assert results["xfinbench_calc_pot"]["no_code,robust"] == 1.0
    assert results["xfinbench_calc_pot"]["exception,paper"] == 1.0  # the authors run the whole response
    assert results["xfinbench_calc_pot"]["execution_rate,paper"] == 0.0
    assert results["xfinbench_text"]["acc,paper"] == 0.0


def test_results_say_what_was_run(dummy_run: Path) -> None:
    configs = results_of(dummy_run)["configs"]
    facts = configs["xfinbench_bool"]["metadata"]["provenance"]
    assert facts["data"]["origin"] == "sample"
    assert facts["prompts"]["set"] == "house"
    assert facts["fin_tasks"] and facts["hash"] and facts["rows"] >= 24
    assert facts["hash"] != configs["xfinbench_calc"]["metadata"]["provenance"]["hash"]
    assert configs["xfinbench_bool"]["generation_kwargs"]["max_gen_toks"] == 1024
    assert configs["xfinbench_calc_pot"]["metadata"]["sandbox"]["tier"] in ("bwrap", "landlock", "monty")
    assert configs["xfinbench_bool"]["generation_kwargs"]["until"] == []


def test_samples_show_prompt_response_and_reading(dummy_run: Path) -> None:
    (path,) = dummy_run.rglob("samples_xfinbench_bool_*.jsonl")
    first = json.loads(path.read_text().splitlines()[0])
    prompt = first["arguments"]["gen_args_0"]["arg_0"]
    assert prompt.startswith("You are an expert in finance.")
    assert "\n\nStatement: " in prompt and prompt.endswith("Solution:")
    assert first["target"].startswith("Therefore, my answer is ")
    reading = json.loads(first["filtered_resps"][0][0])
    assert reading["answer"] is None


def test_replay_of_the_samples_agrees_with_the_run(dummy_run: Path) -> None:
    (path,) = dummy_run.rglob("samples_xfinbench_calc_2*.jsonl")
    done = command(str(path), "--task", "calc", "--json", cwd=dummy_run, entry=("fin-tasks", "replay", "xfinbench"))
    summary = json.loads(done.stdout)
    assert summary["n"] == 4
    assert summary["paper"]["no_answer"] == results_of(dummy_run)["results"]["xfinbench_calc"]["no_answer,paper"]


def test_responses_alone_run_no_program_and_are_saved(tmp_path: Path) -> None:
    done = command(
        *("--model", "dummy", "--tasks", "xfinbench_text,xfinbench_calc_pot", "--metadata", SAMPLE, "--limit", "2"),
        *("--confirm_run_unsafe_code", "--predict_only", "--output_path", "out"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "Running programs" not in done.stderr
    for task in ALL.split(","):
        (path,) = (tmp_path / "out").rglob(f"samples_{task}_2*.jsonl")
        samples = [json.loads(line) for line in path.read_text().splitlines()]
        assert [sample["resps"] for sample in samples] == [[["lol"]]] * 2
        assert {sample["filter"] for sample in samples} == {"none"}


def test_programs_need_consent(tmp_path: Path) -> None:
    done = command(
        "--model", "dummy", "--tasks", "xfinbench_calc_pot", "--metadata", SAMPLE, "--limit", "1", cwd=tmp_path
    )
    assert done.returncode != 0
    assert "confirm_run_unsafe_code" in done.stderr


def test_a_users_task_of_the_same_name_wins(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"q": "1?", "a": "1"}\n')
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.yaml").write_text(
        "task: xfinbench_bool\ndataset_path: json\ntest_split: test\n"
        f"dataset_kwargs: {{data_files: {{test: {rows}}}}}\n"
        "doc_to_text: q\ndoc_to_target: a\noutput_type: generate_until\ngeneration_kwargs: {until: []}\n"
        "metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]\n"
    )
    done = command(
        *("--model", "dummy", "--tasks", "xfinbench_bool", "--include_path", "mine", "--output_path", "out"),
        cwd=tmp_path,
        HF_HOME=str(tmp_path / "hf"),
    )
    assert done.returncode == 0, done.stderr
    assert "exact_match,none" in results_of(tmp_path / "out")["results"]["xfinbench_bool"]


def test_a_wrong_option_ends_with_our_message(tmp_path: Path) -> None:
    done = command(
        "--model",
        "dummy",
        "--tasks",
        "xfinbench_bool",
        "--metadata",
        '{"source": "sample", "style": "x"}',
        cwd=tmp_path,
    )
    assert done.returncode != 0
    assert "expected one of cot_role, da_role, cot, da, got 'x'" in done.stderr


def test_every_way_in_finds_the_tasks(tmp_path: Path) -> None:
    run = ("--model", "dummy", "--tasks", "xfinbench_mcq", "--metadata", SAMPLE, "--limit", "1")
    path = command("path", cwd=tmp_path, entry=("fin-tasks",)).stdout.strip()
    bare = command(*run, cwd=tmp_path, entry=("lm_eval",))
    assert bare.returncode == 0, bare.stderr
    named = command(*run, "--include_path", path, cwd=tmp_path, entry=("lm_eval",), FIN_TASKS_AUTOLOAD="0")
    assert named.returncode == 0, named.stderr
    off = command(*run, cwd=tmp_path, entry=("lm_eval",), FIN_TASKS_AUTOLOAD="0")
    assert off.returncode != 0
    assert "xfinbench_mcq" in off.stderr
