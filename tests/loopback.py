"""A file server on the loopback interface: GitHub's raw files and the addresses of the hub that we ask."""

import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Loopback(ThreadingHTTPServer):
    """Serves `files` and `redirects` by path; answers the statuses in `faults` first."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.files: dict[str, bytes] = {}
        self.redirects: dict[str, str] = {}
        self.faults: dict[str, list[int]] = defaultdict(list)
        self.asked: list[tuple[str, str | None]] = []  # path and authorization

    def __enter__(self) -> "Loopback":
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Else, a file waits 40 ms for its headers to be acknowledged.
    disable_nagle_algorithm = True
    server: Loopback

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.server.asked.append((path, self.headers["Authorization"]))
        body = self.server.files.get(path)
        status = 302 if path in self.server.redirects else 404 if body is None else 200
        status = self.server.faults[path].pop(0) if self.server.faults[path] else status
        body = body if status == 200 and body is not None else b""
        headers = {
            "Content-Length": len(body),
            "ETag": '"1"',
            "X-Repo-Commit": "1" * 40,
            "X-Linked-Size": 10,
        }
        headers |= {"Location": self.server.redirects[path]} if status == 302 else {}
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815
