"""The evaluator's side of a server: start it, send a program, read the report, end it."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple, cast

from fin_tasks.errors import SandboxError, escape

from .outcome import Attempt, Outcome, Report, Status, classify
from .server import REQUEST, RESPONSE, Config

_SANDBOX_FOLDER = Path(__file__).absolute().parent
# Hidden from programs, because it holds sample answers.
_HIDDEN_FOLDER = _SANDBOX_FOLDER.parent
_FOLDER_INSIDE = "/fin_tasks_sandbox"
_PACKAGE_FOLDERS = ("site-packages", "dist-packages")
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

    cpu_s: float = 3.0
    """CPU seconds; they are rounded up."""
    wall_s: float = 12.0
    memory_mb: int = 512
    """MiB beyond what the libraries need."""


DEFAULT_LIMITS = Limits()


@dataclass(eq=False)
class Server:
    """A fork server, which starts with its first program and dies with the thread that started it.

    A server that died starts again with the next program.
    """

    tier: str
    limits: Limits
    preload: tuple[str, ...]
    """The modules that it imports once, for all programs."""
    process: subprocess.Popen[bytes] | None = None

    def run(self, source: str) -> Attempt:
        """Run a program once; raise SandboxError if no server starts."""
        process = self.process or self._start()
        program = source.encode("utf-8", "surrogatepass")
        request = REQUEST.pack(len(program)) + program
        try:
            report = _exchange(process, request, self.limits.wall_s + _REPORT_SLACK_S)
        except ConnectionError:
            self.close()
            died = Outcome(status=Status.forbidden, detail="its server died with it")
            return Attempt(died, worth_repeating=True)
        return classify(report, cpu_limit_s=self.limits.cpu_s)

    def _start(self) -> subprocess.Popen[bytes]:
        command = _command(self.tier, self.limits, self.preload)
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(  # noqa: S603 - our own command, no shell
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=_ENVIRONMENT,
                start_new_session=True,
            )
            self.process = process
            try:
                _exchange(process, b"", _START_LIMIT_S)
            except ConnectionError as death:
                self.close()
                errors.seek(0)
                text = errors.read().decode("utf-8", "replace").strip()
                last_line = escape(text.rpartition("\n")[2][:500])
                raise SandboxError(
                    f"{self.tier}: the server did not start: {last_line}"
                ) from death
        return process

    def close(self) -> None:
        """End the server and the program in it."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def _exchange(
    process: subprocess.Popen[bytes], request: bytes, timeout_s: float
) -> Report:
    """Send a request and return the report; raise ConnectionError if the server ends before."""
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
        wait_status, ending, cpu_s, length = RESPONSE.unpack(header)
        data = responses.read(length)
    finally:
        watchdog.cancel()
    if len(data) < length:
        raise ConnectionError("the server stopped within its answer")
    return Report(data, wait_status, ending, cpu_s)


def _command(tier: str, limits: Limits, preload: tuple[str, ...]) -> list[str]:
    """Return the command that starts a server in a tier."""
    if sys.platform != "linux":
        raise SandboxError(f"{tier}: expected Linux, got {sys.platform}")
    # A bare interpreter does not know the folders with packages.
    packages = [path for path in sys.path if path.endswith(_PACKAGE_FOLDERS)]
    libraries = [sysconfig.get_path("stdlib"), *packages]
    config = Config(
        tier=tier,
        preload=list(preload),
        library_dirs=packages,
        readable=[
            *libraries,
            f"{sys.base_prefix}/lib",
            *_SYSTEM_LIBRARIES,
            "/etc/ld.so.cache",
            *_DEVICES,
        ],
        hidden=str(_HIDDEN_FOLDER),
        **limits._asdict(),
    )
    folder = str(_SANDBOX_FOLDER)
    command = []
    if tier == "bwrap":
        folder = _FOLDER_INSIDE
        command = _bubblewrap(libraries)
    interpreter = os.path.realpath(sys.executable)
    options = ("-S", "-P", "-B")
    return [
        *command,
        interpreter,
        *options,
        f"{folder}/server.py",
        json.dumps(config._asdict()),
    ]


def _bubblewrap(libraries: list[str]) -> list[str]:
    """Return the command that runs another one in namespaces and a read-only tree of its own."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise SandboxError(
            "bwrap: expected the program of the package `bubblewrap` on PATH, found none. "
            "Install it."
        )
    system = ("/usr", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache")
    interpreter = (sys.base_prefix, sys.prefix, os.path.realpath(sys.executable))
    command = [bwrap, *_NAMESPACES.split()]
    for path in (*system, *interpreter, *libraries):
        command += ["--ro-bind-try", path, path]
    for device in _DEVICES:
        command += ["--dev-bind", device, device]
    hidden = str(_HIDDEN_FOLDER)
    command += ["--tmpfs", hidden, "--remount-ro", hidden]
    for name in ("server.py", "policy.py"):
        inside = f"{_FOLDER_INSIDE}/{name}"
        command += ["--ro-bind", str(_SANDBOX_FOLDER / name), inside]
    return [*command, *_END_OF_MOUNTS.split()]
