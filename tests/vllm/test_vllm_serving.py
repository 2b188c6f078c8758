"""The server ends with its `with` block, children included. A small stand-in answers in vLLM's place."""

import os
import sys
import time
from pathlib import Path

import pytest
from serving import ServerError, serve

# Takes vLLM's command line, leaves its own process id and a child's in a file, and answers like a healthy server.
_STAND_IN = """\
import http.server, os, subprocess, sys
child = subprocess.Popen(["sleep", "600"])
open(os.environ["STAND_IN_PIDS"], "w").write(f"{os.getpid()} {child.pid}")

class Healthy(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'# HELP vllm:requests of all kinds 1.0\\n')
        self.wfile.write(b'vllm:requests{model="a"} 2.0\\nvllm:requests{model="b"} 3.0\\nvllm:requests_created 9.0\\n')

port = int(sys.argv[sys.argv.index("--port") + 1])
http.server.HTTPServer(("127.0.0.1", port), Healthy).serve_forever()
"""


def _venv(folder: Path, script: str) -> Path:
    program = folder / "stand_in.py"
    program.write_text(script)
    python = folder / "bin" / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec {sys.executable} {program} "$@"\n')
    python.chmod(0o755)
    return folder


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A child whose parent is gone may wait a moment for init to collect it; it runs nothing any more.
    return Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes through /proc")
def test_server_and_children_end_even_after_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pids = tmp_path / "pids"
    monkeypatch.setenv("STAND_IN_PIDS", str(pids))
    venv = _venv(tmp_path, _STAND_IN)
    with (
        pytest.raises(RuntimeError, match="in the middle"),
        serve(tmp_path, name="m", venv=venv, log=tmp_path / "log", max_model_len=64, patience=30) as server,
    ):
        assert server.counter("vllm:requests") == 5
        started = [int(pid) for pid in pids.read_text().split()]
        assert all(map(_alive, started))
        raise RuntimeError("in the middle")
    deadline = time.monotonic() + 60
    while any(map(_alive, started)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(_alive, started))


def test_a_server_that_dies_is_reported_at_once(tmp_path: Path) -> None:
    venv = _venv(tmp_path, "import sys; print('no such model'); sys.exit(3)")
    with (
        pytest.raises(ServerError, match=r"m: the server ended with status 3\. See .*log"),
        serve(tmp_path, name="m", venv=venv, log=tmp_path / "log", max_model_len=64, patience=30),
    ):
        pytest.fail("the block must not run")
    assert "no such model" in (tmp_path / "log").read_text()
