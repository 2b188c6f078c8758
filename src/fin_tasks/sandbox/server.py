"""The fork server: it preloads the libraries once and forks a locked-down child for every program.

It runs as a script under a bare interpreter, with the standard library and `policy.py` only. The
evaluator imports the constants of the protocol. The server does not read the child's bytes. It
overwrites its copy of every program and result, because the next child inherits the server's memory.
"""

import contextlib
import errno
import gc
import importlib
import json
import os
import random
import select
import signal
import struct
import sys
import time
from typing import Any, NamedTuple

REQUEST = struct.Struct("!I")
"""The length of a program, which follows as UTF-8."""
RESPONSE = struct.Struct("!iBdI")
"""Wait status, ending, CPU seconds and length; the child's bytes follow."""
ENDED = 0
"""The child closed its pipe."""
WALL = 1
"""The child ran out of wall time."""
TOO_MUCH = 2
"""The child wrote more than a result takes."""
LOCKED = b"+"
"""The child writes this after its lockdown and before the program runs."""
MAX_FRAME = 64 * 1024  # bytes
MAX_TEXT = 2000  # characters
_RESULT_FD = 3


class Config(NamedTuple):
    """What the evaluator tells a server, as JSON on the command line."""

    tier: str
    preload: list[str]
    library_dirs: list[str]
    readable: list[str]
    hidden: list[str]
    """Folders with packages, of which nothing is read but `packages`."""
    packages: list[str]
    cpu_s: float
    wall_s: float
    memory_mb: int


def run_program(source: bytes | bytearray) -> bytes:
    """Call the program's `solution()` and return four lines.

    The lines are the status, 1 for a plain number or else 0, `float(x)` if there is one, and the
    text of the result or the error. A plain number needs no text.
    """
    status = "syntax"
    names: dict[str, Any] = {"__name__": "program"}
    try:
        code = compile(source, "<program>", "exec", dont_inherit=True)
        status = "exception"
        exec(code, names)  # noqa: S102 - this is what the locked-down process is for
        if "solution" not in names:
            raise NameError("the program defines no solution()")
        lines = _result_lines(names["solution"]())
    except BaseException as error:  # noqa: BLE001 - sys.exit is a program's failure too
        lines = _error_lines(error, status)
    return "\n".join(lines).encode("utf-8", "backslashreplace")


def _result_lines(result: Any) -> tuple[str, str, str, str]:
    number = _float_text(result)
    # The authors take the text of all but plain numbers.
    if type(result) not in (int, float):
        return "ok", "0", number, str(result)[:MAX_TEXT]
    if number:
        return "ok", "1", number, ""
    return "ok", "1", "", f"integer of {result.bit_length()} bits"


def _float_text(result: Any) -> str:
    if isinstance(result, str | bytes) and len(result) > 100:
        return ""  # parsing a million digits takes minutes
    # A class of the program may raise whatever it likes.
    with contextlib.suppress(Exception):
        return repr(float(result))
    return ""


def _error_lines(error: BaseException, status: str) -> tuple[str, str, str, str]:
    # Without memory, compile() raises SystemError.
    is_full = isinstance(error, MemoryError | SystemError)
    if is_full or getattr(error, "errno", None) == errno.ENOMEM:
        status = "memory"
    elif isinstance(error, OSError):
        # A calculation needs nothing of the operating system.
        status = "forbidden"
    text = type(error).__name__
    with contextlib.suppress(BaseException):  # the program may have written `__str__`
        text = f"{text}: {error}".removesuffix(": ")
    return status, "0", "", text[:MAX_TEXT]


