"""Which address is asked, and when."""

import email.utils
import time

import pytest

from fin_tasks.endpoints.addresses import LONGEST_PAUSE, Addresses, backoff, pause_told
from fin_tasks.endpoints.client import Endpoint
from fin_tasks.errors import ConfigError


class _Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def _addresses(n: int) -> tuple[Addresses, _Clock]:
    clock = _Clock()
    endpoints = [Endpoint(base_url=f"http://host-{number}/v1", model="m") for number in range(n)]
    return Addresses(endpoints, clock=clock), clock


def _next(addresses: Addresses) -> tuple[int, float]:
    address, seconds = addresses.next()
    return addresses.all.index(address), seconds


def test_addresses_take_turns() -> None:
    addresses, _ = _addresses(3)
    assert [_next(addresses) for _ in range(4)] == [(0, 0.0), (1, 0.0), (2, 0.0), (0, 0.0)]


def test_where_an_attempt_failed_the_next_one_goes_elsewhere() -> None:
    addresses, _ = _addresses(2)
    first, second = addresses.all
    assert addresses.next(avoid=first) == (second, 0.0)
    assert addresses.next(avoid=first) == (second, 0.0)
    addresses.set_aside(second)
    assert addresses.next(avoid=first) == (first, 0.0)


def test_one_that_does_not_connect_comes_back_after_a_while() -> None:
    addresses, clock = _addresses(2)
    assert addresses.set_aside(addresses.all[0])
    assert [_next(addresses)[0] for _ in range(3)] == [1, 1, 1]
    clock.now += 31
    assert {_next(addresses)[0] for _ in range(2)} == {0, 1}


def test_where_none_connects_all_are_tried() -> None:
    addresses, _ = _addresses(2)
    assert addresses.set_aside(addresses.all[0])
    assert not addresses.set_aside(addresses.all[1])
    assert {_next(addresses) for _ in range(4)} == {(0, 0.0), (1, 0.0)}


def test_one_that_wants_a_pause_gets_it() -> None:
    addresses, clock = _addresses(2)
    addresses.pause(addresses.all[0], 10.0)
    addresses.pause(addresses.all[0], 1.0)
    assert [_next(addresses) for _ in range(2)] == [(1, 0.0), (1, 0.0)]
    addresses.pause(addresses.all[1], 7.0)
    assert _next(addresses) == (1, 7.0)
    clock.now += 10
    assert {_next(addresses) for _ in range(2)} == {(0, 0.0), (1, 0.0)}


def test_one_that_is_down_is_tried_rather_than_waiting_for_long() -> None:
    addresses, _ = _addresses(2)
    addresses.set_aside(addresses.all[0])
    addresses.pause(addresses.all[1], LONGEST_PAUSE + 1)
    assert _next(addresses) == (0, 0.0)
    addresses.pause(addresses.all[0], LONGEST_PAUSE + 9)
    assert _next(addresses) == (1, LONGEST_PAUSE + 1)


def test_one_model_at_least_and_at_most() -> None:
    with pytest.raises(ConfigError, match="one model"):
        Addresses([])
    with pytest.raises(ConfigError, match=r"\['a', 'b'\]"):
        Addresses([Endpoint(base_url="http://h/v1", model=model) for model in "ba"])


def test_pauses_grow_and_vary() -> None:
    for failures, longest in [(1, 0.5), (2, 1.0), (3, 2.0), (5, 8.0), (50, 8.0)]:
        pauses = [backoff(failures) for _ in range(50)]
        assert longest * 0.75 <= min(pauses) < max(pauses) <= longest


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "2.5", "retry-after-ms": "70"}, 0.07),
        ({"retry-after-ms": "x", "retry-after": "4"}, 4.0),
        ({"retry-after": "0"}, None),
        ({"retry-after": "-4"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Mon, 99 Foo 2020 99:99:99 GMT"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, None),
        ({"retry-after": "inf"}, float("inf")),
        ({}, None),
    ],
)
def test_what_servers_say_of_when_to_come_back(headers: dict[str, str], seconds: float | None) -> None:
    assert pause_told(headers) == seconds


def test_a_date_to_come_back_at() -> None:
    told = pause_told({"retry-after": email.utils.formatdate(time.time() + 30, usegmt=True)})
    assert told is not None
    assert 27 < told <= 30
