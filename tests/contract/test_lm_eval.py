"""Results and samples of the real lm-eval; test_install.py runs its command."""

import json
from pathlib import Path
from typing import Any

import pytest
from in_process import parts_of, run, saved
from lm_eval.tasks import TaskManager
from typer.testing import CliRunner

from fin_tasks.cli import app
from fin_tasks.errors import ConfigError
from fin_tasks.resources import task_yaml_dir


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """A run whose model answers as lm-eval's dummy model does."""
    return run("xfinbench_text", "xfinbench_calc_pot", limit=4)


def test_results_hold_both_scorings_and_what_was_run(found: dict[str, Any]) -> None:
    tasks = {
        name: found["results"][f"xfinbench_{name}"]
        for name in ("bool", "mcq", "calc", "calc_pot", "text")
    }
    for name, results in tasks.items():
        for scoring in ("paper", "robust"):
            assert results[f"acc,{scoring}"] == 0.0
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


def test_samples_show_prompt_and_reading_and_can_be_replayed(
    found: dict[str, Any], tmp_path: Path
) -> None:
    (path,) = saved(dict(found), tmp_path).rglob("samples_xfinbench_bool_*.jsonl")
    first = json.loads(path.read_text().splitlines()[0])
    prompt = first["arguments"]["gen_args_0"]["arg_0"]
    assert prompt.startswith("You are an expert in finance.")
    assert "\n\nStatement: " in prompt and prompt.endswith("Solution:")
    assert first["target"].startswith("Therefore, my answer is ")
    assert json.loads(first["filtered_resps"][0][0])["answer"] is None
    replay = ["replay", "xfinbench", str(path), "--task", "bool", "--json"]
    summary = json.loads(CliRunner().invoke(app, replay).stdout)
    assert (summary["n"], summary["paper"]["no_answer"]) == (4, 1.0)


def test_programs_need_consent() -> None:
    with pytest.raises(ValueError, match="confirm_run_unsafe_code"):
        run("xfinbench_calc_pot", limit=1, confirm_run_unsafe_code=False)


def test_a_wrong_option_ends_with_one_sentence() -> None:
    message = "^xfinbench style: expected one of cot_role, da_role, cot, da, got 'x'.$"
    with pytest.raises(ConfigError, match=message):
        run("xfinbench_bool", style="x")


def test_a_users_own_task_wins(tmp_path: Path) -> None:
    """The hook puts our folder before those of the user, and the last one counts."""
    text = "task: xfinbench_bool\ndataset_path: json\noutput_type: generate_until\n"
    (tmp_path / "mine.yaml").write_text(text)
    folders = [str(task_yaml_dir()), str(tmp_path)]
    index = TaskManager(include_path=folders, include_defaults=False).task_index
    assert index["xfinbench_bool"].yaml_path == tmp_path / "mine.yaml"
    assert index["xfinbench_mcq"].yaml_path.is_relative_to(task_yaml_dir())
