"""Random samples of every benchmark that draws one; `n` and `seed` are names of older versions."""

from pathlib import Path
from typing import Any

import pytest

from fin_tasks.benchmarks.contract import id_of
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.errors import ConfigError

pytestmark = pytest.mark.parametrize(
    "task", ["xfinbench_calc", "financemath", "bizbench_secnum", "mme_finance_en"]
)


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path))


def sample(task: str, **metadata: Any) -> tuple[list[str], Any]:
    """Return the ids of the documents, and what the provenance says of the sample."""
    docs, facts = TaskFile(task).load({"source": "sample", **metadata})
    return list(map(id_of, docs)), facts.get("sample")


def test_the_seed_of_a_model_draws_no_other_questions(task: str) -> None:
    drawn, facts = sample(task, sample_n=2)
    assert len(drawn) == 2
    assert facts == {"n": 2, "seed": 0}
    assert sample(task, sample_n=2, seed=1234) == (drawn, facts)
    others = [sample(task, sample_n=2, sample_seed=seed)[0] for seed in range(1, 9)]
    assert others != [drawn] * 8
    assert sample(task, seed=1234)[1] is None  # all rows are no sample


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
    task: str, metadata: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        sample(task, **metadata)
