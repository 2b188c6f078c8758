"""`fin-tasks judge --batch` at a server with OpenAI's batch interface."""

import functools
import json
from pathlib import Path
from typing import Any

import pytest
from batch_server import serve_batches
from chat_server import Answer, completion, serve
from typer.testing import CliRunner

from fin_tasks.cli import app
from fin_tasks.errors import ConfigError, EndpointError, JudgeError

pytestmark = pytest.mark.usefixtures("own_cache", "no_pause")
REPLIES = {"one": "5", "two": "Score: 2", "three": "3", "four": "1"}


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fin_tasks.judging.batch.PAUSE", 0.02)


def answer(body: dict[str, Any]) -> Answer:
    """Score a response; the second one only from temperature 1 on, so that it is read."""
    text = body["messages"][1]["content"].split("BEGIN RESPONSE")[1]
    text = text.split("END RESPONSE")[0]
    word = next(word for word in REPLIES if word in text)
    if word == "two" and body["temperature"] >= 1:
        return completion("2", usage=(100, 1))
    return completion(REPLIES[word], usage=(100, 1))


def write_rows(folder: Path, *responses: str) -> None:
    lines = []
    for number, response in enumerate(responses):
        row = {"index": number, "question": f"{number}?", "answer": "1"}
        lines.append(json.dumps({**row, "prediction": response, "category": "OCR"}))
    (folder / "gpt_MMEFinance.jsonl").write_text("\n".join(lines))


def judge(folder: Path, url: str, *options: str) -> Any:
    prices = folder / "prices.yaml"
    prices.write_text("models: {m: {input: 10, output: 1000}}")
    command = ["judge", str(folder / "gpt_MMEFinance.jsonl"), "--json"]
    command += ["--rubric", "mme_finance_en", "--model", "m", "--base-url", url]
    command += ["--token-prices", str(prices), "--out", str(folder / "out")]
    return CliRunner().invoke(app, [*command, *options])


def batch(folder: Path, url: str, step: str) -> dict[str, Any]:
    """Run a step, which must end well, and return its figures."""
    return figures(judge(folder, url, "--batch", step))


def figures(done: Any) -> dict[str, Any]:
    assert done.exception is None, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def scores(found: dict[str, Any]) -> list[Any]:
    (samples,) = Path(found["results"]).parent.glob("samples_*.jsonl")
    lines = [json.loads(line) for line in samples.read_text().splitlines()]
    return [(line["filter"], line["doc_id"], line["score"]) for line in lines]


def test_the_same_scores_at_half_the_price(tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    batched = tmp_path / "batched"
    for folder in (alone, batched):
        folder.mkdir()
        write_rows(folder, "one", "two", "three", "")
    with serve(answer) as served:
        expected = figures(judge(alone, served.base_url))
    with serve_batches(answer) as server:
        found = batch(batched, server.base_url, "wait")
    assert scores(found) == scores(expected)
    assert found["requests"] == expected["requests"] == 5
    assert found["prompt_tokens"] == expected["prompt_tokens"]
    assert found["cost"] == pytest.approx(expected["cost"] / 2)
    assert found["prices"]["share"] == 0.5
    assert [len(requests) for requests in server.requests] == [3, 1, 1]


def test_steps_in_commands_of_their_own(tmp_path: Path) -> None:
    write_rows(tmp_path, "one", "two", "three", "one")
    with serve_batches(answer) as server:
        step = functools.partial(batch, tmp_path, server.base_url)
        assert step("submit")["under_way"] == 4
        assert step("submit")["batches"] == 1  # nothing is sent twice
        assert step("status")["batch"][0]["status"] == "in_progress"
        found = step("collect")
        assert (found["under_way"], found["lacking"], found["requests"]) == (0, 1, 4)
        for _ in range(2):  # temperatures 0.5 and 1
            step("submit")
            step("collect")
            found = step("collect")
    assert (found["overall_robust"], found["unscored"]) == (20 * (5 + 2 + 3 + 5) / 4, 0)
    assert found["requests"] == 6
    temperatures = [requests[0]["body"]["temperature"] for requests in server.requests]
    assert temperatures == [0, 0.5, 1]


@pytest.mark.parametrize("has_begun", [True, False])
def test_a_command_that_ends_before_it_knows_its_batch(
    tmp_path: Path, has_begun: bool
) -> None:
    """The next command finds the batch, or sends it again if there is none."""
    write_rows(tmp_path, "one", "three")
    with serve_batches(answer) as server:
        url = server.base_url
        server.loses_reply = True
        done = judge(tmp_path, url, "--batch", "submit")
        assert isinstance(done.exception, EndpointError)
        if not has_begun:
            server.batches.clear()
            server.requests.clear()
        assert batch(tmp_path, url, "submit")["under_way"] == 2
        found = batch(tmp_path, url, "wait")
    assert (found["overall_robust"], found["requests"]) == (80, 2)
    assert len(server.requests) == 1


def test_an_upload_that_fails_is_tried_twice(tmp_path: Path) -> None:
    write_rows(tmp_path, "one", "three", "four")
    n_uploads = 0

    with serve_batches(answer) as server:

        def fail(media_type: str, content: bytes) -> dict[str, Any]:
            nonlocal n_uploads
            n_uploads += 1
            raise ConnectionError

        server.upload = fail  # type: ignore[method-assign]
        done = judge(tmp_path, server.base_url, "--batch", "submit")
    assert isinstance(done.exception, EndpointError)
    assert n_uploads == 2


def test_no_file_shows_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_cache: Path
) -> None:
    key = "sk-loopback-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    write_rows(tmp_path, "one")
    with serve_batches(lambda body: completion("5", key)) as server:
        upload = server.upload

        def echo(media_type: str, content: bytes) -> dict[str, Any]:
            file = upload(media_type, content)
            server.files[key] = server.files[file["id"]]
            return {**file, "id": key}

        server.upload = echo  # type: ignore[method-assign]
        assert batch(tmp_path, server.base_url, "submit")
        batch(tmp_path, server.base_url, "collect")
    files = [*tmp_path.rglob("*"), *own_cache.rglob("*")]
    assert len(files) > 3
    assert not [f for f in files if f.is_file() and key.encode() in f.read_bytes()]


