"""The real lm-eval, run as a user runs it, with its dummy model."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from in_process import parts_of, run

SAMPLE = ("--model", "dummy", "--metadata", '{"source": "sample"}', "--limit", "4")


def command(
    *arguments: str, cwd: Path, entry: tuple[str, ...] = ("lm_eval",), **environ: str
) -> subprocess.CompletedProcess[str]:
    program = str(Path(sys.executable).with_name(entry[0]))
    env = {
        **{k: v for k, v in os.environ.items() if not k.startswith("FIN_TASKS")},
        "HF_HUB_OFFLINE": "1",
        **environ,
    }
    return subprocess.run(
        [program, *entry[1:], *arguments],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def results_of(folder: Path) -> dict[str, Any]:
    (path,) = folder.rglob("results_*.json")
    return dict(json.loads(path.read_text()))


@pytest.fixture(scope="module")
def dummy_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dummy")
    tasks = (
        "--tasks",
        "xfinbench_text,xfinbench_calc_pot",
        "--confirm_run_unsafe_code",
    )
    done = command(*SAMPLE, *tasks, "--output_path", "out", "--log_samples", cwd=out)
    assert done.returncode == 0, done.stderr
    return out / "out"


@pytest.mark.slow
def test_results_hold_both_scorings_and_what_was_run(dummy_run: Path) -> None:
    found = results_of(dummy_run)
    tasks = {
        name: found["results"][f"xfinbench_{name}"]
        for name in ("bool", "mcq", "calc", "calc_pot", "text")
    }
    for name, results in tasks.items():
        for scoring in ("paper", "robust"):
            assert results[f"acc,{scoring}"] == results[f"acc_stderr,{scoring}"] == 0.0
            if name != "text":
                failed_program = (name, scoring) == (
                    "calc_pot",
                    "paper",
                )  # it has the answer 0 there
                assert results[f"no_answer,{scoring}"] == 1.0 - failed_program
                assert results[f"unscored,{scoring}"] == 0.0
    program = tasks["calc_pot"]
    endings = parts_of(found, "xfinbench_calc_pot")
    # The authors run the whole response.
    assert endings["no_code,robust"] == endings["exception,paper"] == 1.0
    assert program["execution_rate,paper"] == 0.0
    config, other = (
        found["configs"][f"xfinbench_{name}"] for name in ("bool", "calc_pot")
    )
    facts = config["metadata"]["provenance"]
    assert (facts["data"]["origin"], facts["prompts"]["set"]) == ("sample", "house")
    assert facts["fin_tasks"] and facts["rows"] >= 24
    assert facts["hash"] != other["metadata"]["provenance"]["hash"]
    assert (
        config["generation_kwargs"]["max_gen_toks"],
        config["generation_kwargs"]["until"],
    ) == (
        1024,
        [],
    )
    assert other["metadata"]["sandbox"]["tier"] in ("bwrap", "landlock")


@pytest.mark.slow
def test_samples_show_prompt_and_reading_and_can_be_replayed(dummy_run: Path) -> None:
    (path,) = dummy_run.rglob("samples_xfinbench_bool_*.jsonl")
    first = json.loads(path.read_text().splitlines()[0])
    prompt = first["arguments"]["gen_args_0"]["arg_0"]
    assert prompt.startswith("You are an expert in finance.")
    assert "\n\nStatement: " in prompt and prompt.endswith("Solution:")
    assert first["target"].startswith("Therefore, my answer is ")
    assert json.loads(first["filtered_resps"][0][0])["answer"] is None
    done = command(
        str(path),
        "--task",
        "bool",
        "--json",
        cwd=dummy_run,
        entry=("fin-tasks", "replay", "xfinbench"),
    )
    summary = json.loads(done.stdout)
    assert (summary["n"], summary["paper"]["no_answer"]) == (4, 1.0)


def test_programs_need_consent() -> None:
    with pytest.raises(ValueError, match="confirm_run_unsafe_code"):
        run("xfinbench_calc_pot", limit=1, confirm_run_unsafe_code=False)


@pytest.mark.slow
def test_a_wrong_option_ends_with_one_sentence(tmp_path: Path) -> None:
    wrong = command(
        "--model",
        "dummy",
        "--tasks",
        "xfinbench_bool",
        "--metadata",
        '{"style": "x"}',
        cwd=tmp_path,
    )
    assert wrong.returncode != 0
    assert wrong.stderr.splitlines()[-1] == (
        "fin_tasks.errors.ConfigError: xfinbench style: expected one of cot_role, da_role, cot, da, "
        "got 'x'."
    )


@pytest.mark.slow
def test_every_way_in_finds_the_tasks_and_a_users_own_wins(tmp_path: Path) -> None:
    path = command("path", cwd=tmp_path, entry=("fin-tasks",)).stdout.strip()
    (tmp_path / "rows.jsonl").write_text('{"q": "1?", "a": "1"}\n')
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.yaml").write_text(
        "task: xfinbench_bool\ndataset_path: json\ntest_split: test\n"
        f"dataset_kwargs: {{data_files: {{test: {tmp_path}/rows.jsonl}}}}\n"
        "doc_to_text: q\ndoc_to_target: a\noutput_type: generate_until\ngeneration_kwargs: {until: []}\n"
        "metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]\n"
    )
    # `dummy_run` is the third way: the hook alone
    for switch, include, metric in (
        ("0", path, "acc,paper"),
        ("1", "mine", "exact_match,none"),
    ):
        out = tmp_path / f"{switch}{Path(include).name}"
        tasks = ["--tasks", "xfinbench_bool", *SAMPLE, "--include_path", include]
        environ = {"FIN_TASKS_AUTOLOAD": switch, "HF_HOME": str(tmp_path / "hf")}
        done = command(*tasks, "--output_path", str(out), cwd=tmp_path, **environ)
        assert metric in results_of(out)["results"]["xfinbench_bool"], done.stderr
