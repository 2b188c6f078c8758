"""Names of models in lm-eval's results files, whoever reads them."""

import json
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.benchmarks.dynostock.records import read_recording
from fin_tasks.judging.model_names import model_of
from fin_tasks.report.runs import read_runs

DATE = "2026-03-01T10-00-00.123456"


@pytest.mark.parametrize(
    ("results", "model"),
    [
        ({"config": {"model": "hf", "model_args": "pretrained=org/A,dtype=float"}}, "org/A"),
        ({"config": {"model": "hf", "model_args": {"pretrained": "org/B"}}}, "org/B"),
        ({"config": {"model": "hf", "model_args": "peft=org/C,pretrained=org/B"}}, "org/C"),
        ({"model_name": "MyModel", "config": {"model": "hf", "model_args": ""}}, "MyModel"),
        ({"model_name": "MyModel"}, "MyModel"),
        ({"model_name": "x7k2m9qa", "config": {"model": "dummy", "model_args": None}}, "dummy"),
        ({"model_name": "gpt4mini", "config": {"model": "api", "model_args": "model=gpt4mini"}}, "gpt4mini"),
        ({"model_name": "x7k2m9qa"}, "x7k2m9qa"),
        ({"model_name": "x7k2m9qa", "config": {"model": "gguf", "model_args": "base_url=http://host"}}, "x7k2m9qa"),
        ({"model_name": "deepseek", "config": {"model": "openai-completions", "model_args": ""}}, "deepseek"),
        ({"model_name": "deepseek", "config": {"model": "openai-completions"}}, "deepseek"),
        ({"config": {"model_args": {"pretrained": 5}}}, "5"),
        ({"config": {"model": ["x"], "model_args": {"pretrained": ["y"], "model": "org/D"}}}, "org/D"),
        ({"config": {"model": {"x": 1}, "model_args": {"model": True, "path": {}}}}, "not known"),
        ({"model_name": ["x"], "config": {"model": "hf"}}, "hf"),
        ({}, "not known"),
    ],
)
def test_a_model_has_the_name_that_its_file_gives(results: dict[str, Any], model: str) -> None:
    assert model_of(results) == model


@pytest.mark.parametrize(
    ("results", "model"),
    [
        ({"model_name": "x7k2m9qa", "config": {"model": "dummy", "model_args": ""}}, "dummy"),
        ({"model_name": "x7k2m9qa", "config": {"model": "hf", "model_args": "pretrained=org/A,dtype=float"}}, "org/A"),
        ({"model_name": "org/B", "config": {"model": "hf", "model_args": "pretrained=org/B"}}, "org/B"),
    ],
)
def test_recordings_and_runs_are_of_the_same_model(tmp_path: Path, results: dict[str, Any], model: str) -> None:
    folder = tmp_path / "x7k2m9qa"
    folder.mkdir()
    doc = {"id": "w", "bias_type": "recency", "window": 4, "ticker": "T", "truth": 1, "signal": 0}
    sample = {"doc": doc, "resps": [["0.9"]], "filter": "paper", "metrics": ["acc"], "acc": 1.0}
    path = folder / f"samples_dynostock_recency_w4_{DATE}.jsonl"
    path.write_text(json.dumps(sample) + "\n")
    (folder / f"results_{DATE}.json").write_text(json.dumps(results))
    (run,) = read_runs([path]).runs
    assert read_recording(path).condition.model == run.model == model


@pytest.mark.parametrize("results", [{}, [1], {"model_name": None, "config": {"model_args": {}}}, "x"])
def test_a_file_that_names_no_model_leaves_it_to_the_folder(tmp_path: Path, results: Any) -> None:
    doc = {"id": "w", "ticker": "T", "truth": 1, "signal": 0}
    path = tmp_path / "org__model" / f"samples_dynostock_recency_w4_{DATE}.jsonl"
    path.parent.mkdir()
    path.write_text(json.dumps({"doc": doc, "resps": [["0.9"]], "filter": "paper"}) + "\n")
    path.with_name(f"results_{DATE}.json").write_text(json.dumps(results))
    assert read_recording(path).condition.model == "org__model"
