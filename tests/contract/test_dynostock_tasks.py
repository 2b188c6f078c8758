"""Every task file against its name, and the real lm-eval over made windows, with a server that answers as told."""

import ast
import base64
import io
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from PIL import Image
from test_chat_server import ChatServer, lm_eval, serving

from fin_tasks.benchmarks.dynostock.charting import chart_of
from fin_tasks.benchmarks.dynostock.data import load
from fin_tasks.benchmarks.dynostock.market import sample_market
from fin_tasks.benchmarks.dynostock.options import ARGUMENTS_OF_OTHERS
from fin_tasks.benchmarks.dynostock.window import Window, frame_of, windows_of
from fin_tasks.benchmarks.dynostock.window_set import write_set
from fin_tasks.benchmarks.dynostock.windows import Found, find_windows
from fin_tasks.resources import task_yaml_dir

SIZES = (4, 8, 12, 16, 20)
TASKS = [
    *(f"dynostock_{bias}_w{size}{end}" for bias in ("recency", "authority") for size in SIZES for end in ("", "_text")),
    *("dynostock_forecast", "dynostock_forecast_text"),
]
BY_BIAS = [f"dynostock_{bias}{end}" for bias in ("recency", "authority") for end in ("", "_text")]


class _Loader(yaml.SafeLoader):
    """Reads `!function` as its text."""


_Loader.add_constructor("!function", lambda loader, node: f"!{loader.construct_scalar(node)}")


def read(name: str) -> dict[str, Any]:
    text = (task_yaml_dir() / "dynostock" / f"{name}.yaml").read_text(encoding="utf-8")
    return dict(yaml.load(text, Loader=_Loader))  # noqa: S506 - a SafeLoader


def test_there_is_a_file_for_every_task_and_group_and_no_other() -> None:
    names = {path.stem for path in (task_yaml_dir() / "dynostock").glob("*.yaml")}
    assert names == {"_base", *TASKS, *BY_BIAS}


@pytest.mark.parametrize("name", BY_BIAS)
def test_a_group_averages_over_window_sizes(name: str) -> None:
    group = read(name)
    stem, end = (name.removesuffix("_text"), "_text") if name.endswith("_text") else (name, "")
    assert group["group"] == name
    assert group["task"] == [f"{stem}_w{size}{end}" for size in SIZES]
    rule = {"aggregation": "mean", "weight_by_size": False, "filter_list": ["paper", "robust"]}
    names = ("acc", "bias_index")
    assert group["aggregate_metric_list"] == [{"metric": metric, **rule} for metric in names]


