"""MME-Finance in the real lm-eval, with a model in this process and a judge on loopback."""

# ruff: noqa: RUF001
import base64
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, Served, completion, serve
from in_process import Scripted, parts_of, run, samples, saved

from fin_tasks.report import read as read_runs
from fin_tasks.report.model import headline

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _alone(own_cache: Path, no_proxy: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")


def text_of(body: Mapping[str, Any]) -> str:
    return json.dumps(body["messages"], ensure_ascii=False)


def points(body: Mapping[str, Any]) -> Answer:
    """Give the points that the response asks for."""
    return completion(re.findall(r"give me (\S+?) points", text_of(body))[-1])


def judged_by(served: Served, **more: Any) -> dict[str, Any]:
    return {"judge_model": "judge", "judge_base_url": served.base_url, **more}


def test_the_judge_decides_the_score(tmp_path: Path) -> None:
    """Rows 0 and 1 get 5 and 4 points, row 2 no response, row 3 only what `paper` reads, row 4 nothing readable."""
    said = {
        "0": "give me 5 points",
        "1": "give me 4 points. Answer: 241.86",
        "2": "",
        "3": "give me 3/5 points",
    }
    answer = lambda doc: said.get(doc["id"], "give me no points")  # noqa: E731
    with serve(points) as served:
        found = run(
            "mme_finance_en", answer=answer, sees=True, limit=5, **judged_by(served)
        )
        again = run(
            "mme_finance_en", answer=answer, sees=True, limit=5, **judged_by(served)
        )
        requests = [body for body in served.bodies if "me 5 points" in text_of(body)]
    results = found["results"]["mme_finance_en"]
    assert results["score,paper"] == pytest.approx(20 * (5 + 4 + 0 + 5 + 0) / 5)
    assert results["score,robust"] == pytest.approx(20 * (5 + 4) / 2)
    assert (results["unscored,paper"], results["unscored,robust"]) == (0.0, 0.6)
    assert (results["judge_error,paper"], results["judge_error,robust"]) == (0.25, 0.5)
    figures = parts_of(found, "mme_finance_en")
    assert (
        figures["score_IC,paper"] == 100.0 and "score_reasoning,robust" not in figures
    )
    assert again["results"]["mme_finance_en"]["score,paper"] == results["score,paper"]
    assert len(requests) == 1  # once for both scorings and both runs
    first = samples(found, "mme_finance_en")[0]
    picture = Path(first["doc"]["image_path"]).read_bytes()
    assert base64.b64encode(picture).decode() in text_of(requests[0])
    reading = json.loads(first["filtered_resps"][0][0])
    assert (reading["answer"], reading["replies"]) == (5, ["5"])
    facts = found["configs"]["mme_finance_en"]["metadata"]
    assert (
        facts["judge"]["rubric"].startswith("mme_finance_en@")
        and facts["provenance"]["data"]["origin"] == "sample"
    )
    assert served.base_url not in json.dumps(
        facts["judge"]
    ) and "sk-very-secret" not in json.dumps(found["configs"], default=str)


@pytest.mark.parametrize(
    ("task", "is_warned"), [("mme_finance_en", True), ("mme_finance_binary_zh", False)]
)
def test_a_judged_task_without_a_judge_is_warned_of(
    task: str, is_warned: bool, caplog: pytest.LogCaptureFixture
) -> None:
    run(task, sees=True, limit=1, predict_only=True)
    told = [text for text in caplog.messages if "no judge is named" in text]
    assert len(told) == is_warned
    assert all("judge_model" in text for text in told)


def test_binary_questions() -> None:
    """Truths 是 否 是 否 是 否. Paper: 2 right; tp 1, fp 1, fn 1. Robust reads the last two as well: 4 right, tp 2."""
    said = ["是", "是。", "否", "否。", "是的，超过一半。", "不是，评级为减持。"]
    found = run(
        "mme_finance_binary_zh", answer=lambda doc: said[int(doc["id"])], sees=True
    )
    results = found["results"]["mme_finance_binary_zh"]
    assert (results["acc,paper"], results["f1,paper"]) == (
        pytest.approx(2 / 6),
        pytest.approx(2 / 4),
    )
    assert (results["acc,robust"], results["f1,robust"]) == (
        pytest.approx(4 / 6),
        pytest.approx(4 / 6),
    )
    assert (
        results["no_answer,paper"] == pytest.approx(2 / 6)
        and results["no_answer,robust"] == 0.0
    )


def test_a_task_that_needs_no_judge_asks_none(tmp_path: Path) -> None:
    """A judge is named for all tasks of the run, but binary questions need none."""
    with serve(points) as served:
        binary = run("mme_finance_binary_zh", sees=True, **judged_by(served))
        assert not served.bodies
    saved(binary, tmp_path / "runs" / "binary")
    report = read_runs(tmp_path / "runs")
    assert not report.problems
    ((task,),) = (each.tasks for each in report.runs)
    assert headline(task) == "acc"
    assert not task.judge
    assert not [name for name in task.settings if name.startswith("judge.")]


class Talking(Scripted):
    """Repeats the id of its turn, and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__(lambda doc: f"answer {doc['id']}", sees=True)
        self.rounds: list[list[str]] = []

    def generate_until(
        self, requests: Sequence[Any], disable_tqdm: bool = False
    ) -> list[str]:
        self.rounds.append([request.args[0] for request in requests])
        assert all(
            len(request.args[2]["visual"]) == len(request.doc["image_paths"])
            for request in requests
        )
        return super().generate_until(requests)

    def apply_chat_template(
        self, chat_history: Sequence[Mapping[str, str]], **_: Any
    ) -> str:
        return json.dumps(
            [[message["role"], message["content"]] for message in chat_history],
            ensure_ascii=False,
        )

    tokenizer_name = "talking"

    def chat_template(self, _: Any) -> str:
        return ""


def dimensions(body: Mapping[str, Any]) -> Answer:
    """Ten points for first turns, four in all else for others; the last turn of conversation 2 cannot be read."""
    (turn,) = re.findall(r"answer (\d-\d)", text_of(body))
    names = (
        "创造性",
        "丰富性",
        "视觉感知",
        "逻辑连贯性",
        "答案准确性",
        "图像关系理解",
        "总分",
    )
    scores = {name: 10 if turn.endswith("1") else 4 for name in names}
    return completion(
        "?"
        if turn == "2-2"
        else json.dumps({**scores, "丰富性": 1}, ensure_ascii=False)
    )


@pytest.mark.parametrize("chat", [True, False])
def test_conversations_hold_the_models_own_answers(chat: bool) -> None:
    """Seven turns: three first ones with 10 points, three with 4, one unread: 420 / 7 and 420 / 6 out of 100."""
    model = Talking()
    with serve(dimensions) as served:
        found = run("mme_finance_mt_zh", model=model, chat=chat, **judged_by(served))
        assert not [body for body in served.bodies if "image_url" in text_of(body)]
    results = found["results"]["mme_finance_mt_zh"]
    assert results["score,paper"] == pytest.approx(420 / 7)
    assert (
        results["score_read,paper"] == results["score,robust"] == pytest.approx(420 / 6)
    )
    figures = parts_of(found, "mme_finance_mt_zh")
    assert figures["score_richness,paper"] == pytest.approx(60 / 7)
    assert figures["score_richness_read,paper"] == 10.0
    assert results["unscored,robust"] == pytest.approx(1 / 7)
    assert [len(asked) for asked in model.rounds] == [3, 3, 1]
    docs = {
        sample["doc"]["id"]: sample["doc"]
        for sample in found["samples"]["mme_finance_mt_zh"]
    }
    (last,) = model.rounds[2]
    said = ["answer 1-1", "answer 1-2"]
    turns = [docs[f"1-{turn}"]["prompt"] for turn in (1, 2, 3)]
    if chat:
        messages = json.loads(last)
        assert [role for role, _ in messages] == [
            "user",
            "assistant",
            "user",
            "assistant",
            "user",
        ]
        assert [text for _, text in messages] == [
            turns[0],
            said[0],
            turns[1],
            said[1],
            turns[2],
        ]
    else:
        parts = [
            turns[0],
            f"答案： {said[0]}",
            turns[1],
            f"答案： {said[1]}",
            turns[2],
            "答案：",
        ]
        assert last == "\n\n".join(parts)
    assert [
        sample["doc"]["id"] for sample in samples(found, "mme_finance_mt_zh")
    ] == list(docs)


@pytest.mark.filterwarnings(
    "ignore:Sending a large body"
)  # aiohttp's advice to lm-eval
def test_an_api_gets_the_pictures_of_each_turn_in_their_place() -> None:
    def reply(body: Mapping[str, Any]) -> Answer:
        return completion(f"said {len(body['messages'])}")

    with serve(reply) as served:
        found = run("mme_finance_mt_zh", served=served)
    (third,) = [
        body["messages"] for body in served.bodies if len(body["messages"]) == 5
    ]
    kinds = [
        [part["type"] for part in one["content"]]
        if isinstance(one["content"], list)
        else "-"
        for one in third
    ]
    assert kinds == [
        ["text", "image_url", "text"],
        "-",
        ["image_url", "text"],
        "-",
        "-",
    ]
    assert [one["content"] for one in third if one["role"] == "assistant"] == [
        "said 1",
        "said 3",
    ]
    for sample in found["samples"]["mme_finance_mt_zh"]:
        assert ";base64," not in json.dumps(sample["arguments"], default=str)
