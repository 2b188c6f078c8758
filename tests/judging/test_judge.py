"""Asking a judge about many responses."""

import logging
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, completion, serve

from fin_tasks.benchmarks.mme_finance.score import read_points
from fin_tasks.endpoints import chat
from fin_tasks.endpoints.prices import read_prices
from fin_tasks.errors import ConfigError, FinTasksError, JudgeError
from fin_tasks.judging.item import Item, Judged
from fin_tasks.judging.judge import JudgeModel, check_failures, judge_from, judge_items
from fin_tasks.judging.rubric import load_rubric
from fin_tasks.settings import Settings

EN = load_rubric("mme_finance_en")


def items_of(n: int) -> list[Item]:
    return [
        Item(question=f"{i}?", answer=f"{i}", response=f"It is {i}.", category="OCR")
        for i in range(n)
    ]


def judge_of(*urls: str, **more: Any) -> JudgeModel:
    return JudgeModel(model="m", base_url=urls, retries=2, **more)


def number_of(body: dict[str, Any]) -> int:
    return int(body["messages"][1]["content"].split("It is ")[1].split(".")[0])


def scores(judged: list[Judged]) -> list[Any]:
    return [read_points(EN, one, "robust").answer for one in judged]


def test_three_hundred_predictions_and_a_bad_server(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    """Slow, limits rates, breaks and babbles: every item is accounted for, and a rerun asks for the failed ones."""
    counts: Counter[Any] = Counter()
    lock, repaired = threading.Lock(), threading.Event()

    def answer(body: dict[str, Any]) -> Answer:
        n, temperature = number_of(body), body["temperature"]
        with lock:
            counts[n, temperature] += 1
            first = counts[n, temperature] == 1
        if n % 10 == 1 and first and not repaired.is_set():
            return 429, {"Retry-After": "0.01"}, {"error": {"message": "too many"}}
        if n % 10 == 2 and first and not repaired.is_set():
            return 500, {"Retry-After": "0.01"}, b"<html>broken</html>"
        if n % 10 == 3 and not repaired.is_set():
            return completion("I think that it is fine", usage=(10, 2))
        if n % 10 == 4 and temperature < 1:
            return completion("4.", usage=(10, 2))
        if n % 50 == 5 and not repaired.is_set():
            return 400, {}, {"error": {"message": "no"}}
        return completion(str(n % 6), usage=(10, 1))

    items = items_of(300)
    with serve(answer, pause=0.005) as served:
        judge = judge_of(served.base_url)
        judged = judge_items(items, EN, judge, settings=settings)
        expected = [None if n % 10 == 3 or n % 50 == 5 else n % 6 for n in range(300)]
        assert scores(judged) == expected
        assert [one.response for one in judged] == [item.response for item in items]
        assert [read_points(EN, one, "paper").answer for one in judged] == [
            None if n % 50 == 5 else 0 if n % 10 == 3 else 4 if n % 10 == 4 else n % 6
            for n in range(300)
        ]
        replies = [reply for one in judged for reply in one.replies]
        assert len(replies) == 300 - 30 - 6 + 30 * 5 - 30 + 30 * 3
        assert judge.usage.prompt_tokens == 10 * len(replies)
        assert judge.usage.completion_tokens == sum(
            1 if reply.isdigit() else 2 for reply in replies
        )
        assert judge.usage.requests == len(replies) + 6
        assert judge.usage.failed == 6
        caplog.clear()
        check_failures(judged, EN, 0.1)  # 30 babbles are no failures
        assert not caplog.records
        with pytest.raises(JudgeError, match="6 of 300"):
            check_failures(judged, EN, 0.01)
        assert "30 of 300" in caplog.text

        repaired.set()
        asked = len(served.bodies)
        again = judge_items(items, EN, judge_of(served.base_url), settings=settings)
        assert scores(again) == [n % 6 for n in range(300)]
        assert {number_of(body) for body in served.bodies[asked:]} == {
            n for n in range(300) if n % 10 == 3 or n % 50 == 5
        }
        assert len(served.bodies) == asked + 36


def test_a_judge_that_is_down_is_found_out_soon(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat, "PATIENCE", 0.0)
    monkeypatch.setattr(chat, "LONGEST_PAUSE", 0.0)
    with serve(
        lambda _: (400, {}, {"error": {"message": "the model is not here"}})
    ) as served:
        judged = judge_items(
            items_of(200),
            EN,
            judge_of(served.base_url, concurrency=50),
            settings=settings,
        )
        assert len(served.bodies) < 100
    assert all("the model is not here" in one.error for one in judged)
    with pytest.raises(JudgeError, match="failed on all 200 responses"):
        check_failures(judged, EN, 1.0)


def test_a_judge_that_reasons_gets_more_tokens(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    def answer(body: dict[str, Any]) -> Answer:
        text = "<think>Hm, 5?</think>3" if body["max_tokens"] > 3 else ""
        return completion(text, "stop" if text else "length")

    with serve(answer) as served, caplog.at_level(logging.WARNING):
        judge = judge_of(served.base_url, concurrency=1)
        judged = judge_items(items_of(20), EN, judge, settings=settings)
        assert scores(judged) == [3] * 20
        assert [body["max_tokens"] for body in served.bodies] == [
            3,
            *[EN.reasoning_max_tokens] * 20,
        ]
        again = judge_items(items_of(20), EN, judge, settings=settings)
        assert scores(again) == [3] * 20
        assert len(served.bodies) == 21
    assert (
        len([record for record in caplog.records if "reasons" in record.message]) == 2
    )


def test_a_limit_that_is_refused_becomes_larger_once(settings: Settings) -> None:
    used_up = "Could not finish the message because max_tokens or model output limit was reached."

    def answer(body: dict[str, Any]) -> Answer:
        if body["max_tokens"] == 3:
            return 400, {}, {"error": {"message": used_up}}
        return completion("4")

    with serve(answer) as served:
        judge = judge_of(served.base_url, concurrency=1)
        assert scores(judge_items(items_of(4), EN, judge, settings=settings)) == [4] * 4
        assert [body["max_tokens"] for body in served.bodies] == [3, *[4096] * 4]
        assert "refused_options" not in judge.facts(EN)


def test_refused_options_are_in_the_results(settings: Settings) -> None:
    def answer(body: dict[str, Any]) -> Answer:
        if "temperature" in body:
            return 400, {}, {"error": {"message": "temperature is not supported"}}
        return completion("4")

    with serve(answer) as served:
        judge = judge_of(served.base_url)
        assert scores(judge_items(items_of(9), EN, judge, settings=settings)) == [4] * 9
    assert judge.facts(EN)["refused_options"] == {"temperature": "left out"}


@pytest.mark.parametrize(
    ("finish_reason", "why"),
    [("stop", "its reasoning parser took the reply"), ("length", "by reasoning")],
)
def test_reasoning_without_a_reply(
    settings: Settings, finish_reason: str, why: str
) -> None:
    status, headers, body = completion(None, finish_reason)
    body["choices"][0]["message"]["reasoning_content"] = "I say 4."
    with serve(lambda _: (status, headers, body)) as served:
        judge = judge_of(served.base_url)
        (judged,) = judge_items(items_of(1), EN, judge, settings=settings)
        assert why in judged.error
        limits = {body["max_tokens"] for body in served.bodies}
        assert limits == ({3} if finish_reason == "stop" else {3, 4096})


SHAPES: list[Any] = [
    None,
    [],
    "4",
    {},
    {"choices": None},
    {"choices": []},
    {"choices": [None]},
    {"choices": [{"message": None}]},
    {"choices": [{"message": {"content": 4}}]},
    {"choices": [{"message": {"content": "4"}}], "usage": {"prompt_tokens": "many"}},
    {
        "choices": [{"message": {"content": "4"}}],
        "usage": {"prompt_tokens": float("nan")},
    },
    b'{"choices": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
]


def test_a_malformed_reply_is_a_failure_of_its_row(settings: Settings) -> None:
    def reply(body: dict[str, Any]) -> Answer:
        number = number_of(body)
        return (200, {}, SHAPES[number]) if number < len(SHAPES) else completion("4")

    n_rows = len(SHAPES) + 8
    with serve(reply) as served:
        judge = judge_of(served.base_url, concurrency=32)
        judged = judge_items(items_of(n_rows), EN, judge, settings=settings)
    assert scores(judged) == [None] * len(SHAPES) + [4] * 8
    assert all("expected a reply, got" in row.error for row in judged[: len(SHAPES)])
    with pytest.raises(JudgeError, match="12 of 20"):
        check_failures(judged, EN, 0.2)


def test_replies_outlive_an_outage(settings: Settings) -> None:
    down = threading.Event()
    broken: Answer = (400, {}, {"error": {"message": "no"}})
    with serve(lambda _: broken if down.is_set() else completion("4.")) as served:
        judge = judge_of(served.base_url)
        for _ in range(2):  # a judge without a score is asked again, and is down then
            judged = judge_items(items_of(2), EN, judge, settings=settings)
            assert [read_points(EN, one, "paper").answer for one in judged] == [4, 4]
            assert scores(judged) == [None, None]
            down.set()


def test_what_is_not_asked(settings: Settings, tmp_path: Path) -> None:
    item = items_of(1)[0]
    silent = Item(**{**vars(item), "response": "Failed to obtain answer via API."})
    (document := tmp_path / "broken.png").write_bytes(b"%PDF-1.7")
    blind = Item(**{**vars(item), "picture": document})
    odd = Item(**{**vars(item), "category": "No such"})
    with serve(lambda _: completion("4")) as served:
        judged = judge_items(
            [silent, blind, odd, item], EN, judge_of(served.base_url), settings=settings
        )
        assert judged[0] == Judged(silent.response)
        assert [
            "broken.png" in judged[1].error,
            "No such" in judged[2].error,
            judged[3].error,
        ] == [
            True,
            True,
            "",
        ]
        assert len(served.bodies) == 1
        blind_judge = judge_of(served.base_url, picture=False)
        assert judge_items([blind], EN, blind_judge, settings=settings)[0].error == ""
        assert (
            len(served.bodies) == 1
        )  # the same request as for the item without a picture


def test_costs(settings: Settings, tmp_path: Path) -> None:
    (path := tmp_path / "prices.yaml").write_text(
        "date: 2026-01-31\nmodels: {m: {input: 2.5, output: 10}}\n"
    )
    with serve(lambda _: completion("4", usage=(1_000_000, 100_000))) as served:
        judge = judge_of(served.base_url, prices=read_prices(path))
        judge_items(items_of(2), EN, judge, settings=settings)
    usage = judge.facts(EN)["usage"]
    assert usage["cost"] == pytest.approx(2 * (2.5 + 1.0))
    assert usage["prices"]["date"] == "2026-01-31"


def test_a_judge_from_metadata_and_the_environment() -> None:
    settings = Settings.from_environ(
        {
            "FIN_TASKS_JUDGE_MODEL": "m",
            "FIN_TASKS_JUDGE_BASE_URL": "http://a/v1/,http://b",
        }
    )
    found = judge_from({"judge_timeout": 5, "other": 1}, settings)
    assert found is not None
    assert (found.model, found.base_url, found.timeout) == (
        "m",
        ("http://a/v1", "http://b"),
        5,
    )


@pytest.mark.parametrize(
    "metadata",
    [
        {"judge_model": 5},
        {"judge_model": {"m": 1}},
        {"judge_model": "m", "judge_base_url": 8000},
    ],
)
def test_metadata_of_another_type_is_one_sentence(metadata: dict[str, object]) -> None:
    with pytest.raises(FinTasksError):
        judge_from(metadata, Settings.from_environ({}))


def test_a_misspelled_option_of_the_judge_is_named() -> None:
    with pytest.raises(
        ConfigError, match=r"judge_modle: expected one of model, base_url"
    ):
        judge_from({"judge_modle": "m"}, Settings.from_environ({}))


def test_a_key_in_place_of_its_variable_is_refused_and_not_shown() -> None:
    options = {"judge_model": "m", "judge_key": "sk-secret"}
    with pytest.raises(
        ConfigError, match="environment variable that ends in _KEY"
    ) as caught:
        judge_from(options, Settings.from_environ({}))
    assert "sk-secret" not in str(caught.value)
