"""The filter that asks a judge about all responses of a task at once."""

from typing import Any

import pytest
import torch
from chat_server import Answer, completion, serve

from fin_tasks.adapters.lm_eval_filters import AskJudge, Judging
from fin_tasks.errors import ConfigError
from fin_tasks.judging.item import Item, Judged


def item_of(doc: dict[str, Any], response: str) -> Item | None:
    if doc.get("easy"):
        return None
    return Item(id=doc["id"], question="Which day?", answer="Friday", response=response, category="OCR")


DOCS = [{"id": "1"}, {"id": "2", "easy": True}]
STEP = {"rubric": "mme_finance_{language}", "item": item_of}
OPTIONS = {"language": "zh"}


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path))
    monkeypatch.delenv("FIN_TASKS_JUDGE_MODEL", raising=False)


def judged(metadata: dict[str, Any], **more: Any) -> tuple[list[list[Any]], Judging]:
    judging = Judging({**STEP, **more}, metadata, OPTIONS)
    filters = [AskJudge(**{**STEP, **more}, judging=judging) for _ in range(2)]
    first, again = [one.apply([["Friday", None], ["text"]], DOCS) for one in filters]
    assert first == again
    return first, judging


def test_both_variants_ask_once() -> None:
    with serve(lambda _: completion("4", usage=(90, 1))) as served:
        found, judging = judged({"judge_model": "m", "judge_base_url": served.base_url})
    assert [[type(one) for one in of] for of in found] == [[Judged, Judged], [Judged]]
    assert [reply.text for reply in found[0][0].replies] == ["4"]
    assert found[0][1] == Judged("")
    assert found[1] == [Judged("text")]
    assert len(served.bodies) == 1
    assert "最低 0 分" in served.bodies[0]["messages"][1]["content"]
    assert judging.facts["usage"]["prompt_tokens"] == 90
    assert judging.facts["rubric"] == judging.rubric.label


def test_no_judge() -> None:
    assert judged({})[0][0][0] == Judged("Friday")
    assert judged({}, optional=True)[0] == [["Friday", ""], ["text"]]


def test_a_judge_that_is_down_leaves_all_unscored() -> None:
    with serve(lambda _: (400, {}, {"error": {"message": "no"}})) as served:
        found, judging = judged({"judge_model": "m", "judge_base_url": served.base_url})
    assert "failed on 1 of 1" in found[0][0].error
    assert judging.rubric.read(found[0][1], variant="paper").score is None


class Process:
    """A model in one of two processes; the judge was asked about 36 responses in the other one."""

    world_size, device = 2, "cpu"

    def __init__(self, failed: int) -> None:
        self.other = torch.tensor([36, failed, 0])

    def all_gather(self, counts: Any) -> Any:
        return torch.cat([counts, self.other])


@pytest.mark.parametrize(("failed", "unscored"), [(6, False), (8, True)])
def test_failures_are_counted_over_all_processes(failed: int, unscored: bool) -> None:
    """One of four fails here, so 7 or 9 of 40 fail in the run, of which 8 may fail."""

    def answer(body: dict[str, Any]) -> Answer:
        return (400, {}, {}) if "text 0" in str(body["messages"]) else completion("4")

    with serve(answer) as served:
        judging = Judging(STEP, {"judge_model": "m", "judge_base_url": served.base_url}, OPTIONS)
        judging.lm = Process(failed)
        found = AskJudge(**STEP, judging=judging).apply([[f"text {n}" for n in range(4)]], DOCS[:1])
    assert [bool(one.error) for one in found[0]] == [True, unscored, unscored, unscored]


@pytest.mark.parametrize(
    "metadata",
    [
        {"judge_base_url": "http://127.0.0.1:1/v1"},
        {"judge_model": "m", "judge_modle": "m"},
        {"judge_model": "m", "judge_base_url": "http://127.0.0.1:1/v1?api_key=secret"},
        {"judge_model": "m", "judge_key": "sk-secret"},
        {"judge_model": "m", "judge_concurrency": 0},
        {"judge_model": "m", "rubric": "no_such"},
        {"judge_model": "m", "rubric": "mme_finance_mt_zh"},
    ],
)
def test_wrong_metadata(metadata: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as error:
        Judging(STEP, metadata, OPTIONS)
    assert "secret" not in str(error.value)
