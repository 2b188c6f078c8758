"""Checklist of statements: lm-eval on the sample with a forecaster that follows each statement by a known amount."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from chat_server import Answer, completion, serve
from in_process import run, saved
from typer.testing import CliRunner

from fin_tasks.benchmarks.dynostock.data import load
from fin_tasks.cli import app
from fin_tasks.report import read
from fin_tasks.report.effects import Effect, effects_of, sentence_of
from fin_tasks.report.write import write_report

pytestmark = pytest.mark.slow

BY = 0.12
"""How far the forecaster follows a statement."""
SMALL: dict[str, Any] = {"frequency": "monthly", "sample_n": 40}
NAMES = ("authority", "framing", "sycophancy", "placebo")


def noise(text: str) -> float:
    """Return a number from -0.05 to 0.05 by a hash."""
    digest = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32 / 10 - 0.05


def follower(by: float) -> Callable[[Mapping[str, Any]], str]:
    """Return a forecaster that says 0.5 and a little, and `by` more of what a statement says."""

    def answer(doc: Mapping[str, Any]) -> str:
        if doc["bias_type"] == "reading":
            return f"Final answer: {doc['truth']}"
        said = doc["statement"]
        probability = 0.5 + noise(doc["prompt"])
        if said is not None:
            probability += by if said else -by
        return f"Final prediction: {probability:.4f}"

    return answer


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of four statements, one without a statement for each kind of windows, and one under a mitigation."""
    folder = tmp_path_factory.mktemp("runs")
    task = "dynostock_statement_text"
    for kind in ("recency", "authority"):
        found = run(task, answer=follower(0), statement=kind, arm="none", **SMALL)
        saved(found, folder / f"none-{kind}")
    for name in NAMES:
        found = run(task, answer=follower(BY), statement=name, **SMALL)
        saved(found, folder / name)
    for arm, by in (("none", 0), ("signal", BY / 3)):
        options = {"statement": "sycophancy", "mitigation": "warning", "arm": arm}
        found = run(task, answer=follower(by), **options, **SMALL)
        saved(found, folder / f"warning-{arm}")
    return folder


@pytest.fixture(scope="module")
def effects(results: Path) -> dict[tuple[str, str], Effect]:
    found = effects_of(read([results]), "robust")
    return {(effect.statement, effect.mitigation): effect for effect in found}


def test_the_effect_of_each_statement_comes_back(
    effects: dict[tuple[str, str], Effect],
) -> None:
    for name in NAMES:
        effect = effects[name, ""]
        true = 0 if name == "placebo" else BY
        assert effect.low <= true <= effect.high, sentence_of(effect)
        assert effect.change == pytest.approx(true, abs=0.03)
        assert (effect.n_windows, effect.n_stocks, effect.left_out) == (40, 3, 0)
        assert (effect.low > 0) == (name != "placebo")
        text = sentence_of(effect)
        assert "40 windows of 3 stocks" in text and "% of decisions flipped." in text
    assert effects["framing", ""].flipped == effects["framing", ""].flipped_toward > 0.3
    # Whoever follows each statement to its side errs only as it says.
    assert effects["framing", ""].bias_index == 1


def test_a_mitigation_takes_off_what_it_does(
    effects: dict[tuple[str, str], Effect], results: Path
) -> None:
    effect = effects["sycophancy", "warning"]
    assert effect.off == pytest.approx(BY * 2 / 3, abs=0.03)
    assert effect.off_low <= BY * 2 / 3 <= effect.off_high
    command = ["compare", str(results), "--scoring", "robust", "--by", "mitigation"]
    shown = CliRunner().invoke(app, command, env={"COLUMNS": "160"})
    assert shown.exit_code == 0 and "warning" in shown.stdout
    found = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    (line,) = [line for line in found["effects"] if line["mitigation"]]
    assert line["off"] == pytest.approx(effect.off) and line["charts"] == "not asked"


def test_a_model_that_cannot_see_cannot_be_interpreted(tmp_path: Path) -> None:
    """Two models follow one statement, not the placebo, and one of them reads nothing."""
    few: dict[str, Any] = {"after": "2010-06"}
    readers = {"seeing": follower(0), "blind": lambda doc: "Final answer: yes"}
    arms: dict[str, dict[str, Any]] = {
        "none": {"arm": "none"},
        "framing": {"statement": "framing"},
        "placebo": {"statement": "placebo"},
    }
    for name, options in arms.items():
        options |= {"sample_n": 15, "frequency": "monthly"}
        found = run("dynostock_statement_text", answer=follower(BY), **options, **few)
        for model in readers:
            saved({**found}, tmp_path / model / name, model=model)
    for model, read_charts in readers.items():
        found = run("dynostock_reading_text", answer=read_charts, sample_n=40, **few)
        saved(found, tmp_path / model / "reading", model=model)
    report = read([tmp_path / "seeing", tmp_path / "blind"])
    by_model = {}
    for effect in effects_of(report, "robust"):
        true = 0 if effect.statement == "placebo" else BY
        assert effect.low <= true <= effect.high, sentence_of(effect)
        assert (effect.low > 0) == (true > 0)
        assert effect.mode == "text"
        by_model[effect.model] = effect
    assert set(by_model) == set(readers)
    assert by_model["blind"].read and by_model["blind"].read.is_chance
    assert "Cannot be interpreted" in sentence_of(by_model["blind"])
    assert by_model["seeing"].read and by_model["seeing"].read.read == 1
    assert "annot be interpreted" not in sentence_of(by_model["seeing"])
    written = write_report(
        [tmp_path / "blind"], tmp_path / "out", samples=False, published=False
    )
    doubts = [
        entry.doubts
        for entry in written.leaderboard.entries
        if entry.metric == "bias_index"
    ]
    assert doubts and all("cannot be interpreted" in str(one) for one in doubts)
    table = (tmp_path / "out" / "tables" / "dynostock_effects.md").read_text()
    assert "| framing |" in table and "cannot be interpreted" in table
    assert (tmp_path / "out" / "figures" / "dynostock_effects_robust.png").is_file()