def _main() -> None:
    config = Config(**json.loads(sys.argv[1]))
    policy.die_with_parent(signal.SIGKILL)
    _preload(config)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, _RESULT_FD)  # reserved, because each child puts its result pipe there
    lockdown = policy.Policy(
        [*config.readable, *config.packages],
        config.hidden,
        # In bwrap, the mounts close the file system already.
        need_landlock=config.tier != "bwrap",
    )
    policy.drop_capabilities()
    address_space = policy.address_space_bytes() + config.memory_mb * 1024 * 1024
    gc.collect()
    gc.freeze()
    os.write(1, RESPONSE.pack(0, ENDED, 0.0, 0))  # ready
    os.dup2(null, 2)
    os.chdir("/")
    header = bytearray(REQUEST.size)
    frame = bytearray(MAX_FRAME + 1)
    while _fill(memoryview(header)):
        (length,) = REQUEST.unpack(header)
        program = bytearray(length)
        if not _fill(memoryview(program)):
            return
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                _connect(null, writer)
                policy.apply_limits(cpu_s=config.cpu_s, address_space=address_space)
                lockdown.enter(kept_fds=_RESULT_FD + 1)
                _run_child(program)
            finally:
                os._exit(1)
        os.close(writer)
        program[:] = bytes(len(program))
        report = _watch(pid, reader, memoryview(frame), config.wall_s)
        n_bytes = report[-1]
        os.writev(1, [RESPONSE.pack(*report), memoryview(frame)[:n_bytes]])
        frame[:] = bytes(len(frame))


class _Packages:
    """Finds no package but those of a list: of others, an import would fail in the middle."""

    def __init__(self, paths: list[str]) -> None:
        self._names = {os.path.basename(path).partition(".")[0] for path in paths}  # noqa: PTH119
        self._names |= sys.stdlib_module_names

    def find_spec(self, name: str, path: object, target: object = None) -> None:
        """Raise ModuleNotFoundError for a package that is not in the list."""
        if path is None and name not in self._names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def _preload(config: Config) -> None:
    sys.path.extend(config.library_dirs)
    sys.meta_path.insert(0, _Packages(config.packages))
    for name in config.preload:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)
        # Numbers inside lists print as in the published records.
        numpy.set_printoptions(legacy="1.25")


def _connect(null: int, writer: int) -> None:
    """Leave the child nothing but its result pipe, and have it end with the server."""
    policy.die_with_parent(signal.SIGKILL)
    for standard_fd in (0, 1, 2):
        os.dup2(null, standard_fd)
    os.dup2(writer, _RESULT_FD)


def _run_child(program: bytearray) -> None:
    os.write(_RESULT_FD, LOCKED)
    random.seed(0)  # Python reseeds it at every fork
    os.write(_RESULT_FD, run_program(program))  # blocks until all is written
    os._exit(0)


def _watch(
    pid: int, reader: int, frame: memoryview, wall_s: float
) -> tuple[int, int, float, int]:
    """Read the child's bytes until they end, are too many, or the time is over; end the child.

    Returns its wait status, ending, CPU seconds and number of bytes.
    """
    deadline = time.monotonic() + wall_s
    n_bytes = 0
    ending = TOO_MUCH
    while n_bytes <= MAX_FRAME:
        left_s = max(0.0, deadline - time.monotonic())
        readable, _, _ = select.select([reader], [], [], left_s)
        if not readable:
            ending = WALL
            break
        n_new = os.readv(reader, [frame[n_bytes:]])
        if n_new == 0:
            ending = ENDED
            break
        n_bytes += n_new
    os.close(reader)
    # The child may have closed its pipe and run on. If it is ending already, its status stays.
    os.kill(pid, signal.SIGKILL)
    _, wait_status, usage = os.wait4(pid, 0)
    cpu_s = usage.ru_utime + usage.ru_stime
    return wait_status, ending, cpu_s, min(n_bytes, MAX_FRAME)


def _fill(view: memoryview) -> bool:
    """Fill the view from standard input; return False if the input ends before."""
    while view:
        n_bytes = os.readv(0, [view])
        if n_bytes == 0:
            return False
        view = view[n_bytes:]
    return True


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
    policy: Any = importlib.import_module("policy")
    del sys.path[0]
    _main()
