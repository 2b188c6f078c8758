"""A server of the sandbox, seen from the evaluator: start it, send a program, read what came of it, end it."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from pathlib import Path
from signal import SIGKILL, SIGXCPU
from typing import IO, NamedTuple, cast

from fin_tasks.errors import SandboxError, escape

from .server import LOCKED, MAX_TEXT, REQUEST, RESPONSE, TOO_MUCH, WALL, Config

_SANDBOX_FOLDER = Path(__file__).absolute().parent
_FOLDER_INSIDE = "/fin_tasks_sandbox"
_PACKAGE_FOLDERS = ("site-packages", "dist-packages")
# What programs may import beside the standard library, with what these need. Nothing else of an
# installation is read, because other packages may hold answers.
_PACKAGES = ("numpy", "scipy", "sympy", "mpmath", "pandas", "numpy_financial")
_NEEDED = (
    "dateutil",
    "pytz",
    "tzdata",
    "six.py",
    "numpy.libs",
    "scipy.libs",
    "pandas.libs",
)
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


class Status(StrEnum):
    """How a program ended."""

    ok = "ok"
    no_code = "no_code"
    """The response held no program."""
    syntax = "syntax"
    exception = "exception"
    """The program raised, ended its own process, or crashed the interpreter."""
    timeout = "timeout"
    memory = "memory"
    forbidden = "forbidden"
    """The program asked the operating system for something, or wrote a result that is not one."""
    broken = "broken"
    """The runner failed, not the program; the response stays unscored."""


REASONS = ("no_code", "syntax", "exception", "timeout", "memory", "forbidden")
"""Why a program gave no value."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of one program."""

    status: Status
    value: str | None = None
    """The recorded text: `repr(round(float(x), 3))` of an int or a float, `str(x)` of the rest.

    The text of the rest is cut and may hold any character; use `errors.escape` before you show it.
    """
    number: float | None = None
    """`float(x)` at full precision; None where Python cannot convert the result."""
    is_number: bool = False
    """Whether the result was exactly an int or a float, so that `value` is a rounded number."""
    detail: str = ""
    """The class and message of the exception, or what else went wrong; printable."""

    @property
    def is_unscored(self) -> bool:
        """Whether the fault is the sandbox's, and not the program's."""
        return self.status is Status.broken


class Ran(NamedTuple):
    """A response with the outcomes of its programs."""

    response: str
    outcomes: tuple[Outcome, ...]


class Limits(NamedTuple):
    """The limits of one program."""

    cpu_s: float = 3.0
    """CPU seconds; they are rounded up."""
    wall_s: float = 12.0
    memory_mb: int = 512
    """MiB beyond what the libraries need."""


DEFAULT_LIMITS = Limits()


class Report(NamedTuple):
    """What a server reports about one program."""

    data: bytes
    """The bytes that the child wrote."""
    wait_status: int
    """The status of the child as in `os.wait`."""
    ending: int
    """`server.ENDED`, `server.WALL` or `server.TOO_MUCH`."""
    cpu_s: float


class Attempt(NamedTuple):
    """The outcome of running a program once."""

    outcome: Outcome
    worth_repeating: bool = False
    """Whether a second attempt could end differently."""


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
    package_folders = [path for path in sys.path if path.endswith(_PACKAGE_FOLDERS)]
    libraries = [sysconfig.get_path("stdlib"), f"{sys.base_prefix}/lib"]
    libraries += _SYSTEM_LIBRARIES
    hidden = list(package_folders)
    for library, name in product(libraries, _PACKAGE_FOLDERS):
        hidden += map(str, Path(library).glob(name))
        hidden += map(str, Path(library).glob(f"python*/{name}"))
    packages: list[str] = []
    for folder, name in product(package_folders, (*_PACKAGES, *_NEEDED)):
        packages += map(str, Path(folder).glob(name))
    config = Config(
        tier=tier,
        preload=list(preload),
        library_dirs=package_folders,
        readable=[*libraries, "/etc/ld.so.cache", *_DEVICES],
        hidden=hidden,
        packages=packages,
        **limits._asdict(),
    )
    folder = str(_SANDBOX_FOLDER)
    command = []
    if tier == "bwrap":
        folder = _FOLDER_INSIDE
        command = _bubblewrap(libraries, hidden, packages)
    interpreter = os.path.realpath(sys.executable)
    options = ("-S", "-P", "-B")
    return [
        *command,
        interpreter,
        *options,
        f"{folder}/server.py",
        json.dumps(config._asdict()),
    ]


