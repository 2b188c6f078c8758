"""Tokens, seconds and cost beside quality, with figures worked out by hand."""

import json
from pathlib import Path

import pandas as pd
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
    # Tokens are an estimate unless the results say that they were counted.
    guessed = {"prompt_tokens": 600_000, "response_tokens": 1_000_000}
    for name, rows, usage in (
        ("a", scored(1, 0, 1, 1), COUNTED),
        ("b", scored(1, 0, 0, 0), guessed),
    ):
        tasks = {"financemath": rows}
        write_run(tmp_path / name, tasks, model=name, metadata={"usage": usage})
    prices = tmp_path / "prices.yaml"
    models = "a: {input: 0.5, output: 2}, b: {input: 0.1, output: 0.4}"
    prices.write_text(f"models: {{{models}}}\ncurrency: EUR\n")
    out = tmp_path / "out"
    command = [
        "report",
        str(tmp_path),
        "--token-prices",
        str(prices),
        "--out",
        str(out),
    ]
    done = CliRunner().invoke(app, [*command, "--no-published"])
    assert done.exit_code == 0, done.output
    board = json.loads((out / "leaderboard.json").read_text())
    costs = {one["model"]: one["cost"] for one in board["costs"] if one["task"]}
    expected = {"a": 0.5 * 0.6 + 2 * 0.2, "b": 0.1 * 0.6 + 0.4 * 1.0}
    assert costs == pytest.approx(expected)
    table = pd.read_csv(out / "leaderboard.csv", keep_default_na=False)
    own = table.query("metric == 'acc' and scoring == 'paper'").set_index("model")
    shown = own.loc["a", ["cost", "currency", "estimated"]].tolist()
    assert shown == [pytest.approx(0.7), "EUR", ""]
    assert own.loc["b", "estimated"] == "tokens_in, tokens_out, cost"


def test_seconds_of_all_tasks_are_those_of_the_run(tmp_path: Path) -> None:
    tasks = {"xfinbench_bool": scored(1), "xfinbench_mcq": scored(1)}
    write_run(tmp_path, tasks, metadata={"usage": COUNTED})
    costs = costs_of(report.read([tmp_path]).runs[0])
    assert [cost.seconds for cost in costs] == [None, None, 60]
    assert (costs[-1].tokens_out, costs[-1].cost) == (400_000, None)
