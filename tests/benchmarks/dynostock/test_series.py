"""What figures are drawn from: recordings, samples and replays, and the command that draws them."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from arm_runs import DATE, docs, says, towards, write_run
from PIL import Image
from typer.testing import CliRunner

from fin_tasks.benchmarks.dynostock.plots import write_table
from fin_tasks.benchmarks.dynostock.score import Counts
from fin_tasks.benchmarks.dynostock.series import find_series
from fin_tasks.cli import app
from fin_tasks.errors import ConfigError, DataError

NEXT = "2026-03-02T10-00-00.123456"
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
    gpt, without, made = found.series["recency"]
    assert (gpt.model, list(gpt.counts)) == ("gpt-4o (image, arm signal)", [4, 20])
    assert gpt.counts[4] == Counts(total=3, correct=1, wrong_by_bias=1, no_answer=1)
    assert made.model == "made/model (text, arm signal)"
    assert made.counts == {4: Counts(total=20, correct=10, wrong_by_bias=10, no_answer=0)}
    assert without.model == "made/model (text, arm none)"
    assert without.counts == {4: Counts(total=20, correct=10, wrong_by_bias=5, no_answer=0)}  # says up, every time
    assert [series.model for series in found.series["authority"]] == ["gpt-4o"]
    assert (found.problems, found.notes) == ((), ())
    (again,) = find_series([replayed], parser="paper").series["recency"]
    assert (again.model, again.counts) == ("gpt-4o", gpt.counts)


def test_what_is_not_drawn_is_told(tmp_path: Path) -> None:
    path = write_run(tmp_path / "lm", docs(4), "signal", lambda doc: says(0.9))
    other = write_run(tmp_path / "lm", docs(8), "signal", lambda doc: says(0.9), date=NEXT)
    plain = write_run(tmp_path / "plain", [{**docs(1)[0], "bias_type": "plain"}], "none", lambda doc: says(0.9))
    unnamed = tmp_path / "exp.json"
    unnamed.write_text(json.dumps(ROWS))
    broken = tmp_path / "exp_recency_8.json"
    broken.write_text("[{")
    found = find_series([path, other, plain, unnamed, broken], parser="paper")
    assert [(series.model, series.counts) for series in found.series["recency"]] == [
        ("made/model", {4: Counts(total=8, correct=4, wrong_by_bias=2, no_answer=0)})
    ]
    assert [note.partition(" as ")[0] for note in found.notes] == [
        f"{path}: left out, {other} ran the same later.",
        f"{plain}: left out,",
    ]
    assert any(str(broken) in problem for problem in found.problems)
    assert any(problem.startswith(f"{unnamed}: expected windows of one bias") for problem in found.problems)


def prompts(name: str, style: str) -> dict[str, Any]:
    return {"prompts": {"set": name, "style": style, "sha256": f"{name}-{style}"}}


def test_no_run_takes_the_place_of_another(tmp_path: Path) -> None:
    image = [{**doc, "mode": "image"} for doc in docs(20)]
    hidden = [{**doc, "anonymised": True} for doc in docs(20)]
    table = {"text": "table", "frequency": "daily"}
    runs: list[tuple[list[dict[str, Any]], str, dict[str, Any]]] = [
        (image, "signal", {}),
        (docs(20), "signal", {"provenance": table}),
        (docs(20), "signal", {"provenance": {**table, "frequency": "weekly"}}),
        (docs(20), "signal", {"provenance": {**table, "text": "narrative"}}),
        (docs(20), "signal", {"provenance": {**table, **prompts("upstream", "structured")}}),
        (docs(20), "none", {"provenance": {**table, **prompts("house", "naive")}}),
        (docs(20), "none", {"provenance": table}),
        (hidden, "signal", {"provenance": table}),
        (docs(20), "signal", {"provenance": table, "limit": 20.0}),
    ]
    for day, (documents, arm, more) in enumerate(runs, start=10):
        date = f"2026-03-{day}T10-00-00.123456"
        write_run(tmp_path / "made__model", documents, arm, lambda doc: says(0.9), date=date, **more)
    found = find_series([tmp_path], parser="paper")
    assert (found.problems, found.notes) == ((), ())
    assert {series.model.removeprefix("made/model ") for series in found.series["recency"]} == {
        "(image, named, arm signal, house prompts, structured)",
        "(text, named, arm signal, house prompts, structured, table, daily prices, limit null)",
        "(text, named, arm signal, house prompts, structured, table, weekly prices)",
        "(text, named, arm signal, house prompts, structured, narrative, daily prices)",
        "(text, named, arm signal, upstream prompts, structured, table, daily prices)",
        "(text, named, arm none, house prompts, naive, table, daily prices)",
        "(text, named, arm none, house prompts, structured, table, daily prices)",
        "(text, anonymised, arm signal, house prompts, structured, table, daily prices)",
        "(text, named, arm signal, house prompts, structured, table, daily prices, limit 20.0)",
    }
    done = CliRunner().invoke(app, ["replay", "dynostock", str(tmp_path), "--json"])
    (tmp_path / "replayed.json").write_text(done.stdout)
    again = find_series([tmp_path / "replayed.json"], parser="paper").series["recency"]
    assert sorted(again, key=str) == sorted(found.series["recency"], key=str)
    for results in (tmp_path / "made__model").glob("results_*.json"):
        results.unlink() if "-10T" in results.name else results.write_text("{")
    blind = find_series([tmp_path / "replayed.json"], parser="paper")
    assert len({series.model for series in blind.series["recency"]}) == len(runs)
    assert blind.notes == ()


def test_windows_asked_several_times_have_the_intervals_of_windows(tmp_path: Path) -> None:
    path = write_run(tmp_path / "lm", docs(20), "signal", lambda doc: says(0.9))
    (once,) = find_series([path], parser="paper").series["recency"]
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("\n".join(json.dumps({**row, "resps": [row["resps"][0] * 9]}) for row in rows))
    done = CliRunner().invoke(app, ["replay", "dynostock", str(path), "--json"])
    (tmp_path / "replayed.json").write_text(done.stdout)
    for results in (path, tmp_path / "replayed.json"):
        (series,) = find_series([results], parser="paper").series["recency"]
        assert series.counts[4].total == 180
        assert series.intervals_of(4)[0] == once.intervals_of(4)[0] == once.counts[4].accuracy_interval
        assert series.intervals == once.intervals
        write_table([series], tmp_path / "table.csv")
        (row,) = csv.DictReader((tmp_path / "table.csv").read_text().splitlines())
        assert float(row["accuracy_low"]) == pytest.approx(once.intervals_of(4)[0].low, abs=1e-6)


def test_a_label_says_only_what_differs(tmp_path: Path) -> None:
    for place, (name, style) in enumerate([("house", "structured"), ("upstream", "structured")], start=1):
        more = {"provenance": {"text": "table", "frequency": "daily", **prompts(name, style)}}
        for size, date in ((4, DATE), (8, NEXT)):
            write_run(tmp_path / f"{place}", docs(20, size=size), "signal", lambda doc: says(0.9), date=date, **more)
    first, second = find_series([tmp_path], parser="paper").series["recency"]
    assert [first.model, second.model] == ["made/model (house prompts)", "made/model (upstream prompts)"]
    assert list(first.counts) == list(second.counts) == [4, 8]
    (alone,) = find_series([tmp_path / "1"], parser="paper").series["recency"]
    assert alone.model == "made/model"


def test_recordings_of_two_folders_are_two_series(tmp_path: Path) -> None:
    write_recording(tmp_path, "m", 4, ROWS)
    write_recording(tmp_path / "again", "m", 4, ROWS[:1])
    found = find_series([tmp_path], parser="paper")
    assert {series.model: series.counts[4].total for series in found.series["recency"]} == {
        "m (folder recency/m)": 3,
        "m (folder again/recency/m)": 1,
    }
    assert found.notes == ()


def test_the_model_is_the_folders_name_wherever_recordings_lie(tmp_path: Path) -> None:
    path = tmp_path / "my-model" / "exp_recency_4.json"
    path.parent.mkdir()
    path.write_text(json.dumps(ROWS), encoding="utf-8")
    done = CliRunner().invoke(app, ["replay", "dynostock", str(path), "--json"])
    (tmp_path / "replayed.json").write_text(done.stdout)
    for results in (path, tmp_path / "replayed.json"):
        (series,) = find_series([results], parser="paper").series["recency"]
        assert (series.model, list(series.counts)) == ("my-model", [4])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"correct": 99}, "add up"),
        ({"total": -1}, "whole number"),
        ({"window": "4"}, "whole number"),
        ({"window": 10**30}, "whole number"),
        ({"accuracy_low": 0.5}, "bias_index_high from 0 to 1"),
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


def test_the_command_without_a_folder_makes_one_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_recording(tmp_path, "gpt-4o", 4, ROWS)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["plot", "dynostock", "recency"])
    assert done.exit_code == 0, done.output
    assert {path.name for path in (tmp_path / "plots").iterdir()} == {"recency.png", "recency.svg", "recency.csv"}


@pytest.mark.parametrize(("command", "default"), [(["plot", "dynostock"], "paper"), (["report-bias"], "robust")])
def test_help_says_which_parser_is_the_default_and_why(command: list[str], default: str) -> None:
    done = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "500", "TERM": "dumb"})
    assert f"{default} is the default here" in done.output
    assert "published" in done.output


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
