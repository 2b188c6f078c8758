"""The real lm-eval on every task of BizBench, with its dummy model and one that gives the right answers."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import fin_tasks
from fin_tasks.resources import task_yaml_dir

SAMPLE = Path(fin_tasks.__file__).parent / "benchmarks" / "bizbench" / "sample" / "test.jsonl"
PROGRAMS = ("fincode", "codefinqa", "codetatqa")
QUANTITIES = ("convfinqa_e", "tatqa_e", "secnum")
PARTS = (*PROGRAMS, *QUANTITIES, "finknow", "formulaeval")
PAPER = ("paper_choice", "paper_quantity", "paper_quantity_pot")

GOLD_MODEL = '''
import sys

from fin_tasks.adapters.lm_eval_cli import run
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model


@register_model("gold")
class Gold(LM):
    """Answers every document with its own target."""

    def __init__(self, **_):
        super().__init__()

    def generate_until(self, requests, disable_tqdm=False):
        return [request.doc["target"] for request in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


run(sys.argv[1:])
'''


def evaluate(cwd: Path, *arguments: str, model: str = "dummy", metadata: str = '{"source": "sample"}') -> Any:
    env = {name: value for name, value in os.environ.items() if not name.startswith("FIN_TASKS")}
    program = [str(Path(sys.executable).with_name("fin-tasks")), "lm-eval"]
    if model == "gold":
        (cwd / "gold.py").write_text(GOLD_MODEL)
        program = [sys.executable, "gold.py"]
    return subprocess.run(
        [*program, "--model", model, "--metadata", metadata, "--output_path", "out", "--log_samples", *arguments],
        cwd=cwd,
        env={**env, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def results_of(folder: Path) -> dict[str, Any]:
    (path,) = folder.rglob("results_*.json")
    return dict(json.loads(path.read_text()))


def samples_of(folder: Path, task: str) -> list[dict[str, Any]]:
    (path,) = folder.rglob(f"samples_{task}_2*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def gold_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cwd = tmp_path_factory.mktemp("gold")
    done = evaluate(cwd, "--tasks", "bizbench,bizbench_paper", "--confirm_run_unsafe_code", model="gold")
    assert done.returncode == 0, done.stderr
    return cwd / "out"


def test_right_answers_are_right_in_every_task(gold_run: Path) -> None:
    results = results_of(gold_run)["results"]
    for name in (*PARTS, *PAPER):
        task = results[f"bizbench_{name}"]
        assert task["acc,robust"] == 1.0, name
        assert (task["unscored,paper"], task["unscored,robust"], task["no_answer,robust"]) == (0.0, 0.0, 0.0), name
        assert task["acc_err,paper"] == task["acc_err,robust"] == 1.0, name
        # Files round their answers and the authors compare floats as they are, so programs are only near in `paper`.
        exact = name not in PROGRAMS and name != "paper_quantity_pot"
        assert (task["acc,paper"] == 1.0) == exact, name
    assert results["bizbench"]["acc_err,paper"] == results["bizbench"]["acc_err,robust"] == 1.0
    assert results["bizbench"]["acc,robust"] == 1.0
    assert 0.5 < results["bizbench"]["acc,paper"] < results["bizbench"]["acc,robust"]
    for name in (*PROGRAMS, "formulaeval", "paper_quantity_pot"):
        assert results[f"bizbench_{name}"]["execution_rate,paper"] == 1.0, name


def test_the_papers_columns_are_told_by_part(gold_run: Path) -> None:
    results = results_of(gold_run)["results"]
    assert results["bizbench_paper_choice"]["acc_finknow,paper"] == 1.0
    assert results["bizbench_paper_quantity"]["acc_tatqa_e,paper"] == 1.0
    assert "acc_secnum,paper" not in results["bizbench_paper_quantity"]
    assert "acc,paper" not in results["bizbench_paper"]


def test_results_say_what_was_run(gold_run: Path) -> None:
    configs = results_of(gold_run)["configs"]
    facts = configs["bizbench_tatqa_e"]["metadata"]["provenance"]
    assert facts["data"]["origin"] == "sample"
    assert facts["context"]["cut_rows"] == 0
    assert facts["prompts"]["sha256"] and facts["hash"]
    assert configs["bizbench_paper_choice"]["metadata"]["provenance"]["sample"] == {"n": 500, "seed": 42}
    assert configs["bizbench_formulaeval"]["metadata"]["sandbox"]["tier"] in ("bwrap", "landlock", "monty")
    assert configs["bizbench_secnum"]["generation_kwargs"]["until"] == []


def test_one_task_scores_functions_and_choices(gold_run: Path) -> None:
    samples = samples_of(gold_run, "bizbench_formulaeval")
    readings = {sample["doc"]["kind"]: json.loads(sample["filtered_resps"][0][0]) for sample in samples}
    assert readings.keys() == {"choice", "code"}
    assert readings["code"]["status"] == "ok"
    assert readings["code"]["reason"].startswith("right: agrees on ")
    assert readings["choice"]["status"] is None
    assert readings["choice"]["answer"] in "ABCD"


def test_a_model_without_an_answer_gets_nothing(tmp_path: Path) -> None:
    metadata = '{"source": "sample", "max_context_chars": 30}'
    done = evaluate(tmp_path, "--tasks", "bizbench", "--limit", "2", "--confirm_run_unsafe_code", metadata=metadata)
    assert done.returncode == 0, done.stderr
    assert "documents are cut to 30 characters" in done.stderr
    results = results_of(tmp_path / "out")["results"]
    for part in PARTS:
        for variant in ("paper", "robust"):
            assert results[f"bizbench_{part}"][f"acc,{variant}"] == 0.0, part
            assert results[f"bizbench_{part}"][f"no_answer,{variant}"] == 1.0, part
    assert results["bizbench_fincode"]["no_code,paper"] == 1.0
    assert results["bizbench_tatqa_e"]["context_cut,paper"] == 1.0
    assert results["bizbench"]["acc,paper"] == 0.0
    (first, *_) = samples_of(tmp_path / "out", "bizbench_tatqa_e")
    assert "left out here" in first["arguments"]["gen_args_0"]["arg_0"]


def test_only_other_rows_with_a_truth_are_examples(tmp_path: Path) -> None:
    row = {"context": "Sales 7", "context_type": None, "options": None, "program": None, "task": "SEC-NUM"}
    rows = [{**row, "question": "zero", "answer": "0"}, {**row, "question": "one", "answer": "1"}]
    rows += [{**row, "question": f"odd {place}", "answer": "zzz"} for place in range(9)]
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    (tmp_path / "own").mkdir()
    ours = task_yaml_dir() / "bizbench" / "bizbench_secnum.yaml"
    (tmp_path / "own" / "own.yaml").write_text(f"include: {ours}\ntask: secnum_shown\nnum_fewshot: 1\n")
    done = evaluate(
        tmp_path,
        *("--tasks", "secnum_shown", "--include_path", "own", "--limit", "2"),
        metadata=json.dumps({"data_dir": str(tmp_path / "test.jsonl")}),
    )
    assert done.returncode == 0, done.stderr
    prompts = [sample["arguments"]["gen_args_0"]["arg_0"] for sample in samples_of(tmp_path / "out", "secnum_shown")]
    assert ["answer is [1]." in prompts[0], "answer is [0]." in prompts[1]] == [True, True]
    assert not any("zzz" in prompt or "odd" in prompt for prompt in prompts)


def test_a_part_nobody_can_score_does_not_end_a_group(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in SAMPLE.read_text().splitlines()]
    rows = [{**row, "answer": "zzz"} if row["task"] == "SEC-NUM" else row for row in rows]
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    metadata = json.dumps({"data_dir": str(tmp_path)})
    done = evaluate(tmp_path, "--tasks", "bizbench", "--confirm_run_unsafe_code", metadata=metadata)
    assert done.returncode == 0, done.stderr
    assert results_of(tmp_path / "out")["results"]["bizbench"]["acc_err,paper"] == 0.0


def test_functions_need_consent(tmp_path: Path) -> None:
    done = evaluate(tmp_path, "--tasks", "bizbench_formulaeval", "--limit", "1")
    assert done.returncode != 0
    assert "confirm_run_unsafe_code" in done.stderr
