"""Asking a server that says no for now."""

import socket
from collections.abc import Callable

import pytest
from market_server import Answer, MarketServer

from fin_tasks.benchmarks.dynostock.market.patience import LimitError, Pace, Patience, ask
from fin_tasks.errors import FetchError


class Clock:
    def __init__(self) -> None:
        self.time = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.time += seconds
        self.slept.append(seconds)


def patience(clock: Clock, *, attempts: int = 4, chance: Callable[[], float] = lambda: 0.0) -> Patience:
    return Patience(attempts=attempts, first_wait=1.0, longest_wait=3.0, timeout=5.0, sleep=clock.sleep, chance=chance)


def test_pauses_grow_to_a_limit_and_have_jitter() -> None:
    clock = Clock()
    for failures in (1, 2, 3, 9):
        patience(clock).pause(failures)
    patience(clock, chance=lambda: 1.0).pause(1)
    patience(clock).pause(1, asked=2.5)
    patience(clock).pause(1, asked=86400)
    assert clock.slept == [1, 2, 3, 3, 1.5, 2.5, 3]


def test_a_pace_keeps_requests_apart() -> None:
    clock = Clock()
    pace = Pace(per_minute=6, sleep=clock.sleep, now=lambda: clock.time)
    pace.wait()
    pace.wait()
    clock.time += 4
    pace.wait()
    clock.time += 40
    pace.wait()
    assert clock.slept == [10, 6]


def test_a_passing_failure_is_tried_again(server: MarketServer) -> None:
    clock = Clock()
    server.says("/a", Answer(status=500), Answer(status=429, headers={"Retry-After": "2"}), Answer("fine"))
    assert ask(server.url + "/a", subject="a", patience=patience(clock)) == "fine"
    assert clock.slept == [1, 2]


def test_a_lasting_failure_ends_with_what_was_found(server: MarketServer) -> None:
    clock = Clock()
    server.says("/busy", Answer(status=429))
    server.says("/broken", Answer(status=503))
    server.says("/moved", Answer(status=302, headers={"Location": server.url + "/a"}))
    with pytest.raises(LimitError, match="status 429 4 times"):
        ask(server.url + "/busy", subject="x", patience=patience(clock))
    with pytest.raises(FetchError, match="status 503 4 times"):
        ask(server.url + "/broken", subject="x", patience=patience(clock))
    for path, status in (("/none", 404), ("/moved", 302)):
        with pytest.raises(FetchError, match=f"got status {status}"):
            ask(server.url + path, subject="x", patience=patience(clock))
    assert server.times("/a") == 0
    assert (server.times("/busy"), server.times("/none")) == (4, 1)


def test_no_message_holds_the_query() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/query"
    with pytest.raises(FetchError, match="ConnectionError 2 times") as error:
        ask(url, subject="x", patience=patience(Clock(), attempts=2), query={"apikey": "SECRET"})
    assert "SECRET" not in str(error.value)
    assert error.value.__context__ is None, "an error shown before this one would hold it"
