"""What figures are drawn from: recordings, samples and replays, and the command that draws them."""

import json
from pathlib import Path
from typing import Any

import pytest
from arm_runs import docs, says, towards, write_run
from PIL import Image
from typer.testing import CliRunner

from fin_tasks.benchmarks.dynostock.plots import Series
from fin_tasks.benchmarks.dynostock.scoring import Counts
from fin_tasks.benchmarks.dynostock.series import find_series
from fin_tasks.cli import app
from fin_tasks.errors import ConfigError, DataError

RECORDINGS = Path(__file__).parents[3].parent / "shared" / "data" / "dynostock" / "recordings"
SIZES = (4, 8, 12, 16, 20)


def write_recording(folder: Path, model: str, size: int, rows: list[dict[str, Any]], bias: str = "recency") -> Path:
    path = folder / bias / model / f"exp_{bias}_{size}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


ROWS = [
    {"ticker": "A", "start_time": "2001-01-01", "end_time": "2002-01-01", "bias": 0, "gt": 1, "response": response}
    for response in ("Final prediction: 0.9", "Final prediction: 0.2", "no idea")
]


def test_recordings_samples_and_replays_become_series(tmp_path: Path) -> None:
    for size in (4, 20):
        write_recording(tmp_path / "rec", "gpt-4o", size, ROWS)
    write_recording(tmp_path / "rec", "gpt-4o", 4, ROWS, bias="authority")
    write_run(tmp_path / "lm" / "s", docs(20), "signal", lambda doc: towards(doc["signal"], 0.3))
    write_run(tmp_path / "lm" / "n", docs(20), "none", lambda doc: says(0.5))
    done = CliRunner().invoke(app, ["replay", "dynostock", str(tmp_path / "rec" / "recency"), "--json"])
    assert done.exit_code == 0
    replayed = tmp_path / "replayed.json"
    replayed.write_text(done.stdout)
    found = find_series([tmp_path / "rec", tmp_path / "lm"], parser="paper")
    gpt, made = found.series["recency"]
    assert (gpt.model, list(gpt.counts)) == ("gpt-4o", [4, 20])
    assert gpt.counts[4] == Counts(total=3, correct=1, wrong_by_bias=1, no_answer=1)
    assert made.model == "made/model (text)"
    assert made.counts == {4: Counts(total=20, correct=10, wrong_by_bias=10, no_answer=0)}
    assert [series.model for series in found.series["authority"]] == ["gpt-4o"]
    assert ["without the biased statement" in note for note in found.notes] == [True]
    assert found.problems == ()
    assert find_series([replayed], parser="paper").series["recency"] == [gpt]


def test_what_is_not_drawn_is_told(tmp_path: Path) -> None:
    path = write_recording(tmp_path, "m", 4, ROWS)
    other = write_recording(tmp_path / "again", "m", 4, ROWS[:1])
    unnamed = tmp_path / "exp.json"
    unnamed.write_text(json.dumps(ROWS))
    broken = tmp_path / "exp_recency_8.json"
    broken.write_text("[{")
    found = find_series([path, other, unnamed, broken], parser="paper")
    assert found.series["recency"] == [
        Series(model="m", counts={4: Counts(total=1, correct=1, wrong_by_bias=0, no_answer=0)})
    ]
    (note,) = found.notes
    assert note.startswith(f"{path}: left out, {other}")
    assert any(str(broken) in problem for problem in found.problems)
    assert any(problem.startswith(f"{unnamed}: expected windows of one bias") for problem in found.problems)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"correct": 99}, "add up"),
        ({"total": -1}, "whole number"),
        ({"window": "4"}, "whole number"),
        ({"window": 10**30}, "whole number"),
        ({"arm": None}, "model, bias, mode"),
        ({"model": 5}, "model, bias, mode"),
    ],
)
def test_a_replay_that_was_tampered_with_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    row = {"file": "f", "model": "m", "bias": "recency", "mode": "image", "arm": "signal", "anonymised": False}
    row |= {"window": 4, "total": 10, "correct": 6, "wrong_by_bias": 1, "no_answer": 0}
    path = tmp_path / "replay.json"
    path.write_text(json.dumps({"parser": "paper", "files": [row]}))
    assert find_series([path], parser="paper").problems == ()
    path.write_text(json.dumps({"parser": "paper", "files": [{**row, **change}]}))
    (problem,) = find_series([path], parser="paper").problems
    assert message in problem
    path.write_text(json.dumps({"parser": "robust", "files": [row]}))
    assert "--parser" in find_series([path], parser="paper").problems[0]


def test_the_command(tmp_path: Path) -> None:
    write_recording(tmp_path, "gpt-4o", 4, ROWS)
    call = ["plot", "dynostock", str(tmp_path), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, call)
    assert done.exit_code == 0, done.output
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"recency.png", "recency.svg", "recency.csv"}
    with Image.open(tmp_path / "out" / "recency.png") as image:
        assert image.width == 1440
    (tmp_path / "exp_recency_8.json").write_text("{")
    done = CliRunner().invoke(app, call)
    assert done.exit_code == 1 and "exp_recency_8.json" in done.stderr
    assert isinstance(CliRunner().invoke(app, [*call, "--bias", "authority"]).exception, DataError)
    assert isinstance(CliRunner().invoke(app, [*call, "--bias", "fear"]).exception, ConfigError)
    assert isinstance(CliRunner().invoke(app, [*call, "--parser", "mine"]).exception, ConfigError)
    (tmp_path / "file").write_text("")
    assert isinstance(CliRunner().invoke(app, [*call[:-1], str(tmp_path / "file")]).exception, ConfigError)


@pytest.mark.skipif(not RECORDINGS.is_dir(), reason="the authors' recordings are not beside the checkout")
def test_the_authors_recordings_give_their_figure() -> None:
    found = find_series([RECORDINGS], parser="paper")
    assert found.problems == () and found.notes == ()
    by_model = {series.model: series for series in found.series["recency"]}
    assert len(by_model) == 3
    assert all(list(series.counts) == list(SIZES) for series in by_model.values())
    # figure 3: GPT-4o stays below 5 %, LLaVA-NeXT comes down to it, MobileVLM does not
    assert max(c.bias_index for c in by_model["gpt-4o"].counts.values()) < 0.05
    llava = by_model["llava-v1.6-mistral-7b-hf-4bit"].counts
    assert llava[4].bias_index == 0.2 and max(llava[size].bias_index for size in (12, 16, 20)) < 0.05
    assert min(c.bias_index for c in by_model["MobileVLM_V2-7B-4bit"].counts.values()) > 0.15
