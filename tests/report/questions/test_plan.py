"""How many questions are enough: for two runs, and for a task with two assumed accuracies."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_files import scored, write_models, write_run
from typer.testing import CliRunner

from fin_tasks import report
from fin_tasks.cli import app
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.report.compare import Options, compare
from fin_tasks.report.questions.plan import plan_of_runs, plan_of_task, rows_of_plan
from fin_tasks.stats.power import smallest_difference

TASK = "financemath"
SAMPLE = {"source": "sample"}
CORRELATIONS = {"correlation": 0.45, "source_correlation": 0.1}


def two_runs(folder: Path, task: str = TASK, **docs: object) -> list[Path]:
    generator = np.random.default_rng(2)
    sources = [
        {name: f"{value}{at % 12}" for name, value in docs.items()} for at in range(120)
    ]
    rows = {}
    for model, share in (("a", 0.5), ("b", 0.6)):
        rows[model] = scored(*(generator.random(120) < share).astype(float).tolist())
    return write_models(folder, rows, task, docs=sources)


def run(*words: object) -> Any:
    return CliRunner().invoke(app, [*map(str, words)], catch_exceptions=False)


@pytest.mark.parametrize(
    ("task", "docs", "n_sources"),
    [
        (TASK, {}, 120),
        # Questions of one source are counted together.
        ("dynostock_recency_w4", {"ticker": "T"}, 12),
    ],
)
def test_runs_are_measured_as_compare_measures_them(
    task: str, docs: dict[str, str], n_sources: int, tmp_path: Path
) -> None:
    paths = two_runs(tmp_path, task, **docs)
    (plan,) = plan_of_runs(report.read(paths), "robust")
    reports = {str(path): report.read(path) for path in paths}
    line = compare(reports, Options(scoring="robust")).lines.iloc[1]
    assert (plan.n, plan.sources) == (120, n_sources)
    assert (plan.design_effect == 1) == (n_sources == 120)
    assert plan.discordant == (line["gained"] + line["lost"]) / 120
    expected = smallest_difference(120 / plan.design_effect, plan.discordant)
    assert plan.smallest(120) == expected
    # Comparisons of clusters use the quantiles of few clusters.
    assert (line["detectable"] == expected) == (n_sources == 120)


def test_a_task_needs_more_questions_for_smaller_differences() -> None:
    plan = plan_of_task("financemath", SAMPLE, [0.5, 0.55], **CORRELATIONS)
    needed = [plan.needed(points / 100) for points in (1, 2, 3, 5)]
    assert needed == sorted(needed, reverse=True)
    # Four times as many questions show half of the difference.
    assert needed[0] / needed[1] == pytest.approx(4, rel=0.05)
    by_size, by_difference = rows_of_plan(plan)
    assert f"{plan.n} (this task)" in [row["Questions"] for row in by_size]
    assert len(by_difference) == 4


def test_wrong_requests(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="two shares"):
        plan_of_task("financemath", SAMPLE, [0.5, 55], **CORRELATIONS)
    paths = two_runs(tmp_path)
    with pytest.raises(ConfigError, match="expected two runs"):
        plan_of_runs(report.read(paths[0]), "robust")
    write_run(tmp_path / "c", {"financemath_pot": scored(1, 0)})
    with pytest.raises(DataError, match="both runs"):
        plan_of_runs(report.read([paths[0], tmp_path / "c"]), "robust")


def test_command(tmp_path: Path) -> None:
    plan_of = ("questions", "--plan")
    metadata = ("--metadata", json.dumps(SAMPLE), "--json")
    shares = ("--accuracy", "0.5", "--accuracy", "0.6")
    told = run(*plan_of, "--benchmark", "financemath", *shares, *metadata)
    (plan,) = json.loads(told.stdout)
    assert plan["accuracies"] == [0.5, 0.6]
    assert plan["needed_by_points"].keys() == {"1", "2", "3", "5"}
    assert 0 < plan["smallest_difference"] < 1
    runs = two_runs(tmp_path)
    assert "120 (this task)" in run(*plan_of, *runs).output
    printed = run("compare", *runs).output
    assert "120 pairs show differences from" in printed


def test_runs_with_known_tokens_and_prices_have_a_cost(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 120_000, "response_tokens": 60_000, "estimated": False}
    rows = scored(*[1.0] * 60, *[0.0] * 60)
    folders = write_models(tmp_path, {"a": rows, "b": rows}, metadata={"usage": usage})
    file = tmp_path / "prices.yaml"
    prices = "models: {a: {input: 1, output: 10}, b: {input: 2, output: 0}}\n"
    file.write_text(f"{prices}currency: EUR\n")
    priced = ("questions", "--plan", "--token-prices", file)
    arguments = [*priced, *folders]
    (plan,) = json.loads(run(*arguments, "--json").stdout)
    # A question has 1,000 tokens and its response 500: 0.001 + 0.005 and 0.002.
    assert plan["question_cost"] == pytest.approx(0.008)
    n_needed = plan["needed_by_points"]["5"]
    assert f"{0.008 * n_needed:,.2f} EUR" in run(*arguments).output
    file.write_text("models: {a: {input: 1, output: 10}}\n")
    assert "not known" in run(*arguments).output
    with pytest.raises(ConfigError, match="expected two runs with --plan"):
        run(*priced, "--benchmark", TASK)


def test_windows_that_an_effect_needs() -> None:
    """A t test of 5 points with changes that deviate by 20 needs 128 independent windows, and more of few stocks."""
    arguments = ["questions", "--plan", "--benchmark", "dynostock"]
    arguments += ["--metadata", '{"source": "sample", "window": 4}']

    def plan(*options: str) -> dict[str, Any]:
        return dict(json.loads(run(*arguments, "--json", *options).stdout))

    independent = plan("--source-correlation", "0")
    assert independent["design_effect"] == 1 and independent["stocks"] == 3
    assert plan("--benchmark", "dynostock_statement")["n"] == independent["n"]
    assert independent["needed_by_points"]["5"] == 128
    correlated = plan("--spread", "0.1")["needed_by_points"]["5"]
    usual = plan()["needed_by_points"]["5"]
    assert correlated < 128 < usual
    shown = run(*arguments)
    assert f"{usual:,}" in shown.output
    assert "23 (this task)" in shown.output and "5 points" in shown.output
