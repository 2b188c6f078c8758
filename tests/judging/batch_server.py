"""A server with OpenAI's batch interface on this machine, which answers as a test tells it to."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler
from typing import Any

from chat_server import Answer, serving

Change = Callable[[int, list[dict[str, Any]]], list[Any]]
"""Takes the number of a batch and its results; returns the lines to serve."""


@dataclass
class ServedBatches:
    """Files and batches of a server."""

    base_url: str
    answer: Callable[[dict[str, Any]], Answer]
    change: Change
    status: str = "completed"
    """The status in which the next batches end."""
    n_looks: int = 1
    """How often a batch is looked at before it ends."""
    loses_reply: bool = False
    """Whether the command learns nothing of the next batch."""
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    looks: dict[str, int] = field(default_factory=dict)
    requests: list[list[dict[str, Any]]] = field(default_factory=list)

    def upload(self, media_type: str, content: bytes) -> dict[str, Any]:
        head = f"Content-Type: {media_type}\r\n\r\n".encode()
        purpose, file = BytesParser().parsebytes(head + content).get_payload()
        assert purpose.get_payload().strip() == "batch"
        name = f"file-{len(self.files)}"
        self.files[name] = file.get_payload(decode=True)
        return {"id": name, "object": "file", "purpose": "batch"}

    def create(self, options: dict[str, Any]) -> dict[str, Any]:
        assert options["endpoint"] == "/v1/chat/completions"
        assert options["completion_window"] == "24h"
        lines = self.files[options["input_file_id"]].splitlines()
        requests = [json.loads(line) for line in lines]
        custom_ids = {request["custom_id"] for request in requests}
        assert len(custom_ids) == len(requests)
        name = f"batch_{len(self.batches)}"
        self.requests.append(requests)
        file_id = options["input_file_id"]
        batch = {"id": name, "status": "validating", "input_file_id": file_id}
        self.batches[name] = batch
        if self.loses_reply:
            self.loses_reply = False
            return {}
        return batch

    def look(self, name: str) -> dict[str, Any]:
        batch = self.batches[name]
        self.looks[name] = self.looks.get(name, 0) + 1
        if self.looks[name] <= self.n_looks:
            batch["status"] = "in_progress"
        elif batch["status"] in ("validating", "in_progress"):
            self.finish(batch)
        return batch

    def finish(self, batch: dict[str, Any]) -> None:
        batch["status"] = self.status
        if self.status == "failed":
            batch["errors"] = {"data": [{"message": "Invalid file"}]}
            return
        number = int(batch["id"].removeprefix("batch_"))
        results = []
        for request in self.requests[number]:
            assert request["url"] == "/v1/chat/completions"
            status, _, body = self.answer(request["body"])
            response = {"status_code": status, "body": body}
            results.append({"custom_id": request["custom_id"], "response": response})
        output = []
        errors = []
        for result in self.change(number, results):
            is_line = isinstance(result, bytes)
            line = result if is_line else json.dumps(result).encode()
            is_good = is_line or result.get("response", {}).get("status_code") == 200
            (output if is_good else errors).append(line)
        for kind, lines in (("output", output), ("error", errors)):
            if lines:
                name = f"file-{len(self.files)}"
                self.files[name] = b"\n".join(lines)
                batch[f"{kind}_file_id"] = name
        batch["request_counts"] = {"total": len(results), "completed": len(output)}


@contextmanager
def serve_batches(
    answer: Callable[[dict[str, Any]], Answer],
    change: Change = lambda number, results: results,
) -> Iterator[ServedBatches]:
    """Serve on a free port; `answer` gets the body of each request of a batch."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/v1/files":
                self.reply(served.upload(self.headers["Content-Type"], content))
            elif self.path == "/v1/batches":
                self.reply(served.create(json.loads(content)))
            else:
                self.send_error(404)

        def do_GET(self) -> None:
            parts = self.path.removeprefix("/v1/").split("/")
            if parts == ["batches?limit=100"]:
                self.reply({"data": list(served.batches.values())})
            elif parts[0] == "batches" and parts[1] in served.batches:
                self.reply(served.look(parts[1]))
            elif parts[0] == "files" and parts[1] in served.files:
                self.reply(served.files[parts[1]])
            else:
                self.send_error(404)

        def reply(self, body: Any) -> None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    with serving(Handler) as url:
        served = ServedBatches(f"{url}/v1", answer, change)
        yield served