def test_a_batch_goes_to_one_address(tmp_path: Path) -> None:
    write_rows(tmp_path, "one")
    more = ("--base-url", "http://127.0.0.1:9/v1")
    done = judge(tmp_path, "http://127.0.0.1:8/v1", *more, "--batch", "submit")
    assert isinstance(done.exception, ConfigError)
    assert "one address" in str(done.exception)


def test_results_that_are_not_as_they_should_be(tmp_path: Path) -> None:
    def change(number: int, results: list[dict[str, Any]]) -> list[Any]:
        if number > 0:
            return results
        first, _, third, fourth = results
        other = completion("1")[2]
        repeated = {**first, "response": {"status_code": 200, "body": other}}
        unknown = {**first, "custom_id": "another"}
        expired = {**fourth, "response": None, "error": {"code": "batch_expired"}}
        expired.pop("response")
        return [first, repeated, unknown, b"{", b"\xff", third, expired]

    write_rows(tmp_path, "one", "three", "four", "one more")
    with serve_batches(answer, change) as server:
        server.status = "expired"
        server.n_looks = 0
        url = server.base_url
        batch(tmp_path, url, "submit")
        done = judge(tmp_path, url, "--batch", "collect")
        found = figures(done)
        assert (found["lacking"], found["requests"], found["failed"]) == (2, 3, 1)
        names = ("repeated", "unknown", "unreadable", "missing")
        assert [found[name] for name in names] == [1, 1, 2, 1]
        server.status = "completed"
        found = batch(tmp_path, url, "wait")
    assert (found["overall_robust"], found["unscored"]) == (20 * (5 + 3 + 1 + 5) / 4, 0)
    assert [len(requests) for requests in server.requests] == [4, 2]


def test_rows_and_options_that_change_between_steps(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_rows(tmp_path, "one", "three", "four")
    with serve_batches(answer) as server:
        url = server.base_url
        assert batch(tmp_path, url, "submit")["changed"] == 0
        assert "3 rows" not in caplog.text
        write_rows(tmp_path, "one", "three", "one more")
        found = batch(tmp_path, url, "collect")
        assert (found["changed"], found["under_way"]) == (1, 3)
        assert "1 of 3 rows" in caplog.text
        batch(tmp_path, url, "submit")
        assert batch(tmp_path, url, "collect")["changed"] == 0
        score = batch(tmp_path, url, "wait")["overall_robust"]
        assert score == pytest.approx(20 * (5 + 3 + 5) / 3)
        done = judge(tmp_path, url, "--batch", "submit", "--no-image")
        assert isinstance(done.exception, ConfigError)
    assert [len(requests) for requests in server.requests] == [3, 1]


def test_wait_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fin_tasks.judging.batch.LONGEST_WAIT", 0.1)
    write_rows(tmp_path, "one")
    with serve_batches(answer) as server:
        url = server.base_url
        server.n_looks = 1_000_000
        assert batch(tmp_path, url, "wait")["under_way"] == 1
        server.n_looks = 0
        assert batch(tmp_path, url, "wait")["unscored"] == 0


def test_limits_of_a_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fin_tasks.judging.batch.MAX_REQUESTS", 2)

    def enlarge(number: int, results: list[dict[str, Any]]) -> list[Any]:
        if number == 0:
            results[0]["response"]["body"] = completion("5" + " " * (4 << 20))[2]
        return results

    write_rows(tmp_path, "one", "three", "four")
    with serve_batches(answer, enlarge) as server:
        server.n_looks = 0
        batch(tmp_path, server.base_url, "submit")
        found = batch(tmp_path, server.base_url, "collect")
    assert [len(requests) for requests in server.requests] == [2, 1]
    assert (found["unreadable"], found["missing"], found["lacking"]) == (1, 1, 1)


def test_options_that_the_judge_refuses(tmp_path: Path) -> None:
    def strict(body: dict[str, Any]) -> Answer:
        if "max_tokens" in body:
            message = "Unsupported parameter: max_tokens"
            return 400, {}, {"error": {"message": message}}
        return answer(body)

    write_rows(tmp_path, "one", "three")
    with serve_batches(strict) as server:
        found = batch(tmp_path, server.base_url, "wait")
    assert (found["overall_robust"], found["failed"]) == (80, 2)
    assert "max_completion_tokens" in server.requests[1][0]["body"]


def test_a_server_that_fails(tmp_path: Path) -> None:
    write_rows(tmp_path, "one")
    with serve_batches(answer) as server:
        done = judge(tmp_path, f"{server.base_url}/elsewhere", "--batch", "submit")
        assert isinstance(done.exception, EndpointError)
        assert not (tmp_path / "out").exists()
    with serve_batches(answer) as server:
        server.status = "failed"
        done = judge(tmp_path, server.base_url, "--batch", "wait")
        assert isinstance(done.exception, JudgeError)
        assert len(server.requests) == 1
        (tmp_path / "out" / "batch.json").write_text("{}")
        done = judge(tmp_path, server.base_url, "--batch", "collect")
        assert isinstance(done.exception, ConfigError)
