"""The evaluator's side of a server process: start it, send a program, read the report, end it."""

import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
from pathlib import Path
from typing import Any, NamedTuple

from fin_tasks.errors import SandboxError
from fin_tasks.sandbox.outcome import Outcome, Status, classify, escape
from fin_tasks.sandbox.server import MAX_FRAME, REQUEST, RESPONSE

_HERE = (
    Path(__file__).absolute().parent
)  # the package around it is hidden, because it holds sample answers
_INSIDE = "/fin_tasks_sandbox"
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
_START_S, _SLACK_S = 120.0, 10.0


class Limits(NamedTuple):
    """The limits of one program: CPU seconds, wall seconds, and MiB of memory beyond the libraries."""

    cpu_s: float
    wall_s: float
    memory_mb: int


class Server:
    """A fork server. It starts when it is first needed, starts again when it died, and dies with its thread."""

    def __init__(self, tier: str, limits: Limits, preload: tuple[str, ...]) -> None:
        self._tier, self._limits, self._preload = tier, limits, preload
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, source: str) -> tuple[Outcome, bool]:
        """Return a program's outcome, and True if a second try could differ; SandboxError if no server starts."""
        if self._process is None:
            self._start()
        program = source.encode()
        self._asked += 1
        try:
            report = self._exchange(
                REQUEST.pack(len(program)) + program, self._limits.wall_s + _SLACK_S
            )
        except ConnectionError:
            self.close()
            return Outcome(status=Status.forbidden, detail="its server died with it"), True
        return classify(*report, cpu_limit_s=self._limits.cpu_s)

    def _start(self) -> None:
        # All folders with packages, also those that the bare interpreter of the server does not know.
        packages = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
        libraries = [sysconfig.get_path("stdlib"), *packages]
        system = [
            "/usr/lib",
            "/usr/lib64",
            "/lib",
            "/lib64",
            "/usr/local/lib",
            "/etc/ld.so.cache",
            *_DEVICES,
        ]
        readable = [*libraries, f"{sys.base_prefix}/lib", *system]
        config = {
            "readable": readable,
            "hidden": str(_HERE.parent),
            "library_dirs": packages,
            "tier": self._tier,
        }
        config |= {"preload": self._preload, **self._limits._asdict()}
        # No -P before Python 3.11; there, -I does it but also ignores PYTHONHASHSEED.
        flags = ["-S", "-P", "-B"] if sys.version_info >= (3, 11) else ["-S", "-I", "-B"]
        inside = _INSIDE if self._tier == "bwrap" else str(_HERE)
        command = [
            os.path.realpath(sys.executable),
            *flags,
            f"{inside}/server.py",
            json.dumps(config),
        ]
        if sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
            got = f"{sys.platform} on {platform.machine()}"
            raise SandboxError(f"{self._tier}: expected Linux on x86_64 or aarch64, got {got}")
        if self._tier == "bwrap":
            command = [*_bubblewrap(libraries), *command]
        threads = (
            "OMP_NUM_THREADS",
            "OPENBLAS_NUM_THREADS",
            "MKL_NUM_THREADS",
            "NUMEXPR_NUM_THREADS",
        )
        environ = {
            **dict.fromkeys(threads, "1"),
            "PYTHONHASHSEED": "0",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
        }
        pipe = subprocess.PIPE
        with tempfile.TemporaryFile() as errors:
            self._process = subprocess.Popen(  # noqa: S603 - our own command, no shell
                command, stdin=pipe, stdout=pipe, stderr=errors, env=environ, start_new_session=True
            )
            self._asked = 0
            try:
                self._exchange(b"", _START_S)
            except ConnectionError as death:
                self.close()
                errors.seek(0)
                said = errors.read().decode("utf-8", "replace").strip().splitlines() or [
                    "it left no message"
                ]
                raise SandboxError(
                    f"{self._tier}: the server did not start: {escape(said[-1][:500])}"
                ) from death

    def _exchange(self, request: bytes, timeout_s: float) -> tuple[bytes, int, int, float]:
        process: Any = self._process
        watchdog = threading.Timer(timeout_s, process.kill)
        watchdog.start()
        try:
            process.stdin.write(request)
            process.stdin.flush()
            header = process.stdout.read(RESPONSE.size).ljust(RESPONSE.size, b"\xff")
            number, wait_status, ending, cpu_s, length = RESPONSE.unpack(header)
            data = (
                process.stdout.read(length)
                if number == self._asked and length <= MAX_FRAME
                else b""
            )
        finally:
            watchdog.cancel()
        if number != self._asked or len(data) != length:
            raise ConnectionError("the server gave no answer")
        return data, wait_status, ending, cpu_s

    def close(self) -> None:
        """End the server and the program in it."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _bubblewrap(libraries: list[str]) -> list[str]:
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise SandboxError(
            "bwrap: expected the program of the package `bubblewrap` on PATH, found none. Install it."
        )
    command = [
        bwrap,
        "--unshare-user",
        "--unshare-ipc",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-uts",
    ]
    command += ["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    command += ["--uid", "65534", "--gid", "65534"]
    command += ["--tmpfs", "/tmp"]  # noqa: S108 - first, as a virtual environment may lie under it
    bound: list[Path] = []
    system = ("/usr", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache")
    for path in map(
        Path, (*system, sys.base_prefix, sys.prefix, os.path.realpath(sys.executable), *libraries)
    ):
        if not any(path.is_relative_to(parent) for parent in bound):
            bound.append(path)
            command += ["--ro-bind-try", str(path), str(path)]
    for device in _DEVICES:
        command += ["--dev-bind", device, device]
    command += ["--tmpfs", str(_HERE.parent), "--remount-ro", str(_HERE.parent)]
    for name in ("server.py", "policy.py"):
        command += ["--ro-bind", str(_HERE / name), f"{_INSIDE}/{name}"]
    return [*command, "--remount-ro", "/tmp", "--remount-ro", "/", "--"]  # noqa: S108
