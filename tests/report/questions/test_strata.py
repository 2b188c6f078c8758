"""Samples by strata: their shares, what they narrow against a simulation, the file, the command, metadata."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from answered_runs import write_runs
from run_files import board_of, scored, write_run
from typer.testing import CliRunner

from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.cli import app
from fin_tasks.data.documents import draw_rows
from fin_tasks.data.strata import read_strata, write_strata
from fin_tasks.errors import ConfigError
from fin_tasks.report import read
from fin_tasks.report.questions.strata import strata_of_runs
from fin_tasks.stats.power import stratified_effect

IDS = [f"q{number}" for number in range(1000)]
N_DRAWS = 300


def draw(n: int, seed: int, strata: dict[str, str] | None) -> list[str]:
    return draw_rows("financemath", IDS, n, seed, str, strata)


def test_each_stratum_has_its_share_and_each_question_the_same_chance() -> None:
    strata = {name: "abbcccc"[at % 7] for at, name in enumerate(IDS)}
    n_drawn: Counter[str] = Counter()
    for seed in range(N_DRAWS):
        drawn = draw(70, seed, strata)
        assert len(drawn) == len(set(drawn)) == 70
        assert drawn == sorted(drawn, key=IDS.index)
        shares = Counter(strata[name] for name in drawn)
        assert [shares[name] for name in "abc"] == pytest.approx([10, 20, 40], abs=1)
        n_drawn.update(drawn)
    assert draw(70, 3, strata) == draw(70, 3, strata)
    counts = [n_drawn[name] for name in IDS]
    assert np.mean(counts) == pytest.approx(N_DRAWS * 0.07)
    # The spread of binomial counts.
    assert np.std(counts) == pytest.approx(np.sqrt(N_DRAWS * 0.07 * 0.93), rel=0.15)
    assert draw(5000, 0, strata) == IDS


def test_the_variance_of_sample_means_is_that_of_a_simulation() -> None:
    generator = np.random.default_rng(4)
    chances = generator.beta(0.6, 0.6, len(IDS))
    right = (generator.random(len(IDS)) < chances).astype(float)
    levels = np.digitize(chances, [0.2, 0.4, 0.6, 0.8])
    strata = {name: str(level) for name, level in zip(IDS, levels, strict=True)}
    values = dict(zip(IDS, right, strict=True))
    variances = []
    for known in (strata, None):
        means = []
        for seed in range(N_DRAWS):
            drawn = draw(100, seed, known)
            means.append(np.mean([values[name] for name in drawn]))
        variances.append(np.var(means))
    effect = stratified_effect(right, levels)
    assert 0.3 < effect < 0.7
    assert variances[0] / variances[1] == pytest.approx(effect, rel=0.25)


def test_effects_by_hand() -> None:
    values = np.array([1.0, 1, 0, 1, 0, 0])
    strata = np.array([0, 0, 0, 1, 1, 1])
    # Each stratum has the squares 2/3, so 4/3 over 4; all values have 1.5 over 5.
    assert stratified_effect(values, strata) == pytest.approx((4 / 3 / 4) / 0.3)
    assert stratified_effect(np.ones(6), strata) == 1
    assert np.isnan(stratified_effect(values, np.arange(6)))


def runs_of(folder: Path) -> Path:
    """Four models on 40 questions; the first ten are the easiest."""
    generator = np.random.default_rng(1)
    answers = {}
    for model in ("a", "b", "c", "d"):
        is_right = generator.random(40) < np.linspace(1, 0, 40)
        answers[model] = [12 if right else 3 for right in is_right]
    return write_runs(folder, [12.0] * 40, answers)


def test_runs_give_difficulties_and_what_they_narrow(tmp_path: Path) -> None:
    strata, (narrowing,) = strata_of_runs(read(runs_of(tmp_path)), "robust")
    levels = {question: stratum for _, question, stratum in strata}
    assert len(levels) == 40
    assert (levels["q0"], levels["q39"]) == ("1 of 5", "5 of 5")
    assert (narrowing.questions, narrowing.models) == (40, 4)
    assert narrowing.by_kind == pytest.approx(1)
    assert narrowing.by_kind_and_difficulty < 0.9
    assert narrowing.width == narrowing.by_kind_and_difficulty**0.5


def test_command_writes_the_file_once(tmp_path: Path) -> None:
    out = tmp_path / "strata.csv"
    arguments = ["questions", str(runs_of(tmp_path)), "--strata", str(out)]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert "as wide" in result.output
    assert len(read_strata(out, "financemath")) == 40
    again = CliRunner().invoke(app, arguments)
    assert "expected a new name" in str(again.exception)
    with pytest.raises(ConfigError, match="expected rows of this benchmark"):
        read_strata(out, "bizbench")


def test_tasks_draw_by_a_file_and_say_so(tmp_path: Path) -> None:
    out = tmp_path / "kinds.csv"
    options = '{"source": "sample"}'
    arguments = ["questions", "--benchmark", "xfinbench", "--metadata", options]
    result = CliRunner().invoke(app, [*arguments, "--strata", str(out)])
    assert result.exit_code == 0
    metadata = {"source": "sample", "sample_n": 2, "sample_strata": str(out)}
    docs, facts = TaskFile("xfinbench_bool").load(metadata)
    assert len(docs) == 2
    assert set(facts["sample"]) == {"n", "seed", "strata"}
    with pytest.raises(ConfigError, match="expected sample_n beside it"):
        TaskFile("xfinbench_bool").load({"source": "sample", "sample_strata": out})


def test_reports_say_that_a_sample_is_by_strata(tmp_path: Path) -> None:
    sample = {"n": 4, "seed": 0, "strata": "ab"}
    rows = scored(1, 0, 1, 1)
    write_run(tmp_path, {"financemath": rows}, provenance={"sample": sample})
    entries = board_of(tmp_path).entries
    remarks = [entry.remarks for entry in entries if entry.metric == "acc"]
    assert all("by strata" in remark[0] for remark in remarks)


def test_no_id_becomes_a_formula(tmp_path: Path) -> None:
    file = tmp_path / "new" / "strata.csv"
    write_strata([("financemath", '=HYPERLINK("x")', "easy")], file)
    assert """'=HYPERLINK""" in file.read_text()
