"""The filter that scores by a rubric: one judging for all variants, and nothing the judge does loses a response."""

import json
import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, completion, serve

from fin_tasks.adapters.lm_eval_judge import AskRubricJudge, with_judges
from fin_tasks.errors import ConfigError
from fin_tasks.judging.judged_response import JudgedResponse
from fin_tasks.judging.old_item import JudgeItem
from fin_tasks.judging.task_judging import RubricJudging

DOWN = "http://127.0.0.1:9/v1"  # the port of a service that nobody runs
DOCS = [{"index": str(at)} for at in range(4)]


def item_of(doc: Mapping[str, Any], response: str) -> JudgeItem:
    return JudgeItem(
        index=doc["index"], question="What is 7?", answer="7", response=response, category=doc.get("category", "OCR")
    )


STEP = {"function": "fin_tasks_rubric_judge", "rubric": "mme_finance_{language}", "item": item_of}
PIPELINES = [{"name": name, "filter": [STEP, {"function": "other"}]} for name in ("paper", "robust")]


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_proxy: None) -> None:
    for name in ("FIN_TASKS_JUDGE_MODEL", "FIN_TASKS_JUDGE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("fin_tasks.endpoints.asker.backoff", lambda _: 0.0)


def judging(*, alone: bool = True, **metadata: Any) -> RubricJudging:
    _, found = with_judges(PIPELINES, metadata, task="demo", options={"language": "en"})
    assert found is not None
    found.alone = alone
    return found


def apply(shared: RubricJudging, *responses: str | None) -> list[JudgedResponse]:
    asked = AskRubricJudge(item=item_of, rubric="mme_finance_en", judging=shared)
    nested = asked.apply([[response] for response in responses], DOCS[: len(responses)])
    return [judged for (judged,) in nested]


def four(_: Mapping[str, Any]) -> Answer:
    return completion("4")


def test_the_steps_share_one_judging_and_the_pipelines_stay_as_they_are() -> None:
    told, shared = with_judges(
        PIPELINES, {"judge_model": "m", "judge_base_url": DOWN}, task="demo", options={"language": "zh"}
    )
    assert shared is not None and shared.rubric.name == "mme_finance_zh"
    assert [pipeline["filter"] for pipeline in told] == [[{**STEP, "judging": shared}, {"function": "other"}]] * 2
    assert "judging" not in PIPELINES[0]["filter"][0]


def test_who_judged_is_told_without_address_and_key() -> None:
    facts = judging(judge_model="m", judge_base_url=DOWN, judge_image=False, judge_max_tokens=9).facts
    assert facts is not None
    assert (facts["model"], facts["image"], facts["max_tokens"]) == ("m", False, 9)
    assert facts["rubric"].startswith("mme_finance_en@") and len(facts["rubric_sha256"]) == 64
    assert facts["temperatures"] == [0, 0.5, 1, 1.5, 2]
    assert "127.0.0.1" not in json.dumps(facts)
    assert judging().facts is None


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"judge_base_url": DOWN}, "expected judge_model beside it"),
        ({"judge_model": "m", "judge_base_url": "nowhere"}, "expected an address"),
        ({"judge_model": "m", "judge_modle": "x"}, "judge_modle"),
        ({"judge_model": "m", "judge_rubric": "nosuch"}, "nosuch"),
    ],
)
def test_a_judge_that_cannot_be_is_refused(metadata: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        judging(**metadata)


def test_a_category_that_the_rubric_lacks_is_found_before_anything_is_asked() -> None:
    shared = judging()
    shared.check([{"index": "1", "category": "OCR"}])
    with pytest.raises(ConfigError, match="got 'Poetry'"):
        shared.check([{"index": "1", "category": "OCR"}, {"index": "2", "category": "Poetry"}])


def test_variants_share_the_verdicts() -> None:
    with serve(four) as server:
        shared = judging(judge_model="m", judge_base_url=server.base_url)
        first = apply(shared, "It is 7.", "", "It is 8.", None)
        asked = len(server.bodies)
        assert apply(shared, "It is 7.", "", "It is 8.", None) == first
        assert asked == len(server.bodies) == 2
    assert [judged.percent for judged in first] == [80.0, None, 80.0, None]
    assert [judged.verdict.failed for judged in first] == [None, "response", None, "response"]
    assert all(judged.stands for judged in first)
    assert [judged.response for judged in first] == ["It is 7.", "", "It is 8.", ""]
    assert first[0].record["judge"] == "m" and first[0].record["raw"] == "4"
    assert not {"category", "index"} & first[0].record.keys()


def test_a_second_run_in_the_same_process_asks_what_failed() -> None:
    healthy = False

    def answer(_: Mapping[str, Any]) -> Answer:
        return completion("5") if healthy else (400, {}, {"error": {"message": "no"}})

    with serve(answer) as server:
        metadata = {"judge_model": "m", "judge_base_url": server.base_url}
        assert [judged.percent for judged in apply(judging(**metadata), "It is 7.")] == [None]
        healthy = True
        assert [judged.percent for judged in apply(judging(**metadata), "It is 7.")] == [100.0]


def test_a_judge_that_is_down_loses_no_run(caplog: pytest.LogCaptureFixture) -> None:
    judged = apply(judging(judge_model="m", judge_base_url=DOWN), "It is 7.", "")
    assert [one.verdict.failed for one in judged] == ["judge", "response"]
    assert not any(one.stands for one in judged)
    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert "run the same command again" in record.message and "fin-tasks judge SAMPLES.jsonl" in record.message


def test_over_the_threshold_no_score_stands_and_what_was_said_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    def answer(body: Mapping[str, Any]) -> Answer:
        return completion("well" if "It is 8." in json.dumps(body["messages"]) else "4")

    with serve(answer) as server:
        metadata = {"judge_model": "m", "judge_base_url": server.base_url}
        strict = apply(judging(**metadata, judge_max_failed=0.2), "It is 7.", "It is 8.")
        lenient = apply(judging(**metadata, judge_max_failed=0.5), "It is 7.", "It is 8.")
    for judged, stands in ((strict, False), (lenient, True)):
        assert [one.verdict.score for one in judged] == [4, None]
        assert [one.verdict.failed for one in judged] == [None, "reply"]
        assert {one.stands for one in judged} == {stands}
    assert strict[1].record["raw"] == "well"


def test_where_all_failures_are_replies_it_is_first_told_how_to_ask_again(caplog: pytest.LogCaptureFixture) -> None:
    with serve(lambda _: completion("well")) as server:
        apply(judging(judge_model="m", judge_base_url=server.base_url), "It is 7.", "")
    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert re.match(
        r"demo: the responses stay unscored, as the judge failed\. In lm-eval: .*\"judge_retry_failed\": true",
        record.message,
    )


@pytest.mark.parametrize("answer", [lambda _: completion("well"), lambda _: (400, {}, {"error": {"message": "no"}})])
def test_of_a_part_of_the_documents_it_is_not_decided_what_stands(
    answer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with serve(answer) as server:
        judged = apply(judging(alone=False, judge_model="m", judge_base_url=server.base_url), "It is 7.", "")
    assert [one.stands for one in judged] == [True, True]
    assert [one.record["max_failed"] for one in judged] == [0.2, 0.2]
    assert "whether scores stand is decided over all responses" in caplog.text


def test_nobody_is_asked_without_a_judge(caplog: pytest.LogCaptureFixture) -> None:
    judged = apply(judging(), "It is 7.", "")
    assert [(one.stands, one.percent, one.verdict.failed) for one in judged] == [
        (False, None, None),
        (False, None, "response"),
    ]
    for told in ("no judge is configured", "judge_model", "FIN_TASKS_JUDGE_MODEL", "--rubric mme_finance_en"):
        assert told in caplog.text
    assert "samples_demo_2*.jsonl" in caplog.text


def test_the_environment_names_a_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(four) as server:
        monkeypatch.setenv("FIN_TASKS_JUDGE_MODEL", "env")
        monkeypatch.setenv("FIN_TASKS_JUDGE_BASE_URL", server.base_url)
        (judged,) = apply(judging(), "It is 7.")
        assert (judged.percent, server.bodies[0]["model"]) == (80.0, "env")