def made_windows() -> list[Window]:
    """Three windows of each size, as the sample has none of most, with truths and signals of our choice."""
    table = find_windows(sample_market(), biases=["recency"], windows=[4]).table
    truths = {4: (1, 1, 1), 8: (1, 1, 0), 12: (1, 0, 0), 16: (0, 0, 0), 20: (1, 0, 0)}
    signals = {4: (0, 0, 0), 8: (0, 0, 1), 12: (0, 1, 0), 16: (1, 1, 0), 20: (1, 0, 0)}
    facts = [(size, *pair) for size in SIZES for pair in zip(truths[size], signals[size], strict=True)]
    return [
        replace(window, window=size, truth=truth, signal=signal, id=f"made-{size}-{window.end}")
        for window, (size, truth, signal) in zip(windows_of(table), facts, strict=False)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("windows")
    write_set(folder, Found(frame_of(made_windows()), ()), sample_market(), parameters={"made": True})
    return folder


@pytest.fixture(scope="module")
def forecaster() -> Iterator[ChatServer]:
    with serving(ChatServer("Thought: it rose before, in 2009 by 3.5%.\nFinal prediction: 0.8")) as server:
        yield server


def test_a_group_reports_means_over_window_sizes(folder: Path, forecaster: ChatServer, tmp_path: Path) -> None:
    metadata = json.dumps({"windows_dir": str(folder), "frequency": "monthly", "arm": "flipped"})
    lm_eval(forecaster, tmp_path, "dynostock_recency_text", metadata)
    (path,) = (tmp_path / "out").rglob("results_*.json")
    report = json.loads(path.read_text())
    by_size = {size: [window for window in made_windows() if window.window == size] for size in SIZES}
    acc = [sum(window.truth == 1 for window in windows) / 3 for windows in by_size.values()]
    wrong = [[window for window in windows if window.truth == 0] for windows in by_size.values()]
    index = [sum(window.signal == 1 for window in windows) / (len(windows) or 1) for windows in wrong]
    assert len(set(acc)) > 1 and len(set(index)) > 1
    for variant in ("paper", "robust"):
        for size, value, bias in zip(SIZES, acc, index, strict=True):
            result = report["results"][f"dynostock_recency_w{size}_text"]
            assert result[f"acc,{variant}"] == pytest.approx(value)
            assert result[f"bias_index,{variant}"] == pytest.approx(bias)
            assert result[f"no_answer,{variant}"] == 0.0
        group = report["groups"]["dynostock_recency_text"]
        assert group[f"acc,{variant}"] == pytest.approx(statistics.mean(acc))
        assert group[f"bias_index,{variant}"] == pytest.approx(statistics.mean(index))
    facts = report["configs"]["dynostock_recency_w4_text"]["metadata"]["provenance"]
    assert (facts["arm"], facts["frequency"], facts["data"]["origin"]) == ("flipped", "monthly", "windows")
    (samples,) = (tmp_path / "out").rglob("samples_dynostock_recency_w12_text_*.jsonl")
    first = json.loads(samples.read_text().splitlines()[0])
    assert first["doc"]["statement"] == 1 - first["doc"]["signal"]
    scored = json.loads(first["filtered_resps"][0][0])
    assert (scored["answer"], scored["probability"]) == (1, 0.8)


def test_the_chart_arrives_with_its_question(folder: Path, forecaster: ChatServer, tmp_path: Path) -> None:
    before = len(forecaster.asked)
    metadata = json.dumps({"windows_dir": str(folder), "dpi": 50})
    lm_eval(forecaster, tmp_path, "dynostock_recency_w8,dynostock_recency_w8_text", metadata)
    pictures = 0
    (path,) = (tmp_path / "out").rglob("samples_dynostock_recency_w8_2*.jsonl")
    docs = [json.loads(line)["doc"] for line in path.read_text().splitlines()]
    charts = {doc["prompt"].removeprefix("<image>\n"): doc for doc in docs}
    for asked in forecaster.asked[before:]:
        system, user = asked["messages"]
        assert system["content"].startswith("You are an experienced forecaster")
        if isinstance(user["content"], str):
            assert "Share prices in dollars" in user["content"]
            continue
        picture, text = user["content"]
        doc = charts[text["text"]]
        window = next(window for window in made_windows() if window.id == doc["id"])
        data = base64.b64decode(picture["image_url"]["url"].split(",", 1)[1])
        with Image.open(io.BytesIO(data)) as sent, Image.open(doc["chart"]) as drawn:
            assert sent.size == chart_of(sample_market(), window, dpi=50).pixels
            assert sent.convert("RGB").tobytes() == drawn.convert("RGB").tobytes()
        pictures += 1
    assert pictures == 3
    assert len(forecaster.asked) == before + 6
    assert "<image>" not in json.dumps(forecaster.asked)


def test_a_base_model_gets_role_question_and_cue(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(str(Path(sys.executable).with_name("fin-tasks")), "lm-eval", "--model", "dummy", "--limit", "2"),
            *("--tasks", "dynostock_recency_w4_text", "--metadata", '{"source": "sample", "frequency": "weekly"}'),
            *("--output_path", "out", "--log_samples"),
        ],
        cwd=tmp_path,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "FIN_TASKS_CACHE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "out").rglob("samples_*.jsonl")
    first = json.loads(path.read_text().splitlines()[0])
    prompt = first["arguments"]["gen_args_0"]["arg_0"]
    assert prompt.startswith("You are an experienced forecaster")
    assert "\n\nEstimate how likely it is" in prompt
    assert prompt.endswith("Final prediction: <a number from 0 to 1>\n\nThought:")
    (doc, *_) = load(bias="recency", window=4, mode="text", source="sample", frequency="weekly")["test"]
    assert first["doc"]["prompt"] == doc["prompt"]
    assert json.loads(first["filtered_resps"][0][0])["reason"].startswith("no answer")


def test_arguments_of_models_are_known_as_such() -> None:
    """A name in the metadata that nobody knows is warned of, and lm-eval merges the model's arguments into it."""
    models = Path(str(find_spec("lm_eval").origin)).parent / "models"  # type: ignore[union-attr]
    served = ("huggingface", "hf_vlms", "vllm_causallms", "vllm_vlms", "api_models", "openai_completions")
    trees = [ast.parse((models / f"{name}.py").read_text(encoding="utf-8")) for name in served]  # vllm is not installed
    constructors = [
        method
        for tree in trees
        for kind in ast.walk(tree)
        if isinstance(kind, ast.ClassDef)
        for method in kind.body
        if isinstance(method, ast.FunctionDef) and method.name == "__init__"
    ]
    names = {name.arg for method in constructors for name in method.args.args + method.args.kwonlyargs}
    assert len(names) > 50
    assert names - {"self"} <= ARGUMENTS_OF_OTHERS
