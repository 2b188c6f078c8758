"""An OpenAI-compatible server on this machine that answers as a test tells it to."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, dict[str, str], Any]
"""Status, headers, body (JSON-compatible, or bytes as they are)."""


def completion(
    text: str | None,
    finish_reason: str = "stop",
    *,
    usage: tuple[int, int] | None = None,
) -> Answer:
    """A chat completion; `usage` is its tokens, of the prompt and of the reply."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    reply: dict[str, Any] = {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [choice],
    }
    if usage is not None:
        reply["usage"] = {
            "prompt_tokens": usage[0],
            "completion_tokens": usage[1],
            "total_tokens": sum(usage),
        }
    return 200, {}, reply


@dataclass
class Served:
    """What a server was asked."""

    base_url: str
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    most_at_once: int = 0
    under_way: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class Server(ThreadingHTTPServer):
    """A server for many clients at once; those that do not fit in the queue come again a second later."""

    daemon_threads = True
    request_queue_size = 128


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve on a free port, and yield the address."""
    handler.log_message = lambda *_: None  # type: ignore[method-assign]
    # Else, a reply's body waits 40 ms for its headers to be acknowledged.
    handler.disable_nagle_algorithm = True
    with Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def serve(
    answer: Callable[[dict[str, Any]], Answer], *, pause: float = 0.0
) -> Iterator[Served]:
    """Serve on a free port; `answer` gets each request's body."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with served.lock:
                served.bodies.append(body)
                served.paths.append(self.path)
                served.headers.append(
                    {name.lower(): value for name, value in self.headers.items()}
                )
                served.under_way += 1
                served.most_at_once = max(served.most_at_once, served.under_way)
            time.sleep(pause)
            status, headers, reply = answer(body)
            with served.lock:
                served.under_way -= 1
            data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
            try:
                self.send_response(status)
                kind = {"Content-Type": "application/json"}
                for name, value in {**kind, **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client gave up waiting

    with serving(Handler) as url:
        served = Served(base_url=f"{url}/v1")
        yield served
