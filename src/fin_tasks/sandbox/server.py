"""The fork server: it preloads the libraries once and forks a locked-down child for every program.

It runs as a script under a bare interpreter, with the standard library and `policy.py` only; the evaluator imports the
constants of the protocol. The server does not read the child's bytes. It wipes its copy of every program and result,
because the next child inherits its memory.
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
from typing import Any

REQUEST = struct.Struct("!I")  # length; the program as UTF-8 follows
RESPONSE = struct.Struct(
    "!IiBdI"
)  # request number, wait status, ending, CPU seconds, length; the child's bytes follow
ENDED, WALL, TOO_MUCH = range(3)  # its pipe is closed; out of wall time; it wrote too much
LOCKED = b"+"  # the child writes it after its lockdown and before the program runs
MAX_PROGRAM, MAX_FRAME, MAX_TEXT = 1024 * 1024, 64 * 1024, 2000
_RESULT_FD = 3


def run_program(source: bytes) -> bytes:
    """Call the program's `solution()`; return four lines: status, 1 for a plain number, `float(x)`, value or error."""
    status, is_number, number = "syntax", 0, ""
    try:
        code = compile(source, "<program>", "exec", dont_inherit=True)
        status = "exception"
        names: dict[str, Any] = {"__name__": "program"}
        exec(code, names)  # noqa: S102 - this is what the locked-down process is for
        if "solution" not in names:
            raise NameError("the program defines no solution()")
        answer = names["solution"]()
        if not (
            isinstance(answer, str | bytes) and len(answer) > 100
        ):  # parsing a million digits takes minutes
            with contextlib.suppress(
                Exception
            ):  # a class of the program's own may raise whatever it likes
                number = repr(float(answer))
        is_number = int(
            type(answer) in (int, float)
        )  # the authors round plain numbers and take the text of the rest
        if is_number:
            text = (
                repr(round(float(number), 3))
                if number
                else f"integer of {answer.bit_length()} bits"
            )
        else:
            text = str(answer)
        status = "ok"
    except BaseException as error:  # noqa: BLE001 - sys.exit and KeyboardInterrupt are a program's failures too
        if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
            status = "memory"
        elif isinstance(error, OSError):  # a calculation needs nothing of the operating system
            status = "forbidden"
        text = type(error).__name__
        with contextlib.suppress(BaseException):  # __str__ is the program's
            text += f": {error}" if str(error) else ""
    return f"{status}\n{is_number}\n{number}\n{text[:MAX_TEXT]}".encode("utf-8", "backslashreplace")


def _main() -> None:
    config: dict[str, Any] = json.loads(sys.argv[1])
    policy.die_with_parent(signal.SIGKILL)
    sys.path.extend(config["library_dirs"])
    for name in config["preload"]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)
        sys.modules["numpy"].set_printoptions(
            legacy="1.25"
        )  # numbers inside lists print as in the published records
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, _RESULT_FD)  # reserved, because each child puts its result pipe there
    # Inside bubblewrap, the mounts close the file system already.
    lockdown = policy.Policy(
        config["readable"], config["hidden"], need_landlock=config["tier"] != "bwrap"
    )
    policy.drop_capabilities()
    config["address_space"] = policy.address_space_bytes() + config["memory_mb"] * 1024 * 1024
    gc.collect()
    gc.freeze()
    os.write(1, RESPONSE.pack(0, 0, ENDED, 0.0, 0))  # ready
    os.dup2(null, 2)
    os.chdir("/")
    header, frame, number = bytearray(REQUEST.size), bytearray(MAX_FRAME + 1), 0
    while _read(memoryview(header)):
        program = bytearray(min(REQUEST.unpack(header)[0], MAX_PROGRAM))
        if not _read(memoryview(program)):
            return
        number += 1
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                _run_child(bytes(program), writer, null, lockdown, config)
            finally:
                os._exit(1)
        os.close(writer)
        program[:] = bytes(len(program))
        *report, size = _watch(pid, reader, memoryview(frame), config["wall_s"])
        os.writev(1, [RESPONSE.pack(number, *report, size), memoryview(frame)[:size]])
        frame[:] = bytes(len(frame))


def _run_child(
    program: bytes, writer: int, null: int, lockdown: Any, config: dict[str, Any]
) -> None:
    policy.die_with_parent(signal.SIGKILL)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.dup2(writer, _RESULT_FD)
    policy.apply_limits(cpu_s=config["cpu_s"], address_space=config["address_space"])
    lockdown.enter(kept_fds=_RESULT_FD + 1)
    os.write(_RESULT_FD, LOCKED)
    random.seed(0)  # Python reseeds it at every fork
    gc.enable()
    os.write(_RESULT_FD, run_program(program))  # blocks until all is written
    os._exit(0)


def _watch(pid: int, reader: int, frame: memoryview, wall_s: float) -> tuple[int, int, float, int]:
    """Read the child's bytes until they end, the time is over, or there are too many; then end the child."""
    deadline, size, ending = time.monotonic() + wall_s, 0, TOO_MUCH
    while ending == TOO_MUCH and size <= MAX_FRAME:
        ready = select.select([reader], [], [], max(0.0, deadline - time.monotonic()))[0]
        got = os.readv(reader, [frame[size:]]) if ready else 0
        size += got
        if got == 0:
            ending = ENDED if ready else WALL
    os.close(reader)
    os.kill(
        pid, signal.SIGKILL
    )  # it may have closed its pipe and run on; if it is ending, its status stays
    _, status, usage = os.wait4(pid, 0)
    return status, ending, usage.ru_utime + usage.ru_stime, min(size, MAX_FRAME)


def _read(view: memoryview) -> bool:
    """Fill the view from standard input; return False if the input ends."""
    got = 1
    while view and got:
        got = os.readv(0, [view])
        view = view[got:]
    return not view


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
    policy: Any = importlib.import_module("policy")
    del sys.path[0]
    _main()
