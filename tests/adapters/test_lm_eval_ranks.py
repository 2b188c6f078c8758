"""Several processes of lm-eval on one task: the scores are those that one process would give."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, completion, serve
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

from fin_tasks.resources import task_yaml_dir

DOCS = 12
TASK = "mme_finance_en"


class Process(LM):
    """One of several processes, run one after the other: the last one, rank 0, finds what the others sent."""

    MULTIMODAL = True

    def __init__(self, rank: int, world_size: int, sent: list[Any]) -> None:
        super().__init__()
        self._rank, self._world_size, self.sent = rank, world_size, sent

    def generate_until(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[str]:
        # what the judge thinks of it is told by the document's number
        return [f"It is {request.doc_id}." for request in requests]

    def loglikelihood(self, requests: Sequence[Any], disable_tqdm: bool = False) -> Any:
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood

    def all_gather(self, count: Any) -> Any:
        return count.repeat(self.world_size)  # stripes of the same length

    def gather_object(self, mine: Any, dst: int = 0) -> Any:
        assert dst == 0
        if self.rank:
            self.sent.append(mine)
            return None
        return [mine, self.sent.pop(0)]

    def barrier(self) -> None:
        """Nobody to wait for."""


def evaluate(metadata: Mapping[str, Any], *, world_size: int) -> dict[str, Any]:
    sent: list[Any] = []
    for rank in reversed(range(world_size)):
        found = simple_evaluate(
            model=Process(rank, world_size, sent),
            tasks=[TASK],
            task_manager=TaskManager(
                metadata={"source": "sample", **metadata}, include_path=task_yaml_dir(), include_defaults=False
            ),
            limit=DOCS,
            log_samples=False,  # lm-eval would hash every picture
            bootstrap_iters=100,
        )
    assert found is not None and not sent
    return dict(found)


def values(found: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: "NaN" if isinstance(value, float) and math.isnan(value) else pytest.approx(value, abs=1e-9)
        for name, value in found["results"][TASK].items()
        if not isinstance(value, str) or value == "N/A"
    }


def failing_on(*numbers: int) -> Any:
    """A judge that gives points by the document's number, and none to some documents."""

    def answer(body: Mapping[str, Any]) -> Answer:
        words = json.dumps(body["messages"])
        number = next(number for number in reversed(range(DOCS)) if f"It is {number}." in words)
        return completion("well" if number in numbers else str(number % 6))

    return answer


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_proxy: None) -> None:
    for name in ("FIN_TASKS_DATA", "FIN_TASKS_JUDGE_MODEL", "FIN_TASKS_JUDGE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))


def test_two_processes_give_the_numbers_of_one() -> None:
    with serve(failing_on(3)) as judge:  # below the share of failures that each process allows
        metadata = {"judge_model": "m", "judge_base_url": judge.base_url}
        one, two = (evaluate(metadata, world_size=size) for size in (1, 2))
    assert values(two) == values(one)
    total = sum(number % 6 for number in range(DOCS) if number != 3)
    assert two["results"][TASK]["score,robust"] == pytest.approx(20 * total / (DOCS - 1))
    assert two["results"][TASK]["judge_error,paper"] == pytest.approx(1 / DOCS)


def test_the_judging_is_no_part_of_what_the_results_file_says_of_the_task() -> None:
    with serve(failing_on()) as judge:
        found = evaluate({"judge_model": "m", "judge_base_url": judge.base_url}, world_size=1)
    config = found["configs"][TASK]
    assert config["metadata"]["judge"]["model"] == "m"
    for pipeline in config["filter_list"]:
        assert [sorted(step) for step in pipeline["filter"]] == [
            ["function", "item", "rubric"],
            ["function", "reader", "variant"],
        ]
    # memory addresses would make every run's file another one
    assert " at 0x" not in json.dumps(config["metric_list"])
