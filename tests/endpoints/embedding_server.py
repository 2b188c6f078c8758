"""A server of embeddings on the loopback interface that misbehaves on request and remembers what it was asked."""

import hashlib
import json
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSION = 8


def vector_of(text: str) -> list[float]:
    """Return numbers that depend on the text alone; their length is not 1."""
    return [byte - 127.5 for byte in hashlib.sha256(text.encode()).digest()[:DIMENSION]]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """How one answer goes wrong: with a status, with data that were changed, or after `hold` has returned."""

    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    change: Callable[[list[dict[str, Any]]], Any] = lambda data: data
    body: bytes | None = None
    hold: Callable[[], object] = lambda: None


@dataclass(frozen=True)
class Asked:
    texts: list[str]
    body: dict[str, Any]
    authorization: str | None
    at: float


class EmbeddingServer(ThreadingHTTPServer):
    """Each answer takes the next fault, when there is one.

    Attributes:
        longest: Texts with more characters are refused with status 400.
        most: Requests with more texts are refused with status 422.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"
        self.faults: deque[Fault] = deque()
        self.asked: list[Asked] = []
        self.longest = 10**9
        self.most = 10**9
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> "EmbeddingServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()

    @property
    def texts(self) -> list[str]:
        return [text for asked in self.asked for text in asked.texts]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: EmbeddingServer

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = body["input"]
        self.server.asked.append(Asked(texts, body, self.headers["Authorization"], time.monotonic()))
        if self.path != "/v1/embeddings":
            self._send(404, b'{"error": {"message": "no such path"}}')
        elif self.server.faults:
            self._fail(self.server.faults.popleft(), texts)
        elif max(map(len, texts)) > self.server.longest:
            self._send(400, b'{"error": {"message": "maximum context length exceeded"}}')
        elif len(texts) > self.server.most:
            self._send(422, b'{"error": {"message": "batch size too large"}}')
        else:
            self._fail(Fault(), texts)

    def _fail(self, fault: Fault, texts: list[str]) -> None:
        fault.hold()
        data = [{"object": "embedding", "index": i, "embedding": vector_of(text)} for i, text in enumerate(texts)]
        reply = {"object": "list", "model": "toy", "data": fault.change(data)}
        said = b'{"error": {"message": "not now"}}' if fault.status else json.dumps(reply).encode()
        self._send(fault.status or 200, said if fault.body is None else fault.body, fault.headers)

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
