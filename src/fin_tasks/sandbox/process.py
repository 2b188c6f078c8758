"""The evaluator's side of a server: start it, send a program, read the report, end it."""

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
from typing import IO, NamedTuple, cast

from fin_tasks.errors import SandboxError
from fin_tasks.sandbox.outcome import Outcome, Status, escape
from fin_tasks.sandbox.report import Attempt, Report, classify
from fin_tasks.sandbox.server import MAX_FRAME, REQUEST, RESPONSE, Config

_SANDBOX_FOLDER = Path(__file__).absolute().parent
_PACKAGE_FOLDER = (
    _SANDBOX_FOLDER.parent
)  # hidden from programs, because it holds sample answers
_FOLDER_INSIDE = "/fin_tasks_sandbox"
_SYSTEM_LIBRARIES = ("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/local/lib")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
}
# The folder for temporary files comes first, because a virtual environment may lie below it.
_NAMESPACES = """
    --unshare-user --unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup-try
    --die-with-parent --new-session --cap-drop ALL --uid 65534 --gid 65534 --tmpfs /tmp
"""
_END_OF_MOUNTS = "--remount-ro /tmp --remount-ro / --"
_START_LIMIT_S = 120.0
_REPORT_SLACK_S = 10.0  # beyond the wall limit of a program, before its server is ended


class Limits(NamedTuple):
    """The limits of one program."""

    cpu_s: float
    wall_s: float
    memory_mb: int
    """MiB beyond what the libraries need."""


class Server:
    """A fork server, which starts with its first program and dies with the thread that started it.

    A server that died starts again with the next program.
    """

    def __init__(self, tier: str, limits: Limits, preload: tuple[str, ...]) -> None:
        self._tier = tier
        self._limits = limits
        self._preload = preload
        self._process: subprocess.Popen[bytes] | None = None
        self._n_requests = 0

    def run(self, source: str) -> Attempt:
        """Run a program once; raise SandboxError if no server starts."""
        process = self._process or self._start()
        program = source.encode()
        request = REQUEST.pack(len(program)) + program
        self._n_requests += 1
        try:
            report = self._exchange(
                process, request, self._limits.wall_s + _REPORT_SLACK_S
            )
        except ConnectionError:
            self.close()
            died = Outcome(status=Status.forbidden, detail="its server died with it")
            return Attempt(died, worth_repeating=True)
        return classify(report, cpu_limit_s=self._limits.cpu_s)

    def _start(self) -> subprocess.Popen[bytes]:
        command = self._command()
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(  # noqa: S603 - our own command, no shell
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=_ENVIRONMENT,
                start_new_session=True,
            )
            self._process = process
            self._n_requests = 0
            try:
                self._exchange(process, b"", _START_LIMIT_S)
            except ConnectionError as death:
                self.close()
                raise SandboxError(
                    f"{self._tier}: the server did not start: {_last_line(errors)}"
                ) from death
        return process

    def _command(self) -> list[str]:
        machine = platform.machine()
        if sys.platform != "linux" or machine not in ("x86_64", "aarch64"):
            raise SandboxError(
                f"{self._tier}: expected Linux on x86_64 or aarch64, "
                f"got {sys.platform} on {machine}"
            )
        config = Config(
            tier=self._tier,
            preload=list(self._preload),
            library_dirs=package_folders(),
            readable=[
                *library_folders(),
                f"{sys.base_prefix}/lib",
                *_SYSTEM_LIBRARIES,
                "/etc/ld.so.cache",
                *_DEVICES,
            ],
            hidden=str(_PACKAGE_FOLDER),
            **self._limits._asdict(),
        )
        is_bwrap = self._tier == "bwrap"
        folder = _FOLDER_INSIDE if is_bwrap else _SANDBOX_FOLDER
        return [
            *(_bubblewrap() if is_bwrap else []),
            os.path.realpath(sys.executable),
            *("-S", "-P", "-B"),
            f"{folder}/server.py",
            json.dumps(config._asdict()),
        ]

    def _exchange(
        self, process: subprocess.Popen[bytes], request: bytes, timeout_s: float
    ) -> Report:
        requests = cast(IO[bytes], process.stdin)
        responses = cast(IO[bytes], process.stdout)
        watchdog = threading.Timer(timeout_s, process.kill)
        watchdog.start()
        try:
            requests.write(request)
            requests.flush()
            header = responses.read(RESPONSE.size)
            if len(header) < RESPONSE.size:
                raise ConnectionError("the server gave no answer")
            number, wait_status, ending, cpu_s, length = RESPONSE.unpack(header)
            if number != self._n_requests or length > MAX_FRAME:
                raise ConnectionError("the server answered another request")
            data = responses.read(length)
        finally:
            watchdog.cancel()
        if len(data) < length:
            raise ConnectionError("the server stopped within its answer")
        return Report(data, wait_status, ending, cpu_s)

    def close(self) -> None:
        """End the server and the program in it."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def package_folders() -> list[str]:
    """Return the folders with packages, also those that a bare interpreter does not know."""
    names = ("site-packages", "dist-packages")
    return [path for path in sys.path if path.endswith(names)]


def library_folders() -> list[str]:
    """Return the folder of the standard library, and those with packages."""
    return [sysconfig.get_path("stdlib"), *package_folders()]


def _last_line(errors: IO[bytes]) -> str:
    errors.seek(0)
    lines = errors.read().decode("utf-8", "replace").strip().splitlines()
    return escape(lines[-1][:500]) if lines else "it left no message"


def _bubblewrap() -> list[str]:
    """Return the command that runs another one in namespaces and a read-only tree of its own."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise SandboxError(
            "bwrap: expected the program of the package `bubblewrap` on PATH, found none. "
            "Install it."
        )
    command = [bwrap, *_NAMESPACES.split()]
    for folder in _readable_folders():
        command += ["--ro-bind-try", str(folder), str(folder)]
    for device in _DEVICES:
        command += ["--dev-bind", device, device]
    command += ["--tmpfs", str(_PACKAGE_FOLDER), "--remount-ro", str(_PACKAGE_FOLDER)]
    for name in ("server.py", "policy.py"):
        command += [
            "--ro-bind",
            str(_SANDBOX_FOLDER / name),
            f"{_FOLDER_INSIDE}/{name}",
        ]
    return [*command, *_END_OF_MOUNTS.split()]


def _readable_folders() -> list[Path]:
    """Return what the interpreter needs, without what lies below another of these folders."""
    system = ("/usr", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache")
    interpreter = (sys.base_prefix, sys.prefix, os.path.realpath(sys.executable))
    folders: list[Path] = []
    for path in map(Path, (*system, *interpreter, *library_folders())):
        if not any(path.is_relative_to(folder) for folder in folders):
            folders.append(path)
    return folders