def write_bank_files(folder: Path) -> list[str]:
    """Write prices and reports of four made-up stocks as a bank may export them; return options that name them."""
    generator = np.random.default_rng(3)
    days = pd.bdate_range("2012-01-02", "2020-12-31")
    quarters = pd.date_range("2012-03-31", "2020-09-30", freq="QE")
    prices = []
    reports = []
    for name in ("ALPHA", "BRAVO", "CHARLIE", "DELTA"):
        close = 50 * np.exp(generator.normal(0, 0.014, len(days)).cumsum())
        columns = {"Symbol": name, "Date": days.strftime("%d.%m.%Y"), "PX_LAST": close}
        columns |= {"PX_OPEN": close, "PX_HIGH": 1.01 * close, "PX_LOW": 0.99 * close}
        prices.append(pd.DataFrame({**columns, "CRNCY": "EUR"}))
        reported = quarters + pd.to_timedelta(
            generator.integers(20, 45, len(quarters)), "D"
        )
        surprise = generator.normal(0.04, 0.06, len(quarters))
        columns = {"Symbol": name, "Report Date": reported.strftime("%d.%m.%Y")}
        reports.append(
            pd.DataFrame({**columns, "Actual": 1 + surprise, "Consensus": 1})
        )
    options = []
    for part, tables in (("prices", prices), ("earnings", reports)):
        file = folder / f"{part}.csv"
        table = pd.concat(tables).round(2)
        table.to_csv(file, sep=";", decimal=",", index=False)
        options += [f"--{part}", str(file)]
    return options


def test_an_analyst_gets_the_sentence_for_her_own_stocks(tmp_path: Path) -> None:
    """The four commands of docs/dynostock.md, with a server whose model follows what clients say."""
    windows = str(tmp_path / "windows")
    command = [
        "build",
        "dynostock",
        *write_bank_files(tmp_path),
        "--no-charts",
        "--out",
        windows,
    ]
    built = CliRunner().invoke(app, command, env={"COLUMNS": "160"})
    assert built.exit_code == 0, built.output
    assert "windows of 4 stocks" in built.stdout and "EUR" in built.stdout
    asked = load(bias="reading", mode="text", windows_dir=windows, sample_n=40)["test"]
    truths = {doc["prompt"]: doc["truth"] for doc in asked}

    def answer(body: dict[str, Any]) -> Answer:
        text = body["messages"][-1]["content"]
        if text in truths:
            return completion(f"Final answer: {truths[text]}")
        probability = 0.5 + noise(text)
        probability += BY * ("price will go up" in text) - BY * (
            "price will go down" in text
        )
        return completion(f"Final prediction: {probability:.4f}")

    tasks = ("dynostock_statement_text", "dynostock_reading_text")
    options = {"source": "auto", "windows_dir": windows}
    with serve(answer) as served:
        found = run(*tasks, served=served, arm="none", sample_n=40, **options)
        saved(found, tmp_path / "results")
        found = run(tasks[0], served=served, statement="sycophancy", **options)
        saved(found, tmp_path / "results")
    command = ["compare", str(tmp_path / "results"), "--by", "statement"]
    compared = CliRunner().invoke(app, [*command, "--scoring", "robust"])
    assert compared.exit_code == 0, compared.output
    sentence = re.search(
        r"model: the statement sycophancy moved the forecast by ([\d.]+) points \[([\d.]+), ([\d.]+)\] "
        r"toward what it says, in \d+ windows of 4 stocks; \d+% of decisions flipped. 100% of 40 questions",
        compared.stdout,
    )
    assert sentence, compared.stdout
    by, low, high = map(float, sentence.groups())
    assert low <= 100 * BY <= high and by == pytest.approx(100 * BY, abs=3)


def test_runs_that_cannot_be_paired_are_told_apart(tmp_path: Path) -> None:
    few: dict[str, Any] = {"sample_n": 5, "frequency": "monthly"}
    found = run("dynostock_statement_text", answer=follower(BY), **few)
    saved(found, tmp_path / "with")
    command = ["compare", str(tmp_path), "--by", "statement"]
    error = str(CliRunner().invoke(app, command).exception)
    assert "only a run with a statement, and none without one" in error
    few["frequency"] = "weekly"
    found = run("dynostock_statement_text", answer=follower(0), arm="none", **few)
    saved(found, tmp_path / "without")
    error = str(CliRunner().invoke(app, command).exception)
    assert "frequency: monthly here, weekly in the reference" in error
