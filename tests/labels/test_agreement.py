"""Judges beside people, and three simulated people whose agreement is known, beside a judge whose bias is known."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr
from studies_at_work import TASK, agree, draw, fill, fill_all, merge, run, write_judged

from fin_tasks.labels.agree import corrections_of, labels_for, read_judged
from fin_tasks.labels.agreement import agreement
from fin_tasks.labels.filled import read_sheets

N_ROWS = 400
N_LABELS = 100
ERRORS = (0.05, 0.1, 0.2)
"""How often each person takes yes for no."""
BIAS = 12.0
STUDY = """
name: three
title: Three people
instructions: Read.
benchmark: mme_finance
tasks: {{mme_finance_en: {{language: en}}}}
n: {n}
show: [question, response]
questions:
  {question}
"""
CLEAR = 'clear: {ask: "Clear?"}'
SCORE = 'score: {ask: "How good?", scale: [0, 5]}'


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    docs = []
    for place in range(N_ROWS):
        question = f"Question {place}?"
        docs.append({"id": f"q{place}", "question": question, "answer": "5"})
    folder = tmp_path_factory.mktemp("three") / "run"
    return write_judged(folder, {TASK: docs}, lambda place: 20.0 * (place % 6))


def sheets_about(judged: Path, folder: Path, question: str, n: int) -> list[Path]:
    study = folder / "study.yaml"
    study.write_text(STUDY.format(question=question, n=n))
    return draw(folder / "three.csv", study, judged)


@pytest.mark.parametrize("seed", range(5))
def test_the_correlation_is_scipys(seed: int) -> None:
    x, y = np.random.default_rng(seed).integers(0, 6, (2, 5 + 5 * seed)).tolist()
    expected = spearmanr(x, y).statistic
    assert agreement(x, y)["spearman"] == pytest.approx(expected, abs=1e-12)


def test_the_figures_of_a_judge() -> None:
    figures = agreement([0, 1, 2, 3, 4, 5] * 5, [0, 2, 1, 3, 5, 4] * 5)
    assert figures["low"] < figures["spearman"] < figures["high"]  # type: ignore[operator]
    assert figures["mean_absolute_difference"] == pytest.approx(4 / 6)
    assert figures["bias"] == 0
    assert agreement([3, 3], [1, 2])["spearman"] is None


def test_the_agreement_is_that_of_the_simulation(judged: Path, tmp_path: Path) -> None:
    sheets = sheets_about(judged, tmp_path, CLEAR, N_ROWS)
    generator = np.random.default_rng(46)
    truth = generator.random(N_ROWS) < 0.5
    for sheet, error in zip(sheets, ERRORS, strict=True):
        said = truth ^ (generator.random(N_ROWS) < error)
        fill(sheet, clear=["ja" if one else "nein" for one in said])
    tables = merge(sheets)
    pairs = tables["pairs"]
    assert list(pairs["rows"]) == [N_ROWS] * 3
    assert set(pairs["question"]) == {"clear"}
    differing = []
    for first, second in ((0, 1), (0, 2), (1, 2)):
        product = ERRORS[first] * ERRORS[second]
        differing.append(ERRORS[first] + ERRORS[second] - 2 * product)
    # Half of the rows are yes, so half of the pairs would differ by chance.
    alphas = [1 - share / 0.5 for share in differing]
    assert list(pairs["equal"]) == pytest.approx([1 - x for x in differing], abs=0.05)
    assert list(pairs["alpha"]) == pytest.approx(alphas, abs=0.1)
    alpha = tables["alpha"].iloc[0]
    assert alpha["alpha"] == pytest.approx(np.mean(alphas), abs=0.06)
    assert alpha["low"] < np.mean(alphas) < alpha["high"]


def test_labels_correct_a_biased_judge_and_narrow_the_interval(
    judged: Path, tmp_path: Path
) -> None:
    sheets = sheets_about(judged, tmp_path, SCORE, N_LABELS)
    fill_all(sheets, score=["3"] * N_LABELS)
    rows = read_judged([read_sheets(sheets)], [judged])
    is_labeled = rows["people_score"].notna().to_numpy()
    assert is_labeled.sum() == N_LABELS
    generator = np.random.default_rng(46)
    people = 20.0 * generator.integers(0, 6, N_ROWS)
    judge = people + BIAS + generator.normal(0, 10, N_ROWS)
    people_score = np.where(is_labeled, people, np.nan)
    simulated = rows.assign(score=judge, people_score=people_score)
    (line,) = corrections_of(simulated).runs
    assert line.judge_mean - people.mean() == pytest.approx(BIAS, abs=2)
    assert line.low < people.mean() < line.high < line.judge_mean
    width = (line.high - line.low) / 2
    (wish,) = labels_for(simulated, width - 0.1)
    assert N_LABELS < wish["labels_needed"] < N_ROWS
    assert wish["now_within"] == pytest.approx(width, abs=0.01)
    (reached,) = labels_for(simulated, wish["now_within"] + 1e-6)
    assert reached["labels_needed"] == N_LABELS
    (never,) = labels_for(simulated, 0.01)
    assert never["labels_needed"] is None


def test_how_many_labels_a_wish_needs_is_said(judged: Path, tmp_path: Path) -> None:
    sheets = sheets_about(judged, tmp_path, SCORE, 60)
    scores = np.random.default_rng(46).integers(0, 6, 60)
    fill_all(sheets, score=list(map(str, scores)))
    (line,) = agree(sheets, judged, options=["--within", 5])["labels needed"]
    assert (line["labels"], line["wish"]) == (60, 5.0)
    assert 60 < line["labels_needed"] < N_ROWS
    # All three sheets are one: that is said, and no reason to stop.
    done = run("label", "merge", *sheets, "--out", tmp_path / "merged")
    assert done.stderr.count("Is one a copy of the other?") == 3


def test_sheets_that_agree_by_chance_are_not_suspected(
    judged: Path, tmp_path: Path
) -> None:
    sheets = sheets_about(judged, tmp_path, CLEAR, 40)
    fill_all(sheets, clear=["yes"] * 39 + ["no"])
    done = run("label", "merge", *sheets, "--out", tmp_path / "merged")
    assert "copy" not in done.stderr
    # A screen of shares ends with a sentence only if --all exists.
    assert "--all" in run("label", "merge", "--help").stdout
