"""The fork server: preloads the libraries once and forks a locked-down child for every program.

Runs as a script under a bare interpreter (`python -s -P -B server.py CONFIG`), inside bubblewrap or directly, with
nothing of fin-tasks importable; it loads the four modules beside it by path. It speaks the
protocol of `wire.py` on descriptors 0 and 1.

The child's bytes are opaque to the server: it caps them, kills the child when they end, and adds what it knows itself.
It wipes its own copy of every program and every frame, since the next child inherits its memory.
"""

import gc
import importlib
import importlib.util
import json
import os
import random
import select
import signal
import sys
import time
import warnings
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fin_tasks.sandbox import child, limits, policy, wire
else:

    def _sibling(name: str) -> ModuleType:
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py")  # noqa: PTH100, PTH118, PTH120
        spec = importlib.util.spec_from_file_location("fin_tasks_sandbox_" + name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    child, limits, policy, wire = (_sibling(name) for name in ("child", "limits", "policy", "wire"))

__all__ = ["main"]

_HIGHEST_FD = 256
_GRACE_S = 0.05


def main() -> None:
    """Preload, report readiness, then serve until the requests end."""
    config: dict[str, Any] = json.loads(sys.argv[1])
    policy.die_with_parent(signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the evaluator's business; it closes our input
    sys.path.extend(config["library_dirs"])
    loaded = _preload(config["preload"])
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, wire.RESULT_FD)  # taken, so that no descriptor a child still needs lies where its result pipe goes
    lockdown = _policy(config)
    room = limits.address_space_bytes()
    address_space = None if room is None else room + config["memory_mb"] * 1024 * 1024
    gc.collect()
    gc.freeze()
    ready = json.dumps({"python": sys.version.split()[0], "loaded": loaded, "pid": os.getpid()}).encode()
    _respond(0, 0, wire.ENDED, 0.0, memoryview(ready))
    os.dup2(null, 2)
    os.chdir("/")
    _serve(config, lockdown, address_space, null)


def _policy(config: dict[str, Any]) -> "policy.Policy | None":
    if not config["confine"]:
        return None
    return policy.Policy(config["readable"], need_landlock=config["need_landlock"])


def _preload(names: list[str]) -> dict[str, str]:
    """Import what programs use, where it is installed."""
    warnings.simplefilter("ignore")
    loaded = {}
    for name in names:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        loaded[name] = str(getattr(module, "__version__", ""))
    if "numpy" in loaded:
        numpy = sys.modules["numpy"]
        numpy.random.seed(0)
        numpy.set_printoptions(legacy="1.25")  # numbers inside lists print as they did for the published records
    return loaded


def _serve(config: dict[str, Any], lockdown: "policy.Policy | None", address_space: int | None, null: int) -> None:
    frame = bytearray(wire.MAX_FRAME + 1)
    header = bytearray(wire.REQUEST.size)
    number = 0
    while _read_exactly(memoryview(header)):
        (length,) = wire.REQUEST.unpack(header)
        if length > wire.MAX_PROGRAM:
            return  # the evaluator never sends that much, so the stream is broken
        program = bytearray(length)
        if not _read_exactly(memoryview(program)):
            return
        number += 1
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            _become_child(program, writer, null, config, lockdown, address_space)
        os.close(writer)
        program[:] = bytes(length)
        ending, size = _collect(reader, memoryview(frame), config["wall_s"])
        os.close(reader)
        status, cpu_s, ending = _reap(pid, ending)
        _respond(number, status, ending, cpu_s, memoryview(frame)[:size])
        frame[:size] = bytes(size)


def _become_child(
    program: bytearray,
    writer: int,
    null: int,
    config: dict[str, Any],
    lockdown: "policy.Policy | None",
    address_space: int | None,
) -> None:
    """Give up everything but one pipe, lock down, run, tell, end."""
    try:
        policy.die_with_parent(signal.SIGKILL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        os.dup2(writer, wire.RESULT_FD)
        limits.apply_limits(cpu_s=config["cpu_s"], address_space=address_space)
        if lockdown is not None:
            lockdown.close_files()
        os.closerange(wire.RESULT_FD + 1, _HIGHEST_FD)
        if lockdown is not None:
            lockdown.close_calls()
        os.write(wire.RESULT_FD, wire.LOCKED)
        random.seed(0)  # Python reseeds it at every fork
        gc.enable()
        child.write_all(wire.RESULT_FD, child.run_program(bytes(program)))
        os._exit(0)
    finally:
        os._exit(1)


def _collect(reader: int, frame: memoryview, wall_s: float) -> tuple[int, int]:
    """Read the child's bytes into `frame` until they end, time is up, or there are too many."""
    deadline = time.monotonic() + wall_s
    size = 0
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            return wire.WALL, size
        got = os.readv(reader, [frame[size:]])
        if got == 0:
            return wire.ENDED, size
        size += got
        if size > wire.MAX_FRAME:
            return wire.TOO_MUCH, size


def _reap(pid: int, ending: int) -> tuple[int, float, int]:
    """End the child and return its wait status, its CPU seconds, and how it ended."""
    if ending == wire.ENDED:
        # A dying process closes its files a moment before it can be waited for; one that lives on closed them itself.
        deadline = time.monotonic() + _GRACE_S
        while True:
            done, status, usage = os.wait4(pid, os.WNOHANG)
            if done:
                return status, usage.ru_utime + usage.ru_stime, ending
            if time.monotonic() > deadline:
                ending = wire.RAN_ON
                break
            time.sleep(0.0002)
    os.kill(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    return status, usage.ru_utime + usage.ru_stime, ending


def _read_exactly(view: memoryview) -> bool:
    """Fill the view from standard input; False where the input ends."""
    while view:
        got = os.readv(0, [view])
        if got == 0:
            return False
        view = view[got:]
    return True


def _respond(number: int, status: int, ending: int, cpu_s: float, frame: memoryview) -> None:
    size = min(len(frame), wire.MAX_FRAME)
    header = wire.RESPONSE.pack(number, status, ending, cpu_s, size)
    for part in (header, frame[:size]):
        child.write_all(1, part)


if __name__ == "__main__":
    main()
