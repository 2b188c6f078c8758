"""Tokens, seconds and cost beside quality, with figures worked out by hand."""

import csv
import json
from pathlib import Path

import pytest
from run_files import scored, write_run
from typer.testing import CliRunner

from fin_tasks import report
from fin_tasks.cli import app
from fin_tasks.report.cost import costs_of

COUNTED = {
    "prompt_tokens": 600_000,
    "response_tokens": 200_000,
    "estimated": False,
    "seconds_of_all_tasks": 60.0,
}


def test_cost_beside_quality_from_run_to_report(tmp_path: Path) -> None:
    write_run(
        tmp_path / "a",
        {"financemath": scored(1, 0, 1, 1)},
        model="org/a",
        metadata={"usage": COUNTED},
    )
    usage = {**COUNTED, "response_tokens": 1_000_000, "estimated": True}
    write_run(
        tmp_path / "b",
        {"financemath": scored(1, 0, 0, 0)},
        model="org/b",
        metadata={"usage": usage},
    )
    prices = tmp_path / "prices.yaml"
    models = "org/a: {input: 0.5, output: 2}, org/b: {input: 0.1, output: 0.4}"
    prices.write_text(f"models: {{{models}}}\ncurrency: EUR\n")
    out = tmp_path / "out"
    done = CliRunner().invoke(
        app, ["report", str(tmp_path), "--token-prices", str(prices), "--out", str(out)]
    )
    assert done.exit_code == 0, done.output
    lines = {
        one["model"]: one
        for one in json.loads((out / "leaderboard.json").read_text())["costs"]
        if one["task"]
    }
    assert lines["org/a"]["cost"] == pytest.approx(0.5 * 0.6 + 2 * 0.2)
    assert lines["org/b"]["cost"] == pytest.approx(0.1 * 0.6 + 0.4 * 1.0)
    with (out / "leaderboard.csv").open(encoding="utf-8", newline="") as file:
        own = {
            row["model"]: row
            for row in csv.DictReader(file)
            if row["metric"] == "acc" and row["scoring"] == "paper"
        }
    assert (
        float(own["org/a"]["cost"]),
        own["org/a"]["currency"],
        own["org/a"]["estimated"],
    ) == (
        0.7,
        "EUR",
        "",
    )
    assert "cost" in own["org/b"]["estimated"]


def test_seconds_of_all_tasks_are_those_of_the_run(tmp_path: Path) -> None:
    write_run(
        tmp_path,
        {"xfinbench_bool": scored(1), "xfinbench_mcq": scored(1)},
        metadata={"usage": COUNTED},
    )
    costs = costs_of(report.read([tmp_path]).runs[0])
    assert [cost.seconds for cost in costs] == [None, None, 60]
    assert costs[-1].tokens_out == 400_000
    assert costs[-1].cost is None


def test_tokens_are_an_estimate_unless_the_results_say_they_were_counted(
    tmp_path: Path,
) -> None:
    for name, said in (("a", {}), ("b", {"estimated": False})):
        usage = {"prompt_tokens": 5, "response_tokens": 2, **said}
        write_run(
            tmp_path / name,
            {"financemath": scored(1)},
            model=name,
            metadata={"usage": usage},
        )
    costs = [costs_of(run)[0] for run in report.read([tmp_path]).runs]
    estimated = {cost.model: cost.estimated for cost in costs}
    assert estimated == {"a": ["tokens_in", "tokens_out"], "b": []}