def _bubblewrap(
    libraries: list[str], hidden: list[str], packages: list[str]
) -> list[str]:
    """Return the command that runs another one in namespaces and a read-only tree of its own."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise SandboxError(
            "bwrap: expected the program of the package `bubblewrap` on PATH, found none. "
            "Install it."
        )
    files = ("/lib32", "/etc/ld.so.cache", os.path.realpath(sys.executable))
    command = [bwrap, *_NAMESPACES.split()]
    for path in (*libraries, *files):
        command += ["--ro-bind-try", path, path]
    for device in _DEVICES:
        command += ["--dev-bind", device, device]
    # An empty folder hides what is below it. The packages are mounted there again.
    for path in hidden:
        command += ["--tmpfs", path]
    for path in packages:
        command += ["--ro-bind", path, path]
    for path in hidden:
        command += ["--remount-ro", path]
    for name in ("server.py", "policy.py"):
        inside = f"{_FOLDER_INSIDE}/{name}"
        command += ["--ro-bind", str(_SANDBOX_FOLDER / name), inside]
    return [*command, *_END_OF_MOUNTS.split()]


# --- What came out of the sandbox: bytes that the program may have written ---

_NOT_A_RESULT = Outcome(
    status=Status.forbidden, detail="wrote something that is not a result"
)
_FAILURES = ("syntax", "exception", "memory", "forbidden")
"""The failures that the child reports itself; the server and the runner report the others."""
_FLOAT = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?(e[+-]?[0-9]{1,3})?|-?inf|nan")
_LARGE_INTEGER = re.compile(r"integer of [0-9]{1,12} bits")


def classify(report: Report, *, cpu_limit_s: float) -> Attempt:
    """Turn the report on a program into its outcome."""
    if not report.data.startswith(LOCKED):
        return _failure(
            Status.broken, "the child could not be locked down", worth_repeating=True
        )
    if report.ending == WALL:  # a second attempt would only sleep again
        return _failure(Status.timeout, "ran out of wall time")
    if report.ending == TOO_MUCH:
        return _failure(Status.forbidden, "wrote more than a result takes")
    frame = report.data.removeprefix(LOCKED)
    if frame:
        return Attempt(decode_frame(frame))
    # The program ended its process without a result.
    signal_number = report.wait_status & 0x7F
    if signal_number == 0:
        exit_code = report.wait_status >> 8 & 0xFF
        return _failure(
            Status.exception, f"ended its own process (exit code {exit_code})"
        )
    if signal_number not in (SIGKILL, SIGXCPU):
        return _failure(
            Status.exception, f"crashed the interpreter (signal {signal_number})"
        )
    # The kernel counts whole ticks towards the limit, so on a busy machine it may kill well before
    # the limit. With less CPU time than that, a busy machine may be to blame, not the program.
    if report.cpu_s >= 0.5 * cpu_limit_s:
        return _failure(Status.timeout, "ran out of CPU time")
    detail = f"killed by the system after {report.cpu_s:.2f} s of CPU"
    return _failure(Status.memory, detail, worth_repeating=True)


def decode_frame(frame: bytes) -> Outcome:
    """Decode the four lines of `server.run_program`; all other bytes are `forbidden`."""
    try:
        status, is_number, number_text, text = frame.decode("utf-8").split("\n", 3)
    except ValueError:
        return _NOT_A_RESULT
    if status in _FAILURES and (is_number, number_text) == ("0", ""):
        return Outcome(status=Status(status), detail=escape(text[:500]))
    number = None
    if _FLOAT.fullmatch(number_text):
        number = float(number_text)
    elif number_text:
        return _NOT_A_RESULT
    if (status, is_number) == ("ok", "0"):
        return Outcome(status=Status.ok, value=text[:MAX_TEXT], number=number)
    if (status, is_number) != ("ok", "1"):
        return _NOT_A_RESULT
    if number is not None and not text:
        # The child does not round, because the program may have replaced the function `round`.
        text = repr(round(number, 3))
    elif number is not None or not _LARGE_INTEGER.fullmatch(text):
        return _NOT_A_RESULT
    return Outcome(status=Status.ok, value=text, number=number, is_number=True)


def _failure(status: Status, detail: str, *, worth_repeating: bool = False) -> Attempt:
    return Attempt(Outcome(status=status, detail=detail), worth_repeating)
