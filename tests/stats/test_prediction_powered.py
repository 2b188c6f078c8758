"""Judges' means corrected by people's labels: coverage, width, and ppi-python's figures."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from fin_tasks.stats.means import estimate
from fin_tasks.stats.prediction_powered import corrected_mean

N_ROWS = 400
N_LABELS = 100
N_SAMPLES = 1000
MEAN = 60.0
RECORDED = Path(__file__).parents[1] / "cases" / "ppi_python.jsonl"
CASES = [json.loads(line) for line in RECORDED.read_text().splitlines()]


@pytest.mark.parametrize(
    ("bias", "noise", "per_cluster", "largest_width"),
    [(15.0, 8.0, 1, 0.75), (0.0, 40.0, 1, 1.0), (5.0, 10.0, 4, 0.9)],
    ids=["biased", "noisy", "clustered"],
)
def test_the_interval_covers_the_mean_of_people(
    bias: float, noise: float, per_cluster: int, largest_width: float
) -> None:
    generator = np.random.default_rng(33)
    n_clusters = N_ROWS // per_cluster
    clusters = np.repeat(np.arange(n_clusters), per_cluster)
    n_covered = 0
    widths = []
    for _ in range(N_SAMPLES):
        shared = generator.normal(0, 14, n_clusters)[clusters]
        truth = MEAN + shared + generator.normal(0, 14, N_ROWS)
        judge = truth + bias + generator.normal(0, noise, N_ROWS)
        people = np.full(N_ROWS, math.nan)
        labeled = generator.choice(N_ROWS, N_LABELS, replace=False)
        people[labeled] = truth[labeled]
        corrected = corrected_mean(judge, people, clusters=clusters)
        alone = estimate(people, clusters=clusters, maximum=math.inf)
        n_covered += corrected.low <= MEAN <= corrected.high
        widths.append((corrected.high - corrected.low) / (alone.high - alone.low))
    assert 0.93 <= n_covered / N_SAMPLES <= 0.97
    assert np.mean(widths) < largest_width


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["seed"]))
def test_the_figures_are_those_of_ppi_python(case: dict[str, float]) -> None:
    """Ours have a t interval and n - 1; theirs centers both groups of rows on their own means."""
    n_rows = int(case["n_all"])
    n = int(case["n"])
    generator = np.random.default_rng(int(case["seed"]))
    truth = generator.normal(MEAN, 20, n_rows)
    judge = truth + case["bias"] + generator.normal(0, case["noise"], n_rows)
    people = truth.copy()
    people[n:] = math.nan
    corrected = corrected_mean(judge, people, clusters=np.full(n_rows, -1))
    assert corrected.mean == pytest.approx(case["mean"], rel=1e-12)
    stderr = (case["high"] - case["low"]) / 2 / 1.959963984540054
    assert corrected.stderr * math.sqrt((n - 1) / n) == pytest.approx(stderr, rel=5e-3)
    assert (corrected.n, corrected.clusters) == (n, n)


def test_a_judge_without_spread_adds_nothing() -> None:
    people = np.array([1.0, 3.0, 5.0, math.nan])
    corrected = corrected_mean(np.full(4, 50.0), people, clusters=np.full(4, -1))
    assert (corrected.mean, corrected.n) == (3.0, 3)


def test_one_labeled_cluster_has_no_interval() -> None:
    people = np.array([1.0, 3.0, math.nan, math.nan])
    corrected = corrected_mean(np.arange(4.0), people, clusters=np.array([0, 0, 1, 1]))
    assert corrected.mean == 2.0
    assert math.isnan(corrected.low)
    none = corrected_mean(np.arange(4.0), np.full(4, math.nan), clusters=np.full(4, -1))
    assert math.isnan(none.mean)
