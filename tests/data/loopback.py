"""A small file server on the loopback interface that misbehaves on request and remembers what it was asked."""

import threading
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Asked:
    path: str
    range: str | None
    authorization: str | None
    sent: tuple[int, int]
    """First byte of the file that was sent, and one past the last; (0, 0) for none."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """How one answer goes wrong.

    Attributes:
        status: Answer with this status and no file.
        headers: Sent beside it.
        drop_after: Announce the whole answer, then break the connection after this many bytes.
        end_after: Announce no length and end cleanly after this many bytes.
        ignore_range: Send the whole file although a part was asked for.
        shift_range: Send a part that begins this many bytes too late.
        hold: Called before anything is sent.
    """

    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    drop_after: int | None = None
    end_after: int | None = None
    ignore_range: bool = False
    shift_range: int = 0
    hold: Callable[[], object] = lambda: None


class Loopback(ThreadingHTTPServer):
    """Serves `files`; each answer takes the next fault of its path, when there is one."""

    daemon_threads = True

    def __init__(self, host: str = "127.0.0.1") -> None:
        super().__init__((host, 0), _Handler)
        self.url = f"http://{host}:{self.server_address[1]}"
        self.files: dict[str, bytes] = {}
        self.etags: dict[str, str] = {}
        self.faults: dict[str, deque[Fault]] = defaultdict(deque)
        self.asked: list[Asked] = []
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> "Loopback":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()

    def of(self, path: str) -> list[Asked]:
        return [asked for asked in self.asked if asked.path == path]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Loopback

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        faults = self.server.faults[self.path]
        fault = faults.popleft() if faults else Fault()
        fault.hold()
        body = self.server.files.get(self.path)
        status = fault.status or (404 if body is None else 200)
        if status != 200 or body is None:
            self._note(0, 0)
            self._head(status, {"Content-Length": "0", **fault.headers})
            return
        self._send_file(fault, body)

    def _send_file(self, fault: Fault, body: bytes) -> None:
        start, headers = 0, dict(fault.headers)
        etag = self.server.etags.get(self.path)
        if etag:
            headers["ETag"] = etag
        wanted = self.headers["Range"]
        if wanted and not fault.ignore_range and self.headers["If-Range"] in (None, etag):
            start = int(wanted.removeprefix("bytes=").removesuffix("-")) + fault.shift_range
            if start >= len(body):
                self._note(0, 0)
                self._head(416, {"Content-Length": "0", "Content-Range": f"bytes */{len(body)}"})
                return
            headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
        cut = fault.drop_after if fault.end_after is None else fault.end_after
        end = len(body) if cut is None else min(len(body), start + cut)
        if fault.end_after is None:
            headers["Content-Length"] = str(len(body) - start)
        else:
            headers["Connection"] = "close"
        self._note(start, end)
        self._head(206 if "Content-Range" in headers else 200, headers)
        self.wfile.write(body[start:end])
        self.wfile.flush()
        if end < len(body):
            self.close_connection = True

    def _note(self, start: int, end: int) -> None:
        asked = Asked(self.path, self.headers["Range"], self.headers["Authorization"], (start, end))
        self.server.asked.append(asked)

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
