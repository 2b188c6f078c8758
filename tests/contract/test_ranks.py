"""Several processes of lm-eval on one task: the scores are those that one process would give."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, Served, completion, serve
from in_process import Scripted, run

DOCS = 12
TASK = "mme_finance_en"


class Process(Scripted):
    """One of several processes, run one after the other: the last one, rank 0, finds what the others sent."""

    def __init__(self, rank: int, world_size: int, sent: list[Any]) -> None:
        super().__init__(lambda doc: f"It is {doc['id']}.", sees=True)
        self._rank, self._world_size, self.sent = rank, world_size, sent

    def all_gather(self, count: Any) -> Any:
        return count.repeat(self.world_size)  # stripes of the same length

    def gather_object(self, mine: Any, dst: int = 0) -> Any:
        if self.rank:
            self.sent.append(mine)
            return None
        return [mine, self.sent.pop(0)]

    def barrier(self) -> None:
        """Nobody to wait for."""


def evaluate(judge: Served, *, world_size: int) -> dict[str, Any]:
    sent: list[Any] = []
    for rank in reversed(range(world_size)):
        model = Process(rank, world_size, sent)
        found = run(
            TASK,
            model=model,
            limit=DOCS,
            judge_model="m",
            judge_base_url=judge.base_url,
        )
    assert not sent
    return found


def values(found: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: "NaN"
        if isinstance(value, float) and math.isnan(value)
        else pytest.approx(value, abs=1e-9)
        for name, value in found["results"][TASK].items()
        if not isinstance(value, str) or value == "N/A"
    }


def points(body: Mapping[str, Any]) -> Answer:
    """Give points by the document's id, and none to number 3."""
    words = json.dumps(body["messages"])
    number = next(
        number for number in reversed(range(DOCS)) if f"It is {number}." in words
    )
    return completion("well" if number == 3 else str(number % 6))


@pytest.mark.slow
def test_two_processes_give_the_numbers_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_proxy: None
) -> None:
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))
    with serve(points) as judge:
        one, two = (evaluate(judge, world_size=size) for size in (1, 2))
    assert values(two) == values(one)
    total = sum(number % 6 for number in range(DOCS) if number != 3)
    assert two["results"][TASK]["score,robust"] == pytest.approx(
        20 * total / (DOCS - 1)
    )
    assert two["results"][TASK]["judge_error,paper"] == pytest.approx(1 / DOCS)
    config = one["configs"][TASK]
    assert config["metadata"]["judge"]["model"] == "m"
    assert " at 0x" not in json.dumps(
        config["metric_list"]
    )  # addresses would make every run's file another one
