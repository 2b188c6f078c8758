"""DynoStock's recorded models beside a model of one's own that is asked the same windows."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from authors_files import write_authors_files
from typer.testing import CliRunner

from fin_tasks.benchmarks.dynostock.data import SAMPLE_SHARE
from fin_tasks.benchmarks.dynostock.market import sample_market
from fin_tasks.benchmarks.dynostock.window_set import read_set
from fin_tasks.benchmarks.dynostock.windows import Window, find_windows
from fin_tasks.cli import app
from fin_tasks.recordings import catalog
from fin_tasks.saved.run_folder import write_run
from fin_tasks.saved.scoring import score_responses

MODELS = ["calm", "bold"]


def invoke(*arguments: object) -> str:
    result = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def windows() -> list[Window]:
    found = find_windows(
        sample_market(), biases=["recency"], windows=[4], share=SAMPLE_SHARE
    )
    return list(found.windows)[:12]


@pytest.fixture
def repository(
    windows: list[Window], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Write a copy of a repository where each model was asked the windows, and the list of its files."""
    folder = tmp_path / "copy"
    files = []
    for model in MODELS:
        rows: list[dict[str, Any]] = []
        for window in windows:
            led = window.signal if model == "bold" else window.truth
            days = {"start_time": str(window.start), "end_time": str(window.end)}
            said = {"response": f"Final prediction: {0.1 + 0.8 * led}"}
            asked = {"bias": window.signal, "gt": window.truth}
            rows.append({"ticker": window.ticker, **days, **asked, **said})
        path = f"exp/recency_bias/{model}/exp_recency_4.json"
        body = json.dumps(rows).encode()
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_bytes(body)
        sha256 = hashlib.sha256(body).hexdigest()
        size = len(body)
        files.append({"path": path, "model": model, "size": size, "sha256": sha256})
    facts = {"benchmark": "dynostock", "repository": "some/repository"}
    facts |= {"commit": "c" * 40, "date": "2024-08-10", "license": "MIT"}
    listed = tmp_path / "recordings.json"
    parts = [{"bias": "recency", "files": files}]
    listed.write_text(json.dumps([{**facts, "parts": parts}]))
    monkeypatch.setattr(catalog, "FILE", listed)
    return folder


def test_a_new_model_pairs_with_the_recorded_ones(
    windows: list[Window], repository: Path, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    invoke("recordings", "dynostock", "--from", repository, "--out", results)
    folder = tmp_path / "windows"
    recorded = repository / "exp" / "recency_bias"
    options = ["--sample", "--from-recording", recorded, "--no-charts"]
    invoke("build", "dynostock", *options, "--out", folder)
    rebuilt = read_set(folder).windows
    assert {window.id for window in rebuilt} == {window.id for window in windows}
    texts = {window.id: "Final prediction: 0.9" for window in rebuilt}
    metadata = {"windows_dir": str(folder)}
    house = score_responses("dynostock_recency_w4", texts, metadata)
    write_run(results, [house], model="own", made_by="replay")
    with_authors = {
        "prompts": "upstream",
        "data_dir": str(write_authors_files(tmp_path)),
    }
    own = score_responses("dynostock_recency_w4", texts, {**metadata, **with_authors})
    write_run(results, [own], model="own", made_by="replay")
    beside = ["--with", "dynostock:calm", "--with", "dynostock:bold"]
    lines = json.loads(invoke("compare", results, "--json", *beside))["lines"]
    # The run with our prompts is not compared with the recorded ones.
    assert [(line["run"], line["pairs"]) for line in lines] == [
        ("own", 0),
        ("own", 0),
        ("recorded/bold", len(windows)),
        ("recorded/calm", len(windows)),
    ]
    n_up = sum(window.truth for window in windows)
    assert lines[3]["gained"] == len(windows) - n_up
