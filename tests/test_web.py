"""Addresses on the loopback interface that fail, trickle and flood."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

import httpx2
import pytest
from chat_server import serving
from slow_server import BODY, HEADERS, endless

from fin_tasks.errors import WebError
from fin_tasks.web import Limits, pieces_of

LIMITS = Limits(seconds=10, n_bytes=1000)


@contextmanager
def serve(status: int, body: bytes) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

    with serving(Handler) as url:
        yield url


def read(url: str, limits: Limits = LIMITS, timeout: float = 5.0) -> bytes:
    with httpx2.Client(timeout=timeout, trust_env=False) as client:
        return b"".join(pieces_of(client, url, limits))


def test_what_is_served_is_read() -> None:
    with serve(200, b"42") as url:
        assert read(url) == b"42"


def test_a_trickling_server_is_left_in_time() -> None:
    """Or the test would never end."""
    with endless(BODY) as url, pytest.raises(WebError, match="it took too long"):
        read(url, Limits(seconds=0.3, n_bytes=1000))


def test_a_silent_server_is_left_in_time() -> None:
    with (
        endless(HEADERS, pause=60.0) as url,
        pytest.raises(WebError, match="ReadTimeout") as error,
    ):
        read(url, timeout=0.3)
    assert error.value.may_pass


def test_a_reply_that_comes_fast_may_take_longer() -> None:
    limits = Limits(seconds=0.3, n_bytes=50_000, bytes_per_second=10_000)
    with (
        endless(BODY, chunk=b"a" * 1000, pause=0.02) as url,
        pytest.raises(WebError, match="50,000 bytes"),
    ):
        read(url, limits)


def test_a_flood_is_cut() -> None:
    with (
        endless(BODY, chunk=b"a" * 1000, pause=0.0) as url,
        pytest.raises(WebError, match="it has more than 1,000 bytes") as error,
    ):
        read(url)
    assert not error.value.may_pass


@pytest.mark.parametrize(
    ("status", "may_pass"), [(404, False), (403, False), (429, True), (503, True)]
)
def test_a_refusal_says_whether_it_may_pass(status: int, may_pass: bool) -> None:
    with serve(status, b"no") as url, pytest.raises(WebError, match=f"{status} ") as e:
        read(url)
    assert e.value.may_pass is may_pass


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://127.0.0.1:9", "ConnectError"),
        ("http://127.0.0.1:port", "InvalidURL"),
        ("http://", "Unsupported|InvalidURL|LocalProtocolError"),
    ],
)
def test_a_server_that_cannot_be_asked(url: str, problem: str) -> None:
    with pytest.raises(WebError, match=problem):
        read(url)
