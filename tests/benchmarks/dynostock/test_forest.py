"""Effects on paper: the forest plot, the tables, and the command that writes them."""

import csv
import json
from pathlib import Path

import pytest
from arm_runs import docs, says, towards, write_run
from matplotlib.backends.backend_agg import FigureCanvasAgg
from typer.testing import CliRunner

from fin_tasks.benchmarks.dynostock.effects import compare_arms
from fin_tasks.benchmarks.dynostock.experiment import read_experiment
from fin_tasks.benchmarks.dynostock.forest import arm_rows, draw_effects, effect_rows, write_rows
from fin_tasks.benchmarks.dynostock.plots import drawing, save
from fin_tasks.cli import app
from fin_tasks.errors import ConfigError, DataError

MINUS = "\u2212"


def experiment(folder: Path) -> Path:
    for size in (4, 8):
        for arm in ("signal", "none", "flipped"):
            write_run(folder / f"{arm}{size}", docs(50, size=size), arm, lambda doc: towards(doc["statement"], 0.12))
    return folder


def test_the_forest_has_a_row_per_effect(tmp_path: Path) -> None:
    report = compare_arms(read_experiment([experiment(tmp_path)], parser="robust"), parser="robust", resamples=200)
    with drawing():
        figure = draw_effects(report)
        FigureCanvasAgg(figure).draw()
        save(figure, tmp_path / "forest")
    left, right = figure.axes
    assert [label.get_text() for label in left.get_yticklabels()] == [
        *(f"signal {MINUS} none", "4 reports", "8 reports", f"flipped {MINUS} none", "4 reports", "8 reports"),
        *(f"signal {MINUS} flipped", "4 reports", "8 reports"),
    ]
    for axes, moved in ((left, 12.0), (right, 50.0)):  # without a statement all answers are up, half of them the signal
        means = [line.get_xdata()[0] for line in axes.lines[1:]]
        assert means == pytest.approx([moved] * 3 + [-moved] * 3 + [2 * moved] * 3)
    assert any("+12.0 [12.0, 12.0]  n=100" in text.get_text() for text in left.texts)
    for text in (*figure.texts, *left.texts, *right.texts):
        box = text.get_window_extent()
        assert box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y0 >= 0 and box.y1 <= figure.bbox.y1


def test_tables_of_an_experiment(tmp_path: Path) -> None:
    report = compare_arms(read_experiment([experiment(tmp_path)], parser="robust"), parser="robust", resamples=200)
    write_rows(effect_rows(report), tmp_path / "effects.csv")
    rows = list(csv.DictReader((tmp_path / "effects.csv").read_text().splitlines()))
    pooled = [row for row in rows if row["window"] == "" and row["measure"] == "probability"]
    assert [(row["first"], row["second"], round(float(row["effect"]), 6)) for row in pooled] == [
        *(("signal", "none", 0.12), ("flipped", "none", -0.12), ("signal", "flipped", 0.24))
    ]
    write_rows(arm_rows(report), tmp_path / "arms.csv")
    assert (tmp_path / "arms.csv").read_text().count("\n") == 10


def test_the_report_as_a_command(tmp_path: Path) -> None:
    folder = experiment(tmp_path / "runs")
    done = CliRunner().invoke(app, ["report-bias", str(folder), "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "moved +12.0 points towards what it says" in " ".join(done.stdout.split())
    names = {"arms.csv", "effects.csv", "effects.png", "effects.svg"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    bad = folder / "samples_dynostock_recency_w4_bad\x1b[31m.jsonl"
    bad.write_text("{")
    done = CliRunner().invoke(app, ["report-bias", str(folder), "--json"])
    assert done.exit_code == 1
    report = json.loads(done.stdout)
    assert [problem["path"] for problem in report["problems"]] == [str(bad)]
    assert len(report["effects"]) == 27
    assert r"bad\x1b[31m" in done.stderr and "\x1b" not in done.stderr
    assert isinstance(CliRunner().invoke(app, ["report-bias", str(folder), "--parser", "mine"]).exception, ConfigError)
    assert isinstance(CliRunner().invoke(app, ["report-bias", str(tmp_path / "out")]).exception, DataError)


def test_one_arm_alone_has_no_figure(tmp_path: Path) -> None:
    write_run(tmp_path / "a", docs(10), "signal", lambda doc: says(0.5), model="[bold red]x[/] \x1b[31m")
    done = CliRunner().invoke(app, ["report-bias", str(tmp_path / "a"), "--out", str(tmp_path / "out")])
    assert done.exit_code == 0
    assert r"[bold red]x[/] \x1b[31m" in done.stdout and "\x1b" not in done.stdout
    assert "only one arm" in " ".join(done.stdout.split())
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["arms.csv"]
