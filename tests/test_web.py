"""Requests to servers on the loopback interface that break, limit, trickle and flood."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from slow_server import BODY, HEADERS, endless

from fin_tasks.errors import WebError
from fin_tasks.web import Limits, Request, Web

LIMITS = Limits(seconds=10, n_bytes=1000, retries=2)
Answer = tuple[int, dict[str, str], bytes]


@contextmanager
def serve(*answers: Answer) -> Iterator[str]:
    """Serve these answers one after the other, the last one for ever."""
    waiting = list(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = waiting.pop(0) if len(waiting) > 1 else waiting[0]
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def read(url: str, limits: Limits = LIMITS) -> bytes:
    with Web() as web:
        return web.send(Request(url=url), limits).result()


@pytest.mark.parametrize("beginning", [HEADERS, BODY])
def test_a_trickling_server_is_left_in_time(beginning: bytes) -> None:
    started = time.monotonic()
    with (
        endless(beginning) as url,
        pytest.raises(WebError, match=r"more than 0\.3 seconds"),
    ):
        read(url, Limits(seconds=0.3, n_bytes=1000, retries=5))
    assert time.monotonic() - started < 3, "one retry only"


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
        pytest.raises(WebError, match="it has more than 1,000 bytes"),
    ):
        read(url)


def test_what_may_pass_is_tried_again() -> None:
    busy = (429, {"Retry-After": "Sat, 28 Nov 2026 14:00:00 GMT"}, b"")
    broken = (500, {"Retry-After": "0.01"}, b"")
    works = (200, {}, b"42")
    with serve(busy, broken, works) as url:
        assert read(url) == b"42"
    with serve(busy, busy, busy, works) as url, pytest.raises(WebError, match="429"):
        read(url)


def test_what_will_not_pass_is_tried_once() -> None:
    with serve((404, {}, b"no such file"), (200, {}, b"42")) as url:
        with pytest.raises(WebError, match="404 Not Found: no such file") as error:
            read(url)
        assert error.value.status == 404
        assert read(url) == b"42"


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
        read(url, Limits(seconds=5, n_bytes=1))


def test_redirects_in_a_circle_end() -> None:
    with (
        serve((302, {"Location": "/"}, b"")) as url,
        Web(follow_redirects=True) as web,
        pytest.raises(WebError, match="TooManyRedirects"),
    ):
        web.send(Request(url=url), Limits(seconds=5, n_bytes=1)).result()


def test_a_download_is_a_whole_file_or_none(tmp_path: Path) -> None:
    sizes: list[int] = []
    limits = Limits(seconds=10, n_bytes=1 << 30)
    with serve((200, {}, b"42")) as url, Web() as web:
        done = web.download(
            Request(url=url), limits, tmp_path / "a" / "b", progress=sizes.append
        )
        done.result()
    assert (tmp_path / "a" / "b").read_bytes() == b"42"
    assert sum(sizes) == 2
    received = threading.Event()
    with endless(BODY) as url, pytest.raises(KeyboardInterrupt), Web() as web:
        request = Request(url=url)
        web.download(
            request, limits, tmp_path / "c", progress=lambda size: received.set()
        )
        assert received.wait(10)
        raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_the_end_of_the_block_stops_requests_under_way() -> None:
    started = time.monotonic()
    with endless(HEADERS) as url, pytest.raises(KeyboardInterrupt), Web() as web:
        future = web.send(Request(url=url), LIMITS)
        raise KeyboardInterrupt
    assert future.done()
    assert time.monotonic() - started < 3
