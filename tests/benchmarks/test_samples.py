"""Random samples of every benchmark that draws one; `n` and `seed` are names of older versions."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.errors import ConfigError

TASKS: dict[str, dict[str, Any]] = {
    "xfinbench": {"subset": "calc"},
    "financemath": {"mode": "cot"},
    "bizbench": {"part": "secnum", "mode": "cot"},
    "mme_finance": {"language": "en"},
}


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path))


def sample(benchmark: str, **metadata: Any) -> tuple[list[str], dict[str, Any]]:
    """Return the ids of the documents, and their provenance."""
    load = importlib.import_module(f"fin_tasks.benchmarks.{benchmark}.data").load
    (documents,) = load(**TASKS[benchmark], source="sample", **metadata).values()
    column = "question_id" if benchmark == "financemath" else "id"
    return documents[column], json.loads(documents.info.description)


@pytest.mark.parametrize("benchmark", TASKS)
def test_the_seed_of_a_model_draws_no_other_questions(benchmark: str) -> None:
    drawn, facts = sample(benchmark, sample_n=2)
    assert len(drawn) == 2 and facts["sample"] == {"n": 2, "seed": 0}
    assert sample(benchmark, sample_n=2, seed=1234) == (drawn, facts)
    others = [
        sample(benchmark, sample_n=2, sample_seed=seed)[0] for seed in range(1, 9)
    ]
    assert any(other != drawn for other in others)


@pytest.mark.parametrize("benchmark", TASKS)
def test_all_rows_are_no_sample(benchmark: str) -> None:
    assert "sample" not in sample(benchmark, seed=1234)[1]


@pytest.mark.parametrize("benchmark", TASKS)
@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"n": 2}, "expected sample_n for a random sample, got its old name n"),
        ({"sample_n": 0}, "sample_seed: expected whole numbers, the first from 1"),
        (
            {"sample_n": 2, "sample_seed": "x"},
            "expected whole numbers, the first from 1, got 2 and 'x'",
        ),
    ],
)
def test_another_sample_is_one_sentence(
    benchmark: str, metadata: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        sample(benchmark, **metadata)
