"""Asking a judge about many responses."""

import logging
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, completion, serve

from fin_tasks.benchmarks.mme_finance.score import read_points
from fin_tasks.endpoints import outages
from fin_tasks.endpoints.prices import read_prices
from fin_tasks.errors import FinTasksError, JudgeError
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


def test_many_predictions_and_a_bad_server(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    """Slow, limits rates, breaks and babbles: every item is accounted for, and a rerun asks for the failed ones."""
    counts: Counter[Any] = Counter()
    lock = threading.Lock()
    repaired = threading.Event()
    items = items_of(60)
    numbers = range(60)
    babbled = [n for n in numbers if n % 10 == 3]
    high = [n for n in numbers if n % 10 == 4]
    failed = [5, 55]

    def answer(body: dict[str, Any]) -> Answer:
        n = number_of(body)
        temperature = body["temperature"]
        with lock:
            counts[n, temperature] += 1
            is_bad = counts[n, temperature] == 1 and not repaired.is_set()
        if n % 10 == 1 and is_bad:
            return 429, {"Retry-After": "0.01"}, {"error": {"message": "too many"}}
        if n % 10 == 2 and is_bad:
            return 500, {"Retry-After": "0.01"}, b"<html>broken</html>"
        if n in babbled and not repaired.is_set():
            return completion("I think that it is fine", usage=(10, 2))
        if n in high and temperature < 1:
            return completion("4.", usage=(10, 2))
        if n in failed and not repaired.is_set():
            return 400, {}, {"error": {"message": "no"}}
        return completion(str(n % 6), usage=(10, 1))

    with serve(answer, pause=0.005) as served:
        judge = judge_of(served.base_url)
        judged = judge_items(items, EN, judge, settings=settings)
        lost = [*babbled, *failed]
        assert scores(judged) == [None if n in lost else n % 6 for n in numbers]
        assert [one.response for one in judged] == [item.response for item in items]
        on_paper = {**dict.fromkeys(babbled, 0), **dict.fromkeys(high, 4)}
        on_paper |= dict.fromkeys(failed)
        assert [read_points(EN, one, "paper").answer for one in judged] == [
            on_paper.get(n, n % 6) for n in numbers
        ]
        replies = [reply for one in judged for reply in one.replies]
        n_repeated = 4 * len(babbled) + 2 * len(high)
        assert len(replies) == len(items) - len(failed) + n_repeated
        usage = judge.usage
        assert usage.prompt_tokens == 10 * len(replies)
        n_digits = sum(reply.isdigit() for reply in replies)
        assert usage.completion_tokens == 2 * len(replies) - n_digits
        assert (usage.requests, usage.failed) == (len(replies) + 2, 2)
        caplog.clear()
        check_failures(judged, EN, 0.1)  # babbles are no failures
        assert not caplog.records
        with pytest.raises(JudgeError, match="2 of 60"):
            check_failures(judged, EN, 0.01)
        assert "6 of 60" in caplog.text

        repaired.set()
        asked = len(served.bodies)
        again = judge_items(items, EN, judge_of(served.base_url), settings=settings)
        assert scores(again) == [n % 6 for n in numbers]
        asked_again = [number_of(body) for body in served.bodies[asked:]]
        assert sorted(asked_again) == sorted(lost)


def test_a_judge_that_is_down_is_found_out_soon(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outages, "PATIENCE", 0.0)
    monkeypatch.setattr(outages, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(outages, "LONGEST_PAUSE", 0.0)
    with serve(
        lambda _: (400, {}, {"error": {"message": "the model is not here"}})
    ) as served:
        judged = judge_items(
            items_of(100),
            EN,
            judge_of(served.base_url, concurrency=25),
            settings=settings,
        )
        assert len(served.bodies) < 50
    assert all("the model is not here" in one.error for one in judged)
    with pytest.raises(JudgeError, match="failed on all 100 responses"):
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
    assert sum("reasons" in message for message in caplog.messages) == 2


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
    document = tmp_path / "broken.png"
    document.write_bytes(b"%PDF-1.7")
    blind = Item(**{**vars(item), "picture": document})
    odd = Item(**{**vars(item), "category": "No such"})
    with serve(lambda _: completion("4")) as served:
        judged = judge_items(
            [silent, blind, odd, item], EN, judge_of(served.base_url), settings=settings
        )
        assert judged[0] == Judged(silent.response)
        assert "broken.png" in judged[1].error and "No such" in judged[2].error
        assert judged[3].error == ""
        assert len(served.bodies) == 1
        blind_judge = judge_of(served.base_url, picture=False)
        assert judge_items([blind], EN, blind_judge, settings=settings)[0].error == ""
        # The same request as for the item without a picture.
        assert len(served.bodies) == 1


def test_costs(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text("date: 2026-01-31\nmodels: {m: {input: 2.5, output: 10}}\n")
    with serve(lambda _: completion("4", usage=(1_000_000, 100_000))) as served:
        judge = judge_of(served.base_url, prices=read_prices(path))
        judge_items(items_of(2), EN, judge, settings=settings)
    usage = judge.facts(EN)["usage"]
    assert usage["cost"] == pytest.approx(2 * (2.5 + 1.0))
    assert usage["prices"]["date"] == "2026-01-31"


def test_a_judge_from_metadata_and_the_environment() -> None:
    environ = {"FIN_TASKS_JUDGE_MODEL": "m"}
    environ["FIN_TASKS_JUDGE_BASE_URL"] = "http://a/v1/,http://b"
    settings = Settings.from_environ(environ)
    found = judge_from({"judge_timeout": 5, "other": 1}, settings)
    assert found is not None
    assert (found.model, found.timeout) == ("m", 5)
    assert found.base_url == ("http://a/v1", "http://b")


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"judge_model": 5}, "judge_model: Input should be a valid string"),
        ({"judge_model": {"m": 1}}, "judge_model: Input should be a valid string"),
        ({"judge_model": "m", "judge_base_url": 8000}, "expected an address"),
        ({"judge_modle": "m"}, r"judge_modle: expected one of model, base_url"),
        (
            {"judge_model": "m", "judge_key": "sk-secret"},
            "environment variable that ends in _KEY",
        ),
    ],
)
def test_metadata_that_is_wrong_is_one_sentence(
    metadata: dict[str, object], message: str
) -> None:
    with pytest.raises(FinTasksError, match=message) as caught:
        judge_from(metadata, Settings.from_environ({}))
    assert "sk-secret" not in str(caught.value)
